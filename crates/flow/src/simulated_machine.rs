//! A machine that nobody here has: its parts, and what loads on it get.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, Machine};

use crate::cache_roof::{self, CacheRoof, LEVELS, MEMORY_SIDE_LEVEL};
use crate::capacities::Capacities;
use crate::error::FlowError;
use crate::exchange::HandOvers;
use crate::fault::Fault;
use crate::hybrid::{HybridBytes, Overlap};
use crate::latency::Latency;
use crate::latency_family::LatencyFamily;
use crate::loads::{Ask, Load, rates_together};
use crate::machine_file::KernelBehaviour;
use crate::mix_name::MixCounts;
use crate::noise::Noise;
use crate::origin::{Origin, Published};
use crate::simulated_device::{Hub, SimulatedDevice};
use crate::utilisation;

/// A simulated machine as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedMachine {
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The key of the paper that its figures are from, where they are from one.
    pub paper: Option<String>,
    /// Its parts; all of it may be used.
    pub machine: Machine,
    /// Variants of the kernels, the preferred first.
    pub variants: Vec<String>,
    /// Kernels that differ from the triad, by name; every other kernel is like it.
    pub kernels: BTreeMap<String, KernelBehaviour>,
    /// What each part carries of each variant's triad, in the order of `variants`, faults
    /// applied. Initiators are those of `machine`, by index.
    pub capacities: Vec<Capacities>,
    /// What its caches carry; of several for one level and kernel the last holds.
    pub roofs: Vec<CacheRoof>,
    /// FLOPs that a core does in a cycle, by the name of the loop, in the order of `variants`; `None`
    /// where the loop does not exist in one.
    pub flops: BTreeMap<String, Vec<Option<f64>>>,
    /// Its cores' clock.
    pub core_ghz: Option<f64>,
    /// How long accesses take.
    pub latency: Latency,
    /// How long two CPUs take to hand a line to each other.
    pub exchange: HandOvers,
    /// How accesses to two memories overlap; of several for one initiator and pair the last holds.
    pub overlaps: Vec<Overlap>,
    /// What its devices share on their way to memory.
    pub hubs: Vec<Hub>,
    /// What data is copied to, in the order of their bus ids' first mention.
    pub devices: Vec<SimulatedDevice>,
    /// How its figures scatter.
    pub noise: Noise,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Time really slept / time on its own clock; 0 does not wait.
    pub real_time: f64,
    /// Where its figures are from.
    pub origin: Origin,
    /// Those that were measured and published.
    pub published: Published,
    /// The text of its file, from which [`crate::parse_machine`] makes it again.
    pub text: String,
}

/// A load that runs a kernel in one of its variants.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLoad {
    pub kernel: String,
    pub variant: String,
    pub load: Load,
    /// Useful bytes/s that one thread asks for at most, because it computes or pauses in
    /// between; `None`: as fast as it goes. A load alone moves the smaller of its rate without
    /// this and of what its threads ask for.
    pub most_per_thread: Option<f64>,
}

impl KernelLoad {
    /// A load that goes as fast as it can.
    pub fn new(kernel: impl Into<String>, variant: impl Into<String>, load: Load) -> Self {
        Self { kernel: kernel.into(), variant: variant.into(), load, most_per_thread: None }
    }
}

impl SimulatedMachine {
    /// The variants of a kernel, the preferred first; of a generated mix those in which its
    /// loads and its stores exist.
    pub fn variants(&self, kernel: &str) -> Vec<String> {
        let own = |kernel: &str| self.kernels.get(kernel).and_then(|it| it.variants.clone());
        let of = |kernel: &str| own(kernel).unwrap_or_else(|| self.variants.clone());
        match MixCounts::of_name(kernel).filter(|_| !self.kernels.contains_key(kernel)) {
            Some(counts) => {
                let mut variants = self.variants.clone();
                for part in counts.parts() {
                    let of_part = of(part);
                    variants.retain(|variant| of_part.contains(variant));
                }
                variants
            }
            None => of(kernel),
        }
    }

    /// What each load moves when all run at the same time and nothing scatters, useful
    /// bytes/s. Two threads on one core count as two.
    ///
    /// # Errors
    /// [`FlowError::Load`] for a variant, initiator or node that it does not have and for a
    /// `most_per_thread` that is not finite and above 0, and the solver's errors.
    pub fn rates(&self, loads: &[KernelLoad]) -> Result<Vec<f64>, FlowError> {
        let triads = rates_together(&self.asks(loads)?)?;
        Ok(self.of_kernels(loads, triads))
    }

