//! A page of a thousand machines.

use std::fs;
use std::path::Path;

use nearfar_fleet::{MachineSummary, MedianSpan, RunFolder};
use serde_json::json;

use crate::page::open;
use crate::reports::nearfar;

/// A run of so many machines: one that was measured, and others that differ by noise; one has a slow memory.
fn fleet(folder: &Path, count: usize) -> RunFolder {
    let measured = folder.join("measured");
    let machine =
        ["--simulate", "amd-4p", "--only", "pairs", "--kernel", "triad", "--samples", "5"];
    let run = ["--machine", "n0", "--json", "--run", measured.to_str().unwrap()];
    let said = nearfar(&[&["characterize"], &machine[..], &run[..]].concat());
    let pattern = MachineSummary::read(said.as_bytes()).unwrap();
    let fleet = RunFolder::new(&folder.join("run"));
    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..count {
        let mut summary = pattern.clone();
        summary.machine = format!("n{number}").parse().unwrap();
        summary.record = None;
        for cell in &mut summary.cells {
            let noise: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let slow = if number == 77 && cell.to == Some(3) { 0.8 } else { 1.0 };
            let factor = slow * (0.02 * noise).exp();
            let span = cell.gb_per_s.unwrap();
            let [median, low, high] = [span.median, span.low, span.high].map(|it| it * factor);
            cell.gb_per_s = Some(MedianSpan { median, low, high });
        }
        fleet.begin(&summary.machine).unwrap().write_summary(&summary).unwrap();
    }
    fleet
}

#[test]
fn a_thousand_machines_open_in_a_real_browser() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = fleet(folder.path(), 1000);
    let page = folder.path().join("fleet.html");
    let run = fleet.path().to_str().unwrap();
    nearfar(&["fleet", "report", run, "-o", page.to_str().unwrap()]);
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.len() < 8_000_000, "{}", written.len());
    let (_, told) = open(&[page]);
    assert_eq!(told[0]["problems"], json!([]), "{}", told[0]);
    for chart in ["fleet-map", "fleet-spread"] {
        assert!(told[0]["charts"][chart].is_object(), "no {chart}: {}", told[0]);
    }
    assert_eq!(
        told[0]["first"]["tiles"],
        json!(["Bad", "Again", "Not judged", "Good"]),
        "{}",
        told[0]
    );
    assert!(written.contains("memory of node 3") && written.contains("n77"));
}
