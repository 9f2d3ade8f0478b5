//! What memories and cores give at most.

use nearfar_machine::{MemoryKind, MemoryPolicy};
use nearfar_record::{
    Absence, Case, Coordinates, Disturbance, Experiment, ReasonCode, Record, Roof, RoofCoordinates,
    RoofPurpose,
};
use nearfar_specimen::{absent, at_clock, case_at, evenly, roof, with_flops};

use crate::{add, record, stream};

fn place(limit: Roof, kernel: &str, initiator: u32) -> Coordinates {
    let purpose = if kernel.contains("l_") { RoofPurpose::Validation } else { RoofPurpose::Roof };
    Coordinates::Roofs(RoofCoordinates {
        actor: initiator,
        purpose,
        ..roof(initiator, limit, kernel)
    })
}

/// Two threads of the first initiator, alike: GB and GFLOP of each, and their clock.
fn add_roof(
    record: &mut Record,
    roof: Roof,
    kernel: &str,
    (gb, gflop): (f64, f64),
    ghz: Option<f64>,
) {
    let case = case_at(&record.header.machine, place(roof, kernel, 0));
    let seen = with_flops(evenly(&case.actors[0], 2e9 * gb), 2e9 * gflop);
    let seen = ghz.map_or(seen.clone(), |ghz| at_clock(seen, ghz));
    nearfar_specimen::add(record, case, vec![vec![seen]; 6]);
}

pub fn roofs() -> Record {
    let mut record = record(&[Experiment::Roofs]);
    let local = Roof::Memory { node: 0 };
    let l1 = Roof::Cache { level: 1 };
    for (roof, kernel, gb, gflop, ghz) in [
        (local, "load", 9.0, 0.0, None),
        (Roof::Memory { node: 1 }, "load", 4.0, 0.0, None),
        (Roof::Interleaved { kind: MemoryKind::Dram }, "load", 6.5, 0.0, None),
        (l1, "load", 96.0, 0.0, Some(2.0)),
        (l1, "2l1s", 80.0, 0.0, Some(2.0)),
        (local, "store_nt", 5.0, 0.0, None),
        (Roof::Compute, "fma_dp", 0.0, 32.0, Some(2.0)),
        (Roof::Compute, "fma_sp", 0.0, 64.0, Some(2.0)),
        (Roof::Compute, "add_dp", 0.0, 16.0, Some(2.0)),
        // 1 FLOP per 4 bytes: memory bounds it at 4.5; 16 FLOPs per byte: the cores do, at 64.
        (local, "1l_1fma", 8.8, 2.2, None),
        (local, "1l_64fma", 1.95, 31.2, None),
        (l1, "1l_64fma", 1.975, 31.6, Some(2.0)),
    ] {
        add_roof(&mut record, roof, kernel, (gb, gflop), ghz);
    }
    let unmeasured = case_at(&record.header.machine, place(l1, "1l_1fma", 0));
    record.cases.push(unmeasured);

    let streams =
        || ["0-1", "2-3"].map(|cpus| stream("load", cpus, MemoryPolicy::Preferred(0))).to_vec();
    for (id, places, done) in [
        (
            "roofs/contended/node0x2/load/avx2",
            [0, 1].map(|initiator| {
                place(Roof::Contended { node: 0, initiators: 2 }, "load", initiator)
            }),
            [[6.0, 6.0], [2.0, 2.0]],
        ),
        (
            "roofs/congested/dram/load/avx2",
            [0, 1].map(|initiator| {
                place(Roof::Congested { kind: MemoryKind::Dram }, "load", initiator)
            }),
            [[5.0, 5.0], [5.5, 5.5]],
        ),
        (
            "roofs/all_local/load/avx2",
            [0, 1].map(|initiator| place(Roof::AllLocal { node: initiator }, "load", initiator)),
            [[8.5, 8.5], [8.6, 8.6]],
        ),
    ] {
        let case = Case { id: id.into(), coordinates: places.into(), actors: streams() };
        add(&mut record, case, 6, &done.each_ref().map(|each| &each[..]));
    }
    let text = "no set is larger than the caches before it and smaller than this one";
    absent(&mut record, "roofs/initiator0/l2", Absence::Omitted, ReasonCode::NoWindow, text);
    record
}

/// A clock that changes between windows is each window's own, and disturbed ones do not count: 48
/// bytes a cycle by the first thread, more by the second's own clock.
pub fn clock_that_changes() -> Record {
    let mut record = record(&[Experiment::Roofs]);
    let case = case_at(&record.header.machine, place(Roof::Cache { level: 1 }, "load", 0));
    let at = |ghz: f64| {
        let mut seen = at_clock(evenly(&case.actors[0], 2.0 * 48e9 * ghz), ghz);
        seen.threads[1].useful_bytes += 14_400_000_000;
        seen.threads[1].core_ghz = Some(ghz + 0.3);
        vec![seen]
    };
    let rounds = [2.0, 2.0, 2.0, 3.0, 3.5, 4.0, 1.0].map(at);
    nearfar_specimen::add(&mut record, case, rounds);
    let last = record.samples.last_mut().unwrap();
    last.actors[0].threads[0].useful_bytes = 1;
    last.disturbances.push(Disturbance::Moved { threads: 1 });
    record
}

/// Nothing is said of points without the roof of their own variant.
pub fn without_arithmetic() -> Record {
    let mut record = roofs();
    record.samples.retain(|sample| !sample.case.contains("fma_dp"));
    record
}
