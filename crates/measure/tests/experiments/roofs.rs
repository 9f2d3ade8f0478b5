use std::collections::BTreeSet;

use nearfar_kernels::{Mix, Variant};
use nearfar_machine::{Machine, MemoryKind};
use nearfar_measure::experiment::{Planned, plan};
use nearfar_record::{
    Actor, Case, Coordinates, Experiment, Inputs, Roof, RoofCoordinates, RoofPurpose, Suite,
};

use crate::machines::{
    builtin, case, full, ids, offered, places, planned, random_machine, reasons, record, standard,
    synthetic,
};

const KIB: u64 = 1 << 10;

/// Two packages of two cores with caches of 32 KiB, 1 MiB and 16 MiB.
const TWO_INITIATORS: &str = "pack:2 [numa(memory=68719476736)] l3:1(size=16777216) \
                            l2:2(size=1048576) l1d:1(size=32768) core:1 pu:2";

fn roofs(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Roofs, inputs)
}

fn all_places(planned: &Planned) -> Vec<(&RoofCoordinates, &Case)> {
    let all = places(planned).map(|(place, case)| match place {
        Coordinates::Roofs(roof) => (roof, case),
        other => panic!("{other:?}"),
    });
    all.collect()
}

/// Ids of roofs on memory.
fn memory_ids(planned: &Planned) -> Vec<&str> {
    let is_on_memory = |roof: &RoofCoordinates| {
        roof.purpose == RoofPurpose::Roof
            && !matches!(roof.roof, Roof::Cache { .. } | Roof::Compute)
    };
    let mut ids: Vec<&str> = all_places(planned)
        .into_iter()
        .filter(|(roof, _)| is_on_memory(roof))
        .map(|(_, case)| case.id.as_str())
        .collect();
    ids.dedup();
    ids
}

/// Four initiators of Knights Landing as hwloc tells them, with four cores each: two share a second
/// level, there is no third, and each has a node of ordinary and one of fast memory.
fn knights_landing() -> Machine {
    let mut machine = synthetic(
        "pack:1 group:4 [numa(memory=25769803776)] [numa(memory=4294967296)] l2:2(size=1048576) \
         l1d:2(size=32768) core:1 pu:4",
    );
    for node in &mut machine.nodes {
        let fast = node.os_index % 2 == 1;
        node.kind = if fast { MemoryKind::Hbm } else { MemoryKind::Dram };
        node.cpus = if fast { nearfar_machine::CpuSet::new() } else { node.locality.clone() };
    }
    machine
}

#[test]
fn standard_has_loads_everywhere_and_other_kernels_near() {
    let plan = roofs(&synthetic(TWO_INITIATORS), standard());
    let expected = [
        "roofs/initiator0/node0/load/avx512",
        "roofs/initiator0/node0/store/avx512",
        "roofs/initiator0/node0/store_nt/avx512",
        "roofs/initiator0/node0/2l1s/avx512",
        "roofs/initiator1/node1/load/avx512",
        "roofs/initiator1/node1/store/avx512",
        "roofs/initiator1/node1/store_nt/avx512",
        "roofs/initiator1/node1/2l1s/avx512",
        "roofs/initiator0/node1/load/avx512",
        "roofs/initiator1/node0/load/avx512",
        "roofs/initiator0/interleaved/unknown/load/avx512",
        "roofs/initiator1/interleaved/unknown/load/avx512",
        "roofs/contended/node0x2/load/avx512",
        "roofs/contended/node1x2/load/avx512",
        "roofs/all_local/load/avx512",
        "roofs/all_local/store/avx512",
        "roofs/all_local/store_nt/avx512",
        "roofs/all_local/2l1s/avx512",
        "roofs/congested/unknown/load/avx512",
    ];
    assert_eq!(memory_ids(&plan), expected);
    // Three caches with three kernels, eight of arithmetic, five points below four levels.
    assert_eq!(plan.cases.len(), expected.len() + 9 + 8 + 20);
    assert_eq!(
        reasons(&plan),
        [
            ("roofs/alike", "full_suite_only"),
            ("roofs/caches/store_nt", "no_window"),
            ("roofs/far_kernels", "full_suite_only"),
        ]
    );
    assert!(plan.absent[2].reason.text.contains("has load alone"));
    assert!(plan.absent[0].reason.text.contains("(1)"), "{}", plan.absent[0].reason.text);
}

