//! Loads and stores over two memories.

use nearfar_machine::MemoryKind;
use nearfar_record::{
    Coordinates, Experiment, HybridPoint, PageSplit, Proof, Record, TransferKind,
};
use nearfar_specimen::{add_alone, hybrid, pages};

use crate::record;

/// Node 1 is the fast one, node 0 the slow one. `asked` are pages of the read and the written array
/// on either, `found` percents of them that were on node 1.
fn add_point(
    record: &mut Record,
    point: HybridPoint,
    mix: (u32, u32),
    asked: [(u32, u32); 2],
    found: [u64; 2],
    gb_per_s: f64,
) {
    let [read, written] = asked.map(|(fast, slow)| PageSplit { fast, slow });
    let before = record.samples.len();
    let place = Coordinates::Hybrid(hybrid(point, mix, read, written));
    add_alone(record, place, &[1e9 * gb_per_s; 6]);
    // Pages wander: the mean of before and after counts.
    let nodes = |fast: u64| pages([(0, 100 - fast), (1, fast)]);
    let [read, written] =
        found.map(|fast| Proof { before: nodes(fast - 1), after: nodes(fast + 1) });
    for sample in &mut record.samples[before..] {
        let seen = &mut sample.actors[0];
        (seen.proof, seen.write_proof) = (Some(read.clone()), Some(written.clone()));
    }
}

fn handmade(surface: &[(u32, u32, u32)]) -> Record {
    use TransferKind::{FastLoad, FastStore, SlowLoad, SlowStore};
    let mut record = record(&[Experiment::Hybrid]);
    record.header.machine.nodes[1].kind = MemoryKind::Hbm;
    for (kind, is_load, split, gb_per_s) in [
        (FastLoad, true, (1, 0), 90.0),
        (FastStore, false, (1, 0), 60.0),
        (SlowLoad, true, (0, 1), 36.0),
        (SlowStore, false, (0, 1), 30.0),
    ] {
        let mix = if is_load { (1, 0) } else { (0, 1) };
        let point = HybridPoint::Corner { of: kind };
        add_point(&mut record, point, mix, [split; 2], [50; 2], gb_per_s);
    }
    let point = HybridPoint::Pair { dominating: FastLoad, beside: SlowStore };
    // Three bytes in four are loads, all of them from the fast memory but for 1 %.
    add_point(&mut record, point, (3, 1), [(1, 0), (0, 1)], [99, 1], 100.0);
    let point = HybridPoint::Pair { dominating: SlowLoad, beside: FastLoad };
    add_point(&mut record, point, (1, 0), [(7, 3); 2], [70, 1], 80.0);
    for &(loads, stores, fast) in surface {
        let split = (fast, 4 - fast);
        let rate = f64::from(10 * loads + fast);
        let point = HybridPoint::Surface;
        add_point(&mut record, point, (loads, stores), [split, split], [50; 2], rate);
    }
    record
}

/// Corners, pairs and a matrix.
pub fn surface() -> Record {
    let surface: Vec<(u32, u32, u32)> =
        [(1, 3), (2, 2), (3, 1)].iter().flat_map(|&(l, s)| [1, 2, 3].map(|f| (l, s, f))).collect();
    handmade(&surface)
}

/// At the edges all bytes are of one kind: the corners stand in the surface's corners.
pub fn surface_to_the_edges() -> Record {
    handmade(&[(0, 1, 2), (1, 0, 2), (1, 1, 0), (1, 1, 2), (1, 1, 4)])
}

/// Lines instead of a matrix.
pub fn single_points() -> Record {
    handmade(&[(1, 3, 1), (2, 2, 2), (3, 1, 3)])
}

/// A pair without its corner has no ratio.
pub fn without_corner() -> Record {
    let mut record = handmade(&[]);
    let slow_stores = &record.cases[3].id;
    record.samples.retain(|sample| sample.case != *slow_stores);
    record
}

/// Both memories are of ordinary modules, one of them remote.
pub fn one_kind() -> Record {
    let mut record = surface();
    for node in &mut record.header.machine.nodes {
        node.kind = MemoryKind::Dram;
    }
    record
}
