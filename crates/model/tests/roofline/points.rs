//! Where programs stand, by the roofs of table 2, and what they can expect.

use nearfar_machine::MemoryKind;
use nearfar_model::{
    Placement, ProgramExpectation, ProgramPoint, RecordFigures, Roofline, Standing, roofline,
};
use nearfar_record::Roof;
use nearfar_specimen::machine;

use crate::roof_record::{point as validation, record, roof};
use crate::{joe0 as made, near};

/// With the machine of the tests, node 0 is cluster 0's own.
fn joe0() -> Roofline {
    let mut record = record(&made());
    record.header.machine = machine(1, 4, 1);
    roofline(&RecordFigures::new(&record)).unwrap()
}

/// The same with points below L1 that fit and points below node 0 that reach so many times its
/// roof.
fn joe0_with(ratios: &[f64]) -> Roofline {
    const KERNELS: [&str; 3] = ["4l_1fma", "2l_1fma", "1l_1fma"];
    let mut made = made();
    made.push(validation(Roof::Cache { level: 1 }, "1l_1fma", 750e9, 187.5e9));
    made.extend(KERNELS.iter().zip(ratios).map(|(kernel, ratio)| {
        validation(Roof::Memory { node: 0 }, kernel, 36.1e9 * ratio, 36.1e9 * ratio / 8.0)
    }));
    let mut record = record(&made);
    record.header.machine = machine(1, 4, 1);
    roofline(&RecordFigures::new(&record)).unwrap()
}

fn point(intensity: f64, gflop: f64) -> ProgramPoint {
    ProgramPoint { intensity, flops: Some(gflop * 1e9) }
}

