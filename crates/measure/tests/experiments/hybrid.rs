use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, Machine, MemoryKind};
use nearfar_measure::experiment::{Planned, phases, plan};
use nearfar_record::{
    Case, Coordinates, Experiment, History, HybridCoordinates, HybridPoint, Inputs, Line,
    PageSplit, Record, TransferKind,
};
use nearfar_specimen::{evenly, window};

use crate::machines::{
    builtin, case, full, ids, offered, planned, random_machine, reasons, record, standard, streams,
    synthetic,
};

/// Two packages of two cores with one node each.
const TWO_NODES: &str = "pack:2 [numa(memory=68719476736)] l3:1(size=16777216) core:2 pu:1";

fn corners(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Hybrid, inputs)
}

fn coordinates(case: &Case) -> &HybridCoordinates {
    match &case.coordinates[..] {
        [Coordinates::Hybrid(hybrid)] => hybrid,
        other => panic!("{other:?}"),
    }
}

/// A record with one sample of each corner that has a bandwidth, bytes/s, and all corners as
/// cases.
fn with_corners(machine: &Machine, inputs: Inputs, b: &BTreeMap<TransferKind, f64>) -> Record {
    let cases = corners(machine, inputs.clone()).cases;
    let mut record = record(machine, inputs);
    for case in cases {
        let HybridPoint::Corner { of } = coordinates(&case).point else { panic!("{}", case.id) };
        if let Some(rate) = b.get(&of) {
            let seen = vec![evenly(&case.actors[0], *rate)];
            record.samples.push(window(&case.id, 0, seen));
        }
        record.cases.push(case);
    }
    record
}

/// The second phase after these bandwidths of the corners.
fn points(machine: &Machine, inputs: Inputs, b: &BTreeMap<TransferKind, f64>) -> Planned {
    points_after(&with_corners(machine, inputs, b))
}

fn points_after(record: &Record) -> Planned {
    assert_eq!(phases(Experiment::Hybrid), 2);
    let variants = offered();
    plan(Experiment::Hybrid, 1, &variants, record)
}

/// denoyelle2019's Knights Landing, its stores assumed.
fn knights_landing() -> BTreeMap<TransferKind, f64> {
    TransferKind::ALL.into_iter().zip([92.0e9, 61.0e9, 38.1e9, 30.0e9]).collect()
}

#[test]
fn corners_are_one_kind_of_transfer_each() {
    let plan = corners(&synthetic(TWO_NODES), standard());
    let told: Vec<(&str, &str, String, u32)> = plan
        .cases
        .iter()
        .map(|case| {
            let stream = streams(case)[0];
            assert_eq!(stream.write_memory, None);
            (case.id.as_str(), stream.kernel.as_str(), stream.binding.to_string(), stream.threads)
        })
        .collect();
    let of = |id, kernel, node: u32| (id, kernel, format!("cpus=0-1 mem=preferred:{node}"), 2);
    assert_eq!(
        told,
        [
            of("hybrid/initiator0/node0+node1/corner/lf", "1l", 0),
            of("hybrid/initiator0/node0+node1/corner/sf", "1nt", 0),
            of("hybrid/initiator0/node0+node1/corner/ls", "1l", 1),
            of("hybrid/initiator0/node0+node1/corner/ss", "1nt", 1),
        ]
    );
    assert!(plan.absent.is_empty());
}

