//! What is said about classes: each sentence when it is so, and not otherwise.

use nearfar_model::{ClassRule, RecordFigures, classes};
use nearfar_record::{Absence, Coordinates, PairCoordinates, ReasonCode, Record};
use nearfar_specimen::{absent, add_alone, disturb, machine, pair, record};

fn add(record: &mut Record, place: PairCoordinates, rounds: &[f64]) {
    add_alone(record, Coordinates::Pairs(place), rounds);
}

fn triad(initiator: u32, node: u32) -> PairCoordinates {
    pair(initiator, node, "triad")
}

/// Six rounds of a pair: 1, 1 - d, 1 - 2d .. of its best, so that their standard deviation
/// is 1.87 d.
fn rounds(best: f64, step: f64) -> Vec<f64> {
    (0..6).map(|round| 1e9 * best * (1.0 - step * f64::from(round))).collect()
}

fn quiet_record() -> Record {
    let mut record = record();
    for (initiator, node, best) in [(0, 0, 10.0), (0, 1, 6.0), (1, 0, 6.0), (1, 1, 10.0)] {
        add(&mut record, triad(initiator, node), &rounds(best, 0.001));
    }
    record
}

fn notes(record: &Record) -> Vec<String> {
    classes(&RecordFigures::new(record), &ClassRule::default()).unwrap().notes
}

fn assert_one(notes: &[String], words: &[&str]) {
    let fitting = notes.iter().filter(|note| words.iter().all(|word| note.contains(word))).count();
    assert_eq!(fitting, 1, "{words:?} in {notes:?}");
}

#[test]
fn nothing_is_said_of_a_quiet_record() {
    assert_eq!(notes(&quiet_record()), Vec::<String>::new());
}

#[test]
fn noise_is_that_of_the_rounds() {
    let found = classes(&RecordFigures::new(&quiet_record()), &ClassRule::default()).unwrap();
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
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    assert_eq!((found.noise, found.standard_error, found.fewest_rounds), (None, None, 1));
    assert_one(&found.notes, &["1 round only", "at least 5"]);
    assert_one(&found.notes, &["scatter of rounds is unknown"]);
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
        for &(initiator, node) in pairs {
            add(&mut record, triad(initiator, node), &rounds(10.0, 0.001));
        }
        notes(&record)
    };
    for local in [&[(0, 0)][..], &[(0, 0), (1, 1)]] {
        assert_one(&notes_of(local), &["nothing here is remote"]);
    }
    // The local memory of node 1 was refused: what is left of node 1 is remote.
    for remote in [&[(0, 1)][..], &[(0, 1), (1, 0)]] {
        let notes = notes_of(remote);
        assert_one(&notes, &["class 0 here is remote"]);
        assert!(!notes.iter().any(|note| note.contains("nothing here")), "{notes:?}");
    }
    assert_eq!(notes_of(&[(0, 0), (0, 1)]), Vec::<String>::new());
    assert_eq!(notes_of(&[(0, 0), (1, 0)]), Vec::<String>::new());
}

/// "All threads" are the most that were planned, which need not be all cores.
#[test]
fn fewer_threads_than_cores_are_counted() {
    let notes_by = |threads: u32| {
        let mut record = quiet_record();
        give_machine(&mut record);
        let load = rounds(20.0, 0.001);
        for (initiator, node) in [(0, 0), (1, 1)] {
            let more = PairCoordinates { threads, ..pair(initiator, node, "load") };
            add(&mut record, more, &load);
        }
        notes(&record)
    };
    assert_eq!(notes_by(4), Vec::<String>::new());
    let words = ["3 of 4 cores of cluster 0", "3 of 4 cores of cluster 1"];
    assert_one(&notes_by(3), &words);
}

/// Cluster 0 was refused on node 2; cluster 1 was measured there with another kernel only.
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
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    let pairs: usize = found.sets[0].classes.iter().map(|class| class.pairs.len()).sum();
    assert_eq!(pairs, 4);
    assert_one(&found.notes, &["1 pair left out", "refused", "cluster 0 on node 2", "no room"]);
    assert_one(&found.notes, &["1 pair left out", "not measured", "cluster 1 on node 2"]);
}

#[test]
fn figures_of_disturbed_windows_only_are_named() {
    let mut record = quiet_record();
    disturb(&mut record, "pairs/cluster1/node0/triad/avx2/t1");
    assert_one(&notes(&record), &["1 pair rests on disturbed windows only: cluster 1 on node 0"]);
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
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    assert_eq!(found.sets[0].classes.len(), 1);
    assert!(found.sets[0].classes[0].widened_by_noise);
    assert_one(&found.notes, &["class 0", "spans 9.0 %", "16 pairs"]);
    assert_one(&found.notes, &["16 pairs of the largest class", "--samples"]);
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
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    assert!(found.sets[0].classes.len() > 1);
    assert!(found.sets[0].classes[0].border_within_noise);
    assert_one(&found.notes, &["arbitrary border", "between classes 0 and 1", "3 standard errors"]);
    // The gap that is called too small is: 0.6 % of the upper value.
    let (upper, lower) = (&found.sets[0].classes[0], &found.sets[0].classes[1]);
    let gap = (upper.min / lower.max).ln();
    let error = found.standard_error.unwrap();
    assert!(gap > 2.0 * error && gap < 3.0 * error, "{gap} and {error}");
}

/// Many borders within the scatter are one sentence.
#[test]
fn many_borders_are_one_note() {
    let mut record = record();
    for place in 0..64 {
        let best = 10.0 * 0.99_f64.powi(place);
        let (initiator, node) =
            (u32::try_from(place / 8).unwrap(), u32::try_from(place % 8).unwrap());
        add(&mut record, triad(initiator, node), &rounds(best, 0.004));
    }
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    let borders = found.sets[0].classes.iter().filter(|class| class.border_within_noise).count();
    assert!(borders > 5, "{borders}");
    assert_one(&found.notes, &["arbitrary borders", "0 and 1", &format!("{} more", borders - 4)]);
}

/// What was refused or not measured so is data as well: a map can show it, a forecast say why.
#[test]
fn pairs_left_out_and_kernels_without_figures_are_kept() {
    let mut record = with_pairs_left_out();
    // Of another thread count: no figure that the rule could judge.
    let other = PairCoordinates { threads: 4, ..pair(1, 1, "triad_nt") };
    add(&mut record, other, &[1e9]);
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    let left_out: Vec<(u32, u32, Option<&str>)> = found
        .left_out
        .iter()
        .map(|out| (out.initiator, out.memory_node, out.refused.as_deref()))
        .collect();
    assert_eq!(left_out, [(0, 2, Some("node 2 has no room")), (1, 2, None)]);
    assert_eq!(found.absent_kernels, ["triad_nt"]);
}
