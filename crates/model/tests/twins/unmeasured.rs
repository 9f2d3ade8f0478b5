//! What a record lacks is told.

use nearfar_model::WhyUnmeasured;
use nearfar_record::{Absence, Coordinates, PairCoordinates, ReasonCode};
use nearfar_specimen::{absent, add_alone, pair};

use crate::twins::drawn_record::{PLAN, Plan, machine, record};
use crate::twins::unmeasured;

const SMALL: Plan<'static> = Plan { kernels: &["load"], threads: &[1, 8], ..PLAN };

#[test]
fn a_whole_record_lacks_nothing_and_one_without_pairs_has_nothing_to_lack() {
    assert_eq!(unmeasured(&record(&machine(2, 2), &SMALL, |_, _, _| 1.0)), []);
    assert_eq!(unmeasured(&nearfar_specimen::record()), []);
}

#[test]
fn cells_are_counted_by_node_and_reason() {
    let mut record = record(&machine(1, 4), &SMALL, |_, node, _| if node == 0 { 0.0 } else { 1.0 });
    let on = |case: &str, node: u32| case.contains(&format!("/node{node}/"));
    // Refused on node 2, not reached on node 1 with eight threads, unheard of on node 3.
    record.samples.retain(|sample| {
        let not_reached = on(&sample.case, 1) && sample.case.ends_with("t8");
        !(not_reached || on(&sample.case, 2) || on(&sample.case, 3))
    });
    for (cpu_group, threads) in [(0, 1), (0, 8), (1, 1)] {
        let case = format!("pairs/initiator{cpu_group}/node2/load/avx2/t{threads}");
        absent(&mut record, &case, Absence::Refused, ReasonCode::NoRoom, "full");
    }
    record.cases.retain(|case| !on(&case.id, 2) && !on(&case.id, 3));
    let refused = WhyUnmeasured::Refused { code: ReasonCode::NoRoom, text: "full".into() };
    let found: Vec<(u32, usize, usize, WhyUnmeasured)> =
        unmeasured(&record).into_iter().map(|one| (one.node, one.cells, one.of, one.why)).collect();
    assert_eq!(
        found,
        [
            (0, 8, 8, WhyUnmeasured::NoBytes),
            (1, 4, 8, WhyUnmeasured::NoSample),
            (2, 3, 3, refused),
            (3, 0, 0, WhyUnmeasured::NotPlanned),
        ]
    );
    // A variant that could be measured stands for the one that was refused.
    let other = PairCoordinates { variant: "sse2".into(), ..pair(0, 2, "load") };
    add_alone(&mut record, Coordinates::Pairs(other), &[1e9]);
    assert_eq!(unmeasured(&record)[2].cells, 2);
}
