//! How many threads to run, where, and what tells a program so.
//! Sources: vladimirov2012 (`KMP_AFFINITY=scatter`); OpenMP 5.2, sections 21.1.6 and 21.1.7
//! (`OMP_PLACES`, `OMP_PROC_BIND`); the manuals of libgomp (`GOMP_CPU_AFFINITY`) and of Intel's
//! OpenMP library (`KMP_AFFINITY`).

use nearfar_machine::Machine;
use nearfar_record::{Actor, Affinity, Record};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::affinity_effect::{AffinityEffect, MeanVerdict, SpreadVerdict};
use super::cpu_sequence::{gomp, places};
use super::{KNEE, paced};
use crate::scaling::ScalingRuns;

/// What to do with the threads of a program that moves data as the kernel does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadAdvice {
    /// How many: the fewest whose best mean is within 5 % of the best of all.
    pub threads: u32,
    /// How to spread them: unbound where pinned ones are neither faster nor steadier.
    pub affinity: Affinity,
    /// Mean of their runs by pace.
    #[serde(rename = "expected_gb_per_s")]
    pub expected: BytesPerSecond,
    /// Smallest and largest of these.
    #[serde(rename = "range_gb_per_s")]
    pub range: [BytesPerSecond; 2],
    /// How many these are.
    pub runs: usize,
    /// Mean of as many unbound threads, or null where they were not measured.
    #[serde(rename = "unbound_gb_per_s")]
    pub unbound: Option<BytesPerSecond>,
    /// What pinning changes, or null where the advice is not to pin, or runs are too few.
    pub effect: Option<AffinityEffect>,
    /// What pins threads, or null where the advice is not to.
    pub settings: Option<ThreadSettings>,
}

/// What pins the threads of a program that uses OpenMP: values of environment variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadSettings {
    /// `OMP_NUM_THREADS`
    pub omp_num_threads: String,
    /// `OMP_PLACES` by kind.
    pub omp_places: &'static str,
    /// `OMP_PROC_BIND` to go with it.
    pub omp_proc_bind: &'static str,
    /// `KMP_AFFINITY`, for the libraries of Intel and LLVM.
    pub kmp_affinity: &'static str,
    /// The CPU of each thread as measured, or null where the record lacks them.
    pub thread_cpus: Option<Vec<u32>>,
    /// `OMP_PLACES` with these CPUs, with `OMP_PROC_BIND=close`, or null.
    pub omp_places_of_cpus: Option<String>,
    /// `GOMP_CPU_AFFINITY` with these CPUs, or null.
    pub gomp_cpu_affinity: Option<String>,
}

/// The advice by these runs of one kernel.
pub(super) fn advice(
    record: &Record,
    runs: &[ScalingRuns],
    effects: &[AffinityEffect],
) -> Option<ThreadAdvice> {
    let measured = || runs.iter().filter_map(|runs| Some((runs, paced(runs)?)));
    let best = measured().map(|(_, paced)| paced.mean.0).max_by(f64::total_cmp)?;
    let enough = measured().filter(|(_, paced)| paced.mean.0 >= (1.0 - KNEE) * best);
    let threads = enough.map(|(runs, _)| runs.place.threads).min()?;
    let of_count = || measured().filter(|(runs, _)| runs.place.threads == threads);
    let effect_of = |affinity: Affinity| {
        effects.iter().find(|effect| (effect.threads, effect.affinity) == (threads, affinity))
    };
    let is_unbound = |runs: &ScalingRuns| runs.place.affinity == Affinity::Unbound;
    let unbound = of_count().find(|(runs, _)| is_unbound(runs));
    // Pinned threads are advised where they are faster, or steadier and not slower. Where nothing
    // stands beside them, the best that was measured is.
    let is_worth_it = |affinity: Affinity| match effect_of(affinity) {
        Some(effect) => match effect.mean {
            MeanVerdict::Faster => true,
            MeanVerdict::Slower => false,
            MeanVerdict::TooSmall | MeanVerdict::NotShown => {
                effect.spread == SpreadVerdict::Steadier
            }
        },
        None => unbound.is_none(),
    };
    // Of two names for the same CPUs the later one is scatter.
    let pinned = of_count()
        .filter(|(runs, _)| !is_unbound(runs) && is_worth_it(runs.place.affinity))
        .max_by(|(_, one), (_, other)| one.mean.0.total_cmp(&other.mean.0));
    let (chosen, paced) = pinned.or(unbound).or_else(|| of_count().next())?;
    let affinity = chosen.place.affinity;
    Some(ThreadAdvice {
        threads,
        affinity,
        expected: paced.mean,
        range: [paced.min, paced.max],
        runs: paced.runs.len(),
        effect: effect_of(affinity).cloned(),
        unbound: unbound.map(|(_, paced)| paced.mean),
        settings: settings(record, chosen),
    })
}

/// `None` for unbound threads.
fn settings(record: &Record, runs: &ScalingRuns) -> Option<ThreadSettings> {
    let case = record.cases.iter().find(|case| case.id == runs.case.id);
    let cpus = case.and_then(|case| {
        case.actors.iter().find_map(|actor| match actor {
            Actor::Stream(stream) if !stream.thread_cpus.is_empty() => {
                Some(stream.thread_cpus.clone())
            }
            _ => None,
        })
    });
    let machine = &record.header.machine;
    let shares_cores = cpus.as_ref().is_some_and(|cpus| shares_cores(machine, cpus));
    let (omp_places, omp_proc_bind, kmp_affinity) = match (runs.place.affinity, shares_cores) {
        (Affinity::Unbound, _) => return None,
        (Affinity::Compact, true) => ("threads", "close", "granularity=core,compact"),
        (Affinity::Compact, false) => ("cores", "close", "granularity=core,compact"),
        (Affinity::Scatter, true) => ("threads", "spread", "granularity=core,scatter"),
        (Affinity::Scatter, false) => ("cores", "spread", "granularity=core,scatter"),
    };
    Some(ThreadSettings {
        omp_num_threads: runs.place.threads.to_string(),
        omp_places,
        omp_proc_bind,
        kmp_affinity,
        omp_places_of_cpus: cpus.as_deref().map(places),
        gomp_cpu_affinity: cpus.as_deref().map(gomp),
        thread_cpus: cpus,
    })
}

/// Whether two of the CPUs are of one core.
fn shares_cores(machine: &Machine, cpus: &[u32]) -> bool {
    machine.cores.iter().any(|core| {
        let own = cpus.iter().filter(|cpu| core.cpus.contains(**cpu));
        own.count() > 1
    })
}
