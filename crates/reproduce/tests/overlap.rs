//! The hybrid model end to end: simulated machines, measured by the engine, fitted, predicted.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{Hybrid, HybridPair, OverlapBounds, PlacementName, RecordFigures, hybrid};
use nearfar_record::{Experiment, Inputs, Suite};
use serde_json::Value;

const DENOYELLE: &str = include_str!("../../../papers/denoyelle2019.json");

fn model(machine: &str, suite: Suite, noise: bool, bounds: OverlapBounds) -> Hybrid {
    let machine = read_machine(machine).unwrap();
    let inputs = Inputs { experiments: vec![Experiment::Hybrid], ..suite_inputs(suite) };
    let record = simulate(&machine, inputs, noise).unwrap();
    hybrid(&RecordFigures::new(&record), bounds).unwrap()
}

/// The printed overlaps of a machine beside those of a pair.
fn printed_beside_ours(machine: &str, pair: &HybridPair) -> Vec<(String, f64, f64)> {
    let facts: Value = serde_json::from_str(DENOYELLE).unwrap();
    let table = facts["overlap_theta"]["machines"][machine].as_object().unwrap();
    let rows = table.iter().flat_map(|(dominating, row)| {
        row.as_object().unwrap().iter().map(move |(beside, value)| {
            let own = pair
                .overlaps
                .iter()
                .find(|it| (it.dominating.as_str(), it.beside.as_str()) == (dominating, beside));
            let ours = own.unwrap().fit.found().unwrap().overlap_theta.value.0;
            (format!("{beside} beside {dominating}"), value.as_f64().unwrap(), ours)
        })
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 12);
    rows
}

/// The only overlap below 0 is held at 0, and only that one changes.
#[test]
fn with_bounds_the_negative_overlap_is_0() {
    let model = model("skylake-hybrid", Suite::Standard, false, OverlapBounds::NotNegative);
    for (what, printed, ours) in printed_beside_ours("skylake-hybrid", &model.pairs[0]) {
        assert!((printed.max(0.0) - ours).abs() < 5e-4, "{what}: {printed} and {ours}");
    }
}

/// The suite's own noise and rounds: overlaps and what is not fitted come near the truth.
#[test]
fn noise_moves_overlaps_little_and_predictions_less() {
    for machine in ["skylake-hybrid", "knl-flat"] {
        let model = model(machine, Suite::Full, true, OverlapBounds::None);
        let rows = printed_beside_ours(machine, &model.pairs[0]);
        for (what, printed, ours) in rows {
            assert!((printed - ours).abs() < 0.05, "{machine}, {what}: {printed} and {ours}");
        }
        let errors = model.pairs[0].errors.found().unwrap();
        assert!(errors.points == 117 && errors.relative_rms < 0.025, "{machine}: {errors:?}");
    }
}

/// The data of a program on Knights Landing lies in DRAM by itself: all of it belongs into MCDRAM,
/// and nothing that is only read is to leave it.
#[test]
fn knights_landing_is_told_to_use_its_fast_memory() {
    let model = model("knl-flat", Suite::Standard, true, OverlapBounds::NotNegative);
    let pair = &model.pairs[0];
    assert_eq!((pair.fast_node, pair.default_node), (1, Some(0)));
    for loads in [0.0, 0.5, 2.0 / 3.0, 1.0] {
        let answer = pair.answer(loads, &[]).unwrap();
        assert_eq!(answer.default, PlacementName::AllSlow);
        assert_eq!(answer.recommended, Some(PlacementName::AllFast), "{loads}");
    }
}