#[test]
fn one_case_has_a_place_for_each_initiator() {
    let plan = roofs(&synthetic(TWO_INITIATORS), standard());
    let of = |id: &str| -> Vec<(u32, u32, Roof, Vec<u32>, String)> {
        let case = case(&plan, id);
        let place = |place: &Coordinates| {
            let Coordinates::Roofs(roof) = place else { panic!("{place:?}") };
            let actor = &case.actors[roof.actor as usize];
            let cpus = actor.thread_cpus().to_vec();
            assert_eq!(roof.threads, actor.threads());
            (roof.initiator, roof.actor, roof.roof, cpus, actor.memory().unwrap().to_string())
        };
        case.coordinates.iter().map(place).collect()
    };
    let memory = |text: &str| text.to_owned();
    let contended = Roof::Contended { node: 1, initiators: 2 };
    // The nearest first: node 1 is initiator 1's.
    assert_eq!(
        of("roofs/contended/node1x2/load/avx512"),
        [
            (1, 0, contended, vec![4, 6], memory("preferred:1")),
            (0, 1, contended, vec![0, 2], memory("preferred:1")),
        ]
    );
    assert_eq!(
        of("roofs/all_local/load/avx512"),
        [
            (0, 0, Roof::AllLocal { node: 0 }, vec![0, 2], memory("preferred:0")),
            (1, 1, Roof::AllLocal { node: 1 }, vec![4, 6], memory("preferred:1")),
        ]
    );
    // Synthetic text does not say what memory is.
    let interleaved = Roof::Interleaved { kind: MemoryKind::Unknown };
    assert_eq!(
        of("roofs/initiator1/interleaved/unknown/load/avx512"),
        [(1, 0, interleaved, vec![4, 6], memory("interleave:0-1"))]
    );
    let congested = Roof::Congested { kind: MemoryKind::Unknown };
    assert_eq!(
        of("roofs/congested/unknown/load/avx512"),
        [
            (0, 0, congested, vec![0, 2], memory("interleave:0-1")),
            (1, 1, congested, vec![4, 6], memory("interleave:0-1")),
        ]
    );
}

#[test]
fn sets_of_caches_are_in_them_and_in_none_before() {
    let plan = roofs(&synthetic(TWO_INITIATORS), standard());
    let of_thread = |id: &str| {
        let actor = &case(&plan, id).actors[0];
        actor.working_set_bytes() / u64::from(actor.threads()) / KIB
    };
    assert_eq!(of_thread("roofs/initiator0/l1/load/avx512"), 16);
    // Two arrays, one twice as long; whole pages for each third.
    assert_eq!(of_thread("roofs/initiator0/l1/2l1s/avx512"), 24);
    // Between 64 and 768 KiB, and between 2112 and 6144 KiB.
    assert_eq!(of_thread("roofs/initiator0/l2/load/avx512"), 224);
    assert_eq!(of_thread("roofs/initiator0/l3/store/avx512"), 3604);
    let cached = ids(&plan).into_iter().filter(|id| id.contains("/l1/"));
    assert!(cached.clone().count() > 0);
    assert!(cached.clone().all(|id| !id.contains("store_nt")));
    // What is forced for memory is not for caches.
    let forced = Inputs { working_set_bytes: Some(8 << 20), ..standard() };
    let small = roofs(&synthetic(TWO_INITIATORS), forced);
    let l1 = "roofs/initiator0/l1/load/avx512";
    assert_eq!(case(&small, l1).actors, case(&plan, l1).actors);
    let local = "roofs/initiator0/node0/load/avx512";
    assert_eq!(case(&small, local).actors[0].working_set_bytes(), 8 << 20);
    assert_eq!(case(&plan, local).actors[0].working_set_bytes(), 64 << 20);
}

#[test]
fn full_has_every_initiator_count_and_point() {
    let plan = roofs(&synthetic(TWO_INITIATORS), full());
    let memory = memory_ids(&plan);
    // 2 x 2 nodes, 2 interleaved, 2 contended, 1 all local, 1 congested; four kernels each.
    assert_eq!(memory.len(), 4 * 10);
    let validation = |roof: &str| {
        let is_of = |id: &&str| id.starts_with(roof) && id.contains("l_") && id.contains("fma/");
        ids(&plan).into_iter().filter(is_of).count()
    };
    for roof in
        ["initiator0/l1", "initiator1/l3", "initiator0/node0", "initiator0/node1", "all_local"]
    {
        assert_eq!(validation(&format!("roofs/{roof}/")), 11, "{roof}");
    }
    assert_eq!(validation("roofs/contended/node0x2/"), 11);
    assert_eq!(validation("roofs/contended/node1x2/"), 0);
    assert_eq!(reasons(&plan), [("roofs/caches/store_nt", "no_window")]);
    let eight = roofs(&builtin("two-socket-8-nodes"), full());
    let counts: BTreeSet<u32> = all_places(&eight)
        .iter()
        .filter_map(|(roof, _)| match roof.roof {
            Roof::Contended { initiators, .. } => Some(initiators),
            _ => None,
        })
        .collect();
    assert_eq!(counts.into_iter().collect::<Vec<u32>>(), [2, 3, 4, 5, 6, 7, 8]);
}

