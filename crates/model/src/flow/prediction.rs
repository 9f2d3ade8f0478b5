//! What streams get that somebody describes by bindings, alone and together.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_flow::{Load, ScaledLoad};
use nearfar_machine::{Binding, CpuSet, Initiator, Machine, MemoryPolicy};
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::Flow;
use super::case::MachinePart;
use super::observed::shares;
use super::placements::first_cause;
use super::summary::{FlowKernel, FlowTrust};

/// What streams get that run at the same time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowPrediction {
    /// The kernel that the streams run.
    #[serde(flatten)]
    pub kernel: FlowKernel,
    #[serde(flatten)]
    pub trust: FlowTrust,
    /// Cores of the machine without a stream.
    pub free_cores: usize,
    /// Each stream, in the order in which they were asked.
    pub streams: Vec<PredictedStream>,
    /// What all get together.
    #[serde(rename = "sum_gb_per_s")]
    pub sum: Estimate<BytesPerSecond>,
    /// The parts that they use, the fullest first.
    pub parts: Vec<FilledPart>,
    /// What to know of it, in sentences.
    pub notes: Vec<String>,
}

/// How full a part is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilledPart {
    pub part: MachinePart,
    /// What it carries / its capacity.
    pub filled_share: f64,
}

/// What one stream gets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedStream {
    pub binding: Binding,
    /// Its threads, one on each core, by initiator.
    pub threads: Vec<InitiatorThreads>,
    /// What it gets with the machine to itself, useful bytes.
    #[serde(rename = "alone_gb_per_s")]
    pub alone: Estimate<BytesPerSecond>,
    /// What it gets beside the others, useful bytes.
    #[serde(rename = "together_gb_per_s")]
    pub together: Estimate<BytesPerSecond>,
    /// Together / alone.
    pub kept_share: f64,
    /// What slows it most beside the others; null where its own threads are what it waits for.
    pub limit: Option<MachinePart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitiatorThreads {
    pub initiator: u32,
    pub threads: u32,
}

/// Why a question has no answer, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StreamError(String);

impl Flow {
    /// What streams get by this model, of its first kernel.
    ///
    /// # Errors
    /// [`StreamError`] where a stream is not of this machine, shares a core with another, or uses
    /// what was not measured.
    pub fn predict(
        &self,
        machine: &Machine,
        bindings: &[Binding],
    ) -> Result<FlowPrediction, StreamError> {
        let initiators = machine.initiators();
        let mut question = Question {
            machine,
            initiators: &initiators,
            users: BTreeMap::new(),
            notes: Vec::new(),
        };
        let mut loads: Vec<(usize, ScaledLoad)> = Vec::new();
        for (stream, binding) in bindings.iter().enumerate() {
            for load in question.loads(stream, binding)? {
                if let Some((node, initiator)) = self.unmeasured(&load) {
                    return Err(StreamError(format!(
                        "stream {stream} uses memory node {node} from initiator {initiator}, a pair \
                         of which the record has no lone figure; `{}` measures it",
                        self.more_cases
                    )));
                }
                loads.push((stream, ScaledLoad { load, demand_scale: 1.0 }));
            }
        }
        let failed = |error: nearfar_flow::FlowError| {
            StreamError(format!("the law finds no rates for these streams: {error}"))
        };
        let rates_of = |chosen: &[ScaledLoad]| self.fitted.capacities.flows(chosen, None);
        let all: Vec<ScaledLoad> = loads.iter().map(|(_, load)| load.clone()).collect();
        let together = rates_of(&all).map_err(failed)?;
        let mut streams = Vec::new();
        for (stream, binding) in bindings.iter().enumerate() {
            let own: Vec<usize> =
                (0..loads.len()).filter(|&index| loads[index].0 == stream).collect();
            let alone: Vec<ScaledLoad> = own.iter().map(|&index| all[index].clone()).collect();
            let alone: f64 = rates_of(&alone).map_err(failed)?.rates.iter().sum();
            let beside: f64 = own.iter().map(|&index| together.rates[index]).sum();
            let slowest = own.iter().copied().max_by(|&a, &b| {
                let lost = |index: usize| together.demands[index] - together.rates[index];
                lost(a).total_cmp(&lost(b))
            });
            streams.push(PredictedStream {
                binding: binding.clone(),
                threads: own
                    .iter()
                    .map(|&it| InitiatorThreads {
                        initiator: all[it].load.initiator,
                        threads: all[it].load.threads,
                    })
                    .collect(),
                alone: self.expected(alone),
                together: self.expected(beside),
                kept_share: beside / alone,
                limit: slowest
                    .and_then(|index| first_cause(&together, index))
                    .and_then(|part| self.layout.part(part)),
            });
        }
        let filled = |used: &nearfar_flow::UsedPart| {
            Some(FilledPart { part: self.layout.part(used.part)?, filled_share: used.filled })
        };
        let mut parts: Vec<FilledPart> = together.parts().iter().filter_map(filled).collect();
        parts.sort_by(|a, b| b.filled_share.total_cmp(&a.filled_share));
        let cores = machine.allowed_cores(&machine.allowed_cpus).len();
        Ok(FlowPrediction {
            kernel: self.kernel(0),
            trust: self.trust(),
            free_cores: cores.saturating_sub(question.users.len()),
            sum: self.expected(streams.iter().map(|it| it.together.value.0).sum()),
            streams,
            parts,
            notes: question.notes,
        })
    }