#[test]
fn each_pair_has_its_own_pages_for_reads_and_writes() {
    let plan = points(&synthetic(TWO_NODES), standard(), &knights_landing());
    let told = |pair: &str| {
        let case = case(&plan, &format!("hybrid/initiator0/node0+node1/pair/{pair}"));
        let stream = streams(case)[0].clone();
        let written = stream.write_memory.map(|policy| policy.to_string());
        (stream.kernel, stream.binding.memory.to_string(), written)
    };
    let of = |kernel: &str, memory: &str, written: Option<&str>| {
        (kernel.to_owned(), memory.to_owned(), written.map(str::to_owned))
    };
    // One array in both memories: 38.1 / 92 x 0.85 to 0.92 is 0.352 to 0.381.
    assert_eq!(told("lf-ls"), of("1l", "weighted:0=8,1=3", None));
    // 92 / 38.1 x 0.85 to 0.92 is 2.053 to 2.222.
    assert_eq!(told("ls-lf"), of("1l", "weighted:0=11,1=5", None));
    assert_eq!(told("sf-ss"), of("1nt", "weighted:0=7,1=3", None));
    // Two arrays in one memory: 61 / 92 x 0.85 to 0.92 is 0.564 to 0.610.
    assert_eq!(told("lf-sf"), of("5l3nt", "preferred:0", None));
    // Each in its own.
    assert_eq!(told("lf-ss"), of("7l2nt", "preferred:0", Some("preferred:1")));
    assert_eq!(told("sf-ls"), of("4l7nt", "preferred:1", Some("preferred:0")));
    let pairs = ids(&plan).into_iter().filter(|id| id.contains("/pair/")).count();
    assert_eq!((pairs, plan.cases.len()), (12, 12 + 6));
    let surface = case(&plan, "hybrid/initiator0/node0+node1/surface/4l1nt/fast7slow3");
    let place = coordinates(surface);
    let split = Some(PageSplit { fast: 7, slow: 3 });
    assert_eq!((place.loads, place.stores), (4, 1));
    assert_eq!((place.load_pages, place.store_pages), (split, split));
    assert_eq!(streams(surface)[0].binding.memory.to_string(), "weighted:0=7,1=3");
    assert_eq!(streams(surface)[0].write_memory, None);
    let full = points(&synthetic(TWO_NODES), full(), &knights_landing());
    // Two packages, of which each initiator has the other's node as the slow one.
    assert_eq!(full.cases.len(), 2 * (12 + 117));
    case(&full, "hybrid/initiator1/node1+node0/surface/1l1nt/fast1slow1");
}

/// From case and coordinates alone: what each kind moves, and that the second of a pair takes 0.85
/// to 0.92 of the time of the first.
#[test]
fn the_dominating_kind_takes_a_little_longer_whatever_the_bandwidths() {
    let machine = synthetic(TWO_NODES);
    let mut random = fastrand::Rng::with_seed(7);
    let mut pairs = 0;
    for _ in 0..60 {
        let b: BTreeMap<TransferKind, f64> = TransferKind::ALL
            .into_iter()
            .map(|kind| (kind, (5e9 * 30.0_f64.powf(random.f64())).round()))
            .collect();
        for case in &points(&machine, standard(), &b).cases {
            let place = coordinates(case);
            let HybridPoint::Pair { dominating, beside } = place.point else { continue };
            let share = |pages: Option<PageSplit>| pages.map_or(0.0, PageSplit::fast_share);
            let (loads, stores) = (f64::from(place.loads), f64::from(place.stores));
            let (read, written) = (share(place.load_pages), share(place.store_pages));
            let of = |of_all: f64, fast: f64, pages: Option<PageSplit>| {
                (of_all * fast, if pages.is_some() { of_all * (1.0 - fast) } else { 0.0 })
            };
            let (lf, ls) = of(loads, read, place.load_pages);
            let (sf, ss) = of(stores, written, place.store_pages);
            let bytes: BTreeMap<TransferKind, f64> =
                TransferKind::ALL.into_iter().zip([lf, sf, ls, ss]).collect();
            let time = |kind: TransferKind| bytes[&kind] / b[&kind];
            let ratio = time(beside) / time(dominating);
            assert!((0.849..=0.921).contains(&ratio), "{}: {ratio} at {b:?}", case.id);
            let others: f64 = bytes
                .iter()
                .filter(|&(&kind, _)| kind != beside && kind != dominating)
                .map(|(_, bytes)| bytes)
                .sum();
            assert!(others == 0.0, "{}", case.id);
            pairs += 1;
        }
    }
    assert_eq!(pairs, 60 * 12);
}

#[test]
fn a_corner_without_samples_takes_its_pairs_along() {
    let mut b = knights_landing();
    b.remove(&TransferKind::SlowStore);
    let plan = points(&synthetic(TWO_NODES), standard(), &b);
    let pairs: Vec<&str> = ids(&plan).into_iter().filter(|id| id.contains("/pair/")).collect();
    assert_eq!(pairs.len(), 6);
    assert!(pairs.iter().all(|id| !id.contains("ss")), "{pairs:?}");
    let missing = reasons(&plan);
    assert_eq!(missing.len(), 6);
    for (name, code) in missing {
        assert!(name.contains("/pair/") && name.contains("ss"), "{name}");
        assert_eq!(code, "unmeasured_input");
    }
    assert!(plan.absent[0].reason.text.contains("bandwidth of ss"));
    // One that is far from the others has no pair with them; the rest stay.
    let far = BTreeMap::from([(TransferKind::SlowStore, 0.1e9)]);
    let b: BTreeMap<TransferKind, f64> = knights_landing().into_iter().chain(far).collect();
    let plan = points(&synthetic(TWO_NODES), standard(), &b);
    let missing: Vec<&str> = reasons(&plan).into_iter().map(|(_, code)| code).collect();
    assert_eq!(missing, ["no_ratio"; 6]);
}

