//! Several actors at once, in one pool and in several.

use nearfar_machine::MemoryPolicy;
use nearfar_measure::Window;
use nearfar_record::{Actor, Case, Pages, Stream};

use crate::workbench::{Workbench, alone, latency, set};

const MIB: u64 = 1 << 20;

/// Runs a case; every actor has a sample in each common window.
fn run(workbench: &mut Workbench, case: &Case) -> Vec<Window> {
    let windows = workbench.run(case).unwrap();
    for window in &windows {
        assert_eq!(window.actors.len(), case.actors.len());
        for (actor, sample) in case.actors.iter().zip(&window.actors) {
            assert_eq!(sample.threads.len(), actor.threads() as usize);
            assert_eq!(sample.proof.is_some(), actor.memory().is_some());
        }
    }
    windows
}

/// Each of these kernels on a CPU of its own, as far as there are CPUs.
fn side_by_side(workbench: &Workbench, kernels: [&str; 2]) -> Vec<Stream> {
    let cpus = workbench.cpus(kernels.len());
    let streams = cpus.iter().zip(kernels);
    streams.map(|(&cpu, kernel)| workbench.stream(kernel, &[cpu], 6 * MIB)).collect()
}

#[test]
fn streams_share_a_pool() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    for kernels in [["triad", "load"], ["copy", "copy"], ["ddot", "store"]] {
        let streams = side_by_side(&workbench, kernels);
        run(&mut workbench, &set(streams.into_iter().map(Actor::Stream).collect()));
    }
}

/// Pages of another size, and of memory that the threads touch first.
#[test]
fn streams_have_pools_of_their_own() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    for (pages, memory) in
        [(Pages::Transparent, workbench.memory()), (Pages::Small, MemoryPolicy::FirstTouch)]
    {
        let mut streams = side_by_side(&workbench, ["triad", "copy"]);
        streams[0].pages = pages;
        streams[0].binding.memory = memory;
        run(&mut workbench, &set(streams.into_iter().map(Actor::Stream).collect()));
    }
}

/// A chase beside what loads the memory: one window, which the chase's bytes do not lengthen.
/// Pauses make the load slower, but what is counted stays true.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_chase_is_measured_beside_traffic() {
    let _alone = alone();
    let mut workbench = Workbench::new();
    let cpus = workbench.cpus(2);
    let [first, beside] = cpus[..] else { return };
    for (kernel, step_bytes) in [("load", 8), ("copy_nt", 16), ("2l1s", 24)] {
        for pause_cycles in [0, 1, 200, 20_000] {
            let chase = workbench.chase(first, 8 * MIB, MIB);
            let mut load = workbench.stream(kernel, &[beside], step_bytes * MIB / 8);
            load.pause_cycles = pause_cycles;
            let case = latency(chase, Some(load));
            for window in run(&mut workbench, &case) {
                assert_eq!(window.length.as_millis(), 10);
                let thread = &window.actors[1].threads[0];
                assert_eq!(thread.useful_bytes % step_bytes, 0);
                assert!(thread.useful_bytes <= (thread.passes + 1) * step_bytes * MIB / 8);
            }
        }
    }
}
