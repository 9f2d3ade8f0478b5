//! What the streams and transfers of a case move on a simulated machine.
//!
//! A stream in a cache gets what its level gives. Of those on memory all share the
//! machine's capacities. One that mixes loads and non-temporal stores by all cores of an initiator,
//! alone, on memories that the machine's file speaks of under `[[overlap]]`, gets what these say
//! (denoyelle2019, equation 5).
//!
//! Arithmetic in the loop and pauses bound what a thread asks for ([`super::thread_limit`]).

use std::collections::BTreeMap;

use nearfar_flow::{DeviceLoad, HybridBytes, KernelLoad, Load};
use nearfar_kernels::Mix;
use nearfar_machine::{Initiator, MemoryPolicy};
use nearfar_record::{Actor, Case, Reason, Stream, Transfer};

use super::answers::{Answers, InitiatorThreads};
use super::error::not_simulated;
use super::page_shares::{Shares, bytes_as_float};
use crate::kernel_name::MemoryKernel;

/// What the streams of a case move.
#[derive(Debug, Default)]
pub(super) struct StreamRates {
    /// Useful bytes/s of each thread, by the position of the actor in the case.
    pub of_threads: BTreeMap<usize, Vec<f64>>,
    /// What loads the memory.
    pub loads: Vec<KernelLoad>,
    /// What each load gets, useful bytes/s.
    pub rates: Vec<f64>,
    /// What crosses to each memory node for the loads.
    pub traffic: BTreeMap<u32, NodeTraffic>,
    /// What each transfer gets, bytes/s, by the position of the actor in the case.
    pub of_transfers: BTreeMap<usize, f64>,
}

/// Bytes/s that cross to a memory; ordinary stores read their line first.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct NodeTraffic {
    pub bytes: f64,
    pub reads: f64,
}

/// A transfer as the simulated machine takes it.
fn device_load(transfer: &Transfer) -> Result<DeviceLoad, Reason> {
    let node = match (&transfer.peer, &transfer.binding.memory) {
        (Some(_), _) => None,
        (None, MemoryPolicy::Preferred(node)) => Some(*node),
        (None, other) => {
            return Err(not_simulated(format!("a transfer whose pages go by mem={other}")));
        }
    };
    Ok(DeviceLoad {
        device: transfer.device.clone(),
        peer: transfer.peer.clone(),
        node,
        direction: transfer.direction,
        host_memory: transfer.host_memory,
        bytes: transfer.bytes,
    })
}

/// A stream of a case.
struct Running<'a> {
    stream: &'a Stream,
    kernel: MemoryKernel,
    /// The CPU of each thread.
    cpus: Vec<u32>,
}

impl Answers {
    pub fn stream_rates(&self, case: &Case) -> Result<StreamRates, Reason> {
        let mut found = StreamRates::default();
        // Whose threads each load is.
        let mut owners: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut transfers: Vec<(usize, DeviceLoad)> = Vec::new();
        for (position, actor) in case.actors.iter().enumerate() {
            if let Actor::Transfer(transfer) = actor {
                transfers.push((position, device_load(transfer)?));
            }
            let Actor::Stream(stream) = actor else { continue };
            let kernel = MemoryKernel::named(&stream.kernel)?;
            let running = Running { stream, kernel, cpus: self.thread_cpus(actor) };
            let of_threads = match self.level_of(case, &running) {
                Some(level) => self.in_cache(level, &running)?,
                None => match self.overlapped(case, &running)? {
                    Some(rate) => vec![rate / f64::from(stream.threads); running.cpus.len()],
                    None => {
                        for threads in self.by_initiator(&running.cpus)? {
                            found.loads.push(self.load(&running, &threads)?);
                            owners.push((position, threads.positions));
                        }
                        vec![0.0; running.cpus.len()]
                    }
                },
            };
            found.of_threads.insert(position, of_threads);
        }
        let (positions, copies): (Vec<usize>, Vec<DeviceLoad>) = transfers.into_iter().unzip();
        let together = self.simulated.rates_beside(&found.loads, &copies).map_err(not_simulated)?;
        found.rates = together.loads;
        for (load, &rate) in found.loads.iter().zip(&found.rates) {
            let kernel = MemoryKernel::named(&load.kernel)?;
            let steps = rate / bytes_as_float(kernel.step_bytes());
            let written = 8.0 * steps * f64::from(kernel.stores());
            let crossing = if kernel.write_allocates() { rate + written } else { rate };
            for &(node, share) in &load.load.shares {
                let traffic = found.traffic.entry(node).or_default();
                traffic.bytes += share * crossing;
                traffic.reads += share * (crossing - written);
            }
        }
        found.of_transfers = positions.into_iter().zip(together.transfers).collect();
        for ((position, threads), (load, rate)) in
            owners.into_iter().zip(found.loads.iter().zip(&found.rates))
        {
            let of_threads = found.of_threads.entry(position).or_default();
            for thread in threads {
                of_threads[thread] = rate / f64::from(load.load.threads);
            }
        }
        Ok(found)
    }

    /// The cache that answers a stream; `None` for memory. Of cases on memory that is so even
    /// where a small working set was forced: they are there for where pages lie.
    fn level_of(&self, case: &Case, running: &Running<'_>) -> Option<u8> {
        if case.is_on_memory() {
            return None;
        }
        self.simulated.level_of(&running.cpus, running.stream.working_set_bytes)
    }

