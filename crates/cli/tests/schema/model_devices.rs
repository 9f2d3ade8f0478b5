//! The views of `model devices`, with every optional field given and null, and what the program
//! prints of copies to and from devices.

use nearfar_machine::{Backend, HostMemory, Scope, Source, TransferDirection};
use nearfar_record::read_record;
use nearfar_report::{
    DeviceClassSetView, DeviceClassView, DeviceLeftOutView, DevicePairView, DevicesModelView,
    GammaView, MeasuredView, TransferLossView, TransferPlaceView, TransferTimeView,
    UntimedTransferView,
};
use serde_json::{Value, json};

use crate::{assert_valid, every_line, program, record_text, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "class_sets[].phi",
    "class_sets[].phi_unknown",
    "class_sets[].phi_remedy",
    "class_sets[].noise",
    "class_sets[].standard_error",
    "class_sets[].classes[].alpha",
    "class_sets[].classes[].pairs[].cpu_node",
    "class_sets[].left_out[].refused",
    "times[].memory_node",
    "times[].host_memory",
    "times[].peer",
    "times_unknown[].memory_node",
    "times_unknown[].host_memory",
    "times_unknown[].peer",
    "losses[].memory_node",
    "losses[].host_memory",
    "losses[].peer",
    "losses[].beside_device",
    "losses[].kernel",
    "losses[].variant",
    "losses[].threads",
    "losses[].copies_kept",
    "losses[].copies_kept_interval",
    "losses[].other_kept",
    "losses[].other_kept_interval",
];

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let header = every_line::unknown_header(Source::Simulated("x".into()));
    let record = read_record(record_text(&every_line::record(header)).as_slice()).unwrap();
    let view = |known: bool| {
        let view = DevicesModelView {
            schema: "nearfar.devices/1",
            measured: MeasuredView::new(&record),
            class_span: 0.07,
            devices: [("cuda0".to_string(), "An accelerator".to_string())].into(),
            class_sets: vec![set(known)],
            times: vec![time(known)],
            times_unknown: vec![UntimedTransferView { place: place(known), why: "why".into() }],
            losses: vec![loss(known)],
        };
        ("devices", serde_json::to_value(view).unwrap())
    };
    vec![view(true), view(false)]
}

fn place(known: bool) -> TransferPlaceView {
    TransferPlaceView {
        device: "cuda0".into(),
        memory_node: known.then_some(1),
        direction: if known { TransferDirection::ToHost } else { TransferDirection::ToPeer },
        host_memory: known.then_some(HostMemory::Pinned),
        peer: (!known).then(|| "cuda1".into()),
    }
}

fn set(known: bool) -> DeviceClassSetView {
    DeviceClassSetView {
        backend: if known { Backend::Cuda } else { Backend::Opencl },
        direction: if known { TransferDirection::ToDevice } else { TransferDirection::BothWays },
        least_bytes: 1 << 20,
        most_bytes: 1 << 29,
        phi: known.then(|| GammaView {
            name: "PCIe 2.0 x16".into(),
            scope: Scope::Link,
            gb_per_s: 8.0,
            source: "a standard".into(),
        }),
        phi_unknown: (!known).then(|| "the link is not known".into()),
        phi_remedy: (!known).then_some("give --phi"),
        noise: known.then_some(0.004),
        standard_error: known.then_some(0.002),
        fewest_rounds: 6,
        classes: vec![DeviceClassView {
            class: 0,
            max_gb_per_s: 6.58,
            min_gb_per_s: 6.5,
            alpha: known.then_some(0.82),
            alpha_relative: 1.0,
            wide: false,
            widened_by_noise: known,
            border_within_noise: known,
            pairs: vec![DevicePairView {
                device: "cuda0".into(),
                memory_node: 0,
                cluster: 0,
                cpu_node: known.then_some(0),
                bytes: 1 << 29,
                gb_per_s: 6.58,
                median_gb_per_s: 6.57,
                interval_gb_per_s: [6.5, 6.58],
                rounds: 6,
            }],
        }],
        left_out: vec![DeviceLeftOutView {
            device: "cuda0".into(),
            memory_node: 1,
            refused: known.then(|| "no room".into()),
        }],
        notes: vec!["a note".into()],
    }
}

