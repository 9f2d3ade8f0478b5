//! Answers cases by the capacities of a simulated machine.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_flow::{KernelLoad, Load, SimulatedMachine};
use nearfar_kernels::{CATALOG, Kernel, find};
use nearfar_machine::{Cluster, MemoryPolicy, NodeSet};
use nearfar_record::{
    Actor, ActorSample, Case, Executor as ExecutorKind, PageNodes, PageSizes, Proof, ProofMethod,
    Reason, ReasonCode, Stream, ThreadSample, TrafficMethod,
};
use nearfar_units::Bytes;

use super::error::SimulateError;
use super::luck::{Luck, Place};
use crate::executor::{
    Executor, Failure, Interrupt, OfferedVariants, RanLoop, Rates, Window, WindowRequest, kernel_of,
};

/// Answers cases for a machine that need not exist.
#[derive(Debug)]
pub struct SimulatedExecutor {
    simulated: SimulatedMachine,
    clusters: Vec<Cluster>,
    full_nodes: Vec<u32>,
    /// `None`: every figure is what the capacities give.
    luck: Option<Luck>,
    clock: Duration,
    interrupt: Interrupt,
    /// The number of the case run after which a signal seems to have come.
    interrupt_after: Option<u64>,
    runs: u64,
}

const PAGE_BYTES: u64 = 4096;

impl SimulatedExecutor {
    /// A machine that answers by its capacities, with its noise drawn from `seed` or
    /// without any.
    ///
    /// # Errors
    /// [`SimulateError::UnknownKernel`] where its file speaks of a kernel that the catalog does
    /// not have: a misspelt one would change nothing, and no one would know.
    pub fn new(
        simulated: SimulatedMachine,
        noise: bool,
        seed: u64,
        interrupt: Interrupt,
    ) -> Result<Self, SimulateError> {
        check_kernels(&simulated)?;
        Ok(Self {
            clusters: simulated.machine.clusters(),
            full_nodes: simulated.full_nodes(),
            luck: noise.then(|| Luck::new(simulated.noise.clone(), seed)),
            simulated,
            clock: Duration::ZERO,
            interrupt,
            interrupt_after: None,
            runs: 0,
        })
    }

    /// Makes a signal seem to come after so many runs of cases.
    pub fn interrupt_after(&mut self, runs: u64) {
        self.interrupt_after = Some(runs);
    }

    /// The share of a stream's pages on each node.
    fn page_shares(&self, stream: &Stream) -> Result<Vec<(u32, f64)>, Reason> {
        let equally = |nodes: &NodeSet| -> Vec<(u32, f64)> {
            let share = 1.0 / as_float(nodes.len());
            nodes.iter().map(|node| (node, share)).collect()
        };
        let shares = match &stream.binding.memory {
            MemoryPolicy::Preferred(node) => vec![(*node, 1.0)],
            MemoryPolicy::Interleave(nodes) => equally(nodes),
            MemoryPolicy::Weighted(weights) => {
                let all: f64 = weights.values().copied().map(f64::from).sum();
                weights.iter().map(|(&node, &weight)| (node, f64::from(weight) / all)).collect()
            }
            other @ (MemoryPolicy::FirstTouch | MemoryPolicy::Bind(_)) => {
                let text = format!("a simulated machine does not place pages by {other}");
                return Err(not_simulated(text));
            }
        };
        for &(node, _) in &shares {
            if self.full_nodes.contains(&node) {
                return Err(no_room(format!("node {node} of the simulated machine has no room")));
            }
        }
        Ok(shares)
    }

