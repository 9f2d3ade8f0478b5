//! In which order threads take CPUs that they are pinned to (vladimirov2012: the affinity of
//! an OpenMP program's threads). The words are those of `KMP_AFFINITY`.

use nearfar_machine::{CpuSet, Machine};

/// The CPUs that the process may use, as near to each other as can be: all CPUs of a core, the
/// cores of an L3 domain, of a node, of a package, and then the next.
pub fn compact_order(machine: &Machine) -> Vec<u32> {
    cores_in_order(machine, |groups| groups.concat()).concat()
}

/// The CPUs that the process may use, as far from each other as can be: in turn over packages,
/// within one over its nodes, then over L3 domains and cores. A core gets its second thread when
/// every core has one.
pub fn scatter_order(machine: &Machine) -> Vec<u32> {
    in_turn(&cores_in_order(machine, |groups| in_turn(&groups)))
}

/// The CPUs of threads that are as far from each other as can be, neighbours together: OpenMP's `spread`.
pub fn spread_order(machine: &Machine, threads: usize) -> Vec<u32> {
    let taken: CpuSet = scatter_order(machine).into_iter().take(threads).collect();
    compact_order(machine).into_iter().filter(|&cpu| taken.contains(cpu)).collect()
}

/// The CPUs of a core.
type Core = Vec<u32>;

/// All cores, those of a group joined by `join`, inner groups first.
fn cores_in_order(machine: &Machine, join: fn(Vec<Vec<Core>>) -> Vec<Core>) -> Vec<Core> {
    let cores = machine.allowed_cores(&machine.cpus());
    let cores = cores.iter().map(|cpus| cpus.iter().collect()).collect();
    let mut levels = [
        machine.packages.iter().map(|package| package.cpus.clone()).collect(),
        machine.initiators().into_iter().map(|initiator| initiator.cpus).collect(),
        machine.l3_domains(),
    ];
    // The larger groups are the outer ones. Mostly that is the order above; but a node may hold
    // several packages, and a cache may serve several nodes of a package.
    levels.sort_by_key(Vec::len);
    join_groups(cores, &levels, join)
}

fn join_groups(
    cores: Vec<Core>,
    levels: &[Vec<CpuSet>],
    join: fn(Vec<Vec<Core>>) -> Vec<Core>,
) -> Vec<Core> {
    let Some((level, inner)) = levels.split_first() else {
        return cores;
    };
    // What belongs to no group (there may be no package at all) forms one by itself.
    let mut groups: Vec<Vec<Core>> = vec![Vec::new(); level.len() + 1];
    for core in cores {
        let is_of_core = |group: &CpuSet| core.iter().any(|&cpu| group.contains(cpu));
        let position = level.iter().position(is_of_core).unwrap_or(level.len());
        groups[position].push(core);
    }
    groups.retain(|group| !group.is_empty());
    join(groups.into_iter().map(|group| join_groups(group, inner, join)).collect())
}

/// The first of each list, then the second of each that has one, and so on.
fn in_turn<Item: Clone>(lists: &[Vec<Item>]) -> Vec<Item> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |place: usize| lists.iter().filter_map(move |list| list.get(place).cloned());
    (0..longest).flat_map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_topology::parse_synthetic;

    fn orders(machine: &Machine) -> (Vec<u32>, Vec<u32>) {
        (compact_order(machine), scatter_order(machine))
    }

    #[test]
    fn threads_are_near_or_far() {
        let machine = parse_synthetic("pack:2 numa:2 l3:2 core:2 pu:2").unwrap();
        let (compact, scatter) = orders(&machine);
        assert_eq!(compact, (0..32).collect::<Vec<u32>>());
        // Packages begin at 0 and 16, their second nodes at 8, second L3 domains at 4, cores
        // have two CPUs each.
        let first = [0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30];
        assert_eq!(scatter[..16], first);
        assert_eq!(scatter[16..], first.map(|cpu| cpu + 1));
    }

    /// Linux counts the first CPUs of all cores before the second ones, and packages in turn on
    /// some machines (Xeon E7-4870: 4 packages of 10 cores).
    #[test]
    fn numbers_of_cpus_decide_nothing() {
        let numbers: Vec<String> = (0..4)
            .flat_map(|package| (0..10).map(move |core| package + 4 * core))
            .map(|first| format!("{first},{}", first + 40))
            .collect();
        let text = format!("pack:4 [numa] l3:1 core:10 pu:2(indexes={})", numbers.join(","));
        let machine = parse_synthetic(&text).unwrap();
        let cores: Vec<String> = machine.cores.iter().map(|core| core.cpus.to_string()).collect();
        assert_eq!(cores[..2], ["0,40", "1,41"]);
        let (compact, scatter) = orders(&machine);
        assert_eq!(compact[..4], [0, 40, 4, 44]);
        assert_eq!(compact[18..22], [36, 76, 1, 41]);
        assert_eq!(scatter, (0..80).collect::<Vec<u32>>());
    }

    #[test]
    fn cpus_that_may_not_be_used_are_passed_over() {
        let mut machine = parse_synthetic("pack:2 [numa] core:3 pu:2").unwrap();
        machine.allowed_cpus = "1,4-8".parse().unwrap();
        let (compact, scatter) = orders(&machine);
        assert_eq!(compact, [1, 4, 5, 6, 7, 8]);
        assert_eq!(scatter, [1, 6, 4, 8, 7, 5]);
    }

    /// IBM x3950 M2: several packages on one node.
    #[test]
    fn a_node_may_hold_several_packages() {
        let machine = parse_synthetic("numa:2 pack:2 core:2 pu:1").unwrap();
        let (compact, scatter) = orders(&machine);
        assert_eq!(compact, (0..8).collect::<Vec<u32>>());
        assert_eq!(scatter, [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    /// Sub-NUMA clusters below one cache, with the cache's cores in both.
    #[test]
    fn a_cache_may_serve_several_nodes() {
        let machine = parse_synthetic("pack:2 l3:1 numa:2 core:2 pu:1").unwrap();
        let (compact, scatter) = orders(&machine);
        assert_eq!(compact, (0..8).collect::<Vec<u32>>());
        assert_eq!(scatter, [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn a_machine_without_packages_has_an_order() {
        let mut machine = parse_synthetic("pack:1 numa:2 core:2 pu:1").unwrap();
        machine.packages.clear();
        assert_eq!(orders(&machine), (vec![0, 1, 2, 3], vec![0, 2, 1, 3]));
    }
}
