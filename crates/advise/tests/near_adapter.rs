//! Which nodes are next to a network adapter, by messages whose figures are given.

use nearfar_advise::{DeviceAdvice, DeviceAdviceError, DeviceTraffic, advise_device};
use nearfar_machine::{NetworkAdapter, NodeSet};
use nearfar_model::RecordFigures;
use nearfar_record::{
    Coordinates, MessageDirection as Way, NetworkCoordinates, NetworkInputs, Record,
};
use nearfar_specimen::{add_alone, machine, record_of};

/// Initiators 0 and 1 on their own nodes, an adapter without a place.
fn new_record() -> Record {
    let mut record = record_of(machine(2, 1, 4), &[]);
    record.header.inputs.network = Some(NetworkInputs {
        peer: Some("node7:7420".into()),
        adapter: Some(NetworkAdapter {
            interface: "eth1".into(),
            is_loopback: false,
            driver: None,
            bus_id: Some("0000:81:00.0".into()),
            node: None,
            link_bits_per_s: None,
            no_rate: Some("its driver does not say".into()),
            infiniband: Some("mlx5_0".into()),
            interrupts: None,
        }),
        ..NetworkInputs::default()
    });
    record
}

/// Both ways between a place and the peer, GB/s; smaller messages are slower and count nothing.
fn add(record: &mut Record, (initiator, memory_node): (u32, u32), rates: [(Way, f64); 2]) {
    for (way, rate) in rates {
        for (message_bytes, threads, part) in [(1 << 10, 1, 0.1), (128 << 10, 4, 1.0)] {
            let cpu_node = Some(initiator);
            let place = NetworkCoordinates {
                initiator,
                cpu_node,
                memory_node,
                way,
                message_bytes,
                threads,
            };
            add_alone(record, Coordinates::Network(place), &[1e9 * rate * part; 6]);
        }
    }
}

fn advise(record: &Record, asked: &str) -> Result<DeviceAdvice, DeviceAdviceError> {
    advise_device(&RecordFigures::new(record), asked)
}

fn near(advice: &DeviceAdvice, by_firmware: &str) -> Option<String> {
    let nodes: NodeSet = by_firmware.parse().unwrap();
    advice.nearest(&nodes).map(|nodes| nodes.to_string())
}

#[test]
fn an_adapter_is_near_the_node_that_is_fastest_there_and_back() {
    let mut record = new_record();
    // Own node 0: 1/8 + 1/4; of node 1: 1/10 + 1/5. What initiator 0 gets of node 1 is not its own.
    add(&mut record, (0, 0), [(Way::Send, 8.0), (Way::Receive, 4.0)]);
    add(&mut record, (0, 1), [(Way::Send, 11.0), (Way::Receive, 11.0)]);
    add(&mut record, (1, 1), [(Way::Send, 10.0), (Way::Receive, 5.0)]);
    for name in ["eth1", "nic:eth1", "mlx5_0", "0000:81:00.0"] {
        let advice = advise(&record, name).unwrap();
        assert_eq!((advice.device.as_str(), advice.traffic), ("eth1", DeviceTraffic::Messages));
        let found: Vec<(u32, u32, u64)> =
            advice.places.iter().map(|it| (it.node, it.initiator, it.bytes)).collect();
        assert_eq!(found, [(1, 1, 128 << 10), (0, 0, 128 << 10)]);
        assert!((advice.places[1].time_ratio - 0.375 / 0.3).abs() < 1e-9, "{advice:?}");
        assert_eq!(near(&advice, ""), Some("1".into()));
        // Firmware decides among equals alone.
        assert_eq!(near(&advice, "0"), Some("1".into()));
    }
}

#[test]
fn firmware_chooses_among_nodes_that_are_as_good() {
    let mut record = new_record();
    add(&mut record, (0, 0), [(Way::Send, 10.0), (Way::Receive, 10.0)]);
    add(&mut record, (1, 1), [(Way::Send, 10.1), (Way::Receive, 9.9)]);
    let advice = advise(&record, "eth1").unwrap();
    assert!(advice.places.iter().all(|it| it.is_as_good), "{advice:?}");
    assert_eq!(near(&advice, ""), Some("0-1".into()));
    assert_eq!(near(&advice, "1"), Some("1".into()));
}

#[test]
fn what_was_not_measured_both_ways_is_not_ranked() {
    let mut record = new_record();
    let none = advise(&record, "eth1").unwrap_err();
    assert_eq!(none.to_string(), "no node has large messages both ways through eth1");
    let unknown = advise(&record, "nic:eth0").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "the record has no messages through nic:eth0; it has such through nic:eth1"
    );
    add(&mut record, (0, 0), [(Way::Send, 10.0), (Way::Receive, 10.0)]);
    add(&mut record, (1, 1), [(Way::Send, 10.0), (Way::SendWithoutCopy, 10.0)]);
    let advice = advise(&record, "eth1").unwrap();
    assert_eq!((advice.places.len(), advice.not_ranked.as_slice()), (1, &[1][..]));
    // Of one node nothing is nearest.
    assert_eq!(near(&advice, "0"), None);
    record.header.inputs.network = None;
    let none = advise(&record, "nic:eth1").unwrap_err().to_string();
    assert!(none.contains("characterize --only network --peer"), "{none}");
}
