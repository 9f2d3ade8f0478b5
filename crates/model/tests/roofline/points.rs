//! Where programs stand, by the roofs of table 2, and what they can expect.

use nearfar_machine::MemoryKind;
use nearfar_model::{
    Chart, IntensityKind, Placement, PlacementAdvice, ProgramPoint, RecordFigures, Roofline,
    RooflineAdvice, Standing, roofline,
};
use nearfar_record::Roof;
use nearfar_specimen::machine;
use nearfar_units::FlopsPerSecond;

use crate::roofline::roof_record::{Made, point as validation, record, roof};
use crate::roofline::{joe0 as made, near};

/// With the machine of the tests, node 0 is initiator 0's own.
fn of_machine(made: &[Made]) -> Roofline {
    let mut record = record(made);
    record.header.machine = machine(1, 4, 1);
    roofline(&RecordFigures::new(&record)).unwrap()
}

fn joe0() -> Roofline {
    of_machine(&made())
}

/// The same with points below L1 that fit and points below node 0 that reach this many times its
/// roof.
fn joe0_with(ratios: &[f64]) -> Roofline {
    const KERNELS: [&str; 3] = ["4l_1fma", "2l_1fma", "1l_1fma"];
    let mut made = made();
    made.push(validation(Roof::Cache { level: 1 }, "1l_1fma", 750e9, 187.5e9));
    made.extend(KERNELS.iter().zip(ratios).map(|(kernel, ratio)| {
        validation(Roof::Memory { node: 0 }, kernel, 36.1e9 * ratio, 36.1e9 * ratio / 8.0)
    }));
    of_machine(&made)
}

/// A program on an initiator.
fn place(chart: &Chart, intensity: f64, gflop: Option<f64>) -> Placement {
    let flops = gflop.map(|gflop| FlopsPerSecond(gflop * 1e9));
    chart.place(ProgramPoint { kind: IntensityKind::Arithmetic, intensity, flops }, None)
}

/// One of an eighth of a FLOP per byte at this bandwidth.
fn streaming(chart: &Chart, gb: f64) -> Placement {
    place(chart, 0.125, Some(gb / 8.0))
}

fn named(placement: &Placement, positions: &[usize]) -> Vec<Roof> {
    positions.iter().map(|&position| placement.roofs[position].roof).collect()
}

fn at(placement: &Placement) -> Vec<Roof> {
    match &placement.standing {
        Some(Standing::AtRoofs { roofs }) => named(placement, roofs),
        other => panic!("{other:?}"),
    }
}

/// Where the advice for the nearest roof is to put pages, and what that gains.
fn gain(placement: &Placement) -> Option<(Roof, f64)> {
    match placement.advice[0] {
        PlacementAdvice::MovePages { to, gain, .. }
        | PlacementAdvice::KeepPagesApart { to, gain, .. } => {
            Some((placement.roofs[to].roof, gain))
        }
        _ => None,
    }
}

#[test]
fn a_point_at_a_roof_says_which() {
    let model = joe0();
    let chart = &model.charts[0];
    let contended = Roof::Contended { node: 3, initiators: 4 };
    assert_eq!(at(&streaming(chart, 6.2)), [contended]);
    assert_eq!(at(&streaming(chart, 14.3 * 0.96)), [Roof::Memory { node: 3 }]);
    assert_eq!(at(&streaming(chart, 760.1)), [Roof::Cache { level: 1 }]);
    // Two roofs as high: the nearest first, and both are named.
    let local = streaming(chart, 36.1);
    assert_eq!(at(&local), [Roof::Memory { node: 0 }, Roof::AllLocal { node: 0 }]);
    let lowest = local.lowest_above.unwrap();
    near(local.roofs[lowest].attainable.0, 36.1e9 / 8.0);
}

