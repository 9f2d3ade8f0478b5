//! The views of `model roofline` and of what `predict` asks it, with every optional field given
//! and null.

use std::collections::HashSet;
use std::mem::discriminant;

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{Chart, ProgramPoint, RecordFigures, RoofValidation, Roofline, roofline};
use nearfar_record::{Experiment, Inputs, Record, Roof, Suite};
use nearfar_report::{HybridRoofView, PredictRooflineView, RooflineView};
use serde_json::Value;

use crate::{assert_valid, program, validator};

/// Where null stands for something that is not known or does not apply, in `roofline`.
pub const NULLS: &[&str] = &[
    "charts[].within_of",
    "charts[].ceiling",
    "charts[].roofs[].roof.level",
    "charts[].roofs[].roof.node",
    "charts[].roofs[].roof.is_local",
    "charts[].roofs[].roof.clusters",
    "charts[].roofs[].roof.memory_kind",
    "charts[].validations[].roof.level",
    "charts[].validations[].roof.node",
    "charts[].validations[].roof.is_local",
    "charts[].validations[].roof.clusters",
    "charts[].validations[].roof.memory_kind",
    "charts[].validations[].errors",
    "charts[].programs[].alone[].roof.level",
    "charts[].programs[].alone[].roof.node",
    "charts[].programs[].alone[].roof.is_local",
    "charts[].programs[].alone[].roof.clusters",
    "charts[].programs[].alone[].roof.memory_kind",
    "charts[].programs[].alone_factor",
    "charts[].programs[].together[].roof.level",
    "charts[].programs[].together[].roof.node",
    "charts[].programs[].together[].roof.is_local",
    "charts[].programs[].together[].roof.clusters",
    "charts[].programs[].together[].roof.memory_kind",
    "charts[].programs[].together_factor",
];

/// The same in `predict-roofline`.
pub const PREDICT_NULLS: &[&str] = &[
    "load_share",
    "points[].program",
    "points[].gflop_per_s",
    "points[].clusters[].ceiling_gflop_per_s",
    "points[].clusters[].roofs[].roof.level",
    "points[].clusters[].roofs[].roof.node",
    "points[].clusters[].roofs[].roof.is_local",
    "points[].clusters[].roofs[].roof.clusters",
    "points[].clusters[].roofs[].roof.memory_kind",
    "points[].clusters[].roofs[].ratio",
    "points[].clusters[].hybrid_roofs[].gb_per_s",
    "points[].clusters[].hybrid_roofs[].interval_gb_per_s",
    "points[].clusters[].hybrid_roofs[].lowest_gb_per_s",
    "points[].clusters[].hybrid_roofs[].highest_gb_per_s",
    "points[].clusters[].hybrid_roofs[].attainable_gflop_per_s",
    "points[].clusters[].hybrid_roofs[].ratio",
    "points[].clusters[].hybrid_roofs[].standing",
    "points[].clusters[].hybrid_roofs[].relative_rms",
    "points[].clusters[].lowest_above",
    "points[].clusters[].lowest_above.roof.level",
    "points[].clusters[].lowest_above.roof.node",
    "points[].clusters[].lowest_above.roof.is_local",
    "points[].clusters[].lowest_above.roof.clusters",
    "points[].clusters[].lowest_above.roof.memory_kind",
    "points[].clusters[].standing",
];

/// A cluster with a roof of every sort, points below one of them and none below another.
fn known() -> (Record, Roofline) {
    let inputs = Inputs { experiments: vec![Experiment::Roofs], ..suite_inputs(Suite::Standard) };
    let record = simulate(&read_machine("knl-flat").unwrap(), inputs, true).unwrap();
    let mut model = roofline(&RecordFigures::new(&record)).unwrap();
    model.charts.truncate(1);
    for chart in &mut model.charts {
        chart.within_of = Some(1);
        let mut seen = HashSet::new();
        chart
            .roofs
            .retain(|of| of.kernel == "load" && seen.insert((discriminant(&of.roof), of.is_local)));
        chart.validations.truncate(2);
        if let Some(validation) = chart.validations.last_mut() {
            validation.points.clear();
            validation.errors = None;
        }
    }
    (record, model)
}

/// A cluster without arithmetic that reaches one memory.
fn bare(mut chart: Chart) -> Chart {
    chart.cluster = 7;
    chart.within_of = None;
    chart.ceilings.clear();
    chart.validations.clear();
    chart.roofs.retain(|roof| roof.kernel == "load" && roof.is_local == Some(true));
    chart.roofs.truncate(1);
    chart.roofs.iter_mut().for_each(|roof| roof.ridges.clear());
    chart
}

