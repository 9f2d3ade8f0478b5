//! How long accesses take.

use nearfar_flow::{SimulatedMachine, parse_machine, read_machine};
use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Actor, Case, Chase, ChaseWalk, Coordinates, LatencyCoordinates, Pages, ReasonCode, Stream,
};

use crate::single_case::{MIB, as_float, chase, machine, stream, window};

fn case(chase: Chase, beside: Option<Actor>) -> Case {
    let coordinates = LatencyCoordinates {
        initiator: 0,
        cpu_node: Some(0),
        memory_node: 0,
        working_set_bytes: chase.working_set_bytes,
        pages: chase.pages,
        walk: ChaseWalk::Anywhere,
        load: None,
    };
    Case {
        id: "latency/by-hand".into(),
        coordinates: vec![Coordinates::Latency(coordinates)],
        actors: [Actor::Chase(chase)].into_iter().chain(beside).collect(),
    }
}

/// Time of an access in a window of a second.
fn access_ns(machine: &SimulatedMachine, case: &Case) -> f64 {
    let chase = &window(machine, case).unwrap().actors[0];
    assert_eq!(chase.useful_bytes, 8 * chase.accesses);
    1e9 / as_float(chase.accesses)
}

#[track_caller]
fn assert_ns(ours: f64, wanted: f64) {
    // To whole accesses of a second.
    assert!((ours / wanted - 1.0).abs() < 1e-6, "{ours} instead of {wanted} ns");
}

#[test]
fn the_smallest_cache_that_holds_the_set_answers() {
    let machine = machine();
    for (bytes, ns) in [(16 << 10, 1.5), (128 << 10, 5.0), (4 * MIB, 20.0)] {
        for pages in [Pages::Small, Pages::Transparent] {
            assert_ns(access_ns(&machine, &case(chase(bytes, pages), None)), ns);
        }
    }
}

#[test]
fn memory_takes_its_own_time_and_the_translations() {
    let machine = machine();
    let of = |pages, node, group_bytes| {
        let mut chase = Chase { group_bytes, ..chase(512 * MIB, pages) };
        chase.binding.memory = MemoryPolicy::Preferred(node);
        access_ns(&machine, &case(chase, None))
    };
    assert_ns(of(Pages::Small, 0, MIB), 90.0);
    assert_ns(of(Pages::Transparent, 0, MIB), 90.0);
    assert_ns(of(Pages::Small, 0, 512 * MIB), 115.0);
    assert_ns(of(Pages::Transparent, 0, 512 * MIB), 96.0);
    assert_ns(of(Pages::Transparent, 1, MIB), 200.0);
}

#[test]
fn accesses_wait_beside_streams_on_the_same_node() {
    let machine = machine();
    let beside = |pause_cycles, node| {
        let mut load = stream("load", &[1, 2, 3], MemoryPolicy::Preferred(node));
        load.pause_cycles = pause_cycles;
        access_ns(&machine, &case(chase(512 * MIB, Pages::Transparent), Some(Actor::Stream(load))))
    };
    let waits: Vec<f64> = [100_000, 2000, 500, 0].map(|pause| beside(pause, 0)).to_vec();
    assert!(waits[0] >= 96.0 && waits[0] < 97.0, "{waits:?}");
    assert!(waits.is_sorted_by(|before, after| before < after), "{waits:?}");
    assert!(waits[3] > 100.0, "{waits:?}");
    assert_ns(beside(0, 1), 96.0);
}

#[test]
fn a_machine_without_latencies_refuses() {
    let bare = crate::support::machine(1, "");
    let reason = window(&bare, &case(chase(512 * MIB, Pages::Small), None)).unwrap_err();
    assert_eq!(reason.code, ReasonCode::NotSimulated);
    assert!(reason.text.contains("[[latency]]"), "{}", reason.text);
}

fn on_node(node: u32, mib: u64) -> Chase {
    let mut chase = Chase { group_bytes: MIB / 4, ..chase(mib * MIB, Pages::Small) };
    chase.binding.memory = MemoryPolicy::Preferred(node);
    chase
}