#[test]
fn gains_are_of_the_initiators_own_memory() {
    let model = joe0();
    let chart = &model.charts[0];
    let gain = |gb: f64| gain(&streaming(chart, gb));
    let (to, far) = gain(14.3).unwrap();
    assert_eq!(to, Roof::Memory { node: 0 });
    near(far, 36.1 / 14.3 - 1.0);
    let (to, shared) = gain(6.2).unwrap();
    assert_eq!(to, Roof::AllLocal { node: 0 });
    near(shared, 36.0 / 6.2 - 1.0);
    // At its own memory there is nothing to gain.
    assert_eq!(gain(36.1), None);
}

/// An initiator alone that draws more from all nodes in turn than from its own.
#[test]
fn interleaved_pages_decide_and_are_told_to_a_initiator_alone() {
    let kind = MemoryKind::Dram;
    let mut made = made();
    made.push(roof(Roof::Interleaved { kind }, "load", &[50e9]));
    let model = of_machine(&made);
    let chart = &model.charts[0];
    let interleaved = streaming(chart, 50.0);
    assert_eq!(at(&interleaved), [Roof::Interleaved { kind }]);
    let better = |gb: f64| {
        let placement = streaming(chart, gb);
        match &placement.advice[0] {
            PlacementAdvice::Interleave { over, .. }
            | PlacementAdvice::KeepPagesApart { interleaved: over, .. } => named(&placement, over),
            _ => Vec::new(),
        }
    };
    assert_eq!(better(36.1), [Roof::Interleaved { kind }]);
    assert_eq!(better(50.0), []);
    // All initiators at work: what one alone draws is no promise.
    assert_eq!(better(6.2), []);
}

/// Where points are off by more than 25 %, nothing is at the roof, beside it, or gained by it.
#[test]
fn points_that_are_too_far_off_refute_their_roof() {
    let local = Roof::Memory { node: 0 };
    let model = joe0_with(&[1.5, 0.6, 1.0]);
    let chart = &model.charts[0];
    assert!(chart.is_refuted(local) && chart.is_refuted(Roof::Memory { node: 3 }));
    assert!(!chart.is_refuted(Roof::Cache { level: 1 }) && !chart.is_refuted(Roof::Compute));
    for gb in [36.1, 14.3, 0.8, 56.0] {
        let placed = streaming(chart, gb);
        let Some(Standing::Refuted { roof: Some(at) }) = placed.standing else {
            panic!("{placed:?}")
        };
        assert!(placed.roofs[at].is_refuted && placed.roofs.iter().all(|under| !under.is_near));
        let [PlacementAdvice::DistrustRoof { roof: Some(roof), by: Some(by) }] = &placed.advice[..]
        else {
            panic!("{placed:?}")
        };
        assert_eq!((*roof, by.worst_kernel.as_str()), (at, "4l_1fma"));
    }
    // Caches and arithmetic have points of their own.
    assert_eq!(at(&streaming(chart, 760.1)), [Roof::Cache { level: 1 }]);
    assert_eq!(place(chart, 64.0, Some(189.0)).standing, Some(Standing::AtCeiling));
    assert!(chart.programs.iter().all(|of| of.alone.iter().all(|it| it.is_refuted)));
    let [.., RooflineAdvice::DistrustRoofs { validations, worst }] = &chart.advice[..] else {
        panic!("{:?}", chart.advice)
    };
    assert_eq!(chart.validations[*worst].roof, local);
    assert_eq!((validations.as_slice(), chart.advice.len()), (&[*worst][..], 1));

    let model = joe0_with(&[1.3, 0.75, 1.0]);
    assert!(!model.charts[0].is_refuted(local), "{:?}", model.charts[0].error_of(local));
    let near = streaming(&model.charts[0], 36.1);
    assert!(matches!(near.standing, Some(Standing::AtRoofs { .. })), "{near:?}");
}

