//! The roofline of a record, by the command line.

use std::fs;

use nearfar_document::{ModelResult, Room, model_answer, programs_below_roofs};
use nearfar_model::{
    IntensityKind, ModelChoices, ModelKind, ProgramPoint, RecordFigures, roofline,
};
use nearfar_record::{Coordinates, Record, Roof, RoofPurpose, read_record};
use nearfar_units::FlopsPerSecond;
use serde_json::Value;

const ALL: Room = Room { width: 100, full: true };

use crate::records::{json, record};

/// Two numbers.
fn ends(of: &Value) -> [f64; 2] {
    [0, 1].map(|end| of[end].as_f64().unwrap())
}

/// denoyelle2019, section 6: of a program over two memories the hybrid model gives the roof.
#[test]
fn a_program_over_two_memories_has_its_own_roof() {
    let predict = "predict @knl-flat --load-share 1 --fast-share";
    let view = json(&format!("{predict} 0 --fast-share 1 --point 0.125,11"));
    let initiator = &view["points"][0]["initiators"][0];
    let roof = |limit: &str, node: u32| {
        let roofs = initiator["roofs"].as_array().unwrap().iter();
        let found = roofs.clone().find(|under| {
            under["roof"]["limit"] == limit
                && under["roof"]["node"] == node
                && under["kernel"] == "load"
        });
        found.unwrap()["gb_per_s"]["value"].as_f64().unwrap()
    };
    // Loads from one memory alone: the roof is that memory's.
    for (own, node) in initiator["hybrid_roofs"].as_array().unwrap().iter().zip([0, 1]) {
        let own = own["gb_per_s"]["value"].as_f64().unwrap();
        assert!((own / roof("memory", node) - 1.0).abs() < 0.03, "{own} on node {node}");
    }
    // At the jump of equation 5 the roof is an interval, the same that the hybrid model tells.
    let asked = json(&format!("{predict} 0.7065"));
    let placements = asked["pairs"][0]["placements"].as_array().unwrap();
    let asked = placements.iter().find(|of| of["name"] == "asked").unwrap();
    let [low, high] = ends(&asked["gb_per_s"]["interval"]);
    let own = |gb_per_s: f64| {
        let view = json(&format!("{predict} 0.7065 --point 0.125,{}", gb_per_s / 8.0));
        view["points"][0]["initiators"][0]["hybrid_roofs"][0].clone()
    };
    let inside = own(low * 0.97);
    let [from, to] = ends(&inside["gb_per_s"]["interval"]);
    assert!((from / low - 1.0).abs() < 1e-12 && (to / high - 1.0).abs() < 1e-12, "{inside:#}");
    assert_eq!(inside["standing"], "at_memories", "{inside:#}");
    assert_eq!(own(low * 0.9)["standing"], "below");
    assert_eq!(own(high * 1.1)["standing"], "above");
}

/// The points below roofs of memory reach 68 % of what they did.
fn slow_points(record: &mut Record) {
    let is_slow = |coordinates: &Coordinates| {
        matches!(coordinates, Coordinates::Roofs(place)
            if place.purpose == RoofPurpose::Validation && !matches!(place.roof, Roof::Cache { .. }))
    };
    let cases = record.cases.iter().filter(|case| case.coordinates.iter().any(is_slow));
    let slow: Vec<&String> = cases.map(|case| &case.id).collect();
    for sample in record.samples.iter_mut().filter(|sample| slow.contains(&&sample.case)) {
        sample.window_ns = sample.window_ns * 100 / 68;
    }
}

#[test]
fn refuted_roofs_advise_nothing() {
    let mut record = read_record(fs::File::open(record("joe0")).unwrap()).unwrap();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ask = |record: &Record, gflop: Option<f64>| {
        let flops = gflop.map(|gflop| FlopsPerSecond(gflop * 1e9));
        let point = ProgramPoint { kind: IntensityKind::Arithmetic, intensity: 0.125, flops };
        let placed = roofline(&RecordFigures::new(record)).unwrap().place(&[point], None);
        flat(programs_below_roofs(&ModelResult::new("", record, placed)).text(ALL))
    };
    let at_local = Some(36.1 / 8.0);
    assert!(ask(&record, at_local).contains("its pages are as near as they can be"));
    slow_points(&mut record);
    let again = "nearfar characterize --simulate joe0 --suite standard --only roofs";
    let choices = ModelChoices::default();
    let fit = ModelKind::Roofline.fit(&RecordFigures::new(&record), &choices).unwrap();
    let text = flat(model_answer(&record, &fit.unwrap()).text(ALL));
    for text in [text, ask(&record, at_local), ask(&record, None), ask(&record, Some(0.1))] {
        assert!(text.contains("predicts nothing here: points of known intensity"), "{text}");
        assert!(text.contains("are off by 32 % (relative RMS"), "{text}");
        assert!(text.contains("Measure again while nothing else runs") && text.contains(again));
        for advice in ["expect", "at this roof", "does not limit", "no bandwidth", "64 %"] {
            assert!(!text.contains(advice), "{advice}: {text}");
        }
    }
}
