//! The roofline of a record, by the command line.

use std::fs;
use std::path::{Path, PathBuf};

use nearfar_model::{ProgramPoint, RecordFigures, RoofValidation, Roofline, roofline};
use nearfar_record::{Roof, read_record};
use nearfar_report::{PredictRooflineView, RooflineView};
use serde_json::Value;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse};

fn simulate(folder: &Path, machine: &str, experiments: &str) -> PathBuf {
    simulated(folder, machine, &["--suite", "standard", "--seed", "7", "--only", experiments])
}

/// Words of a text, whatever lines they stand in.
fn says(text: &str, words: &str) {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(words), "'{words}' is not in {text}");
}

/// denoyelle2019, table 2: 36.1 GB/s local, 14.3 from the farthest node, 6.2 where all use it.
#[test]
fn the_roofs_of_joe0_end_in_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "joe0", "roofs");
    let path = record.to_str().unwrap();
    let text = printed(&["model", path, "roofline"]);
    assert!(text.contains("SIMULATED"), "{text}");
    says(&text, "put its pages on node 0 (cpus=0-6 mem=preferred:0) and expect 4.4");
    says(&text, "the best is 2.5");
    says(&text, "let each thread first touch what it will use) and expect 4.4");
    says(&text, "all pages on node 3 (as one thread that touches them all leaves them) gives 0.7");
    says(&text, "local node 0 does not limit cluster 0, its arithmetic does (18");
    says(&text, "cluster 3");
    let full = "`nearfar characterize --simulate joe0 --suite full --only roofs` measures them";
    says(&text, full);
    let view = json(&["model", path, "roofline"]);
    let charts = view["charts"].as_array().unwrap();
    assert_eq!(charts.len(), 4);
    assert_eq!((&charts[0]["within_of"], &charts[3]["within_of"]), (&Value::Null, &0.into()));
    let ddot = &charts[0]["programs"][0];
    let (alone, together) = (ddot["alone_factor"].as_f64(), ddot["together_factor"].as_f64());
    assert!((alone.unwrap() / (36.1 / 14.3) - 1.0).abs() < 0.02, "{ddot:#}");
    assert!((together.unwrap() / (36.1 / 6.2) - 1.0).abs() < 0.02, "{ddot:#}");
    let local = charts[0]["validations"].as_array().unwrap().last().unwrap();
    let (rms, paper) = (&local["errors"]["relative_rms"], &local["errors"]["paper"]);
    let n = local["points"].as_array().unwrap().len();
    #[expect(clippy::cast_precision_loss, reason = "a number of points")]
    let root = (n as f64).sqrt();
    assert!((rms.as_f64().unwrap() / paper.as_f64().unwrap() / root - 1.0).abs() < 1e-9);
}

#[test]
fn a_point_says_what_limits_it_and_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "joe0", "roofs");
    let path = record.to_str().unwrap();
    let of = |point: &str| printed(&["predict", path, "--point", point]);
    // 6.2, 14.3 and 36.1 GB/s at 1/8 FLOP a byte.
    let contended = of("0.125,0.76");
    says(&contended, "contended node 3, 4 clusters allows: if its pages are all on one node");
    says(&contended, "let each thread first touch what it will use and expect up to 4.4");
    says(&contended, "interleaved over all nodes of DRAM 2.2");
    says(&of("0.125,1.74"), "remote node 3 allows: if its pages are there, move them to node 0");
    says(&of("0.125,4.5"), "its pages are as near as they can be. Leave them");
    says(&of("0.125,95"), "L1 allows: that cache feeds it");
    says(&of("64,188"), "at the ceiling of 18");
    says(&of("0.125,0.1"), "below every roof: no bandwidth limits it");
    says(&of("64,900"), "above every roof: they do not hold for it");
    says(&of("0.125"), "a factor of 5.8");
    let view = json(&["predict", path, "--point", "0.125,0.76", "--point", "64"]);
    assert_eq!(view["points"][0]["clusters"][0]["standing"], "at_roofs");
    assert_eq!(view["points"][1]["clusters"][0]["standing"], Value::Null);
    let lowest = &view["points"][0]["clusters"][0]["lowest_above"]["roof"];
    assert_eq!((&lowest["limit"], &lowest["node"]), (&"contended".into(), &3.into()));
}

/// The interval of a figure, GB/s.
fn interval(of: &Value) -> [f64; 2] {
    [0, 1].map(|end| of["interval_gb_per_s"][end].as_f64().unwrap())
}

/// denoyelle2019, section 6: of a program over two memories the hybrid model gives the roof.
#[test]
fn a_program_over_two_memories_has_its_own_roof() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "knl-flat", "roofs,hybrid");
    let path = record.to_str().unwrap();
    let shares = ["--load-share", "1", "--fast-share", "0", "--fast-share", "1"];
    let point = ["predict", path, "--point", "0.125,11"];
    let view = json(&[&point[..], &shares].concat());
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
    let text = printed(&[&point[..], &shares].concat());
    says(&text, "With 100 % of its bytes on node 1 and the rest on node 0 its own roof is 9");
    // At the jump of equation 5 the roof is an interval, the same that the hybrid model tells.
    let shares = ["--load-share", "1", "--fast-share", "0.7065"];
    let asked = json(&[&["predict", path][..], &shares].concat());
    let placements = asked["pairs"][0]["answer"]["placements"].as_array().unwrap();
    let asked = placements.iter().find(|of| of["name"] == "asked").unwrap();
    let [low, high] = interval(asked);
    let own = |gb_per_s: f64| {
        let point = format!("0.125,{}", gb_per_s / 8.0);
        let view = json(&[&["predict", path, "--point", &point][..], &shares].concat());
        view["points"][0]["clusters"][0]["hybrid_roofs"][0].clone()
    };
    let inside = own(low * 0.97);
    let [from, to] = interval(&inside);
    assert!((from / low - 1.0).abs() < 1e-12 && (to / high - 1.0).abs() < 1e-12, "{inside:#}");
    assert_eq!(inside["standing"], "at_memories", "{inside:#}");
    assert_eq!(own(low * 0.9)["standing"], "below");
    assert_eq!(own(high * 1.1)["standing"], "above");
    let without = simulate(folder.path(), "joe0", "roofs");
    let mut command = nearfar();
    command.args(["predict", without.to_str().unwrap(), "--point", "0.1", "--load-share", "0.5"]);
    refuse(&mut command, 2, &["--fast-share"]);
    refuse(command.args(["--fast-share", "0.5"]), 2, &["no hybrid model", "nearfar characterize"]);
}

#[test]
fn points_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "joe0", "roofs");
    let path = record.to_str().unwrap();
    for wrong in ["0", "-1", "nan", "inf", "0.1,0", "0.1,-2", "0.1,2,3", "0.1,inf", "x", ""] {
        let point = format!("--point={wrong}");
        refuse(nearfar().args(["predict", path, &point]), 2, &["--point"]);
    }
    for other in [["--stream", "cpus=0 mem=bind:0"], ["--share", "1"], ["--processes", "2"]] {
        let arguments = ["predict", path, "--point", "0.1"];
        refuse(nearfar().args(arguments).args(other), 2, &["cannot be used with"]);
    }
    let other = simulate(folder.path(), "amd-2p", "pairs");
    let arguments = ["predict", other.to_str().unwrap(), "--point", "0.1"];
    refuse(nearfar().args(arguments), 2, &["no roofline model", "--only roofs"]);
}

#[test]
fn refuted_roofs_advise_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "joe0", "roofs");
    let record = read_record(fs::File::open(record).unwrap()).unwrap();
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
