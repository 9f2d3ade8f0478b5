//! A workload from start to end, with proof of where its pages were.

use std::path::Path;

use nearfar_machine::PlacementStrategy;
use nearfar_record::{ArrayPlacement, Proof, WorkloadArray, WorkloadPhase, WorkloadRun};
use nearfar_sys::{Refusal, available_memory};
use nearfar_units::{Bytes, nanoseconds};

use crate::array::{Array, ArrayPlan};
use crate::bfs::{Counting, SearchStatistics};
use crate::clock::Clock;
use crate::program::Program;
use crate::proof::prove_array;
use crate::strategy::{ThreadNodes, place};
use crate::team::{NoTeam, Team};
use crate::traffic::PhaseTraffic;

/// Why a workload was not run, or its run does not count.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    #[error(transparent)]
    Team(#[from] NoTeam),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "it takes {}, and {} of memory can be had; take a smaller size",
        Bytes(*needed), Bytes(*available)
    )]
    NoRoom { needed: u64, available: u64 },
    #[error(
        "memory-bind needs to know each thread's node, and a thread is on a node without memory; \
         use CPUs of nodes with memory, or another strategy"
    )]
    NoNodes,
    #[error(
        "{when} the run the pages of array '{array}' were not where {placement} puts them: {what}; \
         is there room on the nodes? If mbind is refused, NUMA balancing moves pages (kernel.numa_balancing)"
    )]
    Misplaced { array: &'static str, when: &'static str, placement: String, what: String },
}

/// A run, and what is known of the searches that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub run: WorkloadRun,
    /// `None` where it searched nothing.
    pub searches: Option<SearchStatistics>,
}

/// Runs a program by threads that are tied each to one of these CPUs. `cache_bytes` is the sum of
/// their last-level caches; `None` where it is not known.
///
/// # Errors
/// When threads or memory cannot be had, or pages cannot be proven to be where they are to be.
pub fn run(
    program: &dyn Program,
    (cpus, cache_bytes): (&[u32], Option<u64>),
    placement: &ArrayPlacement,
    nodes: &ThreadNodes,
    mut clock: Clock,
) -> Result<Ran, NoRun> {
    let plans = program.arrays(cpus.len());
    let (checks, placed) = on_placed_arrays(plans, 0, (cpus, placement, nodes), |arrays, team| {
        program.run(arrays, team, &mut clock)
    })?;
    let run = WorkloadRun {
        work: program.work(),
        unit: program.unit().into(),
        timed_ns: nanoseconds(clock.total()),
        phases: phases(&clock, program, cache_bytes),
        checks,
        arrays: placed.arrays,
        moved_pages: placed.moved_pages,
    };
    let searches = SearchStatistics::of(clock.searches(), Counting::WithLoops);
    Ok(Ran { run, searches })
}

/// Arrays, with proof of where their pages were.
pub(crate) struct PlacedArrays {
    pub arrays: Vec<WorkloadArray>,
    pub moved_pages: u64,
}

/// Has work done by the master of a team, on arrays whose pages are proven before and after. `beside`
/// is what it takes beside the arrays, bytes.
pub(crate) fn on_placed_arrays<T: Send>(
    plans: Vec<ArrayPlan>,
    beside: u64,
    (cpus, placement, nodes): (&[u32], &ArrayPlacement, &ThreadNodes),
    work: impl FnOnce(&mut [Array], &Team) -> T + Send,
) -> Result<(T, PlacedArrays), NoRun> {
    let by_owner = *placement == ArrayPlacement::Strategy(PlacementStrategy::MemoryBind);
    if by_owner && nodes.of.is_empty() && nodes.allowed.len() > 1 {
        return Err(NoRun::NoNodes);
    }
    check_room(&plans, beside)?;
    let team = Team::on_cpus(cpus)?;
    let mut arrays = plans.into_iter().map(Array::map).collect::<Result<Vec<Array>, _>>()?;
    let moved_pages = place(&mut arrays, placement, &team, nodes)?;
    let prove = |when, arrays: &[Array]| {
        let pages = |array: &Array| {
            prove_array(array, placement, nodes)?.map_err(|what| NoRun::Misplaced {
                array: array.plan.name,
                when,
                placement: placement.to_string(),
                what,
            })
        };
        arrays.iter().map(pages).collect::<Result<Vec<_>, NoRun>>()
    };
    let before = prove("before", &arrays)?;
    let done = team.lead(|| work(&mut arrays, &team));
    let after = prove("after", &arrays)?;
    let proofs = before.into_iter().zip(after).map(|(before, after)| Proof { before, after });
    let seen = |(array, proof): (&Array, Proof)| WorkloadArray {
        name: array.plan.name.into(),
        bytes: array.plan.bytes as u64,
        is_hot: array.plan.is_hot,
        proof,
    };
    let arrays = arrays.iter().zip(proofs).map(seen).collect();
    Ok((done, PlacedArrays { arrays, moved_pages }))
}

fn check_room(plans: &[ArrayPlan], beside: u64) -> Result<(), NoRun> {
    let needed = beside + plans.iter().map(|plan| plan.bytes as u64).sum::<u64>();
    match available_memory(Path::new("/")) {
        Some(available) if needed > available => Err(NoRun::NoRoom { needed, available }),
        _ => Ok(()),
    }
}

fn phases(clock: &Clock, program: &dyn Program, cache_bytes: Option<u64>) -> Vec<WorkloadPhase> {
    #[expect(clippy::cast_precision_loss, reason = "caches are far below 2^53")]
    let declared = program.traffic(cache_bytes.unwrap_or(0) as f64);
    let of = |phase: &crate::clock::Phase| {
        let declared = declared.iter().find(|declared| declared.phase == phase.name);
        WorkloadPhase {
            name: phase.name.into(),
            calls: phase.calls,
            time_ns: nanoseconds(phase.time),
            flops: declared.map(|declared| declared.flops),
            declared_bytes: cache_bytes.and(declared).map(PhaseTraffic::bytes),
        }
    };
    clock.phases().iter().map(of).collect()
}
