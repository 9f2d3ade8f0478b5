//! A case: the actors that run at the same time, and the case's place in one or
//! more experiments.

use nearfar_machine::{Binding, CpuSet, MemoryPolicy, TransferDirection};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::coordinates::{Coordinates, Roof};
use crate::exchange::Exchange;
use crate::experiment::Rounds;
use crate::header::Inputs;
use crate::messages::Messages;
use crate::transfer::Transfer;
use crate::workload_run::Workload;

/// Actors that run together, measured over a common window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique in the record, made from the coordinates:
    /// `pairs/initiator0/node1/triad_nt/avx512/t4`.
    pub id: String,
    /// Where the case stands in which experiments.
    pub coordinates: Vec<Coordinates>,
    /// What runs at the same time.
    pub actors: Vec<Actor>,
}

/// What moves data, or computes, in a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "actor", rename_all = "snake_case")]
pub enum Actor {
    /// Threads that run a kernel over arrays, again and again.
    Stream(Stream),
    /// One thread that follows pointers.
    Chase(Chase),
    /// Two threads that hand one cache line to each other.
    Exchange(Exchange),
    /// Threads that compute on registers.
    Compute(Compute),
    /// One thread that lets a device copy.
    Transfer(Transfer),
    /// Threads that send messages to another machine, or receive them.
    Messages(Messages),
    /// A program.
    Command(Command),
    /// One of the papers' programs, in threads of nearfar.
    Workload(Workload),
}

/// Threads that run a kernel over arrays. Each thread has its own slice of every
/// array, as in a statically divided loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Kernel, or a mix, by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// CPUs of the threads and policy of the pages.
    pub binding: Binding,
    /// Policy of the array that is written, where it is another than the binding's; else null.
    pub write_memory: Option<MemoryPolicy>,
    /// Number of threads.
    pub threads: u32,
    pub pinning: Pinning,
    /// The CPU of each thread; empty when unbound.
    pub thread_cpus: Vec<u32>,
    /// All arrays of all threads.
    pub working_set_bytes: u64,
    /// Working set / sum of the last-level and memory-side caches involved; null where their size
    /// is not known. Below 4 caches may have served a part.
    pub llc_multiple: Option<f64>,
    pub pages: Pages,
    /// Additions that a thread makes after every 1024 bytes of each array, each waiting for the
    /// one before and so of about a cycle; 0 for none.
    pub pause_cycles: u32,
}

/// A thread pauses after this many bytes of each array.
pub const PAUSED_BYTES: u64 = 1024;

/// One thread that follows pointers through memory: no load can begin before the one before
/// has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chase {
    /// CPUs of its initiator and policy of the pages.
    pub binding: Binding,
    /// The thread's CPU.
    pub thread_cpu: u32,
    /// Memory that it walks through.
    pub working_set_bytes: u64,
    /// Lines that it touches (64 bytes of each 256 of the set) / the caches involved; null where
    /// their size is not known. Below 2 caches may have answered a part.
    pub llc_multiple: Option<f64>,
    /// Memory that is walked through before other memory is: all of the set for a walk anywhere.
    pub group_bytes: u64,
    pub pages: Pages,
}

impl Chase {
    /// Its kernel's name in samples.
    pub const KERNEL: &'static str = "chase";
    /// Its variant's name in samples: it has one, a load of 8 bytes.
    pub const VARIANT: &'static str = "scalar";
    /// From one pointer to the next in memory; each is in a line of its own.
    pub const NODE_BYTES: u64 = 256;
    /// With an [`Chase::llc_multiple`] below this the caches answered a part of its loads.
    pub const LEAST_LLC_MULTIPLE: f64 = 1.9;

    /// Whether its lines find no others of it in the caches, once these hold no other memory: then it need
    /// not go through all of them before it is measured.
    pub fn is_beyond_caches(&self) -> bool {
        self.llc_multiple.is_some_and(|multiple| multiple >= Self::LEAST_LLC_MULTIPLE)
    }
}

/// Threads that compute on registers and touch no memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compute {
    /// Arithmetic by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// CPUs that the threads may use.
    pub cpus: CpuSet,
    /// The CPU of each thread.
    pub thread_cpus: Vec<u32>,
}