/// Of 56 pairs of an initiator and a remote node one in the package and one outside for each initiator.
#[test]
fn standard_takes_one_remote_node_of_each_relation() {
    let machine = builtin("two-socket-8-nodes");
    let remote = |planned: &Planned| -> Vec<(u32, u32)> {
        let is_own = |initiator: u32, node| {
            machine.initiators()[initiator as usize].memory_nodes.contains(node)
        };
        let of = |roof: &RoofCoordinates| match (roof.roof, roof.kernel.as_str()) {
            (Roof::Memory { node }, "load") => Some((roof.initiator, node)),
            _ => None,
        };
        let found = all_places(planned).into_iter().filter_map(|(roof, _)| of(roof));
        found.filter(|&(initiator, node)| !is_own(initiator, node)).collect()
    };
    let plan = roofs(&machine, standard());
    assert_eq!(remote(&plan).len(), 16);
    assert_eq!(remote(&plan)[..2], [(0, 1), (0, 4)]);
    let told = plan.absent.iter().find(|it| it.case == "roofs/remote_alike").unwrap();
    assert!(told.reason.text.contains("40 pairs"), "{}", told.reason.text);
    assert_eq!(remote(&roofs(&machine, full())).len(), 56);
}

#[test]
fn points_reach_from_below_the_first_ridge_to_above_the_last() {
    let plan = roofs(&synthetic(TWO_INITIATORS), standard());
    let mut intensities: Vec<f64> = all_places(&plan)
        .into_iter()
        .filter(|(roof, _)| roof.purpose == RoofPurpose::Validation)
        .filter(|(roof, _)| roof.roof == Roof::Cache { level: 2 })
        .map(|(roof, _)| roof.kernel.parse::<Mix>().unwrap().intensity())
        .collect();
    intensities.sort_by(f64::total_cmp);
    assert_eq!(intensities, [1.0 / 16.0, 0.25, 1.0, 8.0, 32.0]);
    // Four loads a step take four pages, more than three quarters of a first cache of 16 KiB.
    let small = TWO_INITIATORS.replace("size=32768", "size=16384");
    let plan = roofs(&synthetic(&small), standard());
    let missing: Vec<(&str, &str)> = reasons(&plan).into_iter().skip(3).collect();
    assert_eq!(missing, [("roofs/initiator0/l1/4l_1fma/avx512", "no_window")]);
}

/// A point that no loop can be made for would be refused on every machine.
#[test]
fn every_mix_has_a_loop_in_the_variants_of_this_cpu() {
    let plan = roofs(&synthetic(TWO_INITIATORS), full());
    let mixes: BTreeSet<&str> = all_places(&plan)
        .into_iter()
        .map(|(roof, _)| roof.kernel.as_str())
        .filter(|kernel| kernel.parse::<Mix>().is_ok())
        .collect();
    assert_eq!(mixes.len(), 1 + 11);
    for mix in mixes {
        for variant in Variant::available() {
            match mix.parse::<Mix>().unwrap().generate(variant) {
                Ok(_) => {}
                // No mix has a portable form.
                Err(_) if variant == Variant::Portable => {}
                Err(error) => panic!("{mix} in {variant}: {error}"),
            }
        }
    }
}

#[test]
fn one_node_has_no_remote_roof() {
    let plan = roofs(&synthetic("pack:1 [numa] l3:1 core:2 pu:1"), standard());
    let expected = [
        ("roofs/remote", "one_node"),
        ("roofs/contended", "one_initiator"),
        ("roofs/all_local", "one_initiator"),
        ("roofs/congested/unknown", "one_node"),
        ("roofs/caches/store_nt", "no_window"),
    ];
    assert_eq!(reasons(&plan), expected);
    assert_eq!(memory_ids(&plan).len(), 4);
}

