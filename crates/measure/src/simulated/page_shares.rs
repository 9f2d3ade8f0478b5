//! Where the pages of a case lie on a simulated machine.

use std::collections::BTreeMap;

use nearfar_machine::{Initiator, MemoryPolicy};
use nearfar_record::{Actor, Case, Exchange, PageNodes, Proof, ProofMethod, Reason, Stream};
use nearfar_units::Bytes;

use super::answers::Answers;
use super::error::{no_room, not_simulated};
use crate::kernel_name::MemoryKernel;

pub(super) const PAGE_BYTES: u64 = 4096;

/// Fractions by memory node; they add up to 1.
pub(super) type Shares = BTreeMap<u32, f64>;

/// Bytes by memory node.
type BytesOn = BTreeMap<u32, f64>;

/// Where an actor's bytes are.
struct Placed {
    /// Those of the written array where it has a policy of its own.
    written: Option<BytesOn>,
    all_others: BytesOn,
}

/// Bytes that are read and bytes that are written of a working set. An array that is both
/// counts as written.
struct Arrays {
    read: f64,
    written: f64,
}

impl Arrays {
    fn of(stream: &Stream, kernel: MemoryKernel) -> Self {
        let widths = kernel.array_widths();
        let all = f64::from(widths.iter().sum::<u32>());
        // The array that is written stands first.
        let written = widths.first().copied().filter(|_| kernel.stores() > 0).unwrap_or(0);
        let written = bytes_as_float(stream.working_set_bytes) * f64::from(written) / all;
        Self { read: bytes_as_float(stream.working_set_bytes) - written, written }
    }
}

impl Answers {
    /// The shares of a load's bytes: those that it reads and those that it writes may lie
    /// elsewhere.
    pub fn traffic_shares(
        &self,
        stream: &Stream,
        kernel: MemoryKernel,
        initiator: &Initiator,
    ) -> Result<Shares, Reason> {
        let accesses = f64::from(kernel.loads() + kernel.stores());
        let reads = self.policy_shares(&stream.binding.memory, initiator)?;
        let Some(policy) = &stream.write_memory else { return Ok(reads) };
        let writes = self.policy_shares(policy, initiator)?;
        let mut shares = Shares::new();
        for (of_kind, count) in [(reads, kernel.loads()), (writes, kernel.stores())] {
            for (node, share) in of_kind {
                *shares.entry(node).or_default() += share * f64::from(count) / accesses;
            }
        }
        Ok(shares)
    }

    /// The shares of the pages that threads of an initiator use.
    pub fn policy_shares(
        &self,
        policy: &MemoryPolicy,
        initiator: &Initiator,
    ) -> Result<Shares, Reason> {
        let shares: Shares = match policy {
            MemoryPolicy::FirstTouch => Shares::from([(self.home_of(initiator)?, 1.0)]),
            MemoryPolicy::Preferred(node) => Shares::from([(*node, 1.0)]),
            MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => {
                policy.interleave_shares().unwrap_or_default()
            }
            MemoryPolicy::Bind(_) => {
                let text = format!("a simulated machine does not place pages by {policy}");
                return Err(not_simulated(text));
            }
        };
        match shares.keys().find(|node| self.full_nodes.contains(node)) {
            Some(node) => Err(no_room(format!("node {node} of the simulated machine has no room"))),
            None => Ok(shares),
        }
    }

    /// The node on which threads of an initiator have pages that they touch first: the one of
    /// their CPUs; where it is full, the nearest that is not, as Linux does it.
    fn home_of(&self, initiator: &Initiator) -> Result<u32, Reason> {
        let machine = &self.simulated.machine;
        let with_room = machine
            .nodes
            .iter()
            .filter(|node| node.has_memory() && !self.full_nodes.contains(&node.os_index));
        let distance = |node: u32| {
            let from = initiator.cpu_node?;
            machine.distance(from, node)
        };
        let nearest = with_room.map(|node| node.os_index).min_by_key(|&node| {
            let is_far = !initiator.memory_nodes.contains(node);
            (initiator.cpu_node != Some(node), is_far, distance(node).unwrap_or(u64::MAX), node)
        });
        nearest.ok_or_else(|| no_room("no node of the simulated machine has room".into()))
    }