/// A cache beside memory hides neither the way to another node nor the traffic there.
#[test]
fn a_cache_beside_memory_answers_later_from_afar_and_beside_streams() {
    let machine = read_machine("knl-cache").unwrap();
    let idle = |node, mib| access_ns(&machine, &case(on_node(node, mib), None));
    assert_ns(idle(0, 1024), 155.0);
    assert_ns(idle(1, 1024), 155.0 + (185.0 - 177.0));
    assert_ns(idle(0, 4097), 177.0);
    assert_ns(idle(1, 4097), 185.0);
    for (node, alone) in [(0, 155.0), (1, 163.0)] {
        let beside = |pause_cycles| {
            let load = stream("load", &[1, 2, 3], MemoryPolicy::Preferred(node));
            let load = Actor::Stream(Stream { pause_cycles, ..load });
            access_ns(&machine, &case(on_node(node, 1024), Some(load)))
        };
        let times = [alone, beside(10_000), beside(1000), beside(0)];
        assert!(times.is_sorted_by(|before, after| before < after), "{times:?}");
    }
}

/// The cache is the node's: that of the thread's own node holds nothing of another.
#[test]
fn a_node_without_a_cache_in_front_answers_as_memory() {
    let text = r#"
        extends = "knl-cache"
        name = "half"
        title = "two of four nodes have a cache in front"
        node = [
            { cores = 16, memory_side_cache = "4 GiB" },
            { cores = 16 },
            { cores = 16, memory_side_cache = "1 GiB" },
            { cores = 16 },
        ]
    "#;
    let machine = parse_machine("half.toml", text).unwrap();
    let memory = |policy| {
        let mut chase = on_node(0, 2048);
        chase.binding.memory = policy;
        access_ns(&machine, &case(chase, None))
    };
    assert_ns(memory(MemoryPolicy::Preferred(0)), 155.0);
    assert_ns(memory(MemoryPolicy::Preferred(1)), 185.0);
    assert_ns(memory(MemoryPolicy::Preferred(2)), 185.0);
    // Half of the set fits there.
    let both = MemoryPolicy::Interleave([0, 2].into_iter().collect());
    assert_ns(memory(both), (155.0 + 163.0) / 2.0);
}

/// Two nodes with caches in front, of which the file gives no latency, and no queue.
fn silent() -> SimulatedMachine {
    let text = r#"
        name = "silent"
        title = "says nothing of waits"
        variants = ["avx2"]
        node = [
            { cores = 4, memory = "16 GiB", memory_side_cache = "1 GiB" },
            { cores = 4, memory = "16 GiB", memory_side_cache = "1 GiB" },
        ]
        bandwidth = [{ one_thread = 10.0, all_threads = 25.0 }]
        latency = [{ ns = 100 }]
    "#;
    parse_machine("silent.toml", text).unwrap()
}

#[test]
fn without_a_queue_the_time_beside_traffic_is_refused_and_not_that_of_an_idle_machine() {
    let machine = silent();
    let beside = |node| {
        let load = Actor::Stream(stream("load", &[1, 2, 3], MemoryPolicy::Preferred(node)));
        case(on_node(0, 2048), Some(load))
    };
    let reason = window(&machine, &beside(0)).unwrap_err();
    assert_eq!(reason.code, ReasonCode::NotSimulated);
    assert!(reason.text.contains("silent says under [queue]"), "{}", reason.text);
    // Traffic that it does not meet, and none.
    assert_ns(access_ns(&machine, &beside(1)), 100.0);
    assert_ns(access_ns(&machine, &case(on_node(0, 2048), None)), 100.0);
}

#[test]
fn a_cache_in_front_whose_latency_is_unknown_is_refused() {
    let reason = window(&silent(), &case(on_node(0, 1024), None)).unwrap_err();
    assert_eq!(reason.code, ReasonCode::NotSimulated);
    assert!(reason.text.contains("[chase] nothing of memory_side_ns"), "{}", reason.text);
}