#[test]
fn caches_that_are_not_known_are_told() {
    let mut machine = synthetic(TWO_INITIATORS);
    machine.caches[0].bytes = None;
    let told = |machine: &Machine| -> Vec<(String, String)> {
        let plan = roofs(machine, standard());
        let reasons = reasons(&plan).into_iter();
        reasons
            .filter(|(_, code)| *code == "unknown_cache")
            .map(|(case, code)| (case.to_owned(), code.to_owned()))
            .collect()
    };
    let unknown = |name: &str| (name.to_owned(), "unknown_cache".to_owned());
    // The first cache of a core: how much of the set the caches before hold is not known either.
    let expected = ["l1", "l2", "l3"].map(|level| unknown(&format!("roofs/initiator0/{level}")));
    assert_eq!(told(&machine), expected);
    machine.caches.clear();
    assert_eq!(told(&machine), [unknown("roofs/initiator0/caches")]);
}

#[test]
fn memory_of_two_kinds_has_its_own_roofs() {
    let plan = roofs(&knights_landing(), standard());
    let memory = memory_ids(&plan);
    let has = |id: &str| memory.contains(&id);
    assert!(has("roofs/all_local/2l1s/avx512") && has("roofs/all_local/hbm/2l1s/avx512"));
    assert!(has("roofs/congested/dram/load/avx512") && has("roofs/congested/hbm/load/avx512"));
    assert!(has("roofs/contended/node7x4/load/avx512"));
    // Both own nodes with every kernel, one other of each kind and all of each kind with loads: 12
    // cases an initiator.
    assert_eq!(memory.iter().filter(|id| id.starts_with("roofs/initiator")).count(), 4 * 12);
    assert!(has("roofs/initiator3/interleaved/dram/load/avx512"));
    assert!(has("roofs/initiator3/interleaved/hbm/load/avx512"));
    assert!(has("roofs/initiator3/node0/load/avx512") && has("roofs/initiator3/node1/load/avx512"));
    assert!(reasons(&plan).contains(&("roofs/remote_alike", "full_suite_only")));
    assert!(reasons(&plan).contains(&("roofs/contended/fewer", "full_suite_only")));
    let all_local = |id: &str| -> Vec<String> {
        let actors = &case(&plan, id).actors;
        actors.iter().map(|actor| actor.memory().unwrap().to_string()).collect()
    };
    assert_eq!(
        all_local("roofs/all_local/load/avx512"),
        ["preferred:0", "preferred:2", "preferred:4", "preferred:6"]
    );
    assert_eq!(
        all_local("roofs/all_local/hbm/load/avx512"),
        ["preferred:1", "preferred:3", "preferred:5", "preferred:7"]
    );
    // A second cache for two cores, and none above it: 64 to 384 KiB a thread.
    let l2 = &case(&plan, "roofs/initiator0/l2/load/avx512").actors[0];
    assert_eq!(l2.working_set_bytes() / u64::from(l2.threads()) / KIB, 160);
    assert!(!ids(&plan).iter().any(|id| id.contains("/l3/")));
}

#[test]
fn memory_sets_exceed_a_cache_before_the_memory() {
    let mut machine = synthetic(TWO_INITIATORS);
    machine.nodes[1].memory_side_cache_bytes = Some(48 << 20);
    let plan = roofs(&machine, standard());
    let set = |id: &str| case(&plan, id).actors[0].working_set_bytes() >> 20;
    assert_eq!(set("roofs/initiator0/node0/load/avx512"), 4 * 16);
    assert_eq!(set("roofs/initiator0/node1/load/avx512"), 4 * (16 + 48));
}

