//! The views of `model latency`, with every optional field given and null, and what the program
//! prints.

use nearfar_machine::Source;
use nearfar_record::read_record;
use nearfar_report::{
    FactorSpanView, LatencyKneeView, LatencyModelView, LatencyQueueView, LevelLatencyView,
    LoadedCurveView, LoadedPointView, MeasuredView, NumaFactorView, TimeView, UsableBandwidthView,
};
use serde_json::Value;

use crate::{assert_valid, every_line, program, record_text, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "span",
    "span_unknown",
    "factors[].cpu_node",
    "factors[].latency",
    "factors[].numa_factor",
    "factors[].numa_factor_interval",
    "factors[].numa_factor_unknown",
    "factors[].firmware_factor",
    "factors[].firmware_error",
    "factors[].is_firmware_wrong",
    "levels[].level",
    "curves[].unloaded_ns",
    "curves[].unloaded_interval_ns",
    "curves[].points[].queue_ns",
    "curves[].most_rise",
    "curves[].knee",
    "curves[].knee_unknown",
    "curves[].usable",
    "curves[].usable.most_gb_per_s",
    "curves[].usable_unknown",
    "curves[].queue",
    "curves[].queue_unknown",
];

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let header = every_line::unknown_header(Source::Simulated("x".into()));
    let record = read_record(record_text(&every_line::record(header)).as_slice()).unwrap();
    let view = |is_known: bool| {
        let view = LatencyModelView {
            schema: "nearfar.latency/1",
            measured: MeasuredView::new(&record),
            factors: vec![factor(is_known)],
            span: is_known.then_some(FactorSpanView {
                least_numa_factor: 1.2,
                most_numa_factor: 1.5,
                most_numa_factor_interval: [1.4, 1.6],
                worst_cluster: 0,
                worst_memory_node: 7,
                pairs: 56,
            }),
            span_unknown: why(!is_known),
            levels: vec![LevelLatencyView {
                cluster: 0,
                memory_node: 0,
                level: is_known.then_some(2),
                working_set_bytes: 196_608,
                median_ns: 3.1,
                interval_ns: [3.0, 3.2],
            }],
            curves: vec![curve(is_known)],
            advice: vec!["Do this.".into()],
        };
        ("latency", serde_json::to_value(view).unwrap())
    };
    vec![view(true), view(false)]
}

fn why(is_given: bool) -> Option<String> {
    is_given.then(|| "there is a reason".into())
}

fn factor(is_known: bool) -> NumaFactorView {
    NumaFactorView {
        case: "latency/cluster0/node7/64mib/transparent/page_groups".into(),
        cluster: 0,
        cpu_node: is_known.then_some(0),
        memory_node: 7,
        is_local: false,
        latency: is_known.then_some(TimeView {
            median_ns: 136.0,
            interval_ns: [135.0, 138.0],
            confidence: 0.96,
            rounds: 6,
            samples: 6,
            disturbed: 0,
            only_disturbed: false,
        }),
        is_short: false,
        numa_factor: is_known.then_some(1.5),
        numa_factor_interval: is_known.then_some([1.4, 1.6]),
        numa_factor_unknown: why(!is_known),
        firmware_factor: is_known.then_some(1.2),
        firmware_error: is_known.then_some(-0.2),
        is_firmware_wrong: is_known.then_some(false),
    }
}

fn curve(is_known: bool) -> LoadedCurveView {
    LoadedCurveView {
        cluster: 0,
        memory_node: 0,
        is_local: true,
        kernel: "load".into(),
        variant: "avx2".into(),
        threads: 3,
        unloaded_ns: is_known.then_some(202.0),
        unloaded_interval_ns: is_known.then_some([201.0, 205.0]),
        points: vec![LoadedPointView {
            pause_cycles: 128,
            median_ns: 229.0,
            interval_ns: [229.0, 230.0],
            traffic_gb_per_s: 2.0,
            traffic_interval_gb_per_s: [1.9, 2.1],
            queue_ns: is_known.then_some(231.0),
        }],
        missing: 1,
        most_rise: is_known.then_some(1.6),
        knee: is_known.then_some(LatencyKneeView {
            traffic_gb_per_s: 2.0,
            traffic_interval_gb_per_s: [1.4, 2.5],
            loaded_ns: 229.0,
            distance: 0.3,
        }),
        knee_unknown: why(!is_known),
        usable: is_known.then_some(UsableBandwidthView {
            rise: 1.5,
            traffic_gb_per_s: 3.0,
            least_gb_per_s: 2.9,
            most_gb_per_s: Some(3.1),
        }),
        usable_unknown: why(!is_known),
        queue: is_known.then_some(LatencyQueueView {
            base_ns: 202.0,
            service_ns: 34.9,
            capacity_gb_per_s: 4.46,
            error: 0.005,
            worst_error: 0.009,
            points: 8,
        }),
        queue_unknown: why(!is_known),
    }
}

#[test]
fn latencies_that_the_program_prints() {
    let folder = tempfile::tempdir().unwrap();
    let validator = validator("latency");
    for machine in ["opteron-8", "skylake-hybrid", "two-socket-cxl"] {
        let path = folder.path().join(machine);
        let path = path.to_str().unwrap();
        let arguments =
            ["characterize", "--simulate", machine, "--suite", "standard", "--out", path];
        program::nearfar(&[&arguments[..], &["--only", "latency"]].concat());
        let arguments = ["model", path, "latency", "--json"];
        let view = program::json_of(&program::nearfar(&arguments), &[0]);
        assert_valid(&validator, &view);
        assert!(!view["curves"].as_array().unwrap().is_empty(), "{machine}: {view:#}");
    }
}