/// How threads are tied to CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pinning {
    /// Each thread on one CPU, no two on one core.
    OnePerCore,
    /// Each thread on one CPU; cores may carry several.
    OnePerPu,
    /// Threads may use any CPU of the binding.
    Unbound,
}

/// Pages that are asked for; what was got is in each sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Base pages only (4 KiB on x86-64).
    Small,
    /// Transparent huge pages.
    Transparent,
    /// 2 MiB pages from the reserved pool (hugetlb).
    Huge,
}

impl Actor {
    /// Its kernel's name, as in samples; of a program its label.
    pub fn kernel(&self) -> &str {
        match self {
            Self::Stream(stream) => &stream.kernel,
            Self::Chase(_) => Chase::KERNEL,
            Self::Exchange(exchange) => exchange.by.as_str(),
            Self::Compute(compute) => &compute.kernel,
            Self::Transfer(transfer) => transfer.direction.as_str(),
            Self::Messages(messages) => messages.way.as_str(),
            Self::Command(command) => &command.label,
            Self::Workload(workload) => &workload.workload,
        }
    }

    /// Its variant's name, as in samples.
    pub fn variant(&self) -> &str {
        match self {
            Self::Stream(stream) => &stream.variant,
            Self::Chase(_) => Chase::VARIANT,
            Self::Exchange(_) => Exchange::VARIANT,
            Self::Compute(compute) => &compute.variant,
            Self::Transfer(transfer) => transfer.backend.as_str(),
            Self::Messages(_) => Messages::VARIANT,
            Self::Command(_) => Command::VARIANT,
            Self::Workload(_) => Workload::VARIANT,
        }
    }

    /// Number of threads; 0 for a program, which starts them itself.
    pub fn threads(&self) -> u32 {
        match self {
            Self::Stream(stream) => stream.threads,
            Self::Chase(_) | Self::Transfer(_) => 1,
            Self::Exchange(exchange) => {
                u32::try_from(exchange.thread_cpus.len()).unwrap_or(u32::MAX)
            }
            Self::Compute(compute) => u32::try_from(compute.thread_cpus.len()).unwrap_or(u32::MAX),
            Self::Messages(messages) => {
                u32::try_from(messages.thread_cpus.len()).unwrap_or(u32::MAX)
            }
            Self::Workload(workload) => {
                u32::try_from(workload.thread_cpus.len()).unwrap_or(u32::MAX)
            }
            Self::Command(_) => 0,
        }
    }

    /// The CPU of each thread; none when unbound.
    pub fn thread_cpus(&self) -> &[u32] {
        match self {
            Self::Stream(stream) => &stream.thread_cpus,
            Self::Chase(chase) => std::slice::from_ref(&chase.thread_cpu),
            Self::Exchange(exchange) => &exchange.thread_cpus,
            Self::Compute(compute) => &compute.thread_cpus,
            Self::Transfer(transfer) => std::slice::from_ref(&transfer.thread_cpu),
            Self::Messages(messages) => &messages.thread_cpus,
            Self::Workload(workload) => &workload.thread_cpus,
            Self::Command(_) => &[],
        }
    }

    /// CPUs that its threads may use.
    pub fn cpus(&self) -> &CpuSet {
        match self {
            Self::Stream(Stream { binding, .. })
            | Self::Chase(Chase { binding, .. })
            | Self::Exchange(Exchange { binding, .. })
            | Self::Transfer(Transfer { binding, .. })
            | Self::Messages(Messages { binding, .. })
            | Self::Command(Command { binding, .. }) => &binding.cpus,
            Self::Compute(compute) => &compute.cpus,
            Self::Workload(workload) => &workload.cpus,
        }
    }

    /// Policy of its pages; `None` for one that has none.
    pub fn memory(&self) -> Option<&MemoryPolicy> {
        match self {
            Self::Transfer(transfer) if transfer.direction == TransferDirection::ToPeer => None,
            Self::Stream(Stream { binding, .. })
            | Self::Chase(Chase { binding, .. })
            | Self::Exchange(Exchange { binding, .. })
            | Self::Transfer(Transfer { binding, .. })
            | Self::Messages(Messages { binding, .. })
            | Self::Command(Command { binding, .. }) => Some(&binding.memory),
            Self::Workload(workload) => workload.memory(),
            Self::Compute(_) => None,
        }
    }