    /// The pages of a case lie on its nodes by their policies and fit there, or the case is
    /// refused as the native executor does it. A simulated node is empty: all of its size is
    /// room. Of a node whose size is not known anything fits.
    pub fn check_room(&self, case: &Case) -> Result<(), Reason> {
        let mut needed = BytesOn::new();
        let mut add = |bytes_on: BytesOn| {
            for (node, bytes) in bytes_on {
                *needed.entry(node).or_default() += bytes;
            }
        };
        for actor in &case.actors {
            if let Some(bytes) = self.bytes_on(actor)? {
                add(bytes.all_others);
                add(bytes.written.unwrap_or_default());
            }
        }
        for (node, needed) in needed {
            let size = self.simulated.machine.node(node).and_then(|node| node.memory_bytes);
            if let Some(size) = size.filter(|&size| needed > bytes_as_float(size)) {
                return Err(no_room(format!(
                    "the arrays need {:.0} MiB on node {node} of the simulated machine, which has {}; \
                     give a smaller --working-set",
                    needed / f64::from(1 << 20),
                    Bytes(size)
                )));
            }
        }
        Ok(())
    }

    /// Where the pages of an actor are said to be, and those of the array that it writes where
    /// these have a policy of their own.
    pub fn proofs(&self, actor: &Actor) -> Result<(Option<Proof>, Option<Proof>), Reason> {
        let bytes = self.bytes_on(actor)?;
        let written = bytes.as_ref().and_then(|bytes| bytes.written.as_ref());
        Ok((bytes.as_ref().map(|bytes| proof(&bytes.all_others)), written.map(proof)))
    }

    /// An actor's bytes by node; `None` for one that touches no memory.
    fn bytes_on(&self, actor: &Actor) -> Result<Option<Placed>, Reason> {
        let cpus = self.thread_cpus(actor);
        let (policy, write_policy, arrays) = match actor {
            Actor::Stream(stream) => {
                let arrays = Arrays::of(stream, MemoryKernel::named(&stream.kernel)?);
                (&stream.binding.memory, stream.write_memory.as_ref(), arrays)
            }
            Actor::Chase(chase) => {
                let read = bytes_as_float(chase.working_set_bytes);
                (&chase.binding.memory, None, Arrays { read, written: 0.0 })
            }
            Actor::Exchange(exchange) => {
                let written = bytes_as_float(Exchange::PAGE_BYTES);
                (&exchange.binding.memory, None, Arrays { read: 0.0, written })
            }
            Actor::Transfer(transfer) if transfer.peer.is_none() => {
                let read = bytes_as_float(transfer.memory_bytes());
                (&transfer.binding.memory, None, Arrays { read, written: 0.0 })
            }
            Actor::Compute(_)
            | Actor::Transfer(_)
            | Actor::Messages(_)
            | Actor::Command(_)
            | Actor::Workload(_) => {
                return Ok(None);
            }
        };
        let (all_others, written) = match write_policy {
            None => (self.spread(policy, &cpus, arrays.read + arrays.written)?, None),
            Some(write_policy) => (
                self.spread(policy, &cpus, arrays.read)?,
                Some(self.spread(write_policy, &cpus, arrays.written)?),
            ),
        };
        Ok(Some(Placed { all_others, written }))
    }

    /// Bytes by node of threads on these CPUs, each with the same part.
    fn spread(&self, policy: &MemoryPolicy, cpus: &[u32], bytes: f64) -> Result<BytesOn, Reason> {
        let mut bytes_on = BytesOn::new();
        for threads in self.by_initiator(cpus)? {
            let part = bytes * as_float(threads.positions.len()) / as_float(cpus.len());
            for (node, share) in self.policy_shares(policy, threads.initiator)? {
                *bytes_on.entry(node).or_default() += share * part;
            }
        }
        Ok(bytes_on)
    }
}

fn proof(bytes_on: &BytesOn) -> Proof {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "pages of a working set are far below 2^53"
    )]
    // What is there at all is in a page at least.
    let pages_of = |bytes: f64| {
        let pages = (bytes / PAGE_BYTES as f64).round() as u64;
        if bytes > 0.0 { pages.max(1) } else { pages }
    };
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: PAGE_BYTES,
        pages: bytes_on.iter().map(|(&node, &bytes)| (node, pages_of(bytes))).collect(),
        unknown: 0,
    };
    Proof { before: pages.clone(), after: pages }
}

pub(super) fn bytes_as_float(bytes: u64) -> f64 {
    bytes as f64
}

fn as_float(count: usize) -> f64 {
    count as f64
}