/// However wide what counts as at a roof: pages on a node are not moved to it.
#[test]
fn a_roof_promises_nothing_above_itself() {
    let model = joe0_with(&[1.35, 0.75, 1.0]);
    let chart = &model.charts[0];
    assert!(chart.resolution(Roof::Memory { node: 0 }) > 0.45);
    let placed = streaming(chart, 36.1 * 0.56);
    assert!(at(&placed).contains(&Roof::Memory { node: 0 }));
    let leaves = |it: &PlacementAdvice| matches!(it, PlacementAdvice::LeavePages { .. });
    assert!(placed.advice.iter().any(leaves), "{placed:?}");
    // That so much counts as at a roof is told.
    let [.., PlacementAdvice::MeasureAgain { within }] = placed.advice[..] else {
        panic!("{placed:?}")
    };
    near(within, chart.resolution(Roof::Memory { node: 0 }));
}

#[test]
fn other_points_are_above_between_or_below() {
    let model = joe0();
    let chart = &model.charts[0];
    let standing = |intensity, gflop| place(chart, intensity, Some(gflop)).standing.unwrap();
    assert_eq!(standing(64.0, 189.0), Standing::AtCeiling);
    assert_eq!(standing(64.0, 400.0), Standing::AboveAll);
    assert_eq!(standing(0.125, 160.0), Standing::Between { above: None, below: 0 });
    assert_eq!(standing(0.125, 0.3), Standing::BelowAll);
    // Below the ceiling where no roof of bandwidth is lower: nothing but the core is to blame.
    assert_eq!(standing(64.0, 20.0), Standing::BelowAll);
    let between = place(chart, 0.125, Some(3.0));
    let Some(Standing::Between { above: Some(above), below }) = between.standing else { panic!() };
    assert_eq!(between.roofs[above].roof, Roof::AllLocal { node: 0 });
    assert_eq!(between.roofs[below].roof, Roof::Memory { node: 3 });
    assert_eq!(place(chart, 1.0, None).standing, None);
}

#[test]
fn programs_expect_what_the_roofs_of_their_accesses_allow() {
    let model = joe0();
    let chart = &model.charts[0];
    let [ddot, triad] = chart.programs.as_slice() else { panic!("{chart:?}") };
    let places: Vec<Roof> = ddot.alone.iter().map(|of| of.roof).collect();
    assert_eq!(places, [Roof::Memory { node: 0 }, Roof::Memory { node: 3 }]);
    near(ddot.alone[0].flops.value.0, 36.1e9 / 8.0);
    near(ddot.alone_factor.unwrap(), 36.1 / 14.3);
    near(ddot.together_factor.unwrap(), 36.0 / 6.2);
    // Stores were measured on the initiator's own memory only.
    near(triad.alone[0].flops.value.0, 27e9 / 12.0);
    assert_eq!(triad.alone_factor, None);
    assert!(triad.together.is_empty());
    let [alone, together, of_triad, ..] = &chart.advice[..] else { panic!("{:?}", chart.advice) };
    assert_eq!(alone, &RooflineAdvice::PutPages { program: 0, of_nodes: 4 });
    assert_eq!(together, &RooflineAdvice::ArrangePages { program: 0, between: Vec::new() });
    assert_eq!(of_triad, &RooflineAdvice::ExpectOnly { program: 1, has_others: true });
}

/// Without a ceiling the roofs alone decide.
#[test]
fn a_initiator_without_arithmetic_has_roofs() {
    let made = [roof(Roof::Memory { node: 0 }, "load", &[36.1e9])];
    let model = roofline(&RecordFigures::new(&record(&made))).unwrap();
    let chart = &model.charts[0];
    let at_first = Standing::AtRoofs { roofs: vec![0] };
    assert_eq!(streaming(chart, 36.1).standing, Some(at_first));
    assert_eq!(place(chart, 1000.0, Some(20.0)).standing, Some(Standing::BelowAll));
    assert_eq!(place(chart, 0.125, Some(100.0)).standing, Some(Standing::AboveAll));
    assert_eq!(chart.roofs[0].corners, []);
}