fn at(placement: &Placement<'_>) -> Vec<Roof> {
    match &placement.standing {
        Some(Standing::AtRoofs(near)) => {
            near.iter().map(|&position| placement.roofs[position].roof.roof).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_point_at_a_roof_says_which() {
    let model = joe0();
    let chart = &model.charts[0];
    let contended = Roof::Contended { node: 3, clusters: 4 };
    assert_eq!(at(&chart.place(point(0.125, 6.2 / 8.0))), [contended]);
    assert_eq!(at(&chart.place(point(0.125, 14.3 / 8.0 * 0.96))), [Roof::Memory { node: 3 }]);
    assert_eq!(at(&chart.place(point(0.125, 760.1 / 8.0))), [Roof::Cache { level: 1 }]);
    // Two roofs as high: the nearest first, and both are named.
    let local = chart.place(point(0.125, 36.1 / 8.0));
    assert_eq!(at(&local), [Roof::Memory { node: 0 }, Roof::AllLocal { node: 0 }]);
    let lowest = local.lowest_above.unwrap();
    near(local.roofs[lowest].attainable, 36.1e9 / 8.0);
}

#[test]
fn gains_are_of_the_clusters_own_memory() {
    let model = joe0();
    let chart = &model.charts[0];
    let gain = |gflop: f64| {
        let placement = chart.place(point(0.125, gflop));
        let Some(Standing::AtRoofs(near)) = placement.standing.clone() else { panic!() };
        let (to, gain) = placement.gain(chart, near[0])?;
        Some((placement.roofs[to].roof.roof, gain))
    };
    let (to, far) = gain(14.3 / 8.0).unwrap();
    assert_eq!(to, Roof::Memory { node: 0 });
    near(far, 36.1 / 14.3 - 1.0);
    let (to, shared) = gain(6.2 / 8.0).unwrap();
    assert_eq!(to, Roof::AllLocal { node: 0 });
    near(shared, 36.0 / 6.2 - 1.0);
    // At its own memory there is nothing to gain.
    assert_eq!(gain(36.1 / 8.0), None);
}

/// A cluster alone that draws more from all nodes in turn than from its own.
#[test]
fn interleaved_pages_decide_and_are_told_to_a_cluster_alone() {
    let kind = MemoryKind::Dram;
    let mut made = made();
    made.push(roof(Roof::Interleaved { kind }, "load", &[50e9]));
    let mut record = record(&made);
    record.header.machine = machine(1, 4, 1);
    let model = roofline(&RecordFigures::new(&record)).unwrap();
    let chart = &model.charts[0];
    let interleaved = chart.place(point(0.125, 50.0 / 8.0));
    assert_eq!(at(&interleaved), [Roof::Interleaved { kind }]);
    let better = |gflop: f64| {
        let placement = chart.place(point(0.125, gflop));
        let Some(Standing::AtRoofs(near)) = placement.standing.clone() else { panic!() };
        let better = placement.better_interleaved(chart, near[0]);
        better.iter().map(|under| under.roof.roof).collect::<Vec<_>>()
    };
    assert_eq!(better(36.1 / 8.0), [Roof::Interleaved { kind }]);
    assert_eq!(better(50.0 / 8.0), []);
    // All clusters at work: what one alone draws is no promise.
    assert_eq!(better(6.2 / 8.0), []);
}

/// Where points are off by more than 25 %, nothing is at the roof, beside it, or gained by it.
#[test]
fn points_that_are_too_far_off_refute_their_roof() {
    let local = Roof::Memory { node: 0 };
    let model = joe0_with(&[1.5, 0.6, 1.0]);
    let chart = &model.charts[0];
    assert!(chart.is_refuted(local) && chart.is_refuted(Roof::Memory { node: 3 }));
    assert!(!chart.is_refuted(Roof::Cache { level: 1 }) && !chart.is_refuted(Roof::Compute));
    for gflop in [36.1 / 8.0, 14.3 / 8.0, 0.1, 7.0] {
        let placed = chart.place(point(0.125, gflop));
        let Some(Standing::Refuted(Some(at))) = placed.standing else { panic!("{placed:?}") };
        assert!(placed.roofs[at].is_refuted && placed.roofs.iter().all(|under| !under.is_near));
        assert_eq!(placed.gain(chart, at), None);
    }
    // Caches and arithmetic have points of their own.
    assert_eq!(at(&chart.place(point(0.125, 760.1 / 8.0))), [Roof::Cache { level: 1 }]);
    assert_eq!(chart.place(point(64.0, 189.0)).standing, Some(Standing::AtCeiling));
    assert!(chart.expectations().iter().all(|of| of.alone.iter().all(|it| it.is_refuted)));

    let model = joe0_with(&[1.3, 0.75, 1.0]);
    assert!(!model.charts[0].is_refuted(local), "{:?}", model.charts[0].error_of(local));
    let near = model.charts[0].place(point(0.125, 36.1 / 8.0));
    assert!(matches!(near.standing, Some(Standing::AtRoofs(_))), "{near:?}");
}

/// However wide what counts as at a roof: pages on a node are not moved to it.
#[test]
fn a_roof_promises_nothing_above_itself() {
    let model = joe0_with(&[1.35, 0.75, 1.0]);
    let chart = &model.charts[0];
    assert!(chart.resolution(Roof::Memory { node: 0 }) > 0.45);
    let placed = chart.place(point(0.125, 36.1 / 8.0 * 0.56));
    let Some(Standing::AtRoofs(near)) = &placed.standing else { panic!("{placed:?}") };
    let local = near.iter().find(|it| placed.roofs[**it].roof.roof == Roof::Memory { node: 0 });
    assert_eq!(placed.gain(chart, *local.unwrap()), None);
}

#[test]
fn other_points_are_above_between_or_below() {
    let model = joe0();
    let chart = &model.charts[0];
    let standing = |intensity, gflop| chart.place(point(intensity, gflop)).standing.unwrap();
    assert_eq!(standing(64.0, 189.0), Standing::AtCeiling);
    assert_eq!(standing(64.0, 400.0), Standing::AboveAll);
    assert_eq!(standing(0.125, 160.0), Standing::Between { above: None, below: 0 });
    assert_eq!(standing(0.125, 0.3), Standing::BelowAll);
    // Below the ceiling where no roof of bandwidth is lower: nothing but the core is to blame.
    assert_eq!(standing(64.0, 20.0), Standing::BelowAll);
    let between = chart.place(point(0.125, 3.0));
    let Some(Standing::Between { above: Some(above), below }) = between.standing else { panic!() };
    assert_eq!(between.roofs[above].roof.roof, Roof::AllLocal { node: 0 });
    assert_eq!(between.roofs[below].roof.roof, Roof::Memory { node: 3 });
    assert_eq!(chart.place(ProgramPoint { intensity: 1.0, flops: None }).standing, None);
}

#[test]
fn programs_expect_what_the_roofs_of_their_accesses_allow() {
    let model = joe0();
    let expectations = model.charts[0].expectations();
    let [ddot, triad] = expectations.as_slice() else { panic!("{expectations:?}") };
    let places: Vec<Roof> = ddot.alone.iter().map(|of| of.roof).collect();
    assert_eq!(places, [Roof::Memory { node: 0 }, Roof::Memory { node: 3 }]);
    near(ddot.alone[0].flops, 36.1e9 / 8.0);
    near(ProgramExpectation::factor(&ddot.alone).unwrap(), 36.1 / 14.3);
    near(ProgramExpectation::factor(&ddot.together).unwrap(), 36.0 / 6.2);
    // Stores were measured on the cluster's own memory only.
    near(triad.alone[0].flops, 27e9 / 12.0);
    assert_eq!(ProgramExpectation::factor(&triad.alone), None);
    assert!(triad.together.is_empty());
}

/// Without a ceiling the roofs alone decide.
#[test]
fn a_cluster_without_arithmetic_has_roofs() {
    let made = [roof(Roof::Memory { node: 0 }, "load", &[36.1e9])];
    let model = roofline(&RecordFigures::new(&record(&made))).unwrap();
    let chart = &model.charts[0];
    assert_eq!(chart.place(point(0.125, 36.1 / 8.0)).standing, Some(Standing::AtRoofs(vec![0])));
    assert_eq!(chart.place(point(1000.0, 20.0)).standing, Some(Standing::BelowAll));
    assert_eq!(chart.place(point(0.125, 100.0)).standing, Some(Standing::AboveAll));
    assert_eq!(chart.corners(&chart.roofs[0]), []);
}