fn time(known: bool) -> TransferTimeView {
    TransferTimeView {
        place: place(known),
        latency_us: 10.0,
        bandwidth_gb_per_s: 6.58,
        half_bandwidth_bytes: 65_800.0,
        worst_error: 0.01,
        worst_error_bytes: 1 << 18,
        sizes: 20,
        least_bytes: 1 << 10,
        most_bytes: 1 << 29,
        curve: Vec::new(),
    }
}

fn loss(known: bool) -> TransferLossView {
    TransferLossView {
        place: place(known),
        beside_device: (!known).then(|| "cuda1".into()),
        kernel: known.then(|| "load".into()),
        variant: known.then(|| "avx2".into()),
        threads: known.then_some(4),
        copies_kept: known.then_some(0.8),
        copies_kept_interval: known.then_some([0.7, 0.9]),
        other_kept: known.then_some(0.9),
        other_kept_interval: known.then_some([0.85, 0.95]),
    }
}

/// Table 5.4 of braithwaite2012 gives the classes of these devices, equations 4.17 and 4.18 D of
/// the best and the worst mapping, to its digits where alphas are of its 12.8 GB/s.
#[test]
fn classes_and_mappings_of_the_thesis_s_devices() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, best, worst) in [
        ("amd-2p", [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]),
        ("amd-2p-two-hubs", [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
    ] {
        let file = folder.path().join(machine);
        let path = file.to_str().unwrap();
        program::nearfar(&[
            "characterize",
            "--simulate",
            machine,
            "--noise",
            "0",
            "--suite",
            "quick",
            "--only",
            "devices",
            "--out",
            path,
        ]);
        let json = |arguments: &[&str]| program::json_of(&program::nearfar(arguments), &[0]);
        // A record of devices alone has these classes and no others.
        let classes = json(&["model", path, "classes", "--json", "--phi", "braithwaite2012"]);
        assert_valid(&validator("devices"), &classes);
        assert_eq!(
            classes,
            json(&["model", path, "devices", "--json", "--phi", "braithwaite2012"])
        );
        let sets = classes["class_sets"].as_array().unwrap();
        let alphas: Vec<Vec<f64>> = sets
            .iter()
            .map(|set| {
                let classes = set["classes"].as_array().unwrap().iter();
                classes.map(|class| class["alpha"].as_f64().unwrap()).collect()
            })
            .collect();
        // To the device, then to the host; what a copy takes to begin is not in the thesis's.
        for (ours, printed) in
            alphas.iter().flatten().zip([0.4571, 0.4157, 0.1834, 0.5141, 0.4155, 0.1805])
        {
            assert!((ours / printed - 1.0).abs() < 2e-3, "{ours} {printed}");
        }
        let mappings = json(&[
            "predict",
            path,
            "--device",
            "cuda0",
            "--device",
            "cuda1",
            "--phi",
            "braithwaite2012",
            "--json",
        ]);
        assert_valid(&validator("predict"), &mappings);
        assert_eq!(mappings["places_are"], "memory_nodes");
        let rows = mappings["rows"].as_array().unwrap();
        let has = |shares: [f64; 3]| rows.iter().any(|row| row["shares"] == json!(shares));
        assert!(has(best) && has(worst), "{machine}: {rows:?}");
        assert_eq!(
            rows.iter().filter(|row| row["shares"] == json!([1.0, 0.0, 0.0])).count(),
            usize::from(machine != "amd-2p")
        );
        let all = program::nearfar(&["model", path, "--json"]);
        let lines = String::from_utf8(all.stdout).unwrap();
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_valid(&validator("model"), &first);
        assert_eq!(first["models"], json!(["devices"]));
    }
}