    /// What loads ask of the capacities of their variants.
    pub(crate) fn asks<'a>(&'a self, loads: &'a [KernelLoad]) -> Result<Vec<Ask<'a>>, FlowError> {
        let mut asks = Vec::new();
        for KernelLoad { kernel, variant, load, most_per_thread } in loads {
            let capacities = self.capacities_of(kernel, variant).ok_or_else(|| {
                FlowError::Load(format!(
                    "{} has no kernel {kernel:?} in variant {variant:?}; it has {}",
                    self.name,
                    self.variants(kernel).join(", ")
                ))
            })?;
            if let Some(most) = most_per_thread.filter(|most| !(*most > 0.0 && most.is_finite())) {
                return Err(FlowError::Load(format!(
                    "a thread asks for at most {most} bytes/s, which is not finite and above 0"
                )));
            }
            let most = most_per_thread.map(|most| most / self.factor(kernel));
            asks.push(Ask { most, ..Ask::of(capacities, load) });
        }
        Ok(asks)
    }

    /// Useful bytes/s of the loads' kernels, from the triads' in the same time.
    pub(crate) fn of_kernels(&self, loads: &[KernelLoad], triads: Vec<f64>) -> Vec<f64> {
        let of_kernel = |(rate, load): (f64, &KernelLoad)| rate * self.factor(&load.kernel);
        triads.into_iter().zip(loads).map(of_kernel).collect()
    }

    fn capacities_of(&self, kernel: &str, variant: &str) -> Option<&Capacities> {
        self.variant_of(kernel, variant).and_then(|position| self.capacities.get(position))
    }

    /// The position of a variant in which a kernel exists.
    fn variant_of(&self, kernel: &str, variant: &str) -> Option<usize> {
        let exists = self.variants(kernel).iter().any(|known| known == variant);
        self.variants.iter().position(|known| known == variant).filter(|_| exists)
    }

    /// The innermost cache level that holds a working set which threads on these CPUs share
    /// equally: a cache with k of n threads holds k/n of it. `None`: it lies in memory. Level
    /// [`MEMORY_SIDE_LEVEL`] is looked at where the file has a roof of it, and as if the pages
    /// lay on the threads' own nodes.
    pub fn level_of(&self, thread_cpus: &[u32], working_set_bytes: u64) -> Option<u8> {
        let beside_memory = self.roofs.iter().any(|roof| roof.level == MEMORY_SIDE_LEVEL);
        let levels = LEVELS.filter(|&level| level < MEMORY_SIDE_LEVEL || beside_memory);
        cache_roof::innermost_level(&self.machine, levels, thread_cpus, working_set_bytes)
    }

    /// How many of these threads share a cache of a level with a CPU.
    pub fn threads_in_domain(&self, level: u8, thread_cpus: &[u32], cpu: u32) -> u32 {
        let domains = cache_roof::domains(&self.machine, level);
        let own = domains.iter().find(|(cpus, _)| cpus.contains(cpu));
        let beside = |(cpus, _): &(CpuSet, Option<u64>)| {
            thread_cpus.iter().filter(|&&other| cpus.contains(other)).count()
        };
        own.map_or(0, |domain| u32::try_from(beside(domain)).unwrap_or(u32::MAX))
    }

    /// Useful bytes/s of one of `threads_in_domain` threads that share a cache of a level and whose data
    /// lies there; `None` where the file has no such roof, or the kernel not that variant. A
    /// generated loop of loads only or of stores only is like that kernel.
    pub fn cache_rate(
        &self,
        level: u8,
        kernel: &str,
        variant: &str,
        threads_in_domain: u32,
    ) -> Option<f64> {
        let position = self.variant_of(kernel, variant)?;
        let saturation = self.capacities.first()?.saturation;
        let of = |named: Option<&str>| {
            let mut own = self.roofs.iter().rev();
            own.find(|roof| roof.level == level && roof.kernel.as_deref() == named)
        };
        let like = MixCounts::of_name(kernel).and_then(MixCounts::like);
        let roof = of(Some(kernel)).or_else(|| of(Some(like?))).or_else(|| of(None))?;
        roof.of_one(position, threads_in_domain, saturation)
    }

    /// FLOP/s of one core in a loop on registers, such as `fma_dp`; `None` where the file says
    /// nothing of it in that variant.
    pub fn flop_rate(&self, loop_name: &str, variant: &str) -> Option<f64> {
        let position = self.variants.iter().position(|known| known == variant)?;
        let per_cycle = self.flops.get(loop_name)?.get(position).copied().flatten()?;
        Some(per_cycle * self.core_ghz? * 1e9)
    }

