//! What the built-in machines answer is in order; that they answer everything is held by
//! `nearfar-measure`.

use nearfar_flow::{KernelLoad, SimulatedMachine, builtin_machines, read_machine};
use nearfar_machine::Initiator;

use crate::{on, rates};

fn machines() -> Vec<SimulatedMachine> {
    builtin_machines().unwrap().iter().map(|(name, _)| read_machine(name).unwrap()).collect()
}

fn cores(machine: &SimulatedMachine, initiator: &Initiator) -> u32 {
    u32::try_from(machine.machine.allowed_cores(&initiator.cpus).len()).unwrap()
}

/// Remote memory answers later than local memory of the same kind, and waits grow with load.
#[test]
fn latencies_are_in_order() {
    for machine in machines() {
        let translation = machine.latency.translation.unwrap();
        assert!(translation.base_pages_ns > translation.huge_pages_ns, "{}", machine.name);
        for initiator in machine.machine.initiators() {
            let of = |node: u32| machine.idle_latency_ns(initiator.index, node).unwrap();
            let local = initiator.memory_nodes.first().unwrap();
            let kind = machine.machine.node(local).unwrap().kind;
            for node in machine.machine.nodes.iter().filter(|node| node.kind == kind) {
                let what = format!("{}: {} to {}", machine.name, initiator.index, node.os_index);
                assert!(of(node.os_index) >= of(local), "{what}");
            }
            let mut before = 0.0;
            for threads in [0, 1, 2, cores(&machine, &initiator)] {
                let load = on(initiator.index, threads, local);
                let load = [KernelLoad::new("triad", &machine.variants[0], load)];
                let rates = machine.rates(&load).unwrap();
                let wait = machine.wait_ns(initiator.index, local, &load, &rates).unwrap();
                let what = format!("{}, {threads} threads: {wait}", machine.name);
                assert!(if threads == 0 { wait == 0.0 } else { wait >= before }, "{what}");
                before = wait;
            }
            assert!(before > 1.0, "{}: {before}", machine.name);
        }
    }
}

/// Nearer caches are faster, for one core and for all, and faster than memory.
#[test]
fn every_cache_has_a_roof_and_a_latency() {
    for machine in machines() {
        for initiator in machine.machine.initiators() {
            let cpus: Vec<u32> = machine
                .machine
                .allowed_cores(&initiator.cpus)
                .iter()
                .map(|core| core.first().unwrap())
                .collect();
            for kernel in ["load", "store", "copy", "triad", "ddot", "2l1s", "1l_4fma"] {
                for variant in machine.variants(kernel) {
                    for threads in [&cpus[..1], &cpus[..]] {
                        check_caches(&machine, initiator.index, kernel, &variant, threads);
                    }
                }
            }
        }
    }
}

fn check_caches(
    machine: &SimulatedMachine,
    initiator: u32,
    kernel: &str,
    variant: &str,
    threads: &[u32],
) {
    let node = machine.machine.initiators()[initiator as usize].memory_nodes.first().unwrap();
    let count = u32::try_from(threads.len()).unwrap();
    let together = rates(machine, kernel, variant, &[on(initiator, count, node)])[0];
    let mut slower = 1e9 * together / f64::from(count);
    let mut sooner = machine.idle_latency_ns(initiator, node).unwrap();
    let levels = machine.machine.caches.iter().map(|cache| cache.level).max().unwrap();
    for level in (1..=u8::try_from(levels).unwrap()).rev() {
        let what = format!("{}, L{level}, {count} of {kernel} in {variant}", machine.name);
        let beside = machine.threads_in_domain(level, threads, threads[0]);
        let rate = machine.cache_rate(level, kernel, variant, beside).unwrap();
        assert!(rate >= slower, "{what}: {rate} after {slower}");
        let ns = machine.cache_latency_ns(level).unwrap();
        assert!(ns < sooner, "{what}: {ns} ns after {sooner}");
        (slower, sooner) = (rate, ns);
    }
}

#[test]
fn every_core_computes() {
    for machine in machines() {
        let variant = &machine.variants[0];
        let of = |name: &str| machine.flop_rate(name, variant);
        let ghz = machine.core_ghz.unwrap();
        for operation in ["add", "mul", "mul_add"] {
            let dp = of(&format!("{operation}_dp")).unwrap();
            let sp = of(&format!("{operation}_sp")).unwrap();
            assert!(dp >= ghz * 1e9 * 0.99 && sp >= dp, "{}: {operation} {dp} {sp}", machine.name);
        }
        let peak = of("fma_dp").or(of("mul_add_dp")).unwrap();
        assert!(peak >= of("add_dp").unwrap() && peak >= of("mul_dp").unwrap(), "{}", machine.name);
        assert_eq!(of("div_dp"), None);
        assert_eq!(machine.flop_rate("add_dp", "no such variant"), None);
    }
    let joe0 = read_machine("joe0").unwrap();
    assert_eq!(joe0.flop_rate("fma_dp", "sse2"), None);
}
