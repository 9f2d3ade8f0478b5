//! Which cores carry a case's threads.

use nearfar_machine::{CpuGroup, CpuSet};

/// The CPUs of `threads` threads, one per core, in turn over the CPU group's L3
/// domains: few threads then see all the caches and links that all threads see.
/// `None` when the group of CPUs has fewer cores.
pub fn spread_over_l3_domains(
    l3_domains: &[CpuSet],
    cpu_group: &CpuGroup,
    threads: u32,
) -> Option<Vec<u32>> {
    cores_in_turn(l3_domains, cpu_group).get(..threads as usize).map(<[u32]>::to_vec)
}

/// A CPU of each core of a group of CPUs, in turn over its L3 domains.
pub(super) fn cores_in_turn(l3_domains: &[CpuSet], cpu_group: &CpuGroup) -> Vec<u32> {
    // Of a machine's many domains a group of CPUs has few.
    let cpus = cpu_group.cpus();
    let mut domains: Vec<Vec<u32>> = l3_domains
        .iter()
        .filter(|domain| domain.intersects(&cpus))
        .map(|domain| {
            cpu_group
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
    while domains.iter().any(|cores| !cores.is_empty()) {
        cpus.extend(domains.iter_mut().filter_map(Vec::pop));
    }
    cpus
}

/// How many L3 domains the group of CPUs has cores in.
pub(crate) fn l3_domain_count(l3_domains: &[CpuSet], cpu_group: &CpuGroup) -> usize {
    let cpus = cpu_group.cpus();
    l3_domains.iter().filter(|domain| domain.intersects(&cpus)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_machine::GroupBy;

    fn cpu_group(cores: &[&str]) -> CpuGroup {
        CpuGroup {
            kind: GroupBy::Memory,
            index: 0,
            initiator: 0,
            cores: cores.iter().map(|core| core.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn threads_take_turns_over_the_domains() {
        let domains: Vec<CpuSet> =
            ["0-3,8-11", "4-7,12-15"].iter().map(|list| list.parse().unwrap()).collect();
        let cores = ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"];
        let spread = |threads| spread_over_l3_domains(&domains, &cpu_group(&cores), threads);
        assert_eq!(spread(1), Some(vec![0]));
        assert_eq!(spread(3), Some(vec![0, 4, 1]));
        assert_eq!(spread(8), Some(vec![0, 4, 1, 5, 2, 6, 3, 7]));
        assert_eq!(spread(9), None);
        assert_eq!(l3_domain_count(&domains, &cpu_group(&cores)), 2);
    }

    /// A domain of which one core may be used gives out, the other goes on.
    #[test]
    fn uneven_domains_give_all_their_cores() {
        let domains: Vec<CpuSet> =
            ["0-3", "4-7"].iter().map(|list| list.parse().unwrap()).collect();
        let spread = spread_over_l3_domains(&domains, &cpu_group(&["0", "4", "5", "6"]), 4);
        assert_eq!(spread, Some(vec![0, 4, 5, 6]));
    }
}