    /// What one dependent load takes when nothing else runs and the TLB hits, ns.
    pub fn idle_latency_ns(&self, initiator: u32, node: u32) -> Option<f64> {
        let row = self.latency.idle_ns.get(usize::try_from(initiator).ok()?)?;
        row.get(self.column(node)?).copied().flatten()
    }

    /// How long accesses of an initiator to a node take beside traffic, where the file has
    /// measured curves of them.
    pub fn latency_family(&self, initiator: u32, node: u32) -> Option<&LatencyFamily> {
        let row = self.latency.families.get(usize::try_from(initiator).ok()?)?;
        row.get(self.column(node)?)?.as_ref()
    }

    fn column(&self, node: u32) -> Option<usize> {
        self.machine.nodes.iter().position(|known| known.os_index == node)
    }

    /// The same from a cache of a level.
    pub fn cache_latency_ns(&self, level: u8) -> Option<f64> {
        let place = usize::from(level).checked_sub(1)?;
        self.latency.cache_ns.get(place).copied().flatten()
    }

    /// What an access of an initiator to a node waits longer because of loads that move at these
    /// rates (those of [`Self::rates`]), ns: [`crate::Queue`] of the fullest of the node's
    /// controller and the links on the way; 0 where nothing moves there. `None` where something
    /// does and the file has no queue, and where the pair or a load is not of this machine.
    pub fn wait_ns(
        &self,
        initiator: u32,
        node: u32,
        loads: &[KernelLoad],
        rates: &[f64],
    ) -> Option<f64> {
        let mut moved = Vec::new();
        for (KernelLoad { kernel, variant, load, .. }, rate) in loads.iter().zip(rates) {
            let capacities = self.capacities_of(kernel, variant)?;
            moved.push((Ask::of(capacities, load), rate / self.factor(kernel)));
        }
        let used = utilisation::of_fullest(self.capacities.first()?, (initiator, node), &moved)?;
        if used > 0.0 { Some(self.latency.queue?.wait_ns(used)) } else { Some(0.0) }
    }

    /// The time in which all cores of an initiator move these bytes to and from a fast and a slow
    /// memory, seconds (denoyelle2019, equation 5); `None` where the file has no overlap of
    /// them.
    pub fn hybrid_seconds(
        &self,
        initiator: u32,
        fast: u32,
        slow: u32,
        bytes: HybridBytes,
    ) -> Option<f64> {
        let is_asked = |it: &&Overlap| (it.fast, it.slow) == (fast, slow);
        let mut own = self.overlaps.iter().rev().filter(|it| it.initiators.contains(&initiator));
        own.find(is_asked).map(|overlap| overlap.seconds(bytes))
    }

    /// Two nodes in the order (fast, slow), where the file has an overlap of them for a
    /// initiator.
    pub fn overlap_pair(&self, initiator: u32, nodes: (u32, u32)) -> Option<(u32, u32)> {
        let (one, other) = nodes;
        let pairs = self.overlaps.iter().rev().filter(|it| it.initiators.contains(&initiator));
        let mut pairs = pairs.map(|it| (it.fast, it.slow));
        pairs.find(|&pair| pair == (one, other) || pair == (other, one))
    }

    /// One thread's triad on the memory nearest to it, in the preferred variant, useful
    /// bytes/s: what a short look at the machine sees.
    ///
    /// # Errors
    /// [`FlowError::Load`] when no initiator has memory of its own.
    pub fn look_rate(&self) -> Result<f64, FlowError> {
        let near = self
            .machine
            .initiators()
            .iter()
            .find_map(|initiator| Some((initiator.index, initiator.memory_nodes.first()?)));
        let (Some((initiator, node)), Some(capacities)) = (near, self.capacities.first()) else {
            return Err(FlowError::Load(format!("no initiator of {} has memory", self.name)));
        };
        let load = Load { initiator, threads: 1, shares: vec![(node, 1.0)] };
        Ok(capacities.rates(&[load])?.into_iter().sum())
    }

    /// Nodes without room.
    pub fn full_nodes(&self) -> Vec<u32> {
        let full = |fault: &Fault| match fault {
            Fault::FullMemory { node } => Some(*node),
            _ => None,
        };
        self.faults.iter().filter_map(full).collect()
    }

    /// Useful bytes of a kernel against the triad's. A generated mix takes the time of its
    /// loads and its stores.
    pub(crate) fn factor(&self, kernel: &str) -> f64 {
        let of = |kernel: &str| self.kernels.get(kernel).map(|behaviour| behaviour.factor);
        of(kernel).unwrap_or_else(|| match MixCounts::of_name(kernel) {
            Some(counts) => counts.rate(of("load").unwrap_or(1.0), of(counts.store).unwrap_or(1.0)),
            None => 1.0,
        })
    }
}
