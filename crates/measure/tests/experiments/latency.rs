use std::collections::BTreeSet;

use nearfar_machine::Machine;
use nearfar_measure::experiment::Planned;
use nearfar_measure::suite_inputs;
use nearfar_record::{Actor, Case, Chase, Coordinates, Experiment, Inputs, Pages, Suite};

use crate::machines::{
    builtin, case, full, ids, planned, random_machine, reasons, standard, synthetic,
};

/// Two packages of four cores with caches of 32 KiB, 1 MiB and 16 MiB.
const TWO_INITIATORS: &str = "pack:2 [numa(memory=68719476736)] l3:1(size=16777216) \
                            l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn latency(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Latency, inputs)
}

fn chase(case: &Case) -> &Chase {
    match &case.actors[0] {
        Actor::Chase(chase) => chase,
        other => panic!("{other:?}"),
    }
}

/// Ids of cases without traffic beside them.
fn idle(planned: &Planned) -> Vec<&str> {
    ids(planned).into_iter().filter(|id| !id.contains("/loaded/")).collect()
}

#[test]
fn quick_walks_from_each_initiator_to_each_node() {
    let plan = latency(&synthetic(TWO_INITIATORS), suite_inputs(Suite::Quick));
    assert_eq!(
        ids(&plan),
        [
            "latency/initiator0/node0/128MiB/transparent/page_groups",
            "latency/initiator0/node1/128MiB/transparent/page_groups",
            "latency/initiator1/node1/128MiB/transparent/page_groups",
            "latency/initiator1/node0/128MiB/transparent/page_groups",
        ]
    );
    let chase = chase(&plan.cases[3]);
    assert_eq!(chase.binding.to_string(), "cpus=8-15 mem=preferred:0");
    assert_eq!((chase.thread_cpu, chase.group_bytes), (8, 256 * KIB));
    assert_eq!((chase.working_set_bytes, chase.llc_multiple), (128 * MIB, Some(2.0)));
    let Coordinates::Latency(place) = &plan.cases[3].coordinates[0] else { panic!() };
    assert_eq!((place.initiator, place.cpu_node, place.memory_node), (1, Some(1), 0));
    assert!(plan.absent.is_empty());
}

#[test]
fn standard_has_six_sizes_from_the_first_cache_to_memory() {
    let plan = latency(&synthetic(TWO_INITIATORS), standard());
    let size = |id: &str| format!("latency/initiator0/node0/{id}/transparent/page_groups");
    // Halves of the first cache; between 64 and 768 KiB; between 2 and 12 MiB; the most that the
    // second and the third hold.
    let sizes = ["16KiB", "192KiB", "768KiB", "6MiB", "12MiB"].map(size);
    assert_eq!(idle(&plan)[4..], sizes);
    assert_eq!(chase(case(&plan, &size("16KiB"))).group_bytes, 16 * KIB);
    assert_eq!(reasons(&plan), [("latency/alike", "full_suite_only")]);
}

#[test]
fn full_has_every_size_and_what_translation_takes() {
    let plan = latency(&synthetic(TWO_INITIATORS), full());
    let idle = idle(&plan);
    let of = |end: &str| idle.iter().filter(|id| id.ends_with(end)).count();
    // 8 KiB to 96 MiB in two steps for each power of two, for each initiator; 128 MiB on each node.
    assert_eq!(of("transparent/page_groups"), 2 * (28 + 2));
    for end in ["transparent/anywhere", "small/page_groups", "small/anywhere"] {
        assert_eq!(of(end), 4, "{end}");
    }
    let anywhere = chase(case(&plan, "latency/initiator1/node0/128MiB/small/anywhere"));
    assert_eq!((anywhere.group_bytes, anywhere.pages), (128 * MIB, Pages::Small));
    // Asked for small pages, the other ones are the large ones.
    let plan = latency(&synthetic(TWO_INITIATORS), Inputs { pages: Pages::Small, ..full() });
    case(&plan, "latency/initiator0/node0/128MiB/transparent/anywhere");
    case(&plan, "latency/initiator0/node0/16KiB/small/page_groups");
}

#[test]
fn sets_on_memory_follow_the_caches_and_the_room() {
    let memory = |machine: &Machine, inputs| {
        let plan = latency(machine, inputs);
        let chase = chase(&plan.cases[0]);
        (chase.working_set_bytes / MIB, chase.llc_multiple)
    };
    let machine = |l3: u64, memory: u64| {
        synthetic(&format!("pack:1 [numa(memory={memory})] l3:1(size={l3}) core:2 pu:1"))
    };
    assert_eq!(
        memory(&machine(260 * MIB, 64 << 30), standard()),
        (2048, Some(2048.0 / 4.0 / 260.0))
    );
    assert_eq!(memory(&machine(1024 * MIB, 64 << 30), standard()), (2048, Some(0.5)));
    let unknown = {
        let mut machine = machine(260 * MIB, 64 << 30);
        machine.caches.clear();
        machine
    };
    assert_eq!(memory(&unknown, standard()), (1024, None));
    let sizes = idle(&latency(&unknown, standard())).len();
    assert_eq!(sizes, 6);
    // As a placement check: this size alone.
    let forced = Inputs { working_set_bytes: Some(8 * MIB), ..standard() };
    let plan = latency(&machine(260 * MIB, 64 << 30), forced);
    assert_eq!(idle(&plan), ["latency/initiator0/node0/8MiB/transparent/page_groups"]);
    let tiny = Inputs { working_set_bytes: Some(100), ..standard() };
    let plan = latency(&machine(260 * MIB, 64 << 30), tiny);
    assert_eq!(idle(&plan), ["latency/initiator0/node0/4KiB/transparent/page_groups"]);
}