    /// Useful bytes/s of each thread of a stream in a cache.
    fn in_cache(&self, level: u8, running: &Running<'_>) -> Result<Vec<f64>, Reason> {
        let Running { stream, kernel, cpus } = running;
        let rate_of = |&cpu: &u32| {
            let sharers = self.simulated.threads_in_domain(level, cpus, cpu);
            let rate = |sharers: u32| {
                let (kernel, variant) = (&stream.kernel, &stream.variant);
                self.simulated.cache_rate(level, kernel, variant, sharers).ok_or_else(|| {
                    self.unsaid(&format!(
                        "under [[roof]] nothing of {kernel} in {variant} in caches of level {level}"
                    ))
                })
            };
            let most = self.thread_limit(stream, *kernel, || rate(1))?;
            Ok(rate(sharers)?.min(most.unwrap_or(f64::INFINITY)))
        };
        cpus.iter().map(rate_of).collect()
    }

    /// Threads of an initiator that load the memory.
    fn load(
        &self,
        running: &Running<'_>,
        threads: &InitiatorThreads<'_>,
    ) -> Result<KernelLoad, Reason> {
        let Running { stream, kernel, .. } = running;
        let shares = self.traffic_shares(stream, *kernel, threads.initiator)?;
        let of_threads = |threads: u32, initiator: &Initiator| {
            let shares = shares.iter().map(|(&node, &share)| (node, share)).collect();
            let load = Load { initiator: initiator.index, threads, shares };
            KernelLoad::new(stream.kernel.clone(), stream.variant.clone(), load)
        };
        let alone = || {
            let one = of_threads(1, threads.initiator);
            let rates = self.simulated.rates(&[one]).map_err(not_simulated)?;
            Ok(rates.into_iter().sum())
        };
        let most_per_thread = self.thread_limit(stream, *kernel, alone)?;
        Ok(KernelLoad { most_per_thread, ..of_threads(threads.count(), threads.initiator) })
    }

    /// Useful bytes/s of a stream whose loads and stores overlap as the machine's file says;
    /// `None` where it does not speak of such a stream.
    fn overlapped(&self, case: &Case, running: &Running<'_>) -> Result<Option<f64>, Reason> {
        let Running { stream, kernel: MemoryKernel::Mix(mix), cpus } = running else {
            return Ok(None);
        };
        let is_of_the_model = mix.operations() == 0 && !mix.write_allocates();
        if case.actors.len() != 1 || !is_of_the_model || stream.pause_cycles > 0 {
            return Ok(None);
        }
        let groups = self.by_initiator(cpus)?;
        let [InitiatorThreads { initiator, .. }] = groups.as_slice() else { return Ok(None) };
        if !self.are_all_cores(initiator, cpus) {
            return Ok(None);
        }
        let reads = self.policy_shares(&stream.binding.memory, initiator)?;
        let writes = match &stream.write_memory {
            Some(policy) => self.policy_shares(policy, initiator)?,
            None => reads.clone(),
        };
        let Some((fast, slow)) = self.memories(initiator, *mix, &reads, &writes) else {
            return Ok(None);
        };
        let accesses = f64::from(mix.loads() + mix.stores());
        let part = |count: u32, shares: &Shares, node: u32| {
            f64::from(count) / accesses * shares.get(&node).copied().unwrap_or(0.0)
        };
        let of_a_byte = HybridBytes {
            fast_loads: part(mix.loads(), &reads, fast),
            fast_stores: part(mix.stores(), &writes, fast),
            slow_loads: part(mix.loads(), &reads, slow),
            slow_stores: part(mix.stores(), &writes, slow),
        };
        let seconds = self.simulated.hybrid_seconds(initiator.index, fast, slow, of_a_byte);
        Ok(seconds.map(|seconds| 1.0 / seconds))
    }

    /// Whether there is one thread on each core of an initiator.
    fn are_all_cores(&self, initiator: &Initiator, cpus: &[u32]) -> bool {
        let own =
            self.simulated.machine.cores.iter().filter(|it| it.cpus.intersects(&initiator.cpus));
        own.clone().count() == cpus.len()
            && own.into_iter().all(|core| cpus.iter().any(|&cpu| core.cpus.contains(cpu)))
    }

    /// The fast and the slow memory whose overlap is known and that hold all that a stream
    /// touches. It may touch one of them only.
    fn memories(
        &self,
        initiator: &Initiator,
        mix: Mix,
        reads: &Shares,
        writes: &Shares,
    ) -> Option<(u32, u32)> {
        let mut touched: Vec<u32> = Vec::new();
        touched.extend(reads.keys().filter(|_| mix.loads() > 0));
        touched.extend(writes.keys().filter(|_| mix.stores() > 0));
        touched.sort_unstable();
        touched.dedup();
        let pair = |nodes| self.simulated.overlap_pair(initiator.index, nodes);
        match *touched.as_slice() {
            [one] => {
                let others = self.simulated.machine.nodes.iter().map(|node| node.os_index);
                others.filter(|&other| other != one).find_map(|other| pair((one, other)))
            }
            [one, other] => pair((one, other)),
            _ => None,
        }
    }
}
