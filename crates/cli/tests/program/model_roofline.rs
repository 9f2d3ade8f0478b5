//! The roofline of a record, by the command line.

use std::fs;

use nearfar_document::{PredictRooflineView, RooflineView};
use nearfar_model::{ProgramPoint, RecordFigures, RoofValidation, Roofline, roofline};
use nearfar_record::{Roof, read_record};
use serde_json::Value;

use crate::records::{json, record};

/// The interval of a figure, GB/s.
fn interval(of: &Value) -> [f64; 2] {
    [0, 1].map(|end| of["interval_gb_per_s"][end].as_f64().unwrap())
}

/// denoyelle2019, section 6: of a program over two memories the hybrid model gives the roof.
#[test]
fn a_program_over_two_memories_has_its_own_roof() {
    let predict = "predict @knl-flat --load-share 1 --fast-share";
    let view = json(&format!("{predict} 0 --fast-share 1 --point 0.125,11"));
    let cluster = &view["points"][0]["clusters"][0];
    let roof = |limit: &str, node: u32| {
        let roofs = cluster["roofs"].as_array().unwrap().iter();
        let found = roofs.clone().find(|under| {
            under["roof"]["limit"] == limit
                && under["roof"]["node"] == node
                && under["kernel"] == "load"
        });
        found.unwrap()["gb_per_s"].as_f64().unwrap()
    };
    // Loads from one memory alone: the roof is that memory's.
    for (own, node) in cluster["hybrid_roofs"].as_array().unwrap().iter().zip([0, 1]) {
        let own = own["gb_per_s"].as_f64().unwrap();
        assert!((own / roof("memory", node) - 1.0).abs() < 0.03, "{own} on node {node}");
    }
    // At the jump of equation 5 the roof is an interval, the same that the hybrid model tells.
    let asked = json(&format!("{predict} 0.7065"));
    let placements = asked["pairs"][0]["answer"]["placements"].as_array().unwrap();
    let asked = placements.iter().find(|of| of["name"] == "asked").unwrap();
    let [low, high] = interval(asked);
    let own = |gb_per_s: f64| {
        let view = json(&format!("{predict} 0.7065 --point 0.125,{}", gb_per_s / 8.0));
        view["points"][0]["clusters"][0]["hybrid_roofs"][0].clone()
    };
    let inside = own(low * 0.97);
    let [from, to] = interval(&inside);
    assert!((from / low - 1.0).abs() < 1e-12 && (to / high - 1.0).abs() < 1e-12, "{inside:#}");
    assert_eq!(inside["standing"], "at_memories", "{inside:#}");
    assert_eq!(own(low * 0.9)["standing"], "below");
    assert_eq!(own(high * 1.1)["standing"], "above");
}

#[test]
fn refuted_roofs_advise_nothing() {
    let record = read_record(fs::File::open(record("joe0")).unwrap()).unwrap();
    let mut model = roofline(&RecordFigures::new(&record)).unwrap();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ask = |model: &Roofline, flops| {
        let point = ProgramPoint { intensity: 0.125, flops };
        let asked = PredictRooflineView::new(&record, model, &[point], None);
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
