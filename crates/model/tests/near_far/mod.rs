//! Which bandwidths stand in one matrix, and what local and remote memory come to.

use nearfar_machine::{MemoryKind, Relation};
use nearfar_model::{
    RecordFigures, best_pairs, chases, near_far_bandwidth, near_far_latency, pairs,
};
use nearfar_record::{Coordinates, Experiment, PairCoordinates, Record};
use nearfar_specimen::{add_alone, add_chase, latency, machine, pair, record_of};

fn add_pair(record: &mut Record, pair: PairCoordinates, gb_per_s: f64) {
    add_alone(record, Coordinates::Pairs(pair), &[gb_per_s * 1e9; 6]);
}

/// Two packages of two nodes: `load` covers all pairs, `triad_nt` moves more and covers the local
/// ones only.
fn thinned() -> Record {
    let mut record = record_of(machine(2, 2, 4), &[Experiment::Pairs]);
    for (initiator, node) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
        let rate = match (initiator == node, initiator / 2 == node / 2) {
            (true, _) => 40.0 + f64::from(node),
            (_, true) => 30.0,
            _ => 20.0 + f64::from(initiator),
        };
        for threads in [1, 4] {
            let load = PairCoordinates { threads, ..pair(initiator, node, "load") };
            add_pair(&mut record, load, rate * f64::from(threads) / 4.0);
        }
        if initiator == node {
            let triad = PairCoordinates { threads: 4, ..pair(initiator, node, "triad_nt") };
            add_pair(&mut record, triad, 2.0 * rate);
        }
    }
    record
}

#[test]
fn a_matrix_is_of_one_kernel_that_covers_all_pairs() {
    let record = thinned();
    let placed = pairs(&RecordFigures::new(&record)).placed();
    let best = best_pairs(&placed).unwrap();
    assert_eq!((best.kernel, best.all_threads, best.threads()), ("load", true, Some(4)));
    assert_eq!(best.pairs.len(), 16);
    assert!(best.pairs.iter().all(|pair| !pair.is_other && pair.cell.threads == 4));
}

/// A pair that the kernel of the matrix leaves out has the best that was measured of it.
#[test]
fn a_pair_of_another_kernel_says_so() {
    let mut record = thinned();
    let is_left_out = |id: &str| id.contains("initiator0/node3/load");
    let before = record.cases.len();
    record.cases.retain(|case| !is_left_out(&case.id));
    record.samples.retain(|sample| !is_left_out(&sample.case));
    assert_eq!(record.cases.len(), before - 2, "{:?}", record.cases[0].id);
    let copy = PairCoordinates { threads: 1, ..pair(0, 3, "copy") };
    add_pair(&mut record, copy, 7.0);
    let placed = pairs(&RecordFigures::new(&record)).placed();
    let best = best_pairs(&placed).unwrap();
    assert_eq!((best.kernel, best.pairs.len()), ("load", 16));
    let others: Vec<_> = best.pairs.iter().filter(|pair| pair.is_other).collect();
    assert_eq!(others.len(), 1);
    assert_eq!((others[0].cell.kernel.as_str(), others[0].cell.threads), ("copy", 1));
    // It is no match for the others, and is not counted among them.
    let found = near_far_bandwidth(&record.header.machine, &best);
    assert_eq!(found.spans.iter().map(|span| span.pairs).collect::<Vec<_>>(), [4, 11]);
}

#[test]
fn nothing_measured_has_no_matrix() {
    assert_eq!(best_pairs(&[]), None);
    let record = record_of(machine(2, 1, 1), &[Experiment::Pairs]);
    assert_eq!(best_pairs(&pairs(&RecordFigures::new(&record)).placed()), None);
}

#[test]
fn local_and_remote_bandwidth_are_those_in_the_middle() {
    let record = thinned();
    let placed = pairs(&RecordFigures::new(&record)).placed();
    let found = near_far_bandwidth(&record.header.machine, &best_pairs(&placed).unwrap());
    let [near, far] = found.spans.as_slice() else { panic!("{:?}", found.spans) };
    assert!(near.is_local && !far.is_local);
    let gb = |value: nearfar_units::BytesPerSecond| (value.0 / 1e9).round();
    // 43 42 41 40: of an even number the worse.
    assert_eq!((near.pairs, gb(near.middle.value.value)), (4, 41.0));
    assert_eq!([&near.best, &near.worst].map(|it| gb(it.value.value).to_string()), ["43", "40"]);
    assert!(near.by_relation.is_empty() && near.memory_kind.is_none());
    // Four of 30; two each of 23, 22, 21, 20.
    assert_eq!((far.pairs, gb(far.middle.value.value)), (12, 22.0));
    let relations: Vec<_> =
        far.by_relation.iter().map(|(of, middle)| (*of, gb(middle.value))).collect();
    assert_eq!(relations, [(Relation::SamePackage, 30.0), (Relation::OtherPackage, 21.0)]);
    let ratio = found.ratio.unwrap();
    assert_eq!(ratio.pairs, 12);
    // Initiator 0 gets 20 of 40 from the other package.
    assert!((ratio.worst.value.0 - 0.5).abs() < 1e-9 && ratio.worst_pair.0 == 0, "{ratio:?}");
}

/// Memory of two kinds is told apart, and remote memory held against local memory of its kind.
#[test]
fn kinds_of_memory_are_told_apart() {
    let mut record = thinned();
    record.header.machine.nodes[3].kind = MemoryKind::Cxl;
    let placed = pairs(&RecordFigures::new(&record)).placed();
    let found = near_far_bandwidth(&record.header.machine, &best_pairs(&placed).unwrap());
    let spans: Vec<_> =
        found.spans.iter().map(|span| (span.is_local, span.memory_kind, span.pairs)).collect();
    let (dram, cxl) = (Some(MemoryKind::Dram), Some(MemoryKind::Cxl));
    assert_eq!(spans, [(true, dram, 3), (true, cxl, 1), (false, dram, 9), (false, cxl, 3)]);
}

#[test]
fn latencies_are_better_the_less_they_are() {
    let mut record = record_of(machine(2, 1, 1), &[Experiment::Latency]);
    for (initiator, node, ns) in [(0, 0, 80.0), (1, 1, 82.0), (0, 1, 140.0), (1, 0, 160.0)] {
        add_chase(&mut record, latency(initiator, node, 1 << 28, None), &[ns; 6], &[]);
    }
    let found = near_far_latency(&record.header.machine, &chases(&RecordFigures::new(&record)));
    let [near, far] = found.spans.as_slice() else { panic!("{:?}", found.spans) };
    let ns = |value: nearfar_units::Nanoseconds| value.0.round();
    assert_eq!([&near.best, &near.worst].map(|it| ns(it.value.value).to_string()), ["80", "82"]);
    assert_eq!([&far.best, &far.worst].map(|it| ns(it.value.value).to_string()), ["140", "160"]);
    let ratio = found.ratio.unwrap();
    assert!((ratio.worst.value.0 - 160.0 / 82.0).abs() < 1e-6, "{ratio:?}");
    assert_eq!(ratio.worst_pair, (1, 0));
}
