//! What a workload takes on a simulated machine, by the traffic that it declares and not by a run.
//!
//! A phase takes as long as the slowest of three: its bytes at the rate that streams of loads get,
//! all initiators at once; its arithmetic at the file's rate; its random lines, this many in flight a
//! thread, at the idle latencies where the file has them.

use std::collections::BTreeMap;

use nearfar_flow::{KernelLoad, Load};
use nearfar_machine::{MemoryPolicy, PlacementStrategy};
use nearfar_record::{
    ArrayPlacement, PageNodes, Proof, ProofMethod, Reason, Workload, WorkloadArray, WorkloadPhase,
    WorkloadRun,
};
use nearfar_units::nanoseconds;
use nearfar_workloads::{ArrayPlan, ArrayTraffic, PhaseTraffic, Workload as Named};

use super::answers::{Answers, InitiatorThreads};
use super::error::not_simulated;
use super::page_shares::{PAGE_BYTES, Shares};
use crate::experiment::CpuPlaces;
use crate::kernel_name::flop_names;

/// Lines that a core waits for at a time: the fill buffers of common cores.
const LINES_IN_FLIGHT: f64 = 10.0;

const LINE_BYTES: f64 = 64.0;

/// The kernel by whose rates traffic moves.
const KERNEL: &str = "load";

/// Where an array's pages are.
struct PlacedArray {
    plan: ArrayPlan,
    /// Of the part that the threads of each initiator own, in the initiators' order.
    of_owners: Vec<Shares>,
    /// Of all of it.
    whole: Shares,
}

impl Answers {
    /// A run without chance; `factor` is what chance leaves of all rates.
    pub fn workload_run(&self, workload: &Workload, factor: f64) -> Result<WorkloadRun, Reason> {
        let named: Named = workload.workload.parse().map_err(not_simulated)?;
        let program = named.program();
        let cpus = &workload.thread_cpus;
        let groups = self.by_initiator(cpus)?;
        let plans = program.arrays(cpus.len());
        let arrays = plans.into_iter().map(|plan| self.placed_array(plan, workload, &groups));
        let arrays = arrays.collect::<Result<Vec<PlacedArray>, Reason>>()?;
        let nodes: Vec<u32> = arrays.iter().flat_map(|array| array.whole.keys().copied()).collect();
        let places = CpuPlaces::of(&self.simulated.machine);
        let cache = places.cache_bytes(cpus.iter().copied(), &nodes).unwrap_or(0);
        let mut phases = Vec::new();
        for phase in program.traffic(cache as f64) {
            let seconds = self.phase_seconds(&phase, &arrays, &groups)? / factor;
            phases.push(WorkloadPhase {
                name: phase.phase.into(),
                calls: 1,
                time_ns: nanoseconds(std::time::Duration::from_secs_f64(seconds)),
                flops: Some(phase.flops),
                declared_bytes: Some(phase.bytes()),
            });
        }
        let timed_ns: u64 = phases.iter().map(|phase| phase.time_ns).sum();
        if timed_ns == 0 {
            let (program, machine) = (&workload.workload, &self.simulated.name);
            return Err(not_simulated(format!(
                "the arrays of {program} fit in the caches of {machine}, which are not simulated"
            )));
        }
        let proof = |array: &PlacedArray| {
            let pages = page_nodes(&array.whole, array.plan.bytes);
            Proof { before: pages.clone(), after: pages }
        };
        let seen = |array: &PlacedArray| WorkloadArray {
            name: array.plan.name.into(),
            bytes: array.plan.bytes as u64,
            is_hot: array.plan.is_hot,
            proof: proof(array),
        };
        Ok(WorkloadRun {
            work: program.work(),
            unit: program.unit().into(),
            timed_ns,
            phases,
            checks: Vec::new(),
            arrays: arrays.iter().map(seen).collect(),
            moved_pages: 0,
        })
    }

