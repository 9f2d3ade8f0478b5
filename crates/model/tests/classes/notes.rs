//! What is noted of classes: each note when it is so, and not otherwise.

use nearfar_model::{ClassAbove, ClassNote, DisturbedPair, FewerThreads};
use nearfar_record::{Absence, Coordinates, PairCoordinates, ReasonCode, Record};
use nearfar_specimen::{absent, add_alone, disturb, machine, pair, record};

use crate::classes::by_default;

fn add(record: &mut Record, place: PairCoordinates, rounds: &[f64]) {
    add_alone(record, Coordinates::Pairs(place), rounds);
}

fn triad(cpu_group: u32, node: u32) -> PairCoordinates {
    pair(cpu_group, node, "triad")
}

/// Six rounds of a pair: 1, 1 - d, 1 - 2d .. of its best, so that their standard deviation
/// is 1.87 d.
fn rounds(best: f64, step: f64) -> Vec<f64> {
    (0..6).map(|round| 1e9 * best * (1.0 - step * f64::from(round))).collect()
}

fn quiet_record() -> Record {
    let mut record = record();
    for (cpu_group, node, best) in [(0, 0, 10.0), (0, 1, 6.0), (1, 0, 6.0), (1, 1, 10.0)] {
        add(&mut record, triad(cpu_group, node), &rounds(best, 0.001));
    }
    record
}

fn notes(record: &Record) -> Vec<ClassNote> {
    by_default(record).notes
}

#[test]
fn nothing_is_said_of_a_quiet_record() {
    assert_eq!(notes(&quiet_record()), []);
}

#[test]
fn noise_is_that_of_the_rounds() {
    let found = by_default(&quiet_record());
    // sd of 0..5 steps is 1.871 steps, over a mean of 0.9975; six values fall short
    // of the true deviation by 0.934, and the best of six keeps 0.645 of it.
    let noise = 0.001 * 1.8708 / 0.9975 / 0.9341;
    assert!((found.noise.unwrap() / noise - 1.0).abs() < 1e-3);
    assert!((found.standard_error.unwrap() / (noise * 0.645) - 1.0).abs() < 5e-3);
}

#[test]
fn one_round_has_no_noise_and_is_few() {
    let mut record = record();
    add(&mut record, triad(0, 0), &[10e9]);
    add(&mut record, triad(0, 1), &[6e9]);
    let found = by_default(&record);
    assert_eq!((found.noise, found.standard_error, found.fewest_rounds), (None, None, 1));
    assert_eq!(found.notes, [ClassNote::FewRounds { enough: 5 }, ClassNote::UnknownNoise]);
}

/// Two nodes of four cores each.
fn give_machine(record: &mut Record) {
    record.header.machine = machine(1, 2, 4);
}

/// Whose memory it is decides, not how many nodes there are.
#[test]
fn pairs_that_are_all_local_or_all_remote_are_said_to_be() {
    let notes_of = |pairs: &[(u32, u32)]| {
        let mut record = record();
        give_machine(&mut record);
        for &(cpu_group, node) in pairs {
            add(&mut record, triad(cpu_group, node), &rounds(10.0, 0.001));
        }
        notes(&record)
    };
    for local in [&[(0, 0)][..], &[(0, 0), (1, 1)]] {
        assert_eq!(notes_of(local), [ClassNote::AllLocal]);
    }
    // The local memory of node 1 was refused: what is left of node 1 is remote.
    for remote in [&[(0, 1)][..], &[(0, 1), (1, 0)]] {
        assert_eq!(notes_of(remote), [ClassNote::AllRemote]);
    }
    assert_eq!(notes_of(&[(0, 0), (0, 1)]), []);
    assert_eq!(notes_of(&[(0, 0), (1, 0)]), []);
}

/// "All threads" are the most that were planned, which need not be all cores.
#[test]
fn fewer_threads_than_cores_are_counted() {
    let notes_by = |threads: u32| {
        let mut record = quiet_record();
        give_machine(&mut record);
        let load = rounds(20.0, 0.001);
        for (cpu_group, node) in [(0, 0), (1, 1)] {
            let more = PairCoordinates { threads, ..pair(cpu_group, node, "load") };
            add(&mut record, more, &load);
        }
        notes(&record)
    };
    assert_eq!(notes_by(4), []);
    let cpu_groups = [0, 1].map(|index| FewerThreads { index, threads: 3, cores: 4 }).into();
    assert_eq!(notes_by(3), [ClassNote::FewerThreads { cpu_groups }]);
}

