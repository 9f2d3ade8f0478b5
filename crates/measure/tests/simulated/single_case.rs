//! Single cases on a machine whose every figure is known.

use std::time::Duration;

use nearfar_flow::{SimulatedMachine, parse_machine};
use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_measure::simulated::SimulatedExecutor;
use nearfar_measure::{Executor, Failure, Interrupt, Window, WindowRequest};
use nearfar_record::{
    Actor, Case, Chase, Coordinates, MixCoordinates, Pages, Reason, Roof, RoofCoordinates,
    RoofPurpose, Stream,
};

/// Node 0 and 1 have four cores each, node 2 is slow memory beside node 0. The solver's soft
/// saturation is as hard as it can be.
const FILE: &str = r#"
    name = "single-case"
    title = "a machine of the tests"
    variants = ["avx2", "sse2"]
    core_ghz = 2.0
    saturation = 25
    node = [
        { package = 0, cores = 4, memory = "16 GiB" },
        { package = 1, cores = 4, memory = "16 GiB" },
        { package = 0, kind = "nvm", near = [0], memory = "16 GiB" },
    ]
    distances = [[10, 21, 17], [21, 10, 28], [17, 28, 10]]
    kernels = { load = 1.2, store = 0.6, store_nt = 0.8 }
    cache = { l1 = "32 KiB", l2 = "256 KiB", l3 = "8 MiB" }

    [[bandwidth]]
    one_thread = 4.0
    all_threads = 12.0

    [[bandwidth]]
    relation = "local"
    kind = "dram"
    one_thread = 10.0
    all_threads = 25.0

    [[controller]]
    gb_per_s = 28

    [[roof]]
    level = 1
    one_core = 120

    [[roof]]
    level = 2
    one_core = 60

    [[roof]]
    level = 3
    one_core = 30
    all_cores = 80

    [flops]
    add_dp = 8
    fma_dp = { avx2 = 32 }
    mul_add_dp = 4

    [[latency]]
    ns = 200

    [[latency]]
    relation = "local"
    kind = "dram"
    ns = 90

    [chase]
    l1_ns = 1.5
    l2_ns = 5
    l3_ns = 20
    base_pages_ns = 25
    huge_pages_ns = 6

    [queue]
    service_ns = 4
    most_ns = 400

    [[overlap]]
    memory = [[0, 2]]
    cpu_nodes = [0]
    gb_per_s = { fast_loads = 30.0, fast_stores = 20.0, slow_loads = 15.0, slow_stores = 10.0 }
    fast_loads = { fast_stores = 0.5, slow_loads = 0.4, slow_stores = -0.1 }
    fast_stores = { fast_loads = 0.9, slow_loads = 0.3, slow_stores = 0.2 }
    slow_loads = { fast_loads = 0.6, fast_stores = 0.7, slow_stores = 0.8 }
    slow_stores = { fast_loads = 0.1, fast_stores = 0.2, slow_loads = 0.3 }

    [noise]
    within_round = 0.05
    unbound = [{ share = 0.4, factor = 0.6 }, { share = 0.3, factor = 0.8 }]
"#;

pub const GIGA: f64 = 1e9;
pub const MIB: u64 = 1 << 20;

/// The machine, with more at the end of its file.
pub fn machine_with(more: &str) -> SimulatedMachine {
    parse_machine("single-case.toml", &format!("{FILE}{more}")).unwrap()
}

pub fn machine() -> SimulatedMachine {
    machine_with("")
}

/// A stream on 64 MiB by a thread on each of these CPUs.
pub fn stream(kernel: &str, cpus: &[u32], memory: MemoryPolicy) -> Stream {
    let cpus = cpus.iter().copied();
    Stream {
        thread_cpus: cpus.clone().collect(),
        working_set_bytes: 64 * MIB,
        llc_multiple: Some(8.0),
        ..nearfar_specimen::stream(kernel, "avx2", cpus.collect(), memory)
    }
}

/// A walk anywhere in a set of node 0.
pub fn chase(working_set_bytes: u64, pages: Pages) -> Chase {
    Chase {
        binding: Binding { cpus: (0..4).collect(), memory: MemoryPolicy::Preferred(0) },
        thread_cpu: 0,
        working_set_bytes,
        llc_multiple: Some(8.0),
        group_bytes: working_set_bytes,
        pages,
    }
}

/// A case on memory.
pub fn on_memory(actors: Vec<Actor>) -> Case {
    Case {
        id: "mixes/0".into(),
        coordinates: vec![Coordinates::Mixes(MixCoordinates { index: 0 })],
        actors,
    }
}

/// A case of an actor at a roof.
pub fn at_roof(roof: Roof, actor: Actor) -> Case {
    Case {
        id: "roofs/by-hand".into(),
        coordinates: vec![Coordinates::Roofs(RoofCoordinates {
            initiator: 0,
            actor: 0,
            roof,
            kernel: actor.kernel().into(),
            variant: actor.variant().into(),
            threads: actor.threads(),
            purpose: RoofPurpose::Roof,
        })],
        actors: vec![actor],
    }
}

pub fn compute(kernel: &str, variant: &str) -> Actor {
    nearfar_specimen::compute(kernel, variant, (0..4).collect())
}

/// One window of a case without noise.
pub fn window(machine: &SimulatedMachine, case: &Case) -> Result<Window, Reason> {
    let mut windows = windows(machine, case, 1, false, 0)?;
    Ok(windows.remove(0))
}

/// Windows of one round of a case.
pub fn windows(
    machine: &SimulatedMachine,
    case: &Case,
    count: u32,
    noise: bool,
    round: u32,
) -> Result<Vec<Window>, Reason> {
    let interrupt = Interrupt::default();
    let mut executor = SimulatedExecutor::new(machine.clone(), noise, 1, interrupt).unwrap();
    let request = WindowRequest { round, first: 0, count, shortest: Duration::from_secs(1) };
    executor.run(case, request).map_err(|failure| match failure {
        Failure::Refused(reason) => reason,
        Failure::Interrupted => panic!("nobody interrupted it"),
    })
}

/// Useful bytes/s of each actor of a case without noise.
pub fn rates(machine: &SimulatedMachine, case: &Case) -> Vec<f64> {
    let window = window(machine, case).unwrap();
    window.actors.iter().map(|actor| as_float(actor.useful_bytes)).collect()
}

/// Useful bytes/s of a stream that is alone on memory.
pub fn rate(machine: &SimulatedMachine, stream: Stream) -> f64 {
    rates(machine, &on_memory(vec![Actor::Stream(stream)]))[0]
}

pub fn as_float(count: u64) -> f64 {
    count as f64
}

/// Equal but for what rounding to whole steps leaves.
#[track_caller]
pub fn assert_close(ours: f64, wanted: f64) {
    assert!((ours / wanted - 1.0).abs() < 1e-6, "{ours:e} instead of {wanted:e}");
}