    fn placed_array(
        &self,
        plan: ArrayPlan,
        workload: &Workload,
        groups: &[InitiatorThreads<'_>],
    ) -> Result<PlacedArray, Reason> {
        let homes = groups
            .iter()
            .map(|group| self.policy_shares(&MemoryPolicy::FirstTouch, group.initiator))
            .collect::<Result<Vec<Shares>, Reason>>()?;
        let master = self.initiator_of(workload.thread_cpus[0])?;
        let of_owners = match &workload.placement {
            ArrayPlacement::Policy(policy) => groups
                .iter()
                .map(|group| self.policy_shares(policy, group.initiator))
                .collect::<Result<Vec<Shares>, Reason>>()?,
            ArrayPlacement::Strategy(PlacementStrategy::ParallelInit) => homes,
            ArrayPlacement::Strategy(PlacementStrategy::MemoryBind) if plan.is_hot => homes,
            ArrayPlacement::Strategy(PlacementStrategy::RoundRobin) => {
                let even = sum(homes.iter().map(|home| (home, 1.0 / homes.len() as f64)));
                vec![even; groups.len()]
            }
            ArrayPlacement::Strategy(_) => {
                let of_master = self.policy_shares(&MemoryPolicy::FirstTouch, master)?;
                vec![of_master; groups.len()]
            }
        };
        let threads = workload.thread_cpus.len() as f64;
        let parts = groups.iter().map(|group| f64::from(group.count()) / threads);
        let whole = sum(of_owners.iter().zip(parts));
        Ok(PlacedArray { plan, of_owners, whole })
    }

    fn phase_seconds(
        &self,
        phase: &PhaseTraffic,
        arrays: &[PlacedArray],
        groups: &[InitiatorThreads<'_>],
    ) -> Result<f64, Reason> {
        let threads: f64 = groups.iter().map(|group| f64::from(group.count())).sum();
        let on_nodes: Vec<Shares> = (0..groups.len())
            .map(|group| {
                bytes_of_group(phase, arrays, group, f64::from(groups[group].count()) / threads)
            })
            .collect();
        let least =
            [self.stream_seconds(groups, &on_nodes)?, phase.flops / threads / self.thread_flops()?];
        let waiting = self.random_seconds(phase, arrays, groups, threads);
        Ok(least.into_iter().chain(waiting).fold(0.0, f64::max))
    }

    /// The slowest initiator's time for its bytes, all at once.
    fn stream_seconds(
        &self,
        groups: &[InitiatorThreads<'_>],
        on_nodes: &[Shares],
    ) -> Result<f64, Reason> {
        let variant = self.simulated.variants(KERNEL).into_iter().next();
        let variant = variant.ok_or_else(|| self.unsaid(&format!("nothing of {KERNEL}")))?;
        let totals: Vec<f64> = on_nodes.iter().map(|bytes| bytes.values().sum()).collect();
        let busy = groups.iter().zip(on_nodes).zip(&totals).filter(|(_, total)| **total > 0.0);
        let loads: Vec<KernelLoad> = busy
            .clone()
            .map(|((group, bytes), total)| {
                let shares = bytes.iter().map(|(&node, &bytes)| (node, bytes / total)).collect();
                let load =
                    Load { initiator: group.initiator.index, threads: group.count(), shares };
                KernelLoad::new(KERNEL, variant.clone(), load)
            })
            .collect();
        let rates = self.simulated.rates(&loads).map_err(not_simulated)?;
        Ok(busy.zip(rates).map(|((_, total), rate)| total / rate).fold(0.0, f64::max))
    }

    /// Operations a second of a thread: the slowest arithmetic that the file speaks of, as of code
    /// that is not made of multiply-adds.
    fn thread_flops(&self) -> Result<f64, Reason> {
        let names = flop_names();
        let of = |name: &String| {
            let variants = self.simulated.variants.iter();
            variants.filter_map(|variant| self.simulated.flop_rate(name, variant)).reduce(f64::min)
        };
        let slowest = names.iter().filter_map(of).reduce(f64::min);
        slowest.ok_or_else(|| self.unsaid("nothing under [flops]"))
    }

    /// The time in which each thread waits for its random lines; `None` where the latency of one of
    /// their nodes is not known.
    fn random_seconds(
        &self,
        phase: &PhaseTraffic,
        arrays: &[PlacedArray],
        groups: &[InitiatorThreads<'_>],
        threads: f64,
    ) -> Option<f64> {
        let of_group = |group: &InitiatorThreads<'_>| {
            let of_array = |traffic: &ArrayTraffic| {
                let array = arrays.iter().find(|array| array.plan.name == traffic.array)?;
                let latency = |(&node, &share): (&u32, &f64)| {
                    Some(share * self.simulated.idle_latency_ns(group.initiator.index, node)?)
                };
                let ns = array.whole.iter().map(latency).sum::<Option<f64>>()?;
                Some(traffic.random_lines / threads / LINES_IN_FLIGHT * ns * 1e-9)
            };
            phase.arrays.iter().map(of_array).sum::<Option<f64>>()
        };
        let of_groups: Option<Vec<f64>> = groups.iter().map(of_group).collect();
        of_groups?.into_iter().reduce(f64::max)
    }
}

/// What a group of threads moves, by node: its part of each array where it is its own, and of random
/// lines wherever they are.
fn bytes_of_group(phase: &PhaseTraffic, arrays: &[PlacedArray], group: usize, part: f64) -> Shares {
    let of_array = |traffic: &ArrayTraffic| {
        let array = arrays.iter().find(|array| array.plan.name == traffic.array)?;
        let all = traffic.read_bytes + traffic.written_bytes;
        let random = (traffic.random_lines * LINE_BYTES).min(all);
        Some([(&array.of_owners[group], (all - random) * part), (&array.whole, random * part)])
    };
    sum(phase.arrays.iter().filter_map(of_array).flatten())
}

/// Shares times their weights, added up.
fn sum<'a>(weighted: impl IntoIterator<Item = (&'a Shares, f64)>) -> Shares {
    let mut total = BTreeMap::new();
    for (shares, weight) in weighted {
        for (&node, &share) in shares {
            *total.entry(node).or_default() += share * weight;
        }
    }
    total
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pages of arrays are far below 2^53"
)]
fn page_nodes(shares: &Shares, bytes: usize) -> PageNodes {
    let pages = (bytes as u64).div_ceil(PAGE_BYTES) as f64;
    PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: PAGE_BYTES,
        pages: shares
            .iter()
            .map(|(&node, &share)| (node, (share * pages).round() as u64))
            .collect(),
        unknown: 0,
    }
}
