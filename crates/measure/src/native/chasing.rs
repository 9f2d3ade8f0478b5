//! One thread's chase: this many accesses at a time, and where it must be then.

use nearfar_kernels::Chase;
use nearfar_record::{Reason, ReasonCode};

use super::work::Work;

/// Bytes that an access asks for.
pub(super) const ACCESS_BYTES: u64 = 8;

/// Accesses of a block before any rate is known.
const FIRST_BLOCK: u64 = 4096;

/// Accesses to warm up by at least: small sets are gone through many times, so that the rate by
/// which blocks are cut is that of warm caches.
const WARM_ACCESSES: u64 = 64 * 1024;

/// What a chase has touched when it is warm, in caches that it could fill: as much again as in half of
/// them, since what is thrown out of a cache is not always what was used longest ago.
const WARM_CACHES: f64 = 1.5;

/// The part of its nodes that a chase goes through to warm up, by how many times as large as the caches
/// its memory is: more than these hold. All where that is not known. A pass through four times a cache
/// of 256 MiB takes half a second, and longer beside traffic.
pub(crate) fn warm_part(llc_multiple: Option<f64>) -> f64 {
    llc_multiple.map_or(1.0, |multiple| (WARM_CACHES / multiple).clamp(0.0, 1.0))
}

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
    /// Accesses after which the caches hold what they will.
    warm_accesses: u64,
    /// Accesses that were asked for: what the loop says for itself is held against it.
    accesses: u64,
    block: u64,
}

impl<'a> Chasing<'a> {
    /// Lays a cycle through all of `memory`, whose pages are present, in groups of this many bytes.
    pub fn new(memory: &'a mut [f64], group_bytes: u64, seed: u64, run_chase: RunChase) -> Self {
        let group = usize::try_from(group_bytes).unwrap_or(usize::MAX) / Chase::NODE_BYTES;
        let chase = Chase::new(memory, group.max(1), seed);
        let nodes = chase.cycle().nodes() as u64;
        let warm_accesses = nodes.max(WARM_ACCESSES);
        Self { chase, run_chase, nodes, warm_accesses, accesses: 0, block: FIRST_BLOCK }
    }

    /// To warm up goes through the part of its nodes that suffices where its memory is so many times as
    /// large as the caches.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the nodes"
    )]
    pub fn warm_up_beside(&mut self, llc_multiple: Option<f64>) {
        let nodes = self.nodes as f64 * warm_part(llc_multiple);
        self.warm_accesses = (nodes as u64).max(WARM_ACCESSES);
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
            let mut chasing = Chasing::new(&mut memory, group_bytes, 3, run_chase);
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

    /// A cache that throws out what was used longest ago holds nodes of the chase alone then, and none
    /// that its thread touched when it laid the cycle.
    #[test]
    fn a_chase_beyond_the_caches_fills_these_before_it_is_warm() {
        for (llc_multiple, warm) in [(4.0, 150_000), (1.2, 400_000), (f64::INFINITY, 65_536)] {
            let mut memory = memory(400_000);
            let mut chasing = Chasing::new(&mut memory, 1 << 20, 1, run_chase);
            chasing.warm_up_beside(Some(llc_multiple));
            chasing.set_block(ACCESS_BYTES);
            while !chasing.is_warm() {
                chasing.step().unwrap();
            }
            assert_eq!(chasing.accesses, warm, "{llc_multiple}");
        }
    }

    #[test]
    fn every_node_is_visited_before_it_is_warm() {
        for (nodes, blocks) in [(10, 16), (100_000, 25)] {
            let mut memory = memory(nodes);
            let mut chasing = Chasing::new(&mut memory, 1 << 20, 1, run_chase);
            for _ in 0..blocks {
                assert!(!chasing.is_warm());
                chasing.step().unwrap();
            }
            assert!(chasing.is_warm());
            assert!(chasing.passes() >= 1);
        }
    }
}
