//! Phases of workloads below roofs: 36.1 GB/s from the own node, 14.3 from node 3, 189.4 GFLOP/s.

use nearfar_model::{PhaseLimit, PhasePoint, RecordFigures, roofline};
use nearfar_record::{
    Coordinates, Record, Sample, WorkloadCoordinates, WorkloadPhase, WorkloadRun,
};
use nearfar_specimen::{case_at, window};

use crate::roofline::roof_record::record;
use crate::roofline::{joe0, near};

/// A run of a phase of a second.
fn run(phases: &[(&str, Option<f64>, Option<f64>)]) -> WorkloadRun {
    let phase = |&(name, flops, declared_bytes): &(&str, Option<f64>, Option<f64>)| WorkloadPhase {
        name: name.into(),
        calls: 1,
        time_ns: 1_000_000_000,
        flops,
        declared_bytes,
    };
    WorkloadRun {
        work: 1.0,
        unit: "Mop".into(),
        timed_ns: 1_000_000_000,
        phases: phases.iter().map(phase).collect(),
        checks: Vec::new(),
        arrays: Vec::new(),
        moved_pages: 0,
    }
}

/// Adds runs by this many threads on a node.
fn add(record: &mut Record, node: u32, threads: u32, runs: &[WorkloadRun]) {
    let place = WorkloadCoordinates {
        workload: "cg.A".into(),
        initiator: Some(0),
        cpu_node: Some(0),
        memory_node: Some(node),
        strategy: None,
        threads,
    };
    let case = case_at(&record.header.machine, Coordinates::Workloads(place));
    for (round, run) in (0..).zip(runs) {
        let sample = window(&case.id, round, Vec::new());
        record.samples.push(Sample { workload: Some(Box::new(run.clone())), ..sample });
    }
    record.cases.push(case);
}

fn points(node: u32, threads: u32, runs: &[WorkloadRun]) -> Vec<PhasePoint> {
    let mut record = record(&joe0());
    add(&mut record, node, threads, runs);
    let mut model = roofline(&RecordFigures::new(&record)).unwrap();
    std::mem::take(&mut model.charts[0].workloads)
}

#[test]
fn the_nearest_of_two_roofs_limits_a_phase_that_reaches_half_of_it() {
    use PhaseLimit::{Arithmetic, Memory, Other};
    for (node, flops, bytes, ratio, limit) in [
        (0, 4.5125e9, 36.1e9, 1.0, Memory),
        (0, 2e9, 18.05e9, 0.5, Memory),
        (0, 2e9, 17e9, 17.0 / 36.1, Other),
        (3, 1e9, 14.3e9, 1.0, Memory),
        (3, 151.52e9, 1.43e9, 0.8, Arithmetic),
        // 18.9 GFLOP/s and 7.22 GB/s: a tenth and a fifth.
        (0, 18.94e9, 7.22e9, 0.2, Other),
        // Without FLOPs bandwidth alone, in caches arithmetic alone.
        (0, 0.0, 36.1e9, 1.0, Memory),
        (0, 170.46e9, 0.0, 0.9, Arithmetic),
    ] {
        let found = points(node, 7, &[run(&[("it", Some(flops), Some(bytes))])]);
        let [point] = &found[..] else { panic!("{found:?}") };
        near(point.ratio.unwrap(), ratio);
        assert_eq!(point.limit, Some(limit), "{flops} {bytes}");
        assert_eq!(point.intensity.is_some(), flops > 0.0 && bytes > 0.0);
        if let Some(attainable) = point.attainable {
            near(point.flops.0 / attainable.0, ratio);
        }
    }
}

#[test]
fn a_point_is_a_median_and_shares_the_time() {
    let of = |flops: f64| run(&[("a", Some(flops), Some(8e9)), ("b", Some(1e9), Some(1e9))]);
    let found = points(0, 7, &[of(1e9), of(2e9), of(9e9)]);
    assert_eq!(found.iter().map(|it| it.phase.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    near(found[0].flops.0, 2e9);
    near(found[0].intensity.unwrap(), 0.25);
    near(found[0].time_share, 0.5);
}

#[test]
fn what_cannot_be_held_against_a_roof_is_left_out_or_has_no_limit() {
    // Of fewer threads than the roofs, and without declared bytes: no points.
    let some = run(&[("it", Some(1e9), Some(8e9))]);
    assert!(points(0, 1, std::slice::from_ref(&some)).is_empty());
    assert!(points(0, 7, &[run(&[("it", Some(1e9), None)])]).is_empty());
    assert!(points(0, 7, &[run(&[("it", None, Some(0.0))])]).is_empty());
    // No roof of that node.
    let found = points(1, 7, &[some]);
    assert_eq!((found[0].ratio, found[0].limit, found[0].attainable), (None, None, None));
}
