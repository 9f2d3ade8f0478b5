//! What runs written by hand say of modes, of affinity and of what to do.

use fastrand::Rng;
use nearfar_machine::Core;
use nearfar_model::{
    CaseDistribution, Distribution, KernelDistribution, MeanVerdict, RecordFigures, RunModes,
    SpreadVerdict, ThreadAdvice, distribution,
};
use nearfar_record::{Actor, Affinity, Coordinates, Pinning, Record, Simulation};
use nearfar_specimen::{add, case_at, done, scaling};
use nearfar_stats::normal_quantile;

use Affinity::{Compact, Scatter, Unbound};

/// Adds a case of copy, whose threads are on these CPUs; none for unbound ones. Each run is useful
/// bytes/s of all threads, of which a hundredth more by half of them than by the other half.
fn add_runs(
    record: &mut Record,
    threads: u32,
    affinities: &[Affinity],
    cpus: &[u32],
    runs: &[f64],
) {
    let place = |&affinity: &Affinity| Coordinates::Scaling(scaling(threads, affinity));
    let mut case = case_at(&record.header.machine, place(&affinities[0]));
    case.coordinates = affinities.iter().map(place).collect();
    case.id = format!("{}/{}", case.id, affinities.len());
    if let Actor::Stream(stream) = &mut case.actors[0] {
        stream.thread_cpus = cpus.to_vec();
        stream.pinning = if cpus.is_empty() { Pinning::Unbound } else { Pinning::OnePerCore };
    }
    let seen = |run: &f64| vec![done(&case.actors[0], &[0.505 * run, 0.495 * run])];
    let rounds: Vec<_> = runs.iter().map(seen).collect();
    add(record, case, rounds);
}

/// Normal runs around these means, GB/s, in turn, in bytes/s.
fn runs(seed: u64, count: usize, means: &[f64], deviation: f64) -> Vec<f64> {
    let mut random = Rng::with_seed(seed);
    (0..count)
        .map(|run| {
            let normal = normal_quantile(random.f64().max(1e-300)).unwrap();
            1e9 * (means[run % means.len()] + deviation * normal).max(0.0)
        })
        .collect()
}

fn model(record: &Record) -> Distribution {
    distribution(&RecordFigures::new(record)).unwrap()
}

fn kernel(record: &Record) -> KernelDistribution {
    model(record).kernels.remove(0)
}

fn advice(record: &Record) -> ThreadAdvice {
    kernel(record).advice.unwrap()
}

/// As the paper's machine: unbound runs in two modes, scattered ones in the higher one.
fn as_in_the_paper(count: usize) -> Record {
    let mut record = nearfar_specimen::record();
    add_runs(&mut record, 1, &[Unbound], &[], &runs(1, count, &[5.8], 0.06));
    add_runs(&mut record, 4, &[Unbound], &[], &runs(2, count, &[62.0, 71.0], 0.4));
    add_runs(&mut record, 4, &[Compact], &[0, 1, 2, 3], &runs(3, count, &[20.0], 0.1));
    add_runs(&mut record, 4, &[Scatter], &[0, 4, 2, 6], &runs(4, count, &[79.0], 0.3));
    add_runs(&mut record, 8, &[Unbound], &[], &runs(5, count, &[65.0], 5.0));
    let all: Vec<u32> = (0..8).collect();
    add_runs(&mut record, 8, &[Compact, Scatter], &all, &runs(6, count, &[81.0], 0.3));
    record
}

