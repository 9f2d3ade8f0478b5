//! The order in which a chase visits its nodes.

/// One random cycle through all nodes, group by group: the nodes of a group, in random order, come
/// before those of the next; the groups come in random order as well.
///
/// With one group every cycle is as likely as any other, which is what Sattolo's algorithm gives
/// (Inf. Process. Lett. 22, 1986); a random permutation would not do, because it falls into
/// several cycles, and a chase would stay in one of them. With groups as small as
/// what a translation look-aside buffer reaches, address translation is missed once per page and
/// cycle instead of at nearly every access, while prefetchers still find no order (as in
/// multichase).
///
/// ```
/// let cycle = nearfar_kernels::Cycle::new(1000, 64, 1);
/// let order: Vec<usize> = cycle.order().collect();
/// assert_eq!(order.len(), 1000);
/// assert_eq!(cycle.node_at(1007), order[7]);
/// ```
#[derive(Clone, Debug)]
pub struct Cycle {
    nodes: usize,
    nodes_per_group: usize,
    /// In their order. Only the last group of the memory can be smaller than the others: it is
    /// last here as well, so that the place of each group in the order is known.
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_node: usize,
    seed: u64,
}

impl Cycle {
    /// A cycle through the nodes from 0, in groups of neighbours. The same seed gives the same
    /// cycle.
    ///
    /// # Panics
    ///
    /// If there are no nodes, or none in a group.
    pub fn new(nodes: usize, nodes_per_group: usize, seed: u64) -> Cycle {
        assert!(nodes > 0 && nodes_per_group > 0, "a cycle has nodes, in groups of at least one");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut groups: Vec<Group> = (0..nodes)
            .step_by(nodes_per_group)
            .map(|first_node| Group { first_node, seed: random.u64(..) })
            .collect();
        let whole = nodes / nodes_per_group;
        random.shuffle(&mut groups[..whole]);
        Cycle { nodes, nodes_per_group, groups }
    }

    /// How many nodes it visits.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Every node once, in the order of the cycle, from some node.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flat_map(|group| self.nodes_of(group))
    }

    /// The node that comes after this many steps from the first of [`Cycle::order`]. Takes as long
    /// as a group.
    pub fn node_at(&self, steps: u64) -> usize {
        let place = steps % self.nodes as u64;
        #[expect(clippy::cast_possible_truncation, reason = "less than the nodes")]
        let place = place as usize;
        let group = &self.groups[place / self.nodes_per_group];
        self.nodes_of(group)[place % self.nodes_per_group]
    }

    fn nodes_of(&self, group: &Group) -> Vec<usize> {
        let end = self.nodes.min(group.first_node + self.nodes_per_group);
        let mut nodes: Vec<usize> = (group.first_node..end).collect();
        fastrand::Rng::with_seed(group.seed).shuffle(&mut nodes);
        nodes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn every_node_is_visited_once_whatever_the_groups() {
        let mut random = fastrand::Rng::with_seed(1);
        for case in 0..300 {
            let nodes = if case < 40 { case + 1 } else { random.usize(1..5000) };
            let group = match case % 4 {
                0 => 1,
                1 => nodes,
                2 => 2 * nodes,
                _ => random.usize(1..=nodes),
            };
            let cycle = Cycle::new(nodes, group, random.u64(..));
            let mut seen = vec![0; nodes];
            cycle.order().for_each(|node| seen[node] += 1);
            assert!(seen.iter().all(|&times| times == 1), "{nodes} nodes in groups of {group}");
        }
    }

    #[test]
    fn a_group_is_left_only_when_all_of_it_was_visited() {
        let cycle = Cycle::new(1000, 16, 2);
        let groups: Vec<usize> = cycle.order().map(|node| node / 16).collect();
        let mut changes: Vec<usize> =
            groups.chunk_by(|one, two| one == two).map(|g| g[0]).collect();
        assert_eq!(changes.len(), 63);
        assert!(!changes.is_sorted(), "the groups are in order");
        // The smaller group of 8 is the last one.
        assert_eq!(changes.last(), Some(&62));
        changes.sort_unstable();
        assert_eq!(changes, (0..63).collect::<Vec<_>>());
    }

    #[test]
    fn each_place_is_that_of_the_order_and_comes_again() {
        for (nodes, group) in [(1, 1), (7, 3), (1000, 64), (64, 64), (100, 1000)] {
            let cycle = Cycle::new(nodes, group, 3);
            for (steps, node) in (0..).zip(cycle.order()) {
                assert_eq!(cycle.node_at(steps), node);
                assert_eq!(cycle.node_at(steps + 5 * nodes as u64), node);
            }
        }
    }

    #[test]
    fn with_one_group_every_cycle_is_as_likely() {
        // Of four nodes there are six cycles: 3! orders of what follows the first.
        let mut counts: HashMap<Vec<usize>, u32> = HashMap::new();
        for seed in 0..6000 {
            let mut order: Vec<usize> = Cycle::new(4, 4, seed).order().collect();
            let zero = order.iter().position(|&node| node == 0).unwrap();
            order.rotate_left(zero);
            *counts.entry(order).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        // 1000 each, and 29 their standard deviation.
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn neighbours_in_the_cycle_are_at_all_distances() {
        let order: Vec<usize> = Cycle::new(4096, 1024, 4).order().collect();
        let steps: Vec<isize> =
            order.windows(2).map(|pair| pair[1] as isize - pair[0] as isize).collect();
        let distinct: HashSet<isize> = steps.iter().copied().collect();
        assert!(distinct.len() > 1000, "{}", distinct.len());
        let near = steps.iter().filter(|step| step.abs() <= 1).count();
        assert!(near < 30, "{near} steps go to the node beside");
    }

    #[test]
    fn the_seed_decides() {
        let order = |seed| Cycle::new(500, 50, seed).order().collect::<Vec<_>>();
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