#[test]
fn a_node_without_cores_is_contended_for_as_any() {
    let plan = roofs(&builtin("two-socket-cxl"), standard());
    let kinds: BTreeSet<MemoryKind> = all_places(&plan)
        .iter()
        .filter_map(|(roof, _)| match roof.roof {
            Roof::Congested { kind } => Some(kind),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, BTreeSet::from([MemoryKind::Dram]));
    assert!(reasons(&plan).contains(&("roofs/congested/cxl", "one_node")));
    let machine = builtin("two-socket-cxl");
    let cxl = machine.nodes.iter().find(|node| node.kind == MemoryKind::Cxl).unwrap().os_index;
    let contended = format!("roofs/contended/node{cxl}x{}/load/avx512", machine.initiators().len());
    assert!(ids(&plan).contains(&contended.as_str()), "{contended}");
}

#[test]
fn one_usable_initiator_over_all_nodes_is_congestion() {
    let mut machine = synthetic(TWO_INITIATORS);
    machine.allowed_cpus = "0-3".parse().unwrap();
    let plan = roofs(&machine, standard());
    assert!(ids(&plan).contains(&"roofs/congested/unknown/load/avx512"));
    assert!(!ids(&plan).iter().any(|id| id.contains("/interleaved/")));
}

/// Arithmetic of a plan: kernel and variant.
fn arithmetic(machine: &Machine, inputs: Inputs, without_fma: &[&str]) -> Vec<String> {
    let mut variants = offered();
    for (name, of) in &mut variants.named {
        if name.starts_with("fma") {
            of.retain(|variant| !without_fma.contains(&variant.as_str()));
        }
    }
    let record = record(machine, inputs);
    let plan = plan(Experiment::Roofs, 0, &variants, &record);
    let compute = |case: &Case| match &case.actors[0] {
        Actor::Compute(compute) => Some(format!("{}/{}", compute.kernel, compute.variant)),
        _ => None,
    };
    plan.cases.iter().filter_map(compute).collect()
}

#[test]
fn multiplications_beside_additions_stand_in_for_fused_ones() {
    let machine = synthetic("pack:1 [numa] l3:1 core:2 pu:1");
    let usual = arithmetic(&machine, standard(), &[]);
    let kernels = ["add", "mul", "fma", "fma_add"];
    let expected: Vec<String> = kernels
        .iter()
        .flat_map(|kernel| ["dp", "sp"].map(|precision| format!("{kernel}_{precision}/avx512")))
        .collect();
    assert_eq!(usual, expected);
    let all = ["avx512", "avx2", "sse2", "portable"];
    let old = arithmetic(&machine, standard(), &all);
    assert!(
        old.contains(&"mul_add_dp/avx512".to_owned()) && !old.iter().any(|k| k.contains("fma"))
    );
    // In full each variant has the one or the other.
    let every = arithmetic(&machine, full(), &["sse2", "portable"]);
    let of = |name: &str| every.iter().filter(|it| it.starts_with(name)).count();
    assert_eq!((of("fma_dp/"), of("mul_add_dp/"), of("add_dp/")), (2, 2, 4));
    assert!(every.contains(&"mul_add_dp/sse2".to_owned()));
}

#[test]
fn kernels_and_variants_that_are_asked_for_are_measured() {
    let machine = synthetic("pack:1 [numa] l3:1 core:2 pu:1");
    let inputs = Inputs {
        kernels: Some(vec!["triad_nt".into(), "triad".into()]),
        variant: Some("sse2".into()),
        ..standard()
    };
    let plan = roofs(&machine, inputs);
    let memory = memory_ids(&plan);
    let local = |kernel: &str| format!("roofs/initiator0/node0/{kernel}/sse2");
    assert_eq!(memory, [local("triad_nt"), local("triad")]);
    assert!(reasons(&plan).contains(&("roofs/caches/triad_nt", "no_window")));
    let forced = Inputs { variant: Some("neon".into()), ..standard() };
    let plan = roofs(&machine, forced);
    assert!(plan.cases.is_empty(), "{:?}", ids(&plan));
    assert!(reasons(&plan).contains(&("roofs/load", "no_variant")));
}

/// Every set of a cache lies in its window, and no case touches memory that is not its own.
#[test]
fn sets_are_inside_their_windows_on_any_machine() {
    let mut sets = 0;
    for seed in 0..100 {
        let mut machine = random_machine(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        for core in machine.cores.clone() {
            for (level, sizes) in [(1, [16, 32, 48, 64]), (2, [128, 256, 1024, 2048])] {
                let bytes = Some(random.choice(sizes).unwrap() * KIB);
                machine.caches.push(nearfar_machine::Cache {
                    level,
                    kind: nearfar_machine::CacheKind::Data,
                    bytes,
                    line_bytes: Some(64),
                    cpus: core.cpus.clone(),
                });
            }
        }
        let suite = if seed % 4 == 0 { Suite::Full } else { Suite::Standard };
        let plan = roofs(&machine, nearfar_measure::suite_inputs(suite));
        for (roof, case) in all_places(&plan) {
            let Roof::Cache { level } = roof.roof else { continue };
            let actor = &case.actors[0];
            let set = actor.working_set_bytes() / u64::from(actor.threads());
            for &cpu in actor.thread_cpus() {
                let own = |wanted: u32| -> Option<u64> {
                    let found = machine
                        .caches
                        .iter()
                        .find(|cache| cache.level == wanted && cache.cpus.contains(cpu))?;
                    let threads = actor.thread_cpus().iter();
                    let sharers = threads.filter(|&&cpu| found.cpus.contains(cpu)).count();
                    Some(found.bytes.unwrap() / sharers as u64)
                };
                let before: u64 = (1..u32::from(level)).filter_map(own).sum();
                let cache = own(u32::from(level)).unwrap();
                assert!(2 * before <= set && 4 * set <= 3 * cache, "{seed}: {}: {set}", case.id);
            }
            sets += 1;
        }
    }
    assert!(sets > 1000, "{sets} sets say little");
}