#[test]
fn modes_and_effects_are_those_that_were_put_in() {
    let kernel = kernel(&as_in_the_paper(200));
    let of = |threads, affinity| {
        let is_there =
            |case: &&CaseDistribution| (case.threads, case.affinity) == (threads, affinity);
        kernel.cases.iter().find(is_there).unwrap().runs.found().unwrap()
    };
    let modes = of(4, Unbound).modes.as_ref().unwrap().shown();
    // By pace: twice the slower thread's 49.5 %.
    let places: Vec<f64> = modes.iter().map(|mode| mode.place.0 / 1e9).collect();
    assert_eq!(places.len(), 2, "{places:?}");
    for (place, put) in places.iter().zip([62.0 * 0.99, 71.0 * 0.99]) {
        assert!((place - put).abs() < 0.3, "{place} and {put}");
    }
    for (threads, affinity) in [(1, Unbound), (4, Scatter), (4, Compact), (8, Unbound)] {
        let modes = of(threads, affinity).modes.as_ref().unwrap();
        assert!(matches!(modes, RunModes::NoMoreThanOneShown { .. }));
    }
    let effect = |affinity| {
        kernel.effects.iter().find(|it| (it.threads, it.affinity) == (4, affinity)).unwrap()
    };
    let (scatter, compact) = (effect(Scatter), effect(Compact));
    assert!((scatter.speedup.value.0 - 79.0 / 66.5).abs() < 0.01, "{scatter:?}");
    assert_eq!((scatter.mean, scatter.spread), (MeanVerdict::Faster, SpreadVerdict::Steadier));
    let [low, high] = scatter.speedup.interval.unwrap();
    assert!(low < scatter.speedup.value && scatter.speedup.value < high);
    assert!((compact.speedup.value.0 - 20.0 / 66.5).abs() < 0.01);
    assert_eq!(compact.mean, MeanVerdict::Slower);
    let (paced, sum) = (&of(4, Scatter).paced, &of(4, Scatter).sum);
    assert!(paced.quantiles.is_sorted());
    assert!(paced.min <= paced.quantiles[0] && paced.quantiles[4] <= paced.max);
    assert!(sum.quantiles[2] > paced.quantiles[2]);
}

#[test]
fn the_fewest_threads_that_are_enough_are_advised_where_they_were_measured() {
    let mut record = as_in_the_paper(30);
    let advice = self::advice(&record);
    assert_eq!((advice.threads, advice.affinity, advice.runs), (4, Scatter, 30));
    assert!((advice.expected.0 / 79.0e9 - 0.99).abs() < 0.01);
    let settings = advice.settings.unwrap();
    assert_eq!(
        (&*settings.omp_num_threads, settings.omp_places, settings.omp_proc_bind),
        ("4", "cores", "spread")
    );
    assert_eq!(settings.kmp_affinity, "granularity=core,scatter");
    assert_eq!(settings.thread_cpus.unwrap(), [0, 4, 2, 6]);
    let knees = kernel(&record).knees;
    let of = |affinity| knees.iter().find(|knee| knee.affinity == affinity).unwrap();
    assert_eq!((of(Scatter).threads, of(Scatter).best_threads), (4, 8));
    assert_eq!((of(Compact).threads, of(Unbound).threads), (8, 4));
    // Threads that share a core are places of their own.
    let core = |cpus: &str| Core { cpus: cpus.parse().unwrap() };
    record.header.machine.cores = vec![core("0,4"), core("2,6")];
    let settings = self::advice(&record).settings.unwrap();
    assert_eq!((settings.omp_places, settings.omp_proc_bind), ("threads", "spread"));
}

#[test]
fn unbound_threads_are_left_alone_where_pinning_shows_nothing() {
    let mut record = nearfar_specimen::record();
    add_runs(&mut record, 2, &[Unbound], &[], &runs(7, 30, &[30.0], 0.3));
    add_runs(&mut record, 2, &[Compact, Scatter], &[0, 1], &runs(8, 30, &[30.0], 0.3));
    let advice = self::advice(&record);
    assert_eq!((advice.affinity, advice.settings), (Unbound, None));
    // Steadier and not slower is worth it; both names are of one case.
    add_runs(&mut record, 3, &[Unbound], &[], &runs(9, 30, &[40.0], 4.0));
    add_runs(&mut record, 3, &[Compact, Scatter], &[0, 1, 2], &runs(10, 30, &[40.0], 0.1));
    let advice = self::advice(&record);
    assert_eq!((advice.threads, advice.affinity), (3, Scatter));
    assert_eq!(advice.effect.unwrap().spread, SpreadVerdict::Steadier);
}

