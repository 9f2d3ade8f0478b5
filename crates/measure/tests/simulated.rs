//! What simulated machines refuse, and that an interrupted run draws the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

use std::collections::BTreeSet;

use nearfar_measure::Interrupt;
use nearfar_measure::simulated::{SimulateError, SimulatedExecutor, simulate};
use nearfar_record::{Absence, Absent, Inputs, ReasonCode, Record, Suite};
use support::{inputs, machine, measure, measure_new, read};

/// Case, round, window and bytes of every sample.
fn samples(record: &Record) -> BTreeSet<(String, u32, u32, u64)> {
    let of = |sample: &nearfar_record::Sample| {
        (sample.case.clone(), sample.round, sample.window, sample.actors[0].useful_bytes)
    };
    record.samples.iter().map(of).collect()
}

#[test]
fn a_drifting_machine_goes_on_where_it_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole.jsonl"), folder.path().join("parts.jsonl"));
    let drifting = machine(2, "[noise]\nwithin_round = 0.01\ndrift_per_round = 0.05\n");
    measure_new(&whole, &drifting, inputs(Suite::Quick), None);
    // In the middle of a round, twice.
    let first = measure_new(&parts, &drifting, inputs(Suite::Quick), Some(31));
    assert!(first.interrupted_by.is_some());
    measure(&parts, read(&parts), &drifting, Some(50));
    measure(&parts, read(&parts), &drifting, None);
    let whole = read(&whole);
    assert_eq!(samples(&read(&parts)), samples(&whole));
    // It drifts at all: later rounds are lower, by 5 % of the first each.
    let sum = |round: u32| -> u64 {
        whole
            .samples
            .iter()
            .filter(|it| it.round == round)
            .map(|it| it.actors[0].useful_bytes)
            .sum()
    };
    #[expect(clippy::cast_precision_loss, reason = "bytes of a few windows are below 2^53")]
    let ratio = sum(4) as f64 / sum(0) as f64;
    assert!((ratio * 1.2 - 1.0).abs() < 0.005, "{ratio}");
}

/// As the native executor: what does not fit the node is refused, not measured.
#[test]
fn arrays_that_do_not_fit_a_node_are_refused() {
    let of = |gib: u64| {
        let inputs = Inputs { working_set_bytes: Some(gib << 30), ..inputs(Suite::Quick) };
        simulate(&machine(2, ""), inputs, false).unwrap()
    };
    let refusals = |record: &Record| {
        record.absent.iter().filter(|absent| absent.absence == Absence::Refused).cloned().collect()
    };
    let fits = of(15);
    let none: Vec<Absent> = refusals(&fits);
    assert!(none.is_empty() && !fits.samples.is_empty());
    let refused = of(17);
    assert!(refused.samples.is_empty());
    let all: Vec<Absent> = refusals(&refused);
    assert_eq!(all.len(), refused.cases.len());
    for absent in &all {
        assert_eq!(absent.reason.code, ReasonCode::NoRoom);
        assert!(absent.reason.text.contains("16 GiB"), "{}", absent.reason.text);
    }
}

#[test]
fn a_misspelt_kernel_is_refused_by_naming_those_that_there_are() {
    let misspelt = machine(1, "[kernels.traid]\nfactor = 0.9\n");
    let error = SimulatedExecutor::new(misspelt.clone(), false, 0, Interrupt::default());
    let message = error.err().unwrap().to_string();
    assert!(message.contains("kernels.traid") && message.contains("triad_nt"), "{message}");
    let error = simulate(&misspelt, inputs(Suite::Quick), false).unwrap_err();
    assert!(matches!(error, SimulateError::UnknownKernel { kernel, .. } if kernel == "traid"));
}
