//! Each workload's result is the known one, by one thread and by several, however pages are placed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_machine::PlacementStrategy;
use nearfar_record::{ArrayPlacement, are_verified};
use nearfar_workloads::{
    Array, ChaseK, Class, Clock, Program, Team, ThreadNodes, Workload, WorkloadName, place,
};

fn verified(name: WorkloadName, program: &dyn Program, threads: usize) {
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
    assert!(are_verified(&checks), "{name}, {threads} threads: {checks:#?}");
    assert!(!clock.phases().is_empty() && clock.total() > std::time::Duration::ZERO);
    // What a phase declares is joined to what it took by its name.
    let declared = program.traffic(1e6);
    for phase in clock.phases() {
        assert!(declared.iter().any(|it| it.phase == phase.name), "{name}: {}", phase.name);
    }
}

#[test]
fn every_workload_of_class_s() {
    for name in WorkloadName::ALL {
        let program = Workload::of_class(name, Class::S).program();
        [1, 3].into_iter().for_each(|threads| verified(name, &*program, threads));
    }
}

const NAS: [WorkloadName; 8] = [
    WorkloadName::Cg,
    WorkloadName::Mg,
    WorkloadName::Ft,
    WorkloadName::Is,
    WorkloadName::Ep,
    WorkloadName::Bt,
    WorkloadName::Sp,
    WorkloadName::Lu,
];

#[test]
fn every_nas_workload_of_class_w() {
    for name in NAS {
        verified(name, &*Workload::of_class(name, Class::W).program(), 2);
    }
}

#[test]
#[ignore = "minutes: eight programs of class A (make outer)"]
fn every_nas_workload_of_class_a() {
    for name in NAS {
        verified(name, &*Workload::of_class(name, Class::A).program(), 2);
    }
}

#[test]
fn chases_of_one_list_and_of_many() {
    for lists in [1, 32] {
        verified(WorkloadName::ChaseK, &ChaseK::new(Class::S, lists), 2);
    }
}