/// Initiator 0 was refused on node 2; initiator 1 was measured there with another kernel only.
fn with_pairs_left_out() -> Record {
    let mut record = quiet_record();
    add(&mut record, triad(0, 2), &[]);
    let refused = record.cases[4].id.clone();
    absent(&mut record, &refused, Absence::Refused, ReasonCode::NoRoom, "node 2 has no room");
    add(&mut record, pair(1, 2, "load"), &[1e9]);
    record
}

#[test]
fn refused_and_unmeasured_pairs_are_left_out_and_named() {
    let record = with_pairs_left_out();
    let found = by_default(&record);
    let pairs: usize = found.sets[0].classes.iter().map(|class| class.pairs.len()).sum();
    assert_eq!(pairs, 4);
    let left_out: Vec<(u32, u32, Option<&str>)> = found
        .left_out
        .iter()
        .map(|out| (out.cpu_group, out.memory_node, out.refused.as_deref()))
        .collect();
    assert_eq!(left_out, [(0, 2, Some("node 2 has no room")), (1, 2, None)]);
}

#[test]
fn figures_of_disturbed_windows_only_are_named() {
    let mut record = quiet_record();
    disturb(&mut record, "pairs/initiator1/node0/triad/avx2/t1");
    let pairs = vec![DisturbedPair { index: 1, memory_node: 0 }];
    assert_eq!(notes(&record), [ClassNote::Disturbed { pairs }]);
}

/// One level, whose pairs' best rounds lie evenly over 9 %, with rounds that scatter
/// enough to explain that.
#[test]
fn a_class_that_noise_widens_says_so_and_asks_for_rounds() {
    let mut record = record();
    for place in 0..16 {
        let best = 10.0 * (1.0 - 0.006 * f64::from(place));
        add(&mut record, triad(place / 4, place % 4), &rounds(best, 0.01));
    }
    let found = by_default(&record);
    assert_eq!(found.sets[0].classes.len(), 1);
    assert!(found.sets[0].classes[0].widened_by_noise);
    let is_widened = |note: &ClassNote| match note {
        ClassNote::Widened { index: None, class: 0, span, pairs: 16 } => (span - 0.09).abs() < 1e-9,
        _ => false,
    };
    let is_much = |note: &ClassNote| matches!(note, ClassNote::MuchNoise { pairs: 16, .. });
    assert!(found.notes.iter().any(is_widened), "{:?}", found.notes);
    assert!(found.notes.iter().any(is_much), "{:?}", found.notes);
}

/// The same without that noise are two classes, and with a little of it their border is
/// arbitrary.
#[test]
fn a_border_within_the_noise_says_so() {
    let mut record = record();
    for place in 0..32 {
        let best = 10.0 * (1.0 - 0.006 * f64::from(place));
        add(&mut record, triad(place / 4, place % 4), &rounds(best, 0.0018));
    }
    let found = by_default(&record);
    assert!(found.sets[0].classes.len() > 1);
    assert!(found.sets[0].classes[0].border_within_noise);
    let borders = found.sets[0].classes.iter().filter(|it| it.border_within_noise).count();
    let is_first = |note: &ClassNote| match note {
        ClassNote::ArbitraryBorders { least_gap, above } => {
            let first = ClassAbove { index: None, class: 0 };
            (*least_gap - 3.0).abs() < 1e-12 && above.len() == borders && above[0] == first
        }
        _ => false,
    };
    assert!(found.notes.iter().any(is_first), "{:?}", found.notes);
    // The gap that is called too small is: 0.6 % of the upper value.
    let (upper, lower) = (&found.sets[0].classes[0], &found.sets[0].classes[1]);
    let gap = (upper.min / lower.max).ln();
    let error = found.standard_error.unwrap();
    assert!(gap > 2.0 * error && gap < 3.0 * error, "{gap} and {error}");
}

/// What was not measured so is data as well.
#[test]
fn kernels_without_figures_are_kept() {
    let mut record = quiet_record();
    // Of another thread count: no figure that the rule could judge.
    let other = PairCoordinates { threads: 4, ..pair(1, 1, "triad_nt") };
    add(&mut record, other, &[1e9]);
    let found = by_default(&record);
    assert_eq!(
        (found.kernels, found.absent_kernels),
        (vec!["triad".into()], vec!["triad_nt".into()])
    );
}