#[test]
fn threads_on_other_cores_load_the_memory() {
    let machine = synthetic(TWO_INITIATORS);
    let plan = latency(&machine, standard());
    let of_plan = |plan: &Planned, start: &str| {
        ids(plan).into_iter().filter(|id| id.starts_with(start)).count()
    };
    let pairs = ["initiator0/node0", "initiator0/node1", "initiator1/node0", "initiator1/node1"];
    for pair in pairs {
        assert_eq!(of_plan(&plan, &format!("latency/{pair}/loaded/")), 3 * 4, "{pair}");
    }
    let alone = case(&plan, "latency/initiator0/node0/128MiB/transparent/page_groups");
    let mut loads = Vec::new();
    let own = "latency/initiator0/node0/loaded/";
    for case in plan.cases.iter().filter(|case| case.id.starts_with(own)) {
        assert_eq!(case.actors[0], alone.actors[0], "the chase is the same as alone");
        let stream = case.actors[1].as_stream().unwrap();
        assert_eq!(stream.thread_cpus, [2, 4, 6]);
        assert_eq!(stream.binding.to_string(), "cpus=2,4,6 mem=preferred:0");
        let Coordinates::Latency(place) = &case.coordinates[0] else { panic!() };
        let load = place.load.as_ref().unwrap();
        assert_eq!((load.pause_cycles, load.threads), (stream.pause_cycles, 3));
        loads.push((load.loads, load.stores, load.pause_cycles));
    }
    // After each KiB of traffic: twice as long where a thread has two arrays.
    let expected = [
        [0, 384, 1024, 2560].map(|pause| (1, 0, pause)),
        [0, 512, 1536, 4096].map(|pause| (2, 1, 2 * pause)),
        [0, 768, 2048, 6144].map(|pause| (1, 1, 2 * pause)),
    ];
    assert_eq!(loads, expected.concat());
    let full = latency(&machine, full());
    // Twelve of each, and 2560 and 6144, which only `standard`'s four have.
    assert_eq!(of_plan(&full, own), 3 * 12 + 2);
    assert_eq!(of_plan(&full, "latency/initiator0/node1/loaded/"), 3 * 12 + 2);
    assert_eq!(of_plan(&full, "latency/initiator1/node0/loaded/"), 3 * 4);
    case(&full, "latency/initiator0/node1/loaded/2l1nt/pause3072");
}

/// Of more than four pairs one of each kind of memory at each distance; in full all.
#[test]
fn on_many_pairs_one_of_each_kind_is_loaded() {
    let machine = builtin("two-socket-8-nodes");
    let plan = latency(&machine, standard());
    let loaded = ids(&plan).into_iter().filter(|id| id.contains("/loaded/")).count();
    // Own memory, and the three distances of the machine's other nodes.
    let distances: BTreeSet<u64> = (0..8).filter_map(|node| machine.distance(0, node)).collect();
    assert_eq!(loaded, distances.len() * 3 * 4);
    assert!(reasons(&plan).contains(&("latency/loaded/thinned", "full_suite_only")));
    let all =
        ids(&latency(&machine, full())).into_iter().filter(|id| id.contains("/loaded/")).count();
    assert_eq!(all, 62 * 3 * 4 + 2 * (3 * 12 + 2));
}

#[test]
fn threads_stay_off_the_second_cache_of_the_chase() {
    let shared = "pack:1 [numa] l2:2(size=1048576) l1d:2(size=32768) core:1 pu:1";
    let plan = latency(&synthetic(shared), standard());
    let stream = case(&plan, "latency/initiator0/node0/loaded/load/pause0").actors[1].clone();
    assert_eq!(stream.thread_cpus(), [2, 3]);
    let one_cache = "pack:1 [numa] l2:1(size=1048576) l1d:2(size=32768) core:1 pu:1";
    let one_core = "pack:1 [numa] l2:1(size=1048576) l1d:1(size=32768) core:1 pu:2";
    for text in [one_cache, one_core] {
        let plan = latency(&synthetic(text), standard());
        assert_eq!(reasons(&plan), [("latency/loaded", "one_core")], "{text}");
        assert!(!idle(&plan).is_empty());
    }
}

#[test]
fn memory_that_is_all_of_others_is_not_loaded() {
    let mut machine = synthetic(TWO_INITIATORS);
    machine.allowed_cpus = "0-7".parse().unwrap();
    machine.allowed_nodes = nearfar_machine::NodeSet::single(1);
    let plan = latency(&machine, standard());
    assert!(reasons(&plan).contains(&("latency/loaded", "node_not_allowed")));
    assert_eq!(ids(&plan).len(), idle(&plan).len());
}

/// Sizes are whole pages, on memory at least twice the caches or as large as the room allows.
#[test]
fn chases_are_whole_pages_on_any_machine() {
    let mut chases = 0;
    for seed in 0..100 {
        let machine = random_machine(seed);
        for suite in [Suite::Quick, Suite::Standard, Suite::Full] {
            let plan = latency(&machine, suite_inputs(suite));
            for case in &plan.cases {
                let chase = chase(case);
                assert_eq!(chase.working_set_bytes % (4 * KIB), 0, "{}", case.id);
                assert!(chase.group_bytes <= chase.working_set_bytes);
                assert!((8 * KIB..=1024 * MIB).contains(&chase.working_set_bytes));
                chases += 1;
            }
        }
    }
    assert!(chases > 5000, "{chases} chases say little");
}

#[test]
fn eight_nodes_have_a_matrix_of_64() {
    let plan = latency(&builtin("two-socket-8-nodes"), standard());
    let matrix = idle(&plan).into_iter().filter(|id| id.contains("/256MiB/")).count();
    assert_eq!(matrix, 64);
}
