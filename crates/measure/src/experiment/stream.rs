//! Streams of cases: how many threads, on which CPUs, over how much memory.

use nearfar_machine::{Binding, CpuGroup, CpuSet, MemoryPolicy};
use nearfar_record::{Pinning, Reason, ReasonCode, Stream};

use super::setting::{Loop, Setting};
use super::thread_spread::spread_over_l3_domains;
use super::working_set::{WorkingSet, lay_out_steps, memory_working_set};
use crate::kernel_name::MemoryKernel;

/// A stream on memory that is to be planned.
#[derive(Debug, Clone)]
pub(super) struct StreamPlan<'a> {
    /// What its threads run.
    pub of: &'a Loop,
    /// CPUs that its threads may use.
    pub cpus: CpuSet,
    /// The CPU of each thread; `None` for threads that are not pinned.
    pub thread_cpus: Option<Vec<u32>>,
    pub threads: u32,
    /// Where pages go.
    pub memory: MemoryPolicy,
    /// Where those of the written array go, if elsewhere.
    pub write_memory: Option<MemoryPolicy>,
    /// Streams that share the memory at the same time, this one among them: the room is
    /// divided among them.
    pub sharers: u64,
}

impl<'a> StreamPlan<'a> {
    /// Pinned threads that run a loop, on memory that `sharers` streams use, this
    /// one among them.
    pub fn pinned(
        cpus: CpuSet,
        thread_cpus: Vec<u32>,
        of: &'a Loop,
        memory: MemoryPolicy,
        sharers: u64,
    ) -> Self {
        let threads = u32::try_from(thread_cpus.len()).unwrap_or(u32::MAX);
        let thread_cpus = Some(thread_cpus);
        Self { of, cpus, thread_cpus, threads, memory, write_memory: None, sharers }
    }

    /// The same with this many threads of a group of CPUs, one on a core, in turn over its L3 domains.
    ///
    /// # Errors
    /// Where it has fewer cores.
    pub fn spread(
        l3_domains: &[CpuSet],
        (cpu_group, threads): (&CpuGroup, u32),
        of: &'a Loop,
        memory: MemoryPolicy,
        sharers: u64,
    ) -> Result<Self, Reason> {
        let thread_cpus =
            spread_over_l3_domains(l3_domains, cpu_group, threads).ok_or_else(|| Reason {
                code: ReasonCode::CpusNotAllowed,
                text: format!(
                    "{threads} threads need a core each; {} {} has {} that may be used",
                    cpu_group.kind.group(),
                    cpu_group.index,
                    cpu_group.cores.len()
                ),
            })?;
        Ok(Self::pinned(cpu_group.cpus(), thread_cpus, of, memory, sharers))
    }

    /// The stream without its first threads, which are another's.
    pub fn after(mut self, others: u32) -> Self {
        if let Some(cpus) = &mut self.thread_cpus {
            cpus.drain(..cpus.len().min(others as usize));
        }
        self.threads = self.threads.saturating_sub(others);
        self
    }

    /// The stream on a working set of memory: the planned multiple of the caches involved, at most a
    /// quarter of the room.
    ///
    /// # Errors
    /// Where no kernel has that name.
    pub fn on_memory(&self, setting: Setting<'_>) -> Result<Stream, Reason> {
        let nodes = self.nodes(setting);
        let caches = match &self.thread_cpus {
            Some(cpus) => setting.places.cache_bytes(cpus.iter().copied(), &nodes),
            None => setting.places.cache_bytes(self.cpus.iter(), &nodes),
        };
        let rooms = nodes.iter().map(|&node| setting.available_on(node));
        // The least room of any node, as if all pages were there; unknown where any is.
        let available = rooms.min().flatten().map(|bytes| bytes / self.sharers.max(1));
        let arrays = MemoryKernel::named(&self.of.kernel)?.array_widths().len() as u64;
        let wanted = memory_working_set(caches, available, setting.inputs, arrays);
        self.with_working_set(setting, wanted, caches)
    }

    /// The stream on this working set.
    ///
    /// # Errors
    /// Where no kernel has that name.
    pub fn with_working_set(
        &self,
        setting: Setting<'_>,
        wanted: WorkingSet,
        caches: Option<u64>,
    ) -> Result<Stream, Reason> {
        let kernel = MemoryKernel::named(&self.of.kernel)?;
        let slices = lay_out_steps(wanted, &kernel.array_widths(), u64::from(self.threads));
        let llc_multiple = caches.map(|bytes| slices.total_bytes as f64 / bytes as f64);
        let one_per_core =
            self.thread_cpus.as_ref().is_none_or(|cpus| setting.places.are_one_per_core(cpus));
        Ok(Stream {
            kernel: self.of.kernel.clone(),
            variant: self.of.variant.clone(),
            binding: Binding { cpus: self.cpus.clone(), memory: self.memory.clone() },
            write_memory: self.write_memory.clone(),
            threads: self.threads,
            pinning: match (&self.thread_cpus, one_per_core) {
                (None, _) => Pinning::Unbound,
                (Some(_), true) => Pinning::OnePerCore,
                (Some(_), false) => Pinning::OnePerPu,
            },
            thread_cpus: self.thread_cpus.clone().unwrap_or_default(),
            working_set_bytes: slices.total_bytes,
            llc_multiple,
            pages: setting.inputs.pages,
            pause_cycles: 0,
        })
    }

    /// Nodes that its pages may be on.
    fn nodes(&self, setting: Setting<'_>) -> Vec<u32> {
        let named = [Some(&self.memory), self.write_memory.as_ref()];
        let named = named.into_iter().flatten().map(MemoryPolicy::nodes);
        let mut nodes: Vec<u32> = Vec::new();
        for set in named {
            match set {
                Some(set) => nodes.extend(set.iter()),
                None => nodes.extend(setting.targets()),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}
