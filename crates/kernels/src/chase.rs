//! Dependent loads: how long memory takes to answer.

use std::marker::PhantomData;

use crate::Cycle;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::architecture::{
    CHASE_UNROLL, end_stores_past_caches, follow_iterations, store_past_caches,
};
use crate::portable;

const NODE_ELEMENTS: usize = Chase::NODE_BYTES / size_of::<f64>();

/// How the nodes of a chase are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Laying {
    /// As other data is: caches hold the last ones afterwards, and have to write them back.
    Plain,
    /// So that caches hold no node afterwards, as in a long walk through more than they can hold: by
    /// stores that go around them or, on AArch64, by writing each line back and dropping it.
    PastCaches,
}

impl Laying {
    /// Whether it goes around the caches here: not where all loops are portable.
    pub fn is_past_caches(self) -> bool {
        self == Self::PastCaches && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
    }

    fn write(self, element: &mut f64, value: f64) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.is_past_caches() {
            return store_past_caches(element, value);
        }
        *element = value;
    }

    /// After it all that was written is in memory, or in a cache.
    fn end(self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.is_past_caches() {
            end_stores_past_caches();
        }
    }
}

/// A walk through memory in which every load gives the address of the next.
///
/// The time of an access is the latency of whatever holds the nodes: no load can begin before the
/// one before has ended.
///
/// ```
/// let mut memory = vec![0.0; 32 * 100];
/// let mut chase = nearfar_kernels::Chase::new(&mut memory, 16, 1, nearfar_kernels::Laying::Plain);
/// chase.run(12_345);
/// assert!(chase.is_on_course());
/// ```
#[derive(Debug)]
pub struct Chase<'a> {
    /// Where the first node is.
    base: usize,
    cycle: Cycle,
    /// Where the next load is.
    place: usize,
    accesses: u64,
    /// The nodes, which nobody else may write to.
    memory: PhantomData<&'a mut [f64]>,
}

impl<'a> Chase<'a> {
    /// One node in this many bytes: farther apart than a line and the one that many CPUs fetch
    /// with it. The other lines of the memory are not touched.
    pub const NODE_BYTES: usize = 256;

    /// Lays a cycle through all of `memory` in groups of neighbours, see [`Cycle`]. What
    /// remains of it after whole nodes is left alone. Its nodes should be aligned to
    /// [`Chase::NODE_BYTES`].
    ///
    /// # Panics
    ///
    /// If there is not one node, or none in a group.
    pub fn new(
        memory: &'a mut [f64],
        nodes_per_group: usize,
        seed: u64,
        laying: Laying,
    ) -> Chase<'a> {
        let nodes = memory.len() / NODE_ELEMENTS;
        assert!(nodes > 0, "a chase needs at least {} bytes", Self::NODE_BYTES);
        let cycle = Cycle::new(nodes, nodes_per_group, seed);
        let base = memory.as_ptr().addr();
        let address = |node: usize| base + node * Self::NODE_BYTES;

        let first = cycle.node_at(0);
        let mut last = first;
        for node in cycle.order().skip(1) {
            laying.write(&mut memory[last * NODE_ELEMENTS], as_element(address(node)));
            last = node;
        }
        laying.write(&mut memory[last * NODE_ELEMENTS], as_element(address(first)));
        laying.end();
        // After the last write: one through `memory` would end what is exposed.
        memory.as_mut_ptr().expose_provenance();
        Chase { base, cycle, place: address(first), accesses: 0, memory: PhantomData }
    }

    /// The order of the nodes.
    pub fn cycle(&self) -> &Cycle {
        &self.cycle
    }

    /// Where its first node is.
    pub fn address(&self) -> usize {
        self.base
    }

    /// Goes on for this many accesses.
    pub fn run(&mut self, accesses: u64) {
        // SAFETY: `new` wrote to each node the address of a node and exposed the provenance of
        // them all afterwards; `memory` is borrowed since, so that nobody else has touched them.
        self.place = unsafe { follow(self.place, accesses) };
        self.accesses += accesses;
    }

    /// Accesses since the beginning.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The node whose turn it is.
    pub fn node(&self) -> usize {
        self.place.wrapping_sub(self.base) / Self::NODE_BYTES
    }

    /// Whether that is the node which comes after this many accesses: if not, the memory or the
    /// CPU is at fault.
    pub fn is_on_course(&self) -> bool {
        self.node() == self.cycle.node_at(self.accesses)
    }
}

