//! The one behavioural seam: who answers a case. [`crate::native::NativeExecutor`]
//! runs it on this machine, [`crate::simulated::SimulatedExecutor`] works it out; programs are
//! run by the executor of `nearfar-place`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nearfar_kernels::Mix;
use nearfar_machine::HostMemory;
use nearfar_record::{
    ActorSample, Case, Chase, CommandRun, CpuDistance, Disturbance, Exchange,
    Executor as ExecutorKind, HandOver, MessageSample, Messages, PageSizes, Proof, Reason,
    ThreadSample, TrafficMethod, Transfer, TransferSample, WithoutCopy, WorkloadRun,
};

use crate::kernel_name::MemoryKernel;
use crate::traffic::traffic;

/// How one case is to be measured in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRequest {
    pub round: u32,
    /// Number of the first window within the round; above 0 where an interrupted
    /// round is continued.
    pub first: u32,
    /// Windows, one after the other.
    pub count: u32,
    /// Shortest length of a window; it is longer when more time is needed to move
    /// twice the caches involved.
    pub shortest: Duration,
}

/// What was seen in one window: a sample without its place in the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// When it opened, since the executor was made.
    pub start: Duration,
    pub length: Duration,
    /// In the order of the case's actors.
    pub actors: Vec<ActorSample>,
    /// What disturbed it.
    pub disturbances: Vec<Disturbance>,
    /// What was seen of a program, where the case runs one; `actors` is empty then.
    pub run: Option<CommandRun>,
    /// What was seen of a workload, where the case runs one; `actors` is empty then.
    pub workload: Option<WorkloadRun>,
    /// How far two of its CPUs were from each other, where that was looked at.
    pub cpu_distance: Option<CpuDistance>,
}

/// Why a case gave no windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The machine said no.
    Refused(Reason),
    /// The user or the system asked the program to end.
    Interrupted,
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason)
    }
}

/// How fast the machine seemed in a short look, for the estimate of a plan's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Touching memory for the first time in this process, by one thread, bytes/s.
    /// In a virtual machine the host may have to find the memory first.
    pub first_touch: f64,
    /// Touching memory that the process had before, by one thread, bytes/s.
    pub touch: f64,
    /// A kernel on memory by one thread, useful bytes/s.
    pub stream: f64,
}

/// The variants of each kernel that an executor offers: the instruction sets of this CPU,
/// widest first, or what a simulated machine names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferedVariants {
    /// Of the catalog's kernels and of arithmetic on registers, by name, and of hand-overs by that of their
    /// experiment.
    pub named: BTreeMap<String, Vec<String>>,
    /// Of every mix.
    pub mixes: Vec<String>,
}

impl OfferedVariants {
    /// Those of a kernel, a mix or arithmetic by its name.
    pub fn of(&self, kernel: &str) -> &[String] {
        match self.named.get(kernel) {
            Some(variants) => variants,
            None if kernel.parse::<Mix>().is_ok() => &self.mixes,
            None => &[],
        }
    }
}

/// Who answers cases.
pub trait Executor {
    /// For the record's header.
    fn kind(&self) -> ExecutorKind;

    /// The kernels that it can run and their variants, the preferred first.
    fn variants(&self) -> OfferedVariants;

    /// A short look at the machine's speed.
    ///
    /// # Errors
    /// When not even that can be measured.
    fn look(&mut self) -> Result<Rates, Reason>;

    /// Time since it was made, on the clock that its windows use.
    fn now(&self) -> Duration;

    /// Announces a round over these cases: buffers are mapped afresh.
    fn begin_round(&mut self, cases: &[&Case]);

    /// Runs one case.
    ///
    /// # Errors
    /// When the machine refuses, or the program is asked to end.
    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure>;

    /// Most memory that the process held so far, bytes; `None` when not known.
    fn peak_resident_bytes(&self) -> Option<u64>;
}

/// A wish that measuring end, set by a signal's number from outside.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// The cell that a signal handler stores its signal's number in.
    pub fn cell(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// The signal, if one came.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&signal| signal != 0)
    }

    /// Whether a signal came.
    pub fn is_set(&self) -> bool {
        self.signal().is_some()
    }
}

/// The loop that ran, and what follows from it for the record's counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RanLoop<'a> {
    /// Its name, as cases have it.
    pub name: &'a str,
    pub kernel: MemoryKernel,
    pub variant: &'a str,
    pub unroll: u32,
    /// What ordinary stores do on the machine.
    pub stores: TrafficMethod,
}

