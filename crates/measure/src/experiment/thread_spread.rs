//! Which cores carry a case's threads.

use nearfar_machine::{CpuSet, Initiator, Machine};

/// The CPUs of `threads` threads, one per core, in turn over the initiator's L3
/// domains: few threads then see all the caches and links that all threads see.
/// `None` when the initiator has fewer cores.
#[must_use]
pub fn spread_over_l3_domains(
    machine: &Machine,
    initiator: &Initiator,
    threads: u32,
) -> Option<Vec<u32>> {
    let mut domains: Vec<Vec<u32>> = machine
        .l3_domains()
        .iter()
        .map(|domain| {
            initiator
                .cores
                .iter()
                .filter(|core| core.intersects(domain))
                .filter_map(CpuSet::first)
                .rev()
                .collect()
        })
        .filter(|cores: &Vec<u32>| !cores.is_empty())
        .collect();
    let mut cpus = Vec::new();
    while cpus.len() < threads as usize {
        let before = cpus.len();
        for domain in &mut domains {
            if cpus.len() < threads as usize {
                cpus.extend(domain.pop());
            }
        }
        if cpus.len() == before {
            return None;
        }
    }
    Some(cpus)
}

/// Thread counts with one thread per L3 domain, and how many domains there are.
#[must_use]
pub(crate) fn l3_domain_count(machine: &Machine, initiator: &Initiator) -> usize {
    let cpus = initiator.cpus();
    machine.l3_domains().iter().filter(|domain| domain.intersects(&cpus)).count()
}
