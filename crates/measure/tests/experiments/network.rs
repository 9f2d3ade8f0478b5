use std::collections::BTreeSet;

use nearfar_machine::{MemoryPolicy, NetworkAdapter};
use nearfar_measure::experiment::Planned;
use nearfar_record::{
    Actor, Coordinates, Experiment, Inputs, MessageDirection as Way, NetworkCoordinates,
    NetworkInputs, ReasonCode, Suite,
};

use crate::machines::{ids, planned, synthetic};

/// Two packages with a node and four cores each, which share 16 MiB of cache.
const SMALL: &str = "pack:2 [numa(memory=68719476736)] l3:1(size=16777216) core:4 pu:1";

/// An adapter on node 1.
fn adapter() -> NetworkAdapter {
    NetworkAdapter {
        interface: "eth1".into(),
        is_loopback: false,
        driver: None,
        bus_id: None,
        node: Some(1),
        link_bits_per_s: Some(25_000_000_000),
        no_rate: None,
        infiniband: None,
        interrupts: None,
    }
}

fn plan(suite: Suite, change: impl FnOnce(&mut NetworkInputs)) -> Planned {
    let mut network = NetworkInputs {
        peer: Some("node7:7420".into()),
        adapter: Some(adapter()),
        zero_copy: true,
    };
    change(&mut network);
    let inputs = Inputs { network: Some(network), ..nearfar_measure::suite_inputs(suite) };
    planned(&synthetic(SMALL), Experiment::Network, inputs)
}

fn places(planned: &Planned) -> Vec<&NetworkCoordinates> {
    let all = planned.cases.iter().flat_map(|case| &case.coordinates);
    let of_case = all.filter_map(|coordinates| match coordinates {
        Coordinates::Network(place) => Some(place),
        _ => None,
    });
    of_case.collect()
}

#[test]
fn quick_sends_receives_and_asks_from_every_initiator_and_node() {
    let planned = plan(Suite::Quick, |_| {});
    assert_eq!(planned.cases.len(), 2 * 2 * 3);
    assert!(planned.absent.is_empty());
    assert_eq!(ids(&planned)[0], "network/initiator0/node0/send/128KiB/t4");
    assert_eq!(ids(&planned)[2], "network/initiator0/node0/round_trip/64B/t1");
    let all: BTreeSet<_> =
        places(&planned).iter().map(|it| (it.initiator, it.memory_node, it.way)).collect();
    for initiator in 0..2 {
        for node in 0..2 {
            for way in [Way::Send, Way::Receive, Way::RoundTrip] {
                assert!(all.contains(&(initiator, node, way)), "{all:?}");
            }
        }
    }
    for case in &planned.cases {
        let [Actor::Messages(messages)] = case.actors.as_slice() else { panic!() };
        let Coordinates::Network(place) = &case.coordinates[0] else { panic!() };
        assert_eq!(messages.binding.memory, MemoryPolicy::Preferred(place.memory_node));
        assert_eq!(messages.thread_cpus.len(), place.threads as usize);
        let first = place.initiator * 4;
        assert!(messages.thread_cpus.iter().all(|cpu| (first..first + 4).contains(cpu)));
        match place.way {
            Way::RoundTrip => assert_eq!(messages.buffer_bytes, 4096),
            // Four times the cache, over all threads.
            _ => assert_eq!(messages.working_set_bytes(), 64 << 20),
        }
    }
}

/// Next to the adapter one thread sends several sizes; with `full` everywhere.
#[test]
fn larger_suites_have_sizes_and_sends_without_a_copy() {
    let standard = plan(Suite::Standard, |_| {});
    let sizes = |planned: &Planned, initiator: u32| -> BTreeSet<u64> {
        let of = places(planned);
        let of =
            of.iter().filter(|it| (it.initiator, it.threads, it.way) == (initiator, 1, Way::Send));
        of.map(|it| it.message_bytes).collect()
    };
    let five = [64, 1 << 10, 16 << 10, 128 << 10, 1 << 20];
    assert_eq!(sizes(&standard, 1), five.into());
    assert_eq!(sizes(&standard, 0), BTreeSet::new());
    assert!(ids(&standard).contains(&"network/initiator0/node1/send_without_copy/128KiB/t4"));
    let full = plan(Suite::Full, |_| {});
    assert_eq!(sizes(&full, 0), five.into());
    assert!(ids(&full).contains(&"network/initiator0/node0/receive/128KiB/t2"));
    let once: BTreeSet<&str> = ids(&full).into_iter().collect();
    assert_eq!(once.len(), full.cases.len());

    let old = plan(Suite::Standard, |network| network.zero_copy = false);
    assert!(places(&old).iter().all(|it| it.way != Way::SendWithoutCopy));
    assert_eq!(old.absent[0].reason.code, ReasonCode::Denied);
    // Where nothing says where the adapter is, sizes are of the first initiator.
    let unknown = plan(Suite::Standard, |network| network.adapter = None);
    assert_eq!((sizes(&unknown, 0), sizes(&unknown, 1)), (five.into(), BTreeSet::new()));
}

#[test]
fn without_a_peer_there_is_a_reason() {
    let planned = plan(Suite::Quick, |network| network.peer = None);
    assert!(planned.cases.is_empty());
    assert_eq!(planned.absent[0].reason.code, ReasonCode::NoPeer);
    let told = &planned.absent[0].reason.text;
    assert!(told.contains("no other machine was named"), "{told}");
}
