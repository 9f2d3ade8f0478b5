//! Work of known size that counters are tried on, done by the kernels that nearfar measures with.

use std::hint::black_box;
use std::path::Path;

use nearfar_kernels::{
    Chase, Constants, FlopOperation, Flops, Laying, Operands, Pattern, Precision, Variant,
    add_in_sequence, find,
};
use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_record::CountedQuantity;
use nearfar_sys::{
    CounterSet, Mapping, PageRequest, PerfEvent, PerfTarget, available_memory, bind_range,
    current_cpu, pin_thread, prove, usable_nodes,
};
use nearfar_units::Bytes;

use super::calibration::Counted;
use super::events::CounterPlan;

/// Additions that wait for each other.
const ADDITIONS: u64 = 20_000_000;

/// Instructions of the loop for 64 of them: itself and what closes the loop.
const INSTRUCTIONS_PER_ADDITION: f64 = 66.0 / 64.0;

/// Elements of the arrays of the triad: they stay in the first-level cache.
const ELEMENTS: usize = 1024;

/// Passes of the triad, and turns of the arithmetic on registers.
const PASSES: u32 = 20_000;

const LINE_BYTES: usize = 64;

/// Accesses of the chase.
const ACCESSES: u64 = 1_000_000;

/// Memory is this many times the last-level cache; the first half of it is read after all of it was
/// written, so that none of it is left in the cache.
const MULTIPLE_OF_CACHE: u64 = 4;

/// Work whose count is known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownWork {
    /// Additions that wait for each other, by their cycles: one for each.
    Additions,
    /// The same by their instructions, with those that close the loop.
    AdditionLoop,
    /// The triad on f64 in a first-level cache.
    Triad(Variant),
    /// Multiply-adds on registers.
    MultiplyAdds(Precision, Variant),
    /// One pass of loads over memory of the own node.
    LocalLoads,
    /// The same over memory of another node.
    RemoteLoads,
    /// Dependent loads from memory: one line is under way at any time.
    Chase,
}

impl KnownWork {
    /// What a counter of this quantity is tried on.
    pub fn of(quantity: CountedQuantity) -> Vec<Self> {
        let variants = Variant::available();
        let fused = [Variant::Avx512, Variant::Avx2, Variant::Sve, Variant::Neon];
        let multiply_adds = |precision| {
            let of = variants.iter().filter(|variant| fused.contains(variant));
            of.map(move |&variant| Self::MultiplyAdds(precision, variant)).collect::<Vec<_>>()
        };
        let triads = variants.iter().map(|&variant| Self::Triad(variant));
        match quantity {
            CountedQuantity::Cycles => vec![Self::Additions],
            CountedQuantity::Instructions => vec![Self::AdditionLoop],
            CountedQuantity::FlopsDouble => triads.collect(),
            CountedQuantity::FlopsSingle => multiply_adds(Precision::Single),
            CountedQuantity::Flops => triads.chain(multiply_adds(Precision::Single)).collect(),
            CountedQuantity::LocalDramLines
            | CountedQuantity::LlcRequests
            | CountedQuantity::LlcMisses => vec![Self::LocalLoads],
            CountedQuantity::RemoteDramLines => vec![Self::RemoteLoads],
            CountedQuantity::MissOccupancy | CountedQuantity::MissCycles => vec![Self::Chase],
        }
    }

    pub fn words(self) -> String {
        match self {
            Self::Additions => "the cycles of additions that wait for each other".into(),
            Self::AdditionLoop => "the instructions of additions that wait for each other".into(),
            Self::Triad(variant) => format!("the operations of triad ({variant}) in cache"),
            Self::MultiplyAdds(_, variant) => format!("multiply-adds on registers ({variant})"),
            Self::LocalLoads => "the lines of one pass of loads over local memory".into(),
            Self::RemoteLoads => "the lines of one pass of loads over remote memory".into(),
            Self::Chase => "the cycles of dependent loads from memory".into(),
        }
    }
}

