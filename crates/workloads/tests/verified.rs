//! Each workload's result is the known one, by one thread and by several, however pages are placed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_machine::PlacementStrategy;
use nearfar_record::{ArrayPlacement, are_verified};
use nearfar_workloads::{Array, Cg, Class, Clock, Ep, Program, Team, ThreadNodes, place};

fn verified(program: &dyn Program, threads: usize) {
    let team = Team::of_threads(threads).unwrap();
    let plans = program.arrays(threads);
    let mut arrays: Vec<Array> = plans.into_iter().map(|plan| Array::map(plan).unwrap()).collect();
    let nodes = ThreadNodes {
        of: Vec::new(),
        allowed: nearfar_sys::usable_nodes(std::path::Path::new("/")).unwrap(),
    };
    let placement = ArrayPlacement::Strategy(PlacementStrategy::ParallelInit);
    place(&mut arrays, &placement, &team, &nodes).unwrap();
    let mut clock = Clock::default();
    let checks = team.lead(|| program.run(&mut arrays, &team, &mut clock));
    assert!(are_verified(&checks), "{threads} threads: {checks:#?}");
    assert!(!clock.phases().is_empty() && clock.total() > std::time::Duration::ZERO);
}

#[test]
fn ep_of_class_s() {
    [1, 3].into_iter().for_each(|threads| verified(&Ep::new(Class::S), threads));
}

#[test]
fn cg_of_class_s() {
    [1, 3].into_iter().for_each(|threads| verified(&Cg::new(Class::S), threads));
}