/// Follows pointers for this many accesses; gives where that ends.
///
/// # Safety
///
/// `place` holds the address of a place that does so too, and so on; their provenance is exposed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn follow(mut place: usize, accesses: u64) -> usize {
    let iterations = accesses / CHASE_UNROLL;
    if iterations > 0 {
        // SAFETY: `place` is as the loop wants it, and there is an iteration.
        place = unsafe { follow_iterations(place, iterations) };
    }
    // SAFETY: the loop ended at such a place as well.
    unsafe { portable::follow(place, accesses % CHASE_UNROLL) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable::follow;

/// An address as the bits of an element. As a number it would be a denormal one, but nobody
/// computes with it.
fn as_element(address: usize) -> f64 {
    f64::from_bits(address as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_is_visited_once_before_the_first_comes_again() {
        let sizes = [(1, 1), (2, 1), (31, 7), (1000, 16), (4096, 1024)];
        let both = [Laying::Plain, Laying::PastCaches];
        for ((nodes, group), laying) in sizes.into_iter().flat_map(|size| both.map(|it| (size, it)))
        {
            let mut memory = vec![1.5; nodes * NODE_ELEMENTS + 5];
            let mut chase = Chase::new(&mut memory, group, 7, laying);
            let first = chase.node();
            let mut seen = vec![false; nodes];
            for _ in 0..nodes {
                assert!(!std::mem::replace(&mut seen[chase.node()], true));
                chase.run(1);
                assert!(chase.is_on_course());
            }
            assert_eq!(chase.node(), first, "{nodes} nodes in groups of {group}");
            assert_eq!(chase.accesses(), nodes as u64);
        }
    }

    #[test]
    fn many_accesses_at_once_end_where_one_by_one_do() {
        let mut memory = vec![0.0; 500 * NODE_ELEMENTS];
        let mut chase = Chase::new(&mut memory, 64, 3, Laying::Plain);
        let mut random = fastrand::Rng::with_seed(4);
        let mut steps = 0;
        for case in 0..300 {
            let accesses = if case < 100 { case } else { random.u64(..5000) };
            chase.run(accesses);
            steps += accesses;
            assert_eq!(chase.accesses(), steps);
            assert_eq!(chase.node(), chase.cycle().node_at(steps));
        }
    }

    #[test]
    fn the_loops_of_this_cpu_and_of_every_cpu_agree() {
        let mut memory = vec![0.0; 300 * NODE_ELEMENTS];
        let chase = Chase::new(&mut memory, 300, 9, Laying::Plain);
        for accesses in [0, 1, 31, 32, 33, 64, 1000] {
            // SAFETY: as in `Chase::run`.
            let ours = unsafe { follow(chase.place, accesses) };
            // SAFETY: as above.
            let portable = unsafe { portable::follow(chase.place, accesses) };
            assert_eq!(ours, portable, "{accesses}");
        }
    }

    #[test]
    fn one_element_of_each_node_is_written_and_no_more() {
        let mut memory = vec![7.5; 20 * NODE_ELEMENTS + 31];
        Chase::new(&mut memory, 4, 1, Laying::Plain);
        for (index, element) in memory.iter().enumerate() {
            let pointer = index.is_multiple_of(NODE_ELEMENTS) && index < 20 * NODE_ELEMENTS;
            assert_eq!(element.to_bits() != 7.5_f64.to_bits(), pointer, "{index}");
        }
    }

    #[test]
    fn a_walk_that_was_led_astray_is_noticed() {
        let mut memory = vec![0.0; 100 * NODE_ELEMENTS];
        let mut chase = Chase::new(&mut memory, 100, 5, Laying::PastCaches);
        chase.run(10);
        // Another node than the one after ten accesses.
        chase.place = chase.base + chase.cycle.node_at(12) * Chase::NODE_BYTES;
        assert!(!chase.is_on_course());
        chase.run(1000);
        assert!(!chase.is_on_course());
    }

    #[test]
    fn less_than_a_node_is_refused() {
        let refused = std::panic::catch_unwind(|| {
            Chase::new(&mut [0.0; NODE_ELEMENTS - 1], 1, 1, Laying::Plain).run(1);
        });
        assert!(refused.is_err());
    }
}