/// Where known work is done: this thread, on the CPU that it is on.
pub(crate) struct Workplace<'a> {
    machine: &'a Machine,
    cpu: Option<u32>,
    local: Option<Result<Mapping, String>>,
    remote: Option<Result<Mapping, String>>,
}

impl<'a> Workplace<'a> {
    /// The calling thread is pinned, so that its memory stays local.
    pub fn new(machine: &'a Machine) -> Self {
        let cpu = current_cpu();
        if let Some(cpu) = cpu {
            // Where that is forbidden the counts will tell.
            pin_thread(&nearfar_machine::CpuSet::single(cpu)).ok();
        }
        Self { machine, cpu, local: None, remote: None }
    }

    /// Does work while the events of a plan are counted; gives what there was and what was counted.
    pub fn count(&mut self, plan: &CounterPlan, work: &KnownWork) -> Counted {
        let mut events = plan.perf_events();
        let with_cycles = *work == KnownWork::Chase;
        if with_cycles {
            events.push(PerfEvent::Cycles);
        }
        let mut set = CounterSet::open(&events, PerfTarget::CallingThread)
            .map_err(|refusal| refusal.to_string())?;
        let expected = self.run(work, &mut set)?;
        let counts = set.read().map_err(|refusal| refusal.to_string())?;
        let never = "other users of the counters left it no turn";
        let scaled = |position: usize| {
            counts.get(position).and_then(|count| count.scaled()).ok_or_else(|| never.to_string())
        };
        let mut counted = 0.0;
        for (position, event) in plan.events.iter().enumerate() {
            counted += f64::from(event.weight) * scaled(position)?;
        }
        let expected = if with_cycles { scaled(plan.events.len())? } else { expected };
        Ok((expected, counted))
    }

    /// Does work between on and off; gives its size, 0 where it is told by cycles.
    fn run(&mut self, work: &KnownWork, set: &mut CounterSet) -> Result<f64, String> {
        match *work {
            KnownWork::Additions => Ok(additions(set)? as f64),
            KnownWork::AdditionLoop => Ok(additions(set)? as f64 * INSTRUCTIONS_PER_ADDITION),
            KnownWork::Triad(variant) => triad(variant, set),
            KnownWork::MultiplyAdds(precision, variant) => {
                let fma = Flops { operation: FlopOperation::Fma, precision };
                let flop_loop = fma.generate(variant).map_err(|why| why.to_string())?;
                between(set, || black_box(flop_loop.run(PASSES as usize)))?;
                Ok(flop_loop.flops(u64::from(PASSES)) as f64)
            }
            KnownWork::LocalLoads => loads(self.local()?.as_f64_mut(), set),
            KnownWork::RemoteLoads => loads(self.remote()?.as_f64_mut(), set),
            KnownWork::Chase => {
                let memory = self.local()?.as_f64_mut();
                let nodes = size_of_val(memory) / Chase::NODE_BYTES;
                let mut chase = Chase::new(memory, nodes, 1, Laying::Plain);
                between(set, || chase.run(ACCESSES))?;
                match chase.is_on_course() {
                    true => Ok(0.0),
                    false => Err("dependent loads went astray".into()),
                }
            }
        }
    }

    fn local(&mut self) -> Result<&mut Mapping, String> {
        let made = self.local.take().unwrap_or_else(|| self.memory(None));
        self.local.insert(made).as_mut().map_err(|why| why.clone())
    }

    fn remote(&mut self) -> Result<&mut Mapping, String> {
        let made = self.remote.take();
        let made =
            made.unwrap_or_else(|| self.other_node().and_then(|node| self.memory(Some(node))));
        self.remote.insert(made).as_mut().map_err(|why| why.clone())
    }

    /// A node whose memory is local to no initiator of this CPU.
    fn other_node(&self) -> Result<u32, String> {
        let usable = usable_nodes(Path::new("/")).map_err(|refusal| refusal.to_string())?;
        let initiators = self.machine.initiators();
        let own = initiators.iter().find(|it| self.cpu.is_some_and(|cpu| it.cpus.contains(cpu)));
        let own = own.ok_or("the initiator of this thread is not known")?;
        let mut others = usable.iter().filter(|&node| !own.memory_nodes.contains(node));
        others
            .next()
            .ok_or_else(|| "there is no other memory node that it could be tried on".into())
    }