    /// The pages of a case lie on its nodes by the streams' shares and fit there, or the case is
    /// refused as the native executor does it. A simulated node is empty: all of its size is
    /// room. Of a node whose size is not known anything fits.
    fn check_room(&self, case: &Case) -> Result<(), Reason> {
        let mut needed: BTreeMap<u32, f64> = BTreeMap::new();
        for Actor::Stream(stream) in &case.actors {
            for (node, share) in self.page_shares(stream)? {
                *needed.entry(node).or_default() +=
                    share * bytes_as_float(stream.working_set_bytes);
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

    /// A stream's threads by their cluster.
    fn loads(&self, stream: &Stream, shares: &[(u32, f64)]) -> Vec<Load> {
        let of_cluster = |cluster: &Cluster| {
            let cpus = stream.thread_cpus.iter().filter(|&&cpu| cluster.cpus.contains(cpu));
            let threads = u32::try_from(cpus.count()).unwrap_or(u32::MAX);
            Load { cluster: cluster.index, threads, shares: shares.to_vec() }
        };
        self.clusters.iter().map(of_cluster).filter(|load| load.threads > 0).collect()
    }

    /// Bytes/s of every thread of every actor, without noise.
    fn thread_rates(&self, case: &Case) -> Result<Vec<Vec<f64>>, Reason> {
        let mut streams = Vec::new();
        let mut owners = Vec::new();
        for (actor, Actor::Stream(stream)) in case.actors.iter().enumerate() {
            kernel_of(stream)?;
            let shares = self.page_shares(stream)?;
            for load in self.loads(stream, &shares) {
                owners.push((actor, load.cluster));
                streams.push(KernelLoad {
                    kernel: stream.kernel.clone(),
                    variant: stream.variant.clone(),
                    load,
                });
            }
        }
        let rates =
            self.simulated.rates(&streams).map_err(|error| not_simulated(error.to_string()))?;
        let per_thread: BTreeMap<(usize, u32), f64> = owners
            .into_iter()
            .zip(streams.iter().zip(rates))
            .map(|(owner, (stream, rate))| (owner, rate / f64::from(stream.load.threads)))
            .collect();
        let rate_of = |actor: usize, cpu: u32| {
            let cluster = self.clusters.iter().find(|cluster| cluster.cpus.contains(cpu));
            cluster
                .and_then(|cluster| per_thread.get(&(actor, cluster.index)))
                .copied()
                .ok_or_else(|| not_simulated(format!("CPU {cpu} belongs to no cluster")))
        };
        case.actors
            .iter()
            .enumerate()
            .map(|(actor, Actor::Stream(stream))| {
                stream.thread_cpus.iter().map(|&cpu| rate_of(actor, cpu)).collect()
            })
            .collect()
    }

    fn window(
        &self,
        case: &Case,
        place: Place<'_>,
        length: Duration,
        rates: &[Vec<f64>],
    ) -> Result<Window, Reason> {
        let luck = self.luck.as_ref();
        let disturbance = luck.and_then(|luck| luck.disturbance(place, length));
        let mut factor = luck.map_or(1.0, |luck| luck.of_window(place));
        if let Some((_, left)) = disturbance {
            factor *= left;
        }
        let mut actors = Vec::new();
        for (Actor::Stream(stream), rates) in case.actors.iter().zip(rates) {
            let bytes = rates.iter().map(|rate| rate * factor * length.as_secs_f64());
            actors.push(self.actor(stream, bytes)?);
        }
        let disturbances = disturbance.map(|(disturbance, _)| disturbance).into_iter().collect();
        Ok(Window { start: self.clock, length, actors, disturbances })
    }

    fn actor(
        &self,
        stream: &Stream,
        bytes: impl Iterator<Item = f64>,
    ) -> Result<ActorSample, Reason> {
        let kernel = kernel_of(stream)?;
        let threads: Vec<ThreadSample> = stream
            .thread_cpus
            .iter()
            .zip(bytes)
            .map(|(&cpu, bytes)| ThreadSample {
                cpu_before: Some(cpu),
                cpu_after: Some(cpu),
                useful_bytes: whole_elements(kernel, bytes),
                passes: 1,
                involuntary_switches: 0,
                off_cpu_ns: 0,
                minor_faults: 0,
            })
            .collect();
        let pages = PageNodes {
            method: ProofMethod::Simulated,
            page_bytes: PAGE_BYTES,
            pages: pages_on(&self.page_shares(stream)?, stream.working_set_bytes / PAGE_BYTES),
            unknown: 0,
        };
        let ran = RanLoop {
            kernel,
            variant: &stream.variant,
            unroll: 1,
            stores: TrafficMethod::EvasionPossible,
        };
        let proof = Proof { before: pages.clone(), after: pages };
        Ok(ran.sample(threads, proof, PageSizes { huge_bytes: None, resident_bytes: None }))
    }
}

fn check_kernels(simulated: &SimulatedMachine) -> Result<(), SimulateError> {
    match simulated.kernels.keys().find(|name| find(name).is_none()) {
        None => Ok(()),
        Some(strange) => Err(SimulateError::UnknownKernel {
            machine: simulated.name.clone(),
            kernel: strange.clone(),
            known: CATALOG.iter().map(|kernel| kernel.name).collect::<Vec<_>>().join(", "),
        }),
    }
}

fn no_room(text: String) -> Reason {
    Reason { code: ReasonCode::NoRoom, text }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of memories are far below 2^53 bytes")]
fn bytes_as_float(bytes: u64) -> f64 {
    bytes as f64
}

fn not_simulated(text: String) -> Reason {
    Reason { code: ReasonCode::NotSimulated, text }
}

#[expect(clippy::cast_precision_loss, reason = "a number of nodes")]
fn as_float(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "pages of a working set are far below 2^53"
)]
fn pages_on(shares: &[(u32, f64)], pages: u64) -> BTreeMap<u32, u64> {
    shares.iter().map(|&(node, share)| (node, (share * pages as f64).round() as u64)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bytes in a window are positive and far below 2^53"
)]
fn whole_elements(kernel: &Kernel, bytes: f64) -> u64 {
    let element = kernel.useful_bytes(1);
    (bytes / element as f64).round() as u64 * element
}

impl Executor for SimulatedExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Simulated
    }

    fn variants(&self) -> OfferedVariants {
        CATALOG
            .iter()
            .map(|kernel| (kernel.name, self.simulated.variants(kernel.name)))
            .filter(|(_, variants)| !variants.is_empty())
            .collect()
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        let rate = self.simulated.look_rate().map_err(|error| not_simulated(error.to_string()))?;
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
        self.check_room(case).map_err(Failure::Refused)?;
        let rates = self.thread_rates(case).map_err(Failure::Refused)?;
        let mut windows = Vec::new();
        for window in request.first..request.first + request.count {
            let place = Place { case: &case.id, round: request.round, window };
            let length = request.shortest;
            windows.push(self.window(case, place, length, &rates).map_err(Failure::Refused)?);
            self.clock += length;
            if self.simulated.real_time > 0.0 {
                std::thread::sleep(length.mul_f64(self.simulated.real_time));
            }
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
