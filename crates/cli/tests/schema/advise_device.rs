//! What `advise --device` prints: ranked nodes, one node, all as good.

use nearfar_advise::{DeviceAdvice, DeviceAdviceError, PRACTICAL, advise_device};
use nearfar_flow::read_machine;
use nearfar_measure::{simulated::simulate, suite_inputs};
use nearfar_model::RecordFigures;
use nearfar_record::{Experiment, Inputs, Record, Suite};
use nearfar_report::AdviseDeviceView;
use serde_json::Value;

fn measured(machine: &str) -> Record {
    let only = vec![Experiment::Devices];
    let inputs = Inputs { experiments: only, ..suite_inputs(Suite::Quick) };
    simulate(&read_machine(machine).unwrap(), inputs, false).unwrap()
}

fn advice(record: &Record, device: &str) -> DeviceAdvice {
    advise_device(&RecordFigures::new(record), device).unwrap()
}

pub fn views() -> Vec<(&'static str, Value)> {
    let record = measured("amd-2p");
    let ranked = advice(&record, "cuda0");
    let mut one = ranked.clone();
    one.places.truncate(1);
    one.not_ranked = vec![1, 2, 3];
    let unknown = DeviceAdvice { device: "cuda9".into(), ..one.clone() };
    [ranked, one, unknown]
        .map(|advice| AdviseDeviceView::new(&record, &advice))
        .map(|view| ("advise-device", serde_json::to_value(view).unwrap()))
        .into()
}

/// The thesis's machine: near, the package's other node, the other package.
#[test]
fn nodes_are_ranked_by_their_copies() {
    let record = measured("amd-2p");
    let advice = advice(&record, "cuda0");
    let nodes: Vec<u32> = advice.places.iter().map(|place| place.node).collect();
    assert_eq!(nodes, [0, 1, 2, 3]);
    let as_good: Vec<bool> = advice.places.iter().map(|place| place.is_as_good).collect();
    assert_eq!(as_good, [true, false, false, false]);
    // Of table 5.5: 1 / 2.3192 + 1 / 2.2828 against 1 / 5.8503 + 1 / 6.58.
    let ratio = (1.0 / 2.3192 + 1.0 / 2.2828) / (1.0 / 5.8503 + 1.0 / 6.58);
    assert!((advice.places[3].time_ratio / ratio - 1.0).abs() < 2e-3);
    let view = AdviseDeviceView::new(&record, &advice);
    assert_eq!(view.command.as_deref(), Some("nearfar run --placement local:0 -- COMMAND"));
    let text = view.text();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("Tesla C2050") && text.contains("SIMULATED"), "{text}");
}

/// Of one hub each the second device is near the other package; a PCIe address names it too.
#[test]
fn each_device_has_its_own_order() {
    let record = measured("amd-2p-two-hubs");
    let advice = advice(&record, "0000:04:00.0");
    assert_eq!((advice.device.as_str(), advice.places[0].node), ("cuda1", 2));
    assert!(advice.places[0].is_as_good && PRACTICAL > 0.0);
}

#[test]
fn what_is_not_there_is_said() {
    let refused = |record: &Record, device: &str| {
        advise_device(&RecordFigures::new(record), device).unwrap_err()
    };
    let record = measured("amd-2p");
    let error = refused(&record, "cuda7");
    assert!(matches!(&error, DeviceAdviceError::Unknown { .. }));
    assert!(error.to_string().ends_with("it has cuda0, cuda1"), "{error}");
    let none = refused(&measured("joe0"), "cuda0");
    assert!(none.to_string().contains("no device that data could be copied to"), "{none}");
}