/// Before anything is measured the number of cases is what it will be.
#[test]
fn a_plan_can_be_counted_before_the_corners_are_measured() {
    let machine = synthetic(TWO_NODES);
    let before = points_after(&record(&machine, standard()));
    let after = points(&machine, standard(), &knights_landing());
    assert_eq!(ids(&before), ids(&after));
}

#[test]
fn memories_of_two_kinds_come_before_remote_ones() {
    let mut machine = synthetic(
        "pack:1 group:4 [numa(memory=25769803776)] [numa(memory=4294967296)] l2:2(size=1048576) \
         core:2 pu:1",
    );
    for node in &mut machine.nodes {
        let fast = node.os_index % 2 == 1;
        node.kind = if fast { MemoryKind::Hbm } else { MemoryKind::Dram };
        node.cpus = if fast { CpuSet::new() } else { node.locality.clone() };
    }
    let first = |machine: &Machine, inputs: Inputs| -> Vec<String> {
        let plan = corners(machine, inputs);
        let of = |id: &&str| id.ends_with("/corner/lf");
        ids(&plan).into_iter().filter(of).map(str::to_owned).collect()
    };
    // All initiators are of one package.
    assert_eq!(first(&machine, full()), ["hybrid/initiator0/node1+node0/corner/lf"]);
    // A third kind that is near to all of them.
    machine.nodes[7].kind = MemoryKind::Cxl;
    machine.nodes[7].locality = machine.cpus();
    assert_eq!(
        first(&machine, standard()),
        ["hybrid/initiator0/node1+node0/corner/lf", "hybrid/initiator0/node0+node7/corner/lf"]
    );
    // The machine has memory of another kind for each package.
    let plan = corners(&builtin("two-socket-cxl"), standard());
    let place = coordinates(&plan.cases[0]);
    let machine = builtin("two-socket-cxl");
    let kind = |node: u32| machine.node(node).unwrap().kind;
    assert_eq!(kind(place.fast_node), MemoryKind::Dram);
    assert_eq!(kind(place.slow_node), MemoryKind::Cxl);
}

#[test]
fn one_memory_has_nothing_to_share_out() {
    let machine = synthetic("pack:1 [numa] core:2 pu:1");
    assert_eq!(reasons(&corners(&machine, standard())), [("hybrid", "one_node")]);
    let record = record(&machine, standard());
    assert_eq!(points_after(&record), Planned::default());
    // Several nodes, and none that is slower.
    let both_near = synthetic("pack:1 [numa] [numa] core:2 pu:1");
    assert_eq!(reasons(&corners(&both_near, standard())), [("hybrid", "one_memory_kind")]);
    // Those of the other packages may be used, and the initiator's own may not.
    let mut machine = synthetic("pack:3 [numa] core:2 pu:1");
    machine.allowed_cpus = "0-1".parse().unwrap();
    machine.allowed_nodes = [1, 2].into_iter().collect();
    let plan = corners(&machine, standard());
    assert_eq!(reasons(&plan).last(), Some(&("hybrid", "node_not_allowed")));
    machine.allowed_cpus = CpuSet::new();
    let plan = corners(&machine, standard());
    assert_eq!(reasons(&plan).last(), Some(&("hybrid", "cpus_not_allowed")));
}

/// What the first phase of every experiment is held to, for the second.
#[test]
fn points_for_random_machines_are_taken() {
    let mut cases = 0;
    for seed in 0..60 {
        let machine = random_machine(seed);
        for inputs in [standard(), full()] {
            let record = with_corners(&machine, inputs.clone(), &knights_landing());
            let plan = points_after(&record);
            let mut history = History::new(&record.header);
            for case in record.cases.iter().chain(&plan.cases) {
                history.take(&record.header, &Line::Case(case.clone())).unwrap();
            }
            for absent in &plan.absent {
                history.take(&record.header, &Line::Absent(absent.clone())).unwrap();
            }
            cases += plan.cases.len();
        }
    }
    assert!(cases > 1000, "{cases} cases say little");
}
