//! How many threads to run, where, and what tells a program so.
//! Sources: vladimirov2012 (`KMP_AFFINITY=scatter`); OpenMP 5.2, sections 21.1.6 and 21.1.7
//! (`OMP_PLACES`, `OMP_PROC_BIND`); the manuals of libgomp (`GOMP_CPU_AFFINITY`) and of Intel's
//! OpenMP library (`KMP_AFFINITY`).

use nearfar_machine::Machine;
use nearfar_record::{Actor, Affinity, Record};

use super::affinity_effect::AffinityEffect;
use super::cpu_sequence::CpuSequence;
use super::{KNEE, paced};
use crate::scaling::ScalingRuns;

/// What to do with the threads of a program that moves data as the kernel does.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadAdvice {
    /// How many: the fewest whose best mean is within 5 % of the best of all.
    pub threads: u32,
    /// How to spread them: unbound where pinned ones are neither faster nor steadier.
    pub affinity: Affinity,
    /// Mean of their runs by pace, bytes/s.
    pub expected: f64,
    /// The runs' smallest and largest, bytes/s.
    pub range: (f64, f64),
    /// Runs that both rest on.
    pub runs: usize,
    /// Against as many unbound threads; `None` where those were not measured, or too seldom.
    pub effect: Option<AffinityEffect>,
    /// Mean of as many unbound threads, bytes/s; `None` where they were not measured.
    pub unbound: Option<f64>,
    /// What pins them; `None` for unbound ones.
    pub settings: Option<ThreadSettings>,
}

/// What pins the threads of a program that uses OpenMP, by environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSettings {
    /// For any OpenMP library of version 4.0 and later: threads by their number.
    pub omp_num_threads: String,
    /// The places, by their kind.
    pub omp_places: &'static str,
    /// How threads take them.
    pub omp_proc_bind: &'static str,
    /// For Intel's library and LLVM's.
    pub kmp_affinity: &'static str,
    /// The CPUs that were measured, in the order of the threads: for `OMP_PLACES` with
    /// `OMP_PROC_BIND=close`, and for `GOMP_CPU_AFFINITY`; `None` where the record lacks them.
    pub cpus: Option<CpuSequence>,
}

/// The advice by these runs of one kernel.
pub(super) fn advice(
    record: &Record,
    runs: &[ScalingRuns],
    effects: &[AffinityEffect],
) -> Option<ThreadAdvice> {
    let measured = || runs.iter().filter_map(|runs| Some((runs, paced(runs)?)));
    let best = measured().map(|(_, paced)| paced.mean).max_by(f64::total_cmp)?;
    let enough = measured().filter(|(_, paced)| paced.mean >= (1.0 - KNEE) * best);
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
        Some(effect) => effect.is_faster() || effect.is_steadier() && !effect.is_slower(),
        None => unbound.is_none(),
    };
    // Of two names for the same CPUs the later one is scatter.
    let pinned = of_count()
        .filter(|(runs, _)| !is_unbound(runs) && is_worth_it(runs.place.affinity))
        .max_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean));
    let (chosen, paced) = pinned.or(unbound).or_else(|| of_count().next())?;
    let affinity = chosen.place.affinity;
    Some(ThreadAdvice {
        threads,
        affinity,
        expected: paced.mean,
        range: (paced.min, paced.max),
        runs: paced.runs.len(),
        effect: effect_of(affinity).copied(),
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
                Some(CpuSequence { cpus: stream.thread_cpus.clone() })
            }
            _ => None,
        })
    });
    let machine = &record.header.machine;
    let shares_cores = cpus.as_ref().is_some_and(|cpus| shares_cores(machine, &cpus.cpus));
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
        cpus,
    })
}

/// Whether two of the CPUs are of one core.
fn shares_cores(machine: &Machine, cpus: &[u32]) -> bool {
    machine.cores.iter().any(|core| {
        let own = cpus.iter().filter(|cpu| core.cpus.contains(**cpu));
        own.count() > 1
    })
}
