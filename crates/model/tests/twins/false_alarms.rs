//! Sound machines whose figures are drawn: how often something is found in them.

use crate::twins::drawn_record::{PLAN, Plan, machine, record};
use crate::twins::twins;

/// 64 pairs, five kernels, four numbers of threads: records of a sound machine with a
/// finding, drawn with noise of several sizes and a hundredth of outliers, are fewer
/// than one in a hundred. Single cells that fall short are not, which is why two must.
#[test]
fn false_alarms_are_rarer_than_one_record_in_a_hundred() {
    let machine = machine(2, 4);
    let (mut alarms, mut alone, mut records) = (0, 0, 0);
    for noise in [0.005, 0.01, 0.02, 0.05] {
        for rounds in [3, 6, 8] {
            for seed in 0..20 {
                let plan = Plan { noise, rounds, seed: 1000 + seed, ..PLAN };
                let found = twins(&record(&machine, &plan, |_, _, _| 1.0));
                assert_eq!(found.compared, 1280);
                alarms += usize::from(!found.findings.is_empty() || !found.unsteady.is_empty());
                assert_eq!(found.hidden_levels, []);
                alone += usize::from(found.alone > 0);
                records += 1;
            }
        }
    }
    assert!(alarms * 100 < records, "{alarms} alarms in {records} records");
    assert!(alone > alarms, "{alone} records with a single cell");
}

/// With one kernel and one number of threads a path has a single cell; with one thread as well, in which
/// no limit shows, a single one that tells.
#[test]
fn one_cell_a_pair_raises_no_more_false_alarms() {
    for threads in [&[8][..], &[1, 8]] {
        let machine = machine(2, 4);
        let (mut alarms, mut records) = (0, 0);
        for noise in [0.005, 0.01, 0.02, 0.05] {
            for rounds in [3, 4, 6] {
                for seed in 0..250 {
                    let plan =
                        Plan { kernels: &["load"], threads, noise, rounds, seed: 7000 + seed };
                    let found = twins(&record(&machine, &plan, |_, _, _| 1.0));
                    alarms += usize::from(!found.findings.is_empty() || !found.unsteady.is_empty());
                    records += 1;
                }
            }
        }
        assert!(
            alarms * 100 < records,
            "{alarms} alarms in {records} records of {threads:?} threads"
        );
        // What is clear is still seen by it.
        let plan = Plan { kernels: &["load"], threads, rounds: 6, ..PLAN };
        let narrow = |a: u32, b: u32, threads: u32| match (a, b, threads) {
            (1, 6, 8) => 0.7,
            _ => 1.0,
        };
        assert_eq!(twins(&record(&machine, &plan, narrow)).findings.len(), 1, "{threads:?}");
    }
}
