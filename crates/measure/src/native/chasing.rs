//! One thread's chase: this many accesses at a time, and where it must be then.

use nearfar_kernels::{Chase, Laying};
use nearfar_record::{Reason, ReasonCode};

use super::work::Work;

/// Bytes that an access asks for.
pub(super) const ACCESS_BYTES: u64 = 8;

/// Accesses of a block before any rate is known.
const FIRST_BLOCK: u64 = 4096;

/// Accesses to warm up by at least: small sets are gone through many times, so that the rate by
/// which blocks are cut is that of warm caches.
const WARM_ACCESSES: u64 = 64 * 1024;

/// Goes on for this many accesses.
pub(super) type RunChase = fn(&mut Chase<'_>, u64);

/// As the chase does it itself.
pub(super) fn run_chase(chase: &mut Chase<'_>, accesses: u64) {
    chase.run(accesses);
}

/// Where one thread is in its chase.
#[derive(Debug)]
pub(super) struct Chasing<'a> {
    chase: Chase<'a>,
    run_chase: RunChase,
    nodes: u64,
    /// Accesses after which the caches hold what they will, and the core has its clock.
    warm_accesses: u64,
    /// Accesses that were asked for: what the loop says for itself is held against it.
    accesses: u64,
    block: u64,
}

impl<'a> Chasing<'a> {
    /// Lays a cycle through all of `memory`, whose pages are present, in groups of this many bytes. Where
    /// that left nodes in caches it is warm after all were visited, so that these hold what they will.
    pub fn new(
        memory: &'a mut [f64],
        group_bytes: u64,
        (seed, laying): (u64, Laying),
        run_chase: RunChase,
    ) -> Self {
        let group = usize::try_from(group_bytes).unwrap_or(usize::MAX) / Chase::NODE_BYTES;
        let chase = Chase::new(memory, group.max(1), seed, laying);
        let nodes = chase.cycle().nodes() as u64;
        let warm_accesses =
            if laying.is_past_caches() { WARM_ACCESSES } else { nodes.max(WARM_ACCESSES) };
        Self { chase, run_chase, nodes, warm_accesses, accesses: 0, block: FIRST_BLOCK }
    }
}

impl Work for Chasing<'_> {
    fn done(&self) -> u64 {
        self.accesses * ACCESS_BYTES
    }

    fn passes(&self) -> u64 {
        self.accesses / self.nodes
    }

    fn is_warm(&self) -> bool {
        self.accesses >= self.warm_accesses
    }

    fn set_block(&mut self, useful_bytes: u64) {
        self.block = (useful_bytes / ACCESS_BYTES).max(1);
    }

    fn halve_block(&mut self) {
        self.block = (self.block / 2).max(1);
    }

    fn step(&mut self) -> Result<(), Reason> {
        (self.run_chase)(&mut self.chase, self.block);
        self.accesses += self.block;
        Ok(())
    }

    /// Checks that it is where this many accesses lead. Once it has left its course it does not
    /// come back to the right place in time, so that the warm-up's end and that of the last
    /// window are times enough: to compute the place takes as long as a group of nodes.
    fn check(&mut self) -> Result<(), Reason> {
        let counted = self.chase.accesses();
        if counted == self.accesses && self.chase.is_on_course() {
            return Ok(());
        }
        Err(Reason {
            code: ReasonCode::WrongData,
            text: format!(
                "a chase is not at the node where {} accesses lead (it counted {counted}); the memory \
                 or the CPU is at fault, or another program wrote here",
                self.accesses
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(nodes: usize) -> Vec<f64> {
        vec![1.5; nodes * Chase::NODE_BYTES / size_of::<f64>()]
    }

    /// The nodes that a pass visits, by accesses one after the other.
    #[test]
    fn a_pass_visits_each_node_once() {
        for (nodes, group_bytes) in [(1, 256), (64, 64 * 256), (1000, 16 * 256), (777, 100 * 256)] {
            let mut memory = memory(nodes);
            let mut chasing = Chasing::new(&mut memory, group_bytes, (3, Laying::Plain), run_chase);
            chasing.set_block(ACCESS_BYTES);
            let mut seen = vec![0; nodes];
            while chasing.passes() < 2 {
                seen[chasing.chase.node()] += 1;
                chasing.step().unwrap();
                chasing.check().unwrap();
            }
            assert!(seen.iter().all(|&times| times == 2), "{nodes} nodes: {seen:?}");
            assert_eq!(chasing.done(), 2 * nodes as u64 * ACCESS_BYTES);
        }
    }

    #[test]
    fn every_node_is_visited_before_it_is_warm() {
        let past = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { 16 } else { 25 };
        for (nodes, laying, blocks) in [
            (10, Laying::Plain, 16),
            (100_000, Laying::Plain, 25),
            // The caches hold none of them.
            (100_000, Laying::PastCaches, past),
        ] {
            let mut memory = memory(nodes);
            let mut chasing = Chasing::new(&mut memory, 1 << 20, (1, laying), run_chase);
            for _ in 0..blocks {
                assert!(!chasing.is_warm());
                chasing.step().unwrap();
            }
            assert!(chasing.is_warm());
            assert!(chasing.passes() >= 1 || laying.is_past_caches());
        }
    }
}