impl RanLoop<'_> {
    /// Operations that come with this many useful bytes.
    pub fn flops(&self, useful_bytes: u64) -> u64 {
        useful_bytes / self.kernel.step_bytes() * u64::from(self.kernel.flops())
    }

    /// The sample of an actor whose threads moved these bytes.
    pub fn sample(&self, threads: Vec<ThreadSample>, placement: Placement) -> ActorSample {
        let sample = sample_of(self.name, self.variant, threads, placement);
        let moved = traffic(self.kernel, self.variant, sample.useful_bytes, self.stores);
        ActorSample {
            unroll: self.unroll,
            traffic_bytes_min: moved.min,
            traffic_bytes_max: moved.max,
            traffic_method: moved.method,
            ..sample
        }
    }
}

/// What samples of every kind follow from: threads, and where their pages were. No traffic.
fn sample_of(
    kernel: &str,
    variant: &str,
    threads: Vec<ThreadSample>,
    placement: Placement,
) -> ActorSample {
    let useful_bytes = threads.iter().map(|thread| thread.useful_bytes).sum();
    ActorSample {
        kernel: kernel.into(),
        variant: variant.into(),
        unroll: 1,
        useful_bytes,
        traffic_bytes_min: 0,
        traffic_bytes_max: 0,
        traffic_method: TrafficMethod::Nt,
        flops: threads.iter().map(|thread| thread.flops).sum(),
        accesses: useful_bytes / size_of::<f64>() as u64,
        threads,
        proof: placement.proof,
        write_proof: placement.write_proof,
        page_sizes: placement.page_sizes,
        transfer: None,
        messages: None,
    }
}

/// The sample of a chase whose thread asked for these bytes, 8 by each access.
pub(crate) fn chase_sample(thread: ThreadSample, placement: Placement) -> ActorSample {
    /// Bytes of a line.
    const LINE: u64 = 64;
    let sample = sample_of(Chase::KERNEL, Chase::VARIANT, vec![thread], placement);
    let traffic = sample.accesses * LINE;
    ActorSample {
        traffic_bytes_min: traffic,
        traffic_bytes_max: traffic,
        traffic_method: TrafficMethod::Lines,
        ..sample
    }
}

/// The sample of two threads that handed a line to each other, each hand-over counted as 8 bytes. All
/// of it can have stayed in caches.
pub(crate) fn exchange_sample(
    by: HandOver,
    threads: Vec<ThreadSample>,
    placement: Placement,
) -> ActorSample {
    const LINE: u64 = 64;
    let sample = sample_of(by.as_str(), Exchange::VARIANT, threads, placement);
    ActorSample {
        traffic_bytes_max: sample.accesses * LINE,
        traffic_method: TrafficMethod::Cached,
        ..sample
    }
}

/// The sample of a transfer whose thread had this many bytes copied. `seen` are the copies around
/// the window and their time by the device's clock, ns.
pub(crate) fn transfer_sample(
    transfer: &Transfer,
    thread: ThreadSample,
    (copies, device_ns): (u64, Option<u64>),
    placement: Placement,
) -> ActorSample {
    // Pinned pages are read and written by the device alone; between devices none are.
    let most_traffic = match transfer.host_memory {
        Some(HostMemory::Pageable) => ActorSample::MOST_DEVICE_TRAFFIC,
        Some(HostMemory::Pinned) => 1,
        None => 0,
    };
    let (kernel, variant) = (transfer.direction.as_str(), transfer.backend.as_str());
    let sample = sample_of(kernel, variant, vec![thread], placement);
    ActorSample {
        traffic_bytes_max: sample.useful_bytes * most_traffic,
        traffic_method: TrafficMethod::Device,
        transfer: Some(TransferSample { copies, copy_bytes: transfer.memory_bytes(), device_ns }),
        ..sample
    }
}

/// The sample of threads that sent messages or received them. `seen` are the messages around the window
/// and what the kernel said of sends without a copy.
pub(crate) fn message_sample(
    planned: &Messages,
    threads: Vec<ThreadSample>,
    (messages, without_copy): (u64, Option<WithoutCopy>),
    placement: Placement,
) -> ActorSample {
    let sample = sample_of(planned.way.as_str(), Messages::VARIANT, threads, placement);
    let message_bytes = planned.message_bytes;
    ActorSample {
        traffic_bytes_max: sample.useful_bytes * ActorSample::MOST_NETWORK_TRAFFIC,
        traffic_method: TrafficMethod::Network,
        messages: Some(MessageSample { messages, message_bytes, without_copy }),
        ..sample
    }
}

/// The sample of threads that computed this on registers, in this variant.
pub(crate) fn compute_sample(
    kernel: &str,
    variant: &str,
    unroll: u32,
    threads: Vec<ThreadSample>,
) -> ActorSample {
    ActorSample { unroll, ..sample_of(kernel, variant, threads, Placement::default()) }
}

/// Where an actor's pages were, and how large.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Placement {
    pub proof: Option<Proof>,
    pub write_proof: Option<Proof>,
    pub page_sizes: PageSizes,
}