    fn unmeasured(&self, load: &Load) -> Option<(u32, u32)> {
        let mut nodes = load.shares.iter().map(|&(node, _)| (node, load.initiator));
        nodes.find(|&(node, initiator)| !self.reached.contains(&(initiator, node)))
    }
}

struct Question<'a> {
    machine: &'a Machine,
    initiators: &'a [Initiator],
    /// The stream that uses a core, by the core's position.
    users: BTreeMap<usize, usize>,
    notes: Vec<String>,
}

impl Question<'_> {
    /// The loads of a stream, one for each initiator that its CPUs are of.
    fn loads(&mut self, stream: usize, binding: &Binding) -> Result<Vec<Load>, StreamError> {
        let known = self.machine.cpus();
        if let Some(cpu) = binding.cpus.iter().find(|&cpu| !known.contains(cpu)) {
            return Err(StreamError(format!(
                "stream {stream} names CPU {cpu}; the machine of the record has the CPUs {known}"
            )));
        }
        let mut threads: BTreeMap<usize, u32> = BTreeMap::new();
        let mut has_siblings = false;
        for (position, core) in self.machine.cores.iter().enumerate() {
            let used: CpuSet = core.cpus.intersection(&binding.cpus);
            let Some(cpu) = used.first() else { continue };
            has_siblings |= used.len() > 1;
            if let Some(&first) = self.users.get(&position) {
                return Err(StreamError(format!(
                    "streams {first} and {stream} both use the core of CPU {cpu}; the record has no \
                     threads that share a core, so give each stream cores of its own"
                )));
            }
            self.users.insert(position, stream);
            if let Some(own) = self.initiators.iter().position(|it| it.cpus.contains(cpu)) {
                *threads.entry(own).or_insert(0) += 1;
            }
        }
        if threads.is_empty() {
            return Err(no_memory(stream, "its CPUs are of no core that the record knows"));
        }
        if has_siblings {
            self.notes.push(format!(
                "Stream {stream} names several CPUs of a core: it is taken to have one thread on \
                 each core, as was measured; a second one adds little where memory is the limit."
            ));
        }
        if threads.len() > 1 {
            self.notes.push(format!(
                "Stream {stream} is on {} initiators: what it gets is the sum of theirs.",
                threads.len()
            ));
        }
        let load = |(position, threads): (usize, u32)| {
            let initiator = &self.initiators[position];
            let shares = self.shares(stream, &binding.memory, initiator)?;
            Ok(Load { initiator: initiator.index, threads, shares })
        };
        let loads = threads.into_iter().map(load).collect::<Result<Vec<Load>, StreamError>>()?;
        if let MemoryPolicy::Bind(nodes) = &binding.memory
            && nodes.len() > 1
        {
            self.notes.push(format!(
                "Stream {stream} binds to several nodes: the kernel fills the nearest first, so its \
                 data is taken to lie there; interleave deals pages out over all."
            ));
        }
        Ok(loads)
    }

    fn shares(
        &self,
        stream: usize,
        policy: &MemoryPolicy,
        initiator: &Initiator,
    ) -> Result<Vec<(u32, f64)>, StreamError> {
        let nearest = |nodes: &[u32]| {
            let distance =
                |node: &u32| initiator.cpu_node.and_then(|home| self.machine.distance(home, *node));
            // Without distances its own nodes stand before all others.
            let key = |node: &u32| (!initiator.memory_nodes.contains(*node), distance(node), *node);
            nodes.iter().copied().min_by_key(key)
        };
        let named: BTreeSet<u32> = policy.nodes().unwrap_or_default().iter().collect();
        if let Some(node) = named.iter().find(|&&node| self.machine.node(node).is_none()) {
            let why = format!("the machine of the record has no node {node}");
            return Err(no_memory(stream, &why));
        }
        let one = match policy {
            MemoryPolicy::FirstTouch => self.machine.home_memory(initiator),
            MemoryPolicy::Bind(nodes) => nearest(&nodes.iter().collect::<Vec<u32>>()),
            _ => None,
        };
        let found = match one {
            Some(node) => Some(vec![(node, 1.0)]),
            None => shares(policy, initiator),
        };
        found.ok_or_else(|| {
            let why =
                format!("initiator {} has no memory of its own, so name one", initiator.index);
            no_memory(stream, &why)
        })
    }
}

fn no_memory(stream: usize, why: &str) -> StreamError {
    StreamError(format!("stream {stream} has no memory node: {why}"))
}