/// Programs at a roof, above all, and of which nothing but the intensity is known.
fn points() -> [ProgramPoint; 3] {
    [Some(11.4e9), Some(1e15), None].map(|flops| ProgramPoint { intensity: 0.125, flops })
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let (record, mut model) = known();
    model.charts.push(bare(model.charts[0].clone()));
    let unknown = PredictRooflineView::new(&record, &model, &points(), None);
    let mut known = unknown.clone();
    known.load_share = Some(0.67);
    let roof = |known: bool| HybridRoofView {
        fast_node: 1,
        slow_node: 0,
        fast_share: 0.5,
        gb_per_s: known.then_some(50.0),
        interval_gb_per_s: known.then_some([48.0, 52.0]),
        lowest_gb_per_s: known.then_some(49.0),
        highest_gb_per_s: known.then_some(51.0),
        attainable_gflop_per_s: known.then_some(6.25),
        ratio: known.then_some(0.5),
        standing: known.then_some("below"),
        relative_rms: known.then_some(0.02),
    };
    known.points[0].clusters[0].hybrid_roofs = vec![roof(true), roof(false)];
    known.points[0].program = Some("triad".into());
    vec![
        ("roofline", serde_json::to_value(RooflineView::new(&record, &model)).unwrap()),
        ("predict-roofline", serde_json::to_value(unknown).unwrap()),
        ("predict-roofline", serde_json::to_value(known).unwrap()),
    ]
}

/// Where points are as far off as a disturbed machine leaves them, no text advises anything by the
/// roofs, and both say what to do.
#[test]
fn refuted_roofs_advise_nothing() {
    let inputs = Inputs { experiments: vec![Experiment::Roofs], ..suite_inputs(Suite::Standard) };
    let record = simulate(&read_machine("joe0").unwrap(), inputs, true).unwrap();
    let mut model = roofline(&RecordFigures::new(&record)).unwrap();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ask = |model: &Roofline, flops| {
        let point = ProgramPoint { intensity: 0.125, flops };
        let asked = PredictRooflineView::new(&record, model, &[point], None);
        let view = serde_json::to_value(&asked).unwrap();
        assert_valid(&validator("predict-roofline"), &view);
        flat(asked.text())
    };
    let at_local = Some(36.1e9 / 8.0);
    assert!(ask(&model, at_local).contains("its pages are as near as they can be"));
    let caches = |of: &&mut RoofValidation| matches!(of.roof, Roof::Cache { .. });
    let charts = model.charts.iter_mut().flat_map(|chart| &mut chart.validations);
    for errors in charts.filter(|of| !caches(of)).filter_map(|of| of.errors.as_mut()) {
        errors.relative_rms = 0.32;
    }
    let again = "`nearfar characterize --simulate joe0 --suite standard --only roofs`";
    let view = RooflineView::new(&record, &model);
    assert_valid(&validator("roofline"), &serde_json::to_value(&view).unwrap());
    let text = flat(view.text());
    for text in [text, ask(&model, at_local), ask(&model, None), ask(&model, Some(1e8))] {
        assert!(text.contains("foretells nothing here: points of known intensity"), "{text}");
        assert!(text.contains("are off by 32 % (relative RMS"), "{text}");
        assert!(text.contains("Measure again while nothing else runs") && text.contains(again));
        for advice in ["expect", "at this roof", "does not limit", "no bandwidth", "64 %"] {
            assert!(!text.contains(advice), "{advice}: {text}");
        }
    }
}

#[test]
fn the_roofline_of_simulated_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    for machine in ["knl-flat", "two-socket-cxl"] {
        let arguments = ["--suite", "standard", "--only", "roofs,hybrid", "--simulate", machine];
        program::nearfar(&[&["characterize", "--force", "--out", path][..], &arguments].concat());
        let json = |arguments: &[&str]| program::json_of(&program::nearfar(arguments), &[0]);
        assert_valid(&validator("roofline"), &json(&["model", path, "roofline", "--json"]));
        let predict = ["predict", path, "--json", "--point", "0.125,4.7", "--point", "30"];
        let shares = ["--load-share", "0.67", "--fast-share", "0.5", "--fast-share", "1"];
        assert_valid(&validator("predict-roofline"), &json(&predict));
        let of_two = json(&[&predict[..], &shares].concat());
        assert_valid(&validator("predict-roofline"), &of_two);
        let own = &of_two["points"][0]["clusters"][0]["hybrid_roofs"];
        assert!(own[0]["gb_per_s"].as_f64() < own[1]["gb_per_s"].as_f64(), "{own:#}");
    }
}
