//! How long an access of a chase takes on a simulated machine.
//!
//! Through a set that a cache of the CPU holds: that cache's latency. Through memory: the idle
//! latency of the pair, what an access waits beside the streams of the case (where the machine's file has
//! measured curves of the pair, what these say of the traffic), and, for a walk
//! anywhere in the whole set, what the translation of its address takes. Where a cache in front
//! of the node holds what lies there of the set, its latency stands for the pair's: as it is from
//! the node's own initiator, and longer by the way from another. A set within a cache of the CPU is
//! taken to be within what the TLB reaches, and so are the page groups of the other walk.

use nearfar_flow::{LatencyFamily, MEMORY_SIDE_LEVEL};
use nearfar_machine::Initiator;
use nearfar_record::{Chase, Pages, Reason};

use super::answers::Answers;
use super::page_shares::bytes_as_float;
use super::streams::{NodeTraffic, StreamRates};

impl Answers {
    /// Time of one access, beside these streams; ns.
    pub fn access_ns(&self, chase: &Chase, streams: &StreamRates) -> Result<f64, Reason> {
        let level = self.simulated.level_of(&[chase.thread_cpu], chase.working_set_bytes);
        if let Some(level) = level.filter(|&level| level < MEMORY_SIDE_LEVEL) {
            return self.cache_ns(level, &format!("l{level}_ns"));
        }
        let memory = self.memory_ns(chase, streams)?;
        let is_anywhere = chase.group_bytes == chase.working_set_bytes;
        if is_anywhere { Ok(memory + self.translation(chase.pages)?) } else { Ok(memory) }
    }

    fn cache_ns(&self, level: u8, key: &str) -> Result<f64, Reason> {
        let found = self.simulated.cache_latency_ns(level);
        found.ok_or_else(|| self.unsaid(&format!("under [chase] nothing of {key}")))
    }

    fn memory_ns(&self, chase: &Chase, streams: &StreamRates) -> Result<f64, Reason> {
        let initiator = self.initiator_of(chase.thread_cpu)?;
        let set = bytes_as_float(chase.working_set_bytes);
        let StreamRates { loads, rates, .. } = streams;
        let mut sum = 0.0;
        for (node, share) in self.policy_shares(&chase.binding.memory, initiator)? {
            let alone = self.node_ns(initiator, node, share * set)?;
            let wait = match self.simulated.latency_family(initiator.index, node) {
                Some(family) => family_wait_ns(family, streams.traffic.get(&node)),
                None => self.simulated.wait_ns(initiator.index, node, loads, rates).ok_or_else(
                    || {
                        self.unsaid(
                            "under [queue] nothing of how long an access waits beside loads",
                        )
                    },
                )?,
            };
            sum += share * (alone + wait);
        }
        Ok(sum)
    }

    /// Of a node that has this many bytes of the set, on an idle machine.
    fn node_ns(&self, initiator: &Initiator, node: u32, bytes: f64) -> Result<f64, Reason> {
        let cache = self.simulated.machine.node(node).and_then(|it| it.memory_side_cache_bytes);
        if cache.is_none_or(|cache| bytes > bytes_as_float(cache)) {
            return self.idle_ns(initiator, node);
        }
        let own = self.cache_ns(MEMORY_SIDE_LEVEL, "memory_side_ns")?;
        if initiator.memory_nodes.contains(node) {
            return Ok(own);
        }
        Ok(own + self.longer_ns(initiator, node)?)
    }

    /// How much longer a node's memory takes from an initiator than from the nearest one.
    fn longer_ns(&self, initiator: &Initiator, node: u32) -> Result<f64, Reason> {
        let from_here = self.idle_ns(initiator, node)?;
        let mut nearest = from_here;
        for other in &self.initiators {
            nearest = nearest.min(self.idle_ns(other, node)?);
        }
        Ok(from_here - nearest)
    }

    fn idle_ns(&self, initiator: &Initiator, node: u32) -> Result<f64, Reason> {
        let index = initiator.index;
        self.simulated.idle_latency_ns(index, node).ok_or_else(|| {
            self.unsaid(&format!("under [[latency]] nothing of initiator {index} and node {node}"))
        })
    }

    fn translation(&self, pages: Pages) -> Result<f64, Reason> {
        let found = self.simulated.latency.translation;
        let found = found.ok_or_else(|| self.unsaid("under [chase] nothing of translation"))?;
        Ok(match pages {
            Pages::Small => found.base_pages_ns,
            Pages::Transparent | Pages::Huge => found.huge_pages_ns,
        })
    }
}

/// What an access waits longer beside traffic than without, ns.
fn family_wait_ns(family: &LatencyFamily, traffic: Option<&NodeTraffic>) -> f64 {
    let loaded = traffic.filter(|it| it.bytes > 0.0);
    loaded.map_or(0.0, |it| family.ns(it.reads / it.bytes, it.bytes) - family.idle_ns())
}
