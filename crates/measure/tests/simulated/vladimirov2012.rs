//! The figures of vladimirov2012, measured on the simulated machine that carries them.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{
    Affinity, Aggregate, Coordinates, Experiment, Inputs, Part, Record, Suite, Work,
};
use serde_json::Value;

const PAPER: &str = include_str!("../../../../papers/vladimirov2012.json");

fn paper() -> Value {
    serde_json::from_str::<Value>(PAPER).unwrap()["scaling"].take()
}

/// The paper's row of a thread count and an affinity.
fn row(threads: u64, affinity: &str) -> Value {
    let paper = paper();
    assert_eq!((paper["unit"].as_str(), paper["kernel"].as_str()), (Some("GB/s"), Some("copy")));
    let rows = paper["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["threads"] == threads && row["affinity"] == affinity);
    found.unwrap().clone()
}

fn measured(noise: bool) -> Record {
    let inputs = Inputs {
        experiments: vec![Experiment::Scaling],
        kernels: Some(vec!["copy".into()]),
        runs: 200,
        ..suite_inputs(Suite::Full)
    };
    simulate(&read_machine("e7-4870").unwrap(), inputs, noise).unwrap()
}

/// GB/s of every run.
fn runs(record: &Record, threads: u32, affinity: Affinity) -> Vec<f64> {
    let is_there = |place: &Coordinates| match place {
        Coordinates::Scaling(place) => (place.threads, place.affinity) == (threads, affinity),
        _ => false,
    };
    let case = record.cases.iter().find(|case| case.coordinates.iter().any(is_there)).unwrap();
    let samples = record.samples.iter().filter(|sample| sample.case == case.id);
    samples.map(|sample| sample.rate(Part::Case, Work::UsefulBytes, Aggregate::Sum) / 1e9).collect()
}

fn mean(values: &[f64]) -> f64 {
    let count = f64::from(u32::try_from(values.len()).unwrap());
    values.iter().sum::<f64>() / count
}

#[track_caller]
fn assert_within(ours: f64, printed: &Value, fraction: f64) {
    let printed = printed.as_f64().unwrap();
    assert!((ours / printed - 1.0).abs() <= fraction, "{ours} instead of {printed}");
}

/// Unpinned threads fall into several modes, pinned ones into one: without noise as well.
#[test]
fn pinning_makes_one_mode_of_several() {
    let record = measured(false);
    let unbound = runs(&record, 20, Affinity::Unbound);
    assert_eq!(unbound.len(), 200);
    let printed = row(20, "unbound");
    let modes: Vec<f64> =
        printed["modes"].as_array().unwrap().iter().map(|mode| mode.as_f64().unwrap()).collect();
    let near = |mode: f64| unbound.iter().filter(|&run| (run / mode - 1.0).abs() < 0.03).count();
    let seen: Vec<usize> = modes.iter().map(|&mode| near(mode)).collect();
    assert_eq!(seen.iter().sum::<usize>(), 200, "{seen:?} of {modes:?}");
    assert!(seen.iter().filter(|&&count| count >= 10).count() >= 3, "{seen:?} of {modes:?}");
    // The standard error of 200 runs is 0.4 of 67.
    assert_within(mean(&unbound), &printed["mean"], 0.03);

    let scatter = runs(&record, 20, Affinity::Scatter);
    assert!(scatter.iter().all(|run| run.to_bits() == scatter[0].to_bits()), "{scatter:?}");
    let range = paper()["best_scatter"]["mean"].as_f64().unwrap()..=modes[3];
    assert!(range.contains(&scatter[0]), "{} of {range:?}", scatter[0]);
    assert_within(mean(&runs(&record, 20, Affinity::Compact)), &row(20, "compact")["mean"], 0.03);
    assert_within(mean(&runs(&record, 1, Affinity::Scatter)), &row(1, "unbound")["mean"], 0.01);
}

/// With its noise the spread is as printed: pinned threads scatter hardly at all.
#[test]
fn pinning_takes_most_of_the_spread() {
    let record = measured(true);
    let deviation = |affinity| {
        let runs = runs(&record, 20, affinity);
        let mean = mean(&runs);
        let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
        (squares / f64::from(u32::try_from(runs.len()).unwrap())).sqrt()
    };
    let (unbound, scatter) = (deviation(Affinity::Unbound), deviation(Affinity::Scatter));
    // 6 and 0.3 GB/s; outliers are part of ours.
    assert!((4.0..12.0).contains(&unbound), "{unbound}");
    assert!(scatter < unbound / 2.0, "{scatter} against {unbound}");
}
