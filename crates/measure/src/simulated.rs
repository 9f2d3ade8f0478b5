//! An executor that works its windows out from constant rates, on a virtual
//! clock: the engine, the record and everything after them run without hardware.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_kernels::{Kernel, Variant};
use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Disturbance, Executor as ExecutorKind, PageNodes, PageSizes, Proof,
    ProofMethod, Reason, ReasonCode, Stream, ThreadSample, TrafficMethod,
};

use crate::executor::{
    Executor, Failure, Interrupt, RanLoop, Rates, Window, WindowRequest, kernel_of,
};

/// Rates by which a simulated machine answers, useful bytes/s.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedRates {
    /// One thread on local memory.
    pub local_per_thread: f64,
    /// One thread on any other memory.
    pub remote_per_thread: f64,
    /// All threads together on one memory node.
    pub node: f64,
    /// Standard deviation of a round's rate as a fraction; noise only lowers it.
    pub noise: f64,
    /// Fraction of windows that something disturbs.
    pub disturbed: f64,
    /// Nodes that have no room: cases on them are refused.
    pub full_nodes: Vec<u32>,
}

/// Answers cases for a machine that need not exist.
#[derive(Debug)]
pub struct SimulatedExecutor {
    machine: Machine,
    rates: SimulatedRates,
    random: fastrand::Rng,
    clock: Duration,
    interrupt: Interrupt,
    /// The number of the case run after which a signal seems to have come.
    interrupt_after: Option<u64>,
    runs: u64,
}

impl SimulatedExecutor {
    /// A machine that answers by these rates.
    #[must_use]
    pub fn new(machine: Machine, rates: SimulatedRates, seed: u64, interrupt: Interrupt) -> Self {
        Self {
            machine,
            rates,
            random: fastrand::Rng::with_seed(seed),
            clock: Duration::ZERO,
            interrupt,
            interrupt_after: None,
            runs: 0,
        }
    }

    /// Makes a signal seem to come after so many runs of cases.
    pub fn interrupt_after(&mut self, runs: u64) {
        self.interrupt_after = Some(runs);
    }

    /// Rate of each thread of a stream, without noise.
    fn thread_rate(&self, stream: &Stream, node: u32) -> f64 {
        let local = self
            .machine
            .node(node)
            .is_some_and(|node| stream.thread_cpus.iter().all(|&cpu| node.locality.contains(cpu)));
        let alone = if local { self.rates.local_per_thread } else { self.rates.remote_per_thread };
        alone.min(self.rates.node / f64::from(stream.threads))
    }

    fn actor(&mut self, stream: &Stream, length: Duration) -> Result<ActorSample, Reason> {
        let MemoryPolicy::Preferred(node) = stream.binding.memory else {
            return Err(Reason {
                code: ReasonCode::Denied,
                text: format!(
                    "this machine places pages by preferred:NODE only, not by {}",
                    stream.binding.memory
                ),
            });
        };
        if self.rates.full_nodes.contains(&node) {
            return Err(Reason {
                code: ReasonCode::NoRoom,
                text: format!("node {node} of the simulated machine has no room"),
            });
        }
        let (kernel, variant) = kernel_of(stream)?;
        let slowdown = 1.0 - self.rates.noise * normal(&mut self.random).abs();
        let rate = self.thread_rate(stream, node) * slowdown;
        let bytes = whole_elements(kernel, rate * length.as_secs_f64());
        let threads: Vec<ThreadSample> = stream
            .thread_cpus
            .iter()
            .map(|&cpu| ThreadSample {
                cpu_before: Some(cpu),
                cpu_after: Some(cpu),
                useful_bytes: bytes,
                passes: 1,
                involuntary_switches: 0,
                off_cpu_ns: 0,
                minor_faults: 0,
            })
            .collect();
        let page_bytes = 4096;
        let pages = PageNodes {
            method: ProofMethod::Simulated,
            page_bytes,
            pages: BTreeMap::from([(node, stream.working_set_bytes / page_bytes)]),
            unknown: 0,
        };
        let ran = RanLoop { kernel, variant, unroll: 1, stores: TrafficMethod::Allocate };
        let proof = Proof { before: pages.clone(), after: pages };
        Ok(ran.sample(threads, proof, PageSizes { huge_bytes: None, resident_bytes: None }))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bytes in a window are positive and far below 2^53"
)]
fn whole_elements(kernel: &Kernel, bytes: f64) -> u64 {
    let element = kernel.useful_bytes(1);
    (bytes / element as f64) as u64 * element
}

/// A normally distributed number (Box and Muller 1958).
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

impl Executor for SimulatedExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Simulated
    }

    fn variants(&self) -> Vec<Variant> {
        Variant::ALL.to_vec()
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        let rate = self.rates.local_per_thread;
        Ok(Rates { first_touch: rate, touch: rate, stream: rate })
    }

    fn now(&self) -> Duration {
        self.clock
    }

    fn begin_round(&mut self, _cases: &[&Case]) {}

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        if self.interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        self.runs += 1;
        let mut windows = Vec::new();
        for _ in 0..request.count {
            let start = self.clock;
            self.clock += request.shortest;
            let mut actors = Vec::new();
            for Actor::Stream(stream) in &case.actors {
                actors.push(self.actor(stream, request.shortest).map_err(Failure::Refused)?);
            }
            let disturbances = if self.random.f64() < self.rates.disturbed {
                vec![Disturbance::Switched { times: 1, microseconds: 900 }]
            } else {
                Vec::new()
            };
            windows.push(Window { start, length: request.shortest, actors, disturbances });
        }
        if self.interrupt_after == Some(self.runs) {
            self.interrupt.cell().store(2, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(windows)
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        None
    }
}