    /// Bytes of all its arrays; 0 for one that has none: arithmetic, and programs, whose memory
    /// is their own affair.
    pub fn working_set_bytes(&self) -> u64 {
        match self {
            Self::Stream(stream) => stream.working_set_bytes,
            Self::Chase(chase) => chase.working_set_bytes,
            Self::Exchange(_) => Exchange::PAGE_BYTES,
            Self::Transfer(transfer) => transfer.memory_bytes(),
            Self::Messages(messages) => messages.working_set_bytes(),
            Self::Workload(workload) => workload.working_set_bytes,
            Self::Compute(_) | Self::Command(_) => 0,
        }
    }

    /// Working set / caches involved; `None` where that is not known, or for one that touches
    /// no memory.
    pub fn llc_multiple(&self) -> Option<f64> {
        match self {
            Self::Stream(stream) => stream.llc_multiple,
            Self::Chase(chase) => chase.llc_multiple,
            Self::Exchange(_)
            | Self::Compute(_)
            | Self::Transfer(_)
            | Self::Messages(_)
            | Self::Command(_)
            | Self::Workload(_) => None,
        }
    }

    /// Whether each thread has one CPU.
    pub fn is_pinned(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.pinning != Pinning::Unbound,
            Self::Chase(_)
            | Self::Exchange(_)
            | Self::Compute(_)
            | Self::Transfer(_)
            | Self::Messages(_)
            | Self::Workload(_) => true,
            Self::Command(_) => false,
        }
    }

    /// It as a stream, if it is one.
    pub fn as_stream(&self) -> Option<&Stream> {
        match self {
            Self::Stream(stream) => Some(stream),
            Self::Chase(_)
            | Self::Exchange(_)
            | Self::Compute(_)
            | Self::Transfer(_)
            | Self::Messages(_)
            | Self::Command(_)
            | Self::Workload(_) => None,
        }
    }
}

impl Case {
    /// The program that it runs, if it is a run of one: its last actor, after the streams beside it.
    pub fn command(&self) -> Option<&Command> {
        match self.actors.last() {
            Some(Actor::Command(command)) => Some(command),
            _ => None,
        }
    }

    /// The workload that it runs, if it is a run of one.
    pub fn workload(&self) -> Option<&Workload> {
        match self.actors.as_slice() {
            [Actor::Workload(workload)] => Some(workload),
            _ => None,
        }
    }

    /// Threads of all actors.
    pub fn threads(&self) -> u32 {
        self.actors.iter().map(Actor::threads).fold(0, u32::saturating_add)
    }

    /// How often it is measured; `None` for a case that stands in no experiment.
    pub fn rounds(&self, inputs: &Inputs) -> Option<Rounds> {
        self.coordinates.first().map(|place| inputs.rounds(place))
    }

    /// Whether memory is to answer its streams, and not a cache on the way to it or none.
    pub fn is_on_memory(&self) -> bool {
        let in_core = |place: &Coordinates| {
            matches!(
                place,
                Coordinates::Roofs(roof) if matches!(roof.roof, Roof::Cache { .. } | Roof::Compute)
            )
        };
        !self.coordinates.iter().any(in_core)
    }

    /// Whether the clock of the cores matters to its figures: what caches and arithmetic give,
    /// and the time of an access or a hand-over.
    pub fn depends_on_clock(&self) -> bool {
        !self.is_on_memory() || self.has_access_time()
    }

    /// Whether an access is what its first actor is there for: a load of a chase, a hand-over.
    pub fn is_of_access_time(&self) -> bool {
        matches!(self.actors.first(), Some(Actor::Chase(_) | Actor::Exchange(_)))
    }

    fn has_access_time(&self) -> bool {
        let has = |actor: &Actor| matches!(actor, Actor::Chase(_) | Actor::Exchange(_));
        self.actors.iter().any(has)
    }

    /// Whether caches can have answered all of what the actor at this position asked for: its
    /// traffic to memory may be nothing.
    pub fn may_be_cached(&self, position: usize) -> bool {
        match self.actors.get(position) {
            Some(Actor::Chase(chase)) => chase.llc_multiple.is_none_or(|multiple| multiple < 1.0),
            Some(Actor::Exchange(_)) => true,
            _ => !self.is_on_memory(),
        }
    }
}

words!(Pages);
