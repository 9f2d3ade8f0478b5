//! Two threads that hand a line to each other on this machine.

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Coordinates, Exchange, ExchangeCoordinates, HandOver, Pages, TrafficMethod,
};

use crate::workbench::{Workbench, alone};

/// Nothing is judged by time: what is counted agrees between the two.
#[test]
fn both_threads_hand_over_in_turn() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus: Vec<u32> = workbench.cpus(2);
    let &[first_cpu, second_cpu] = cpus.as_slice() else {
        return; // One CPU: there is nobody to hand a line to.
    };
    let memory = workbench.memory();
    let MemoryPolicy::Preferred(node) = memory else { panic!("{memory}") };
    for by in HandOver::ALL {
        let exchange = Exchange {
            binding: Binding {
                cpus: cpus.iter().copied().collect(),
                memory: MemoryPolicy::Preferred(node),
            },
            thread_cpus: cpus.clone(),
            by,
            pages: Pages::Small,
        };
        let place = ExchangeCoordinates { first_cpu, second_cpu, memory_node: node, by };
        let case = Case {
            id: "exchange/test".into(),
            coordinates: vec![Coordinates::Exchange(place)],
            actors: vec![Actor::Exchange(exchange)],
        };
        for window in workbench.run(&case).unwrap() {
            let sample = &window.actors[0];
            assert_eq!(sample.kernel, by.as_str());
            assert_eq!(sample.traffic_method, TrafficMethod::Cached);
            let proof = sample.proof.as_ref().unwrap();
            assert!(proof.before.fraction_on(node) > 0.99 && proof.after.fraction_on(node) > 0.99);
            let done: Vec<u64> =
                sample.threads.iter().map(|thread| thread.useful_bytes / 8).collect();
            assert_eq!(done.len(), 2);
            // Whole blocks agree to one hand-over; those across the window's edges count pro rata, which on a
            // busy machine can be most of the few that there are.
            let edges = done[0].max(done[1]) / 10 + 4096;
            assert!(done[0].abs_diff(done[1]) <= edges, "{done:?}");
        }
    }
}