    /// Memory that is written throughout, on this node or near this thread.
    fn memory(&self, node: Option<u32>) -> Result<Mapping, String> {
        let of_cpu = self.machine.caches.iter().filter(|cache| {
            cache.line_bytes.is_none_or(|bytes| bytes as usize == LINE_BYTES)
                && self.cpu.is_some_and(|cpu| cache.cpus.contains(cpu))
        });
        let largest = of_cpu.filter_map(|cache| cache.bytes).max();
        let largest = largest.ok_or("the size of the last-level cache is not known")?;
        let bytes = largest.saturating_mul(MULTIPLE_OF_CACHE);
        let room = available_memory(Path::new("/")).unwrap_or(0) / 4;
        if bytes > room {
            let (bytes, room) = (Bytes(bytes), Bytes(room));
            return Err(format!("it takes {bytes} of memory to try it, and {room} can be taken"));
        }
        let length = usize::try_from(bytes).map_err(|_| "the last-level cache is too large")?;
        let mut memory = Mapping::new(length, PageRequest::Transparent)
            .map_err(|refusal| refusal.to_string())?;
        if let Some(node) = node {
            bind_range(&memory, &MemoryPolicy::Preferred(node))
                .map_err(|refusal| refusal.to_string())?;
        }
        Pattern::new(1).fill(memory.as_f64_mut(), 0);
        if let Some(node) = node {
            let usable = usable_nodes(Path::new("/")).map_err(|refusal| refusal.to_string())?;
            let found = prove(&memory, &usable).map_err(|refusal| refusal.to_string())?;
            let pages: u64 = found.nodes.values().sum();
            if found.on(node) * 100 < pages * 99 {
                return Err(format!("node {node} had no room for memory that it is tried on"));
            }
        }
        Ok(memory)
    }
}

fn between<T>(set: &mut CounterSet, work: impl FnOnce() -> T) -> Result<T, String> {
    set.enable().map_err(|refusal| refusal.to_string())?;
    let done = work();
    set.disable().map_err(|refusal| refusal.to_string())?;
    Ok(done)
}

/// How many additions were made.
fn additions(set: &mut CounterSet) -> Result<u64, String> {
    let made = between(set, || add_in_sequence(ADDITIONS))?;
    made.ok_or_else(|| "there is no loop of known length for this CPU".into())
}

/// Operations of the triad.
fn triad(variant: Variant, set: &mut CounterSet) -> Result<f64, String> {
    let kernel = find("triad").ok_or("the catalog has no triad")?;
    let timed_loop = kernel.in_variant(variant).map_err(|why| why.to_string())?;
    let pattern = Pattern::new(1);
    let (mut a, mut b, mut c) = (vec![0.0; ELEMENTS], vec![0.0; ELEMENTS], vec![0.0; ELEMENTS]);
    pattern.fill(&mut b, 0);
    pattern.fill(&mut c, ELEMENTS as u64);
    let constants = Constants::for_pass(0);
    between(set, || timed_loop.run(Operands::zip(&mut a, &b, &c), &constants, PASSES))?;
    Ok(f64::from(kernel.flops()) * ELEMENTS as f64 * f64::from(PASSES))
}

/// Lines of the first half of memory that was written throughout.
fn loads(memory: &mut [f64], set: &mut CounterSet) -> Result<f64, String> {
    Pattern::new(1).fill(memory, 0);
    let kernel = find("load").ok_or("the catalog has no load")?;
    let variant = *kernel.variants().first().ok_or("no variant of load runs here")?;
    let timed_loop = kernel.in_variant(variant).map_err(|why| why.to_string())?;
    let half = memory.get(..memory.len() / 2).unwrap_or_default();
    let constants = Constants::for_pass(0);
    between(set, || black_box(timed_loop.run(Operands::load(half), &constants, 1)))?;
    Ok((size_of_val(half) / LINE_BYTES) as f64)
}
