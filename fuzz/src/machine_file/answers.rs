//! What a simulated machine is asked once its file was read.

use nearfar_flow::{FlowError, HybridBytes, KernelLoad, Load, SimulatedMachine};

const KERNELS: [&str; 4] = ["triad", "load", "store", "2l1s"];

/// Panics where an answer is no number that makes sense. `draw` gives any number below the one
/// that it is given: it decides of what is asked.
///
/// # Errors
/// Those of [`SimulatedMachine::rates`].
pub fn assert_sound(
    machine: &SimulatedMachine,
    draw: &mut impl FnMut(u32) -> u32,
) -> Result<(), FlowError> {
    let assert_positive = positive(machine);
    let initiators: Vec<u32> = machine.machine.initiators().iter().map(|it| it.index).collect();
    let nodes: Vec<u32> = machine.machine.nodes.iter().map(|node| node.os_index).collect();
    let mut loads = Vec::new();
    for _ in 0..=draw(3) {
        let kernel = *any(&KERNELS, draw);
        let variants = machine.variants(kernel);
        // A mix of which no variant has both halves.
        if variants.is_empty() {
            continue;
        }
        let load = Load {
            initiator: *any(&initiators, draw),
            threads: 1 + draw(199),
            shares: vec![(*any(&nodes, draw), 0.75), (*any(&nodes, draw), 0.25)],
        };
        let most = (draw(2) == 0).then(|| 1.0 + f64::from(draw(1_000_000_000)));
        let load = KernelLoad::new(kernel, any(&variants, draw), load);
        loads.push(KernelLoad { most_per_thread: most, ..load });
    }
    let rates = machine.rates(&loads)?;
    rates.iter().copied().for_each(&assert_positive);
    let (initiator, node) = (*any(&initiators, draw), *any(&nodes, draw));
    let wait = machine.wait_ns(initiator, node, &loads, &rates);
    let is_without_queue = machine.latency.queue.is_none();
    let is_sound = wait.map_or(is_without_queue, |wait| wait.is_finite() && wait >= 0.0);
    assert!(is_sound, "{wait:?}: {}", machine.text);
    assert_eq!(machine.wait_ns(initiator, node, &[], &[]), Some(0.0), "{}", machine.text);
    let cpus: Vec<u32> = machine.machine.cpus().iter().collect();
    let level = machine.level_of(&cpus, 1 + u64::from(draw(1 << 30)));
    let caches = [1, 3, 4, level.unwrap_or(2)].map(|level| machine.cache_latency_ns(level));
    let latency = machine.idle_latency_ns(initiator, node);
    latency.into_iter().chain(caches.into_iter().flatten()).for_each(&assert_positive);
    let kernel = *any(&KERNELS, draw);
    assert_cores_sound(machine, &cpus, kernel);
    let bytes =
        HybridBytes { fast_loads: 1e9, fast_stores: 1e8, slow_loads: 1e9, slow_stores: 0.0 };
    if let Some((fast, slow)) = machine.overlap_pair(initiator, (node, *any(&nodes, draw))) {
        let seconds = machine.hybrid_seconds(initiator, fast, slow, bytes);
        assert_positive(seconds.unwrap_or(f64::NAN));
    }
    let draw_of_mode = f64::from(draw(1000)) / 1000.0;
    assert_positive(machine.noise.unbound_factor(1 + draw(99), draw_of_mode));
    Ok(())
}

/// What caches carry and cores compute.
fn assert_cores_sound(machine: &SimulatedMachine, cpus: &[u32], kernel: &str) {
    let assert_positive = positive(machine);
    for variant in &machine.variants {
        for level in 0..6 {
            let sharers = machine.threads_in_domain(level, cpus, cpus[0]);
            let rate = machine.cache_rate(level, kernel, variant, sharers);
            rate.into_iter().for_each(&assert_positive);
        }
        let loops = ["add_dp", "fma_dp"].into_iter();
        loops.filter_map(|name| machine.flop_rate(name, variant)).for_each(&assert_positive);
    }
}

fn any<'a, T>(of: &'a [T], draw: &mut impl FnMut(u32) -> u32) -> &'a T {
    &of[draw(u32::try_from(of.len()).unwrap_or(u32::MAX)) as usize]
}

fn positive(machine: &SimulatedMachine) -> impl Fn(f64) {
    |number| assert!(number.is_finite() && number > 0.0, "{number}: {}", machine.text)
}