/// A thousand runs show differences that nobody would change a program for.
#[test]
fn a_difference_below_5_percent_is_no_gain_however_sure_it_is() {
    let of_pinned = |gain: f64| {
        let mut record = nearfar_specimen::record();
        add_runs(&mut record, 4, &[Unbound], &[], &runs(11, 300, &[50.0], 0.5));
        let pinned = runs(12, 300, &[50.0 * (1.0 + gain)], 0.5);
        add_runs(&mut record, 4, &[Scatter], &[0, 1, 2, 3], &pinned);
        let kernel = kernel(&record);
        (kernel.effects[0].mean, kernel.advice.unwrap().affinity)
    };
    for gain in [0.01, -0.01, 0.04, -0.04, 0.0] {
        assert_eq!(of_pinned(gain), (MeanVerdict::TooSmall, Unbound), "{gain}");
    }
    assert_eq!(of_pinned(0.06), (MeanVerdict::Faster, Scatter));
    assert_eq!(of_pinned(-0.06), (MeanVerdict::Slower, Unbound));
    // Large, but not beyond chance: nothing is said of it.
    let mut record = nearfar_specimen::record();
    add_runs(&mut record, 4, &[Unbound], &[], &runs(13, 6, &[50.0], 15.0));
    add_runs(&mut record, 4, &[Scatter], &[0, 1, 2, 3], &runs(14, 6, &[54.0], 15.0));
    assert_eq!(kernel(&record).effects[0].mean, MeanVerdict::NotShown);
}

#[test]
fn what_was_not_measured_is_not_known() {
    let mut record = nearfar_specimen::record();
    let missing = distribution(&RecordFigures::new(&record)).unwrap_err();
    assert!(missing.remedy.unwrap().contains("--only scaling"));
    // Pinned threads alone: they are advised, and what they gain is not known.
    add_runs(&mut record, 4, &[Scatter], &[0, 1, 2, 3], &runs(1, 10, &[79.0], 0.3));
    let advice = self::advice(&record);
    assert_eq!((advice.affinity, advice.effect, advice.unbound), (Scatter, None, None));
    // Four runs are too few to compare, and pinned ones are not advised for nothing.
    let mut record = nearfar_specimen::record();
    add_runs(&mut record, 4, &[Unbound], &[], &runs(1, 4, &[67.0], 6.0));
    add_runs(&mut record, 4, &[Scatter], &[0, 1, 2, 3], &runs(2, 4, &[79.0], 0.3));
    let kernel = self::kernel(&record);
    assert_eq!((kernel.effects.len(), kernel.advice.unwrap().affinity), (0, Unbound));
    let runs = kernel.cases[0].runs.found().unwrap();
    assert_eq!(runs.modes, Some(RunModes::TooFewRuns));
}

#[test]
fn more_runs_are_asked_for_by_a_command_for_the_same_machine() {
    let mut record = as_in_the_paper(10);
    let command = model(&record).more_runs.unwrap();
    assert!(command.ends_with("--only scaling --runs 1000"), "{command}");
    let file = "a file of its own".to_string();
    record.header.simulation =
        Some(Simulation { name: "mine".into(), title: "mine".into(), noise: true, file });
    record.header.executor = nearfar_record::Executor::Simulated;
    assert!(model(&record).more_runs.unwrap().contains("--simulate FILE.toml"));
}

/// Records of strangers: rates of 0, CPUs that there are not, no runs, one run.
#[test]
fn strange_records_have_an_answer_without_a_number_that_is_none() {
    let mut random = Rng::with_seed(3);
    for _ in 0..200 {
        let mut record = nearfar_specimen::record();
        for threads in 0..random.u32(1..4) {
            for affinity in [Unbound, Compact, Scatter] {
                let count = [0, 1, 2, 5, 25][random.usize(..5)];
                let scale = [0.0, 1.0, 1e3, 1e9, 1e12][random.usize(..5)];
                let values: Vec<f64> =
                    (0..count).map(|_| (scale * random.f64() * 1e3).floor()).collect();
                let cpus: Vec<u32> = (0..random.u32(0..4)).map(|_| random.u32(..)).collect();
                add_runs(&mut record, threads, &[affinity], &cpus, &values);
            }
        }
        let Ok(found) = distribution(&RecordFigures::new(&record)) else { continue };
        for kernel in &found.kernels {
            for effect in &kernel.effects {
                let [low, high] = effect.speedup.ends();
                assert!(low.0 >= 0.0 && low <= effect.speedup.value);
                assert!(effect.speedup.value <= high && high.0.is_finite());
            }
            let advice = kernel.advice.as_ref().unwrap();
            assert!(advice.expected.0.is_finite() && advice.range[0] <= advice.range[1]);
        }
    }
}
