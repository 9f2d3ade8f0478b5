//! How much of a process's memory lies far from where its threads run.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, Initiator, Machine};

/// Which memory is near to whom.
#[derive(Debug)]
pub(crate) struct Nearness {
    pub initiators: Vec<Initiator>,
    /// Nodes with the CPUs to which they are near, those that are near to the fewest first.
    nodes: Vec<(u32, CpuSet)>,
}

/// Where a process runs, and what of its memory is far from there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FarMemory {
    /// The initiator that had most of its CPU time, and its share of that.
    pub home: u32,
    pub home_share: f64,
    /// Memory by node for which there is no CPU time near it.
    pub bytes: BTreeMap<u32, u64>,
    /// The share of its memory that this is.
    pub share: f64,
}

impl Nearness {
    pub fn of(machine: &Machine) -> Self {
        let nodes = machine.nodes.iter();
        let mut nodes: Vec<(u32, CpuSet)> =
            nodes.map(|node| (node.os_index, machine.cpus_near(node))).collect();
        nodes.sort_by_key(|(_, cpus)| cpus.len());
        Self { initiators: machine.initiators(), nodes }
    }

    pub fn initiator(&self, index: u32) -> Option<&Initiator> {
        self.initiators.iter().find(|initiator| initiator.index == index)
    }

    /// What of this memory is far from CPUs with this CPU time, if every thread accesses as much as
    /// it has CPU time, and every page is accessed as often: then at least this share of the accesses
    /// goes to memory that is far. `None` without memory, or without CPUs that the machine has.
    pub fn far_memory(
        &self,
        cpu_time: &BTreeMap<u32, f64>,
        bytes: &BTreeMap<u32, u64>,
    ) -> Option<FarMemory> {
        let time_of = |it: &Initiator| {
            cpu_time.iter().filter(|(cpu, _)| it.cpus.contains(**cpu)).map(|(_, time)| time).sum()
        };
        let times: Vec<f64> = self.initiators.iter().map(time_of).collect();
        let all_time: f64 = times.iter().sum();
        let all = bytes.values().map(|&bytes| bytes as f64).sum::<f64>();
        if all_time <= 0.0 || all <= 0.0 {
            return None;
        }
        let mut left: Vec<f64> = times.iter().map(|time| time / all_time).collect();
        let home = (0..left.len()).max_by(|&one, &other| left[one].total_cmp(&left[other]))?;
        let (home_share, home) = (left[home], self.initiators[home].index);
        // Nodes that are near to few come first: those that are near to more take who is left. As
        // these sets hold each other or have nothing in common, nothing else leaves less.
        let mut far = bytes.clone();
        for (node, near) in &self.nodes {
            let Some(there) = far.get_mut(node) else { continue };
            for (initiator, left) in self.initiators.iter().zip(&mut left) {
                if initiator.cpus.intersects(near) {
                    let taken = left.min(*there as f64 / all);
                    *left -= taken;
                    *there = less(*there, taken * all);
                }
            }
        }
        far.retain(|_, bytes| *bytes > 0);
        let share = far.values().map(|&bytes| bytes as f64).sum::<f64>() / all;
        Some(FarMemory { home, home_share, bytes: far, share })
    }
}

