//! What messages get, from figures that are given.

use nearfar_machine::NetworkAdapter;
use nearfar_model::{Network, NetworkPlace, RecordFigures, network};
use nearfar_record::{
    Coordinates, MessageDirection as Way, MessageSample, NetworkCoordinates, NetworkInputs, Record,
    WithoutCopy,
};
use nearfar_specimen::{add_alone, machine, record_of};

/// A link of 100 Gb/s, 12.5 GB/s, on node 1.
fn adapter() -> NetworkAdapter {
    NetworkAdapter {
        interface: "eth1".into(),
        is_loopback: false,
        driver: None,
        bus_id: None,
        node: Some(1),
        link_bits_per_s: Some(100_000_000_000),
        no_rate: None,
        infiniband: None,
        interrupts: None,
    }
}

fn add(record: &mut Record, place: (u32, u32), way: Way, gb_per_s: [f64; 6]) {
    let (initiator, memory_node) = place;
    let (message_bytes, threads) = if way == Way::RoundTrip { (64, 1) } else { (128 << 10, 1) };
    let cpu_node = Some(initiator);
    let place =
        NetworkCoordinates { initiator, cpu_node, memory_node, way, message_bytes, threads };
    add_alone(record, Coordinates::Network(place), &gb_per_s.map(|rate| rate * 1e9));
    let without_copy =
        (way == Way::SendWithoutCopy).then_some(WithoutCopy { sends: 1000, copied: 250 });
    let id = record.cases.last().unwrap().id.clone();
    for sample in record.samples.iter_mut().filter(|sample| sample.case == id) {
        sample.actors[0].messages =
            Some(MessageSample { messages: 9, message_bytes, without_copy });
    }
}

fn model(record: &Record) -> Network {
    network(&RecordFigures::new(record)).unwrap()
}

fn new_record(adapter: Option<NetworkAdapter>) -> Record {
    let mut record = record_of(machine(2, 1, 4), &[]);
    record.header.inputs.network = Some(NetworkInputs {
        peer: Some("node7:7420".into()),
        adapter,
        ..NetworkInputs::default()
    });
    record
}

/// Messages from the adapter's package get most of the link, others two thirds.
#[test]
fn places_are_parted_and_held_against_the_link() {
    let mut record = new_record(Some(adapter()));
    for (place, rate) in [((0, 0), 8.0), ((0, 1), 8.2), ((1, 0), 11.8), ((1, 1), 12.0)] {
        add(&mut record, place, Way::Send, [rate; 6]);
        // A message of 64 bytes each way, 2 x 64 / t.
        add(&mut record, place, Way::RoundTrip, [128e-9 / (40e-6 / rate); 6]);
    }
    add(&mut record, (1, 1), Way::SendWithoutCopy, [12.3; 6]);
    let model = model(&record);
    let sent = &model.class_sets[0];
    assert_eq!((sent.way, sent.message_bytes), (Way::Send, 128 << 10));
    let place = |(initiator, memory_node)| NetworkPlace { initiator, memory_node };
    let found: Vec<_> = sent.classes.iter().map(|class| class.places.clone()).collect();
    assert_eq!(found, [vec![place((1, 1)), place((1, 0))], vec![place((0, 1)), place((0, 0))]]);
    let alphas: Vec<f64> =
        sent.classes.iter().map(|class| class.alpha.found().unwrap().value.0).collect();
    assert!((alphas[0] - 0.96).abs() < 1e-9 && (alphas[1] - 0.656).abs() < 1e-9, "{alphas:?}");
    // Half of a round trip: 40 us / 12 / 2.
    let first = &model.latencies[0];
    assert_eq!((first.place, first.message_bytes), (place((1, 1)), 64));
    assert!((first.one_way.value.0 - 40e3 / 12.0 / 2.0).abs() < 0.1, "{:?}", first.one_way);
    assert_eq!(model.latencies.len(), 4);
    let gain = model.without_copy.found().unwrap();
    assert_eq!(gain.place, place((1, 1)));
    assert!((gain.gain.value.0 - 1.025).abs() < 1e-9 && (gain.copied_share - 0.25).abs() < 1e-9);
}

#[test]
fn without_a_link_there_is_no_alpha_and_a_reason() {
    let loopback = NetworkAdapter {
        interface: "lo".into(),
        is_loopback: true,
        node: None,
        link_bits_per_s: None,
        no_rate: Some("loopback has no link".into()),
        ..adapter()
    };
    for (adapter, why) in [(Some(loopback), "lo: loopback has no link"), (None, "is not known")] {
        let mut record = new_record(adapter);
        add(&mut record, (0, 0), Way::Receive, [9.0, 9.1, 9.2, 9.3, 9.4, 9.5]);
        let model = model(&record);
        let class = &model.class_sets[0].classes[0];
        assert_eq!(model.class_sets[0].way, Way::Receive);
        assert!(class.alpha.as_result().unwrap_err().contains(why), "{class:?}");
        let [low, high] = class.max.ends();
        assert!((low.0 - 9.0e9).abs() < 1.0 && (high.0 - 9.5e9).abs() < 1.0);
        assert!(model.without_copy.found().is_none() && model.latencies.is_empty());
    }
}

#[test]
fn a_record_without_messages_says_what_to_measure() {
    let record = record_of(machine(1, 1, 2), &[]);
    let why = network(&RecordFigures::new(&record)).unwrap_err();
    assert!(why.remedy.unwrap().contains("--only network --peer HOST --token-file FILE"));
}
