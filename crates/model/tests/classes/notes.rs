//! What is said about classes: each sentence when it is so, and not otherwise.

use nearfar_model::{ClassRule, classes};
use nearfar_record::{Absence, Absent, Disturbance, Reason, ReasonCode, Record};

use crate::handmade_record::{Measured, add_case, coordinates, empty_record};

fn measured<'a>(initiator: u32, node: u32, rounds: &'a [f64]) -> Measured<'a> {
    Measured { initiator, node, kernel: "triad", variant: "sse2", threads: 1, rounds }
}

/// Six rounds of a pair: 1, 1 - d, 1 - 2d .. of its best, so that their standard deviation
/// is 1.87 d.
fn rounds(best: f64, step: f64) -> Vec<f64> {
    (0..6).map(|round| 1e9 * best * (1.0 - step * f64::from(round))).collect()
}

fn quiet_record() -> Record {
    let mut record = empty_record();
    for (initiator, node, best) in [(0, 0, 10.0), (0, 1, 6.0), (1, 0, 6.0), (1, 1, 10.0)] {
        add_case(&mut record, &measured(initiator, node, &rounds(best, 0.001)));
    }
    record
}

fn notes(record: &Record) -> Vec<String> {
    classes(record, &ClassRule::default()).unwrap().notes
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
    let found = classes(&quiet_record(), &ClassRule::default()).unwrap();
    // sd of 0..5 steps is 1.871 steps, over a mean of 0.9975; six values fall short
    // of the true deviation by 0.934, and the best of six keeps 0.645 of it.
    let noise = 0.001 * 1.8708 / 0.9975 / 0.9341;
    assert!((found.noise.unwrap() / noise - 1.0).abs() < 1e-3);
    assert!((found.standard_error.unwrap() / (noise * 0.645) - 1.0).abs() < 5e-3);
}

#[test]
fn one_round_has_no_noise_and_is_few() {
    let mut record = empty_record();
    add_case(&mut record, &measured(0, 0, &[10e9]));
    add_case(&mut record, &measured(0, 1, &[6e9]));
    let found = classes(&record, &ClassRule::default()).unwrap();
    assert_eq!((found.noise, found.standard_error, found.fewest_rounds), (None, None, 1));
    assert_one(&found.notes, &["1 round only", "at least 5"]);
    assert_one(&found.notes, &["noise is unknown"]);
}

#[test]
fn one_node_has_nothing_remote() {
    let mut record = empty_record();
    add_case(&mut record, &measured(0, 0, &rounds(10.0, 0.001)));
    let found = classes(&record, &ClassRule::default()).unwrap();
    assert_eq!(found.sets[0].classes.len(), 1);
    assert_one(&found.notes, &["node 0", "nothing here is remote"]);
}

#[test]
fn refused_and_unmeasured_pairs_are_left_out_and_named() {
    let mut record = quiet_record();
    let refused = measured(0, 2, &[]);
    record.absent.push(Absent {
        case: "pairs/cluster0/node2/triad/sse2/t1".into(),
        coordinates: vec![coordinates(&refused)],
        absence: Absence::Refused,
        reason: Reason { code: ReasonCode::NoRoom, text: "node 2 has no room".into() },
        round: None,
    });
    add_case(&mut record, &Measured { kernel: "load", ..measured(1, 2, &[1e9]) });
    let found = classes(&record, &ClassRule::default()).unwrap();
    let pairs: usize = found.sets[0].classes.iter().map(|class| class.pairs.len()).sum();
    assert_eq!(pairs, 4);
    assert_one(&found.notes, &["1 pair left out", "refused", "0 on node 2", "no room"]);
    assert_one(&found.notes, &["1 pair left out", "not measured", "1 on node 2"]);
}

#[test]
fn figures_of_disturbed_windows_only_are_named() {
    let mut record = quiet_record();
    for sample in record.samples.iter_mut().filter(|sample| sample.case.contains("cluster1/node0"))
    {
        sample.disturbances.push(Disturbance::Moved { threads: 1 });
    }
    assert_one(&notes(&record), &["1 pair", "disturbed", "1 on node 0"]);
}

/// One level, whose pairs' best rounds lie evenly over 9 %, with rounds that scatter
/// enough to explain that.
#[test]
fn a_class_that_noise_widens_says_so_and_asks_for_rounds() {
    let mut record = empty_record();
    for place in 0..16 {
        let best = 10.0 * (1.0 - 0.006 * f64::from(place));
        add_case(&mut record, &measured(place / 4, place % 4, &rounds(best, 0.01)));
    }
    let found = classes(&record, &ClassRule::default()).unwrap();
    assert_eq!(found.sets[0].classes.len(), 1);
    assert!(found.sets[0].classes[0].widened_by_noise);
    assert_one(&found.notes, &["class 0", "spans 9.0 %", "16 pairs"]);
    assert_one(&found.notes, &["16 pairs of the largest class", "--samples"]);
}

/// The same without that noise are two classes, and with a little of it their border is
/// arbitrary.
#[test]
fn a_border_within_the_noise_says_so() {
    let mut record = empty_record();
    for place in 0..32 {
        let best = 10.0 * (1.0 - 0.006 * f64::from(place));
        add_case(&mut record, &measured(place / 4, place % 4, &rounds(best, 0.004)));
    }
    let found = classes(&record, &ClassRule::default()).unwrap();
    assert!(found.sets[0].classes.len() > 1);
    assert!(found.sets[0].classes[0].border_within_noise);
    assert_one(&found.notes, &["between classes 0 and 1 is arbitrary"]);
}