/// Bytes without a part of them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of bytes below 2^52, which is not negative"
)]
fn less(bytes: u64, part: f64) -> u64 {
    bytes.saturating_sub(part.round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn nearness(synthetic: &str) -> Nearness {
        Nearness::of(&nearfar_topology::parse_synthetic(synthetic).unwrap())
    }

    fn far(cpu_time: &[(u32, f64)], gib: &[(u32, u64)]) -> FarMemory {
        let bytes = gib.iter().map(|&(node, gib)| (node, gib * GIB)).collect();
        // Two nodes with the CPUs 0-1 and 2-3.
        let two = nearness("pack:2 [numa] core:2 pu:1");
        two.far_memory(&cpu_time.iter().copied().collect(), &bytes).unwrap()
    }

    #[test]
    fn memory_is_far_that_no_thread_near_it_accounts_for() {
        for (cpu_time, memory, expected) in [
            (&[(0, 1.0)][..], &[(0, 8)][..], &[][..]),
            (&[(0, 1.0)], &[(1, 8)], &[(1, 8)]),
            (&[(0, 1.0), (1, 1.0)], &[(0, 6), (1, 2)], &[(1, 2)]),
            // Threads on both, and one has written all first.
            (&[(1, 5.0), (2, 5.0)], &[(0, 8)], &[(0, 4)]),
            // Each may have its own part, or all of them all in turn.
            (&[(1, 5.0), (2, 5.0)], &[(0, 4), (1, 4)], &[]),
            (&[(0, 1.0), (2, 3.0)], &[(0, 4), (1, 4)], &[(0, 2)]),
        ] {
            let found = far(cpu_time, memory);
            let expected: BTreeMap<u32, u64> =
                expected.iter().map(|&(node, gib)| (node, gib * GIB)).collect();
            assert_eq!(found.bytes, expected, "{cpu_time:?} {memory:?}");
            let all: u64 = memory.iter().map(|(_, gib)| gib * GIB).sum();
            let share = expected.values().sum::<u64>() as f64 / all as f64;
            assert!((found.share - share).abs() < 1e-9, "{found:?}");
        }
        let found = far(&[(0, 1.0), (3, 3.0)], &[(0, 1)]);
        assert_eq!((found.home, found.home_share), (1, 0.75));
        let two = nearness("pack:2 [numa] core:2 pu:1");
        assert_eq!(two.far_memory(&[(9, 1.0)].into(), &[(0, 1)].into()), None);
        assert_eq!(two.far_memory(&[(0, 1.0)].into(), &BTreeMap::new()), None);
    }

    /// A node that is near to a whole package is far to nobody in it.
    #[test]
    fn memory_of_a_package_is_near_to_all_its_cpus() {
        let mut machine =
            nearfar_topology::parse_synthetic("pack:2 group:2 [numa] core:2 pu:1").unwrap();
        let mut wide = machine.nodes[0].clone();
        (wide.os_index, wide.cpus, wide.locality) = (4, CpuSet::new(), "0-3".parse().unwrap());
        machine.nodes.push(wide);
        let nearness = Nearness::of(&machine);
        let far = |cpu| {
            let found = nearness.far_memory(&[(cpu, 1.0)].into(), &[(4, GIB)].into());
            found.unwrap().share
        };
        assert_eq!((far(0), far(2), far(4)), (0.0, 0.0, 1.0));
    }

    proptest! {
        /// Where each node has its own CPUs, memory and CPU time that do not go together are those
        /// that one node has more of than the other has.
        #[test]
        fn what_is_far_is_the_distance_of_two_distributions(
            time in prop::collection::vec(0_u32..100, 4),
            memory in prop::collection::vec(0_u64..1000, 4),
        ) {
            let machine = nearness("pack:4 [numa] core:1 pu:1");
            let cpu_time = (0..).zip(&time).map(|(cpu, &time)| (cpu, f64::from(time))).collect();
            let bytes = (0..).zip(&memory).map(|(node, &mib)| (node, mib << 20)).collect();
            let (all_time, all): (u32, u64) = (time.iter().sum(), memory.iter().sum());
            let found = machine.far_memory(&cpu_time, &bytes);
            prop_assert_eq!(found.is_some(), all_time > 0 && all > 0);
            if let Some(found) = found {
                let parts = time.iter().zip(&memory).map(|(&time, &mib)| {
                    (mib as f64 / all as f64 - f64::from(time) / f64::from(all_time)).abs()
                });
                prop_assert!((found.share - parts.sum::<f64>() / 2.0).abs() < 1e-6, "{found:?}");
            }
        }
    }
}
