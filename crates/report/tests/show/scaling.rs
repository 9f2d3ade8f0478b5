use nearfar_record::{Absence, Affinity, Coordinates, Experiment, ReasonCode, Record};
use nearfar_specimen::{absent, add, case_at, done, scaling};
use serde_json::{Value, json};

use crate::{near, record, shown};

/// Runs of threads, of which one is slower than the others by a fifth.
fn add_runs(record: &mut Record, threads: u32, affinities: &[Affinity], runs: &[f64]) {
    let place = |affinity: &Affinity| Coordinates::Scaling(scaling(threads, *affinity));
    let mut case = case_at(&record.header.machine, place(&affinities[0]));
    case.coordinates = affinities.iter().map(place).collect();
    let seen = |slowest: &f64| {
        let mut each = vec![slowest * 1.25e9; threads as usize];
        each[0] = slowest * 1e9;
        vec![done(&case.actors[0], &each)]
    };
    let rounds: Vec<_> = runs.iter().map(seen).collect();
    add(record, case, rounds);
}

/// The unbound runs fall in two modes, the scattered ones in one.
fn handmade() -> Record {
    let mut record = record(&[Experiment::Scaling]);
    add_runs(&mut record, 1, &[Affinity::Unbound], &[5.0, 5.1, 5.2]);
    add_runs(&mut record, 1, &[Affinity::Compact, Affinity::Scatter], &[5.2, 5.2, 5.2]);
    let unbound: Vec<f64> = (0..10).map(|run| if run < 4 { 2.5 } else { 4.0 }).collect();
    add_runs(&mut record, 4, &[Affinity::Unbound], &unbound);
    add_runs(&mut record, 4, &[Affinity::Scatter], &[4.0, 4.02, 4.01]);
    add_runs(&mut record, 4, &[Affinity::Compact], &[]);
    let case = "scaling/copy/avx2/t4/compact";
    absent(&mut record, case, Absence::Refused, ReasonCode::NoRoom, "node 0 is full");
    record
}

#[test]
fn runs_are_shown_by_threads_and_affinity() {
    let view = shown("scaling", &handmade());
    let at = |threads: u32, affinity: &str| -> &Value {
        let all = view["scaling"].as_array().unwrap();
        all.iter().find(|one| one["threads"] == threads && one["affinity"] == affinity).unwrap()
    };
    let unbound = at(4, "unbound");
    // 4 x the slowest thread: 10 in four runs, 16 in six.
    assert!(near(&unbound["paced"]["mean_gb_per_s"], 13.6));
    assert!(near(&unbound["paced"]["min_gb_per_s"], 10.0));
    assert!(near(&unbound["paced"]["max_gb_per_s"], 16.0));
    assert!(near(
        &unbound["paced"]["deviation_gb_per_s"],
        (4.0 * 3.6 * 3.6 + 6.0 * 2.4 * 2.4_f64).sqrt() / 3.0
    ));
    assert!(near(&unbound["sum"]["max_gb_per_s"], 4.0 + 3.0 * 5.0));
    assert_eq!(unbound["paced"]["runs_gb_per_s"].as_array().unwrap().len(), 10);
    assert_eq!(unbound["bandwidth"]["rounds"], 10);
    // One case that stands for two affinities is there for both.
    assert_eq!(at(1, "compact")["case"], at(1, "scatter")["case"]);
    let refused = at(4, "compact");
    assert_eq!((&refused["paced"], &refused["bandwidth"]), (&Value::Null, &Value::Null));
    assert_eq!(refused["refused"][0]["code"], "no_room");
    assert_eq!(refused["omitted"], json!([]));
}

#[test]
fn runs_that_are_alike_have_no_histogram() {
    let mut record = record(&[Experiment::Scaling]);
    add_runs(&mut record, 4, &[Affinity::Scatter], &[4.0, 4.001, 4.002]);
    let text = nearfar_report::ShowView::new(&record).text();
    assert!(text.contains("no count's runs are more than 1 % apart"), "{text}");
    assert!(!text.contains('#'), "{text}");
}

#[test]
fn many_runs_are_drawn_with_several_to_a_character() {
    let mut record = record(&[Experiment::Scaling]);
    let runs: Vec<f64> = (0..240).map(|run| if run < 120 { 10.0 } else { 20.0 }).collect();
    add_runs(&mut record, 4, &[Affinity::Unbound], &runs);
    let text = nearfar_report::ShowView::new(&record).text();
    assert!(text.contains("one # for 3"), "{text}");
    let bars: Vec<&str> =
        text.lines().filter(|line| line.contains('#') && !line.contains("for")).collect();
    let lengths: Vec<usize> = bars.iter().map(|bar| bar.matches('#').count()).collect();
    assert_eq!(lengths, [40, 40], "{text}");
    assert!(text.lines().filter(|line| line.contains(" - ")).count() <= 14, "{text}");
}
