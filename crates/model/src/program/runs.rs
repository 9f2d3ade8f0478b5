//! The runs of a record as a program's profile holds them, and the fit to them.

use std::collections::BTreeMap;

use nearfar_record::{
    Absent, ActorSample, CommandCoordinates, Coordinates, LatencyLoad, LoadLeftOut, MovedCores,
    PROGRAM_SCHEMA, PressureRuns, ProgramProfile, Record, Sample,
};
use nearfar_stats::{drawn_estimates, median, percentile_error};

use super::fit::{FittedProgram, MemoryRun, fit_program};
use super::law::Beside;
use crate::latency::FamilyLaw;
use crate::record_figures::RecordFigures;

const DRAWS: usize = 400;
const SEED: u64 = 3;
const GIGA: f64 = 1e9;

/// Of fewer runs beside a load it is not known how far their times scatter.
const FEWEST_ROUNDS: usize = 3;

/// A program's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramRuns {
    /// Alone first, then beside each kind of load that has enough runs.
    pub runs: Vec<PressureRuns>,
    /// The kinds of load that have too few.
    pub left_out: Vec<LoadLeftOut>,
    /// Those left out because CPUs were on other cores; `None` where none were.
    pub moved: Option<MovedCores>,
}

/// The runs of the first program of a record that ran under pressure.
///
/// # Errors
/// What the record lacks: runs alone, or enough of them beside any kind of load.
pub fn pressure_runs(figures: &RecordFigures<'_>) -> Result<ProgramRuns, String> {
    let place_of = |place: &Coordinates| match place {
        Coordinates::Commands(place) => Some(place.clone()),
        _ => None,
    };
    let all: Vec<(CommandCoordinates, &[&Sample])> = figures
        .record()
        .cases
        .iter()
        .filter_map(|case| Some((case.coordinates.iter().find_map(place_of)?, &case.id)))
        .map(|(place, id)| (place, figures.samples_of(id)))
        .collect();
    let moved = figures.moved();
    let is_alone = |(place, samples): &&(CommandCoordinates, &[&Sample])| {
        place.load.is_none() && !samples.is_empty()
    };
    let (home, alone) = all.iter().find(is_alone).ok_or_else(|| why_none(figures.record()))?;
    let by_round: BTreeMap<u32, f64> =
        alone.iter().map(|sample| (sample.round, seconds(sample))).collect();
    // Runs that failed are why there are few.
    let because = |place: &CommandCoordinates, why: String| {
        let of_place =
            |it: &&Absent| it.coordinates.iter().any(|it| place_of(it).as_ref() == Some(place));
        let failed = figures.record().absent.iter().find(of_place);
        failed.map_or(why.clone(), |failed| format!("{} ({why})", failed.reason.text))
    };
    let of_home = of_case(None, alone, &by_round, home.memory_node);
    let mut runs = vec![of_home.map_err(|why| because(home, format!("alone {why}")))?];
    let mut left_out = Vec::new();
    for (place, samples) in &all {
        let is_same = (&place.command, place.memory_node) == (&home.command, home.memory_node);
        if let Some(load) = place.load.as_ref().filter(|_| is_same) {
            match of_case(Some(load), samples, &by_round, home.memory_node) {
                Ok(of_load) => runs.push(of_load),
                Err(why) => {
                    left_out.push(LoadLeftOut { load: load.clone(), why: because(place, why) });
                }
            }
        }
    }
    pool_errors(&mut runs[1..]);
    if runs.len() > 1 {
        return Ok(ProgramRuns { runs, left_out, moved });
    }
    let few = left_out.first().map(|LoadLeftOut { load, why }| {
        let of_usual = moved.map_or_else(String::new, |moved| {
            format!(
                "; {} of {} runs beside loads do not count, because the hypervisor had put CPUs on other cores",
                moved.left_out, moved.of
            )
        });
        format!("beside {} {why}{of_usual}", load.kernel)
    });
    Err(few.unwrap_or_else(|| why_none(figures.record())))
}

/// How many runs what is known of the others' scatter counts as.
const POOLED_RUNS: f64 = 4.0;

/// Three runs that agree by chance seem sure: how far those of a load scatter is drawn towards the median of all
/// loads, the more the fewer they are.
fn pool_errors(runs: &mut [PressureRuns]) {
    let count = |it: &PressureRuns| it.seconds.len() as f64;
    let variance = |it: &PressureRuns| it.slowdown_error.powi(2) * count(it);
    let Some(usual) = median(&runs.iter().map(variance).collect::<Vec<_>>()) else { return };
    for it in runs {
        let pooled = POOLED_RUNS * usual + count(it) * variance(it);
        it.slowdown_error = (pooled / (POOLED_RUNS + count(it)) / count(it)).sqrt();
    }
}

/// Why a program has no runs.
fn why_none(record: &Record) -> String {
    let first = record.absent.first();
    first.map_or_else(
        || "it has no run alone and beside a load".into(),
        |absent| absent.reason.text.clone(),
    )
}

fn seconds(sample: &Sample) -> f64 {
    sample.window_ns as f64 / 1e9
}

/// Bytes/s that cross for streams: of kernels whose stores may read first the middle of the bounds.
fn crossing(actors: &[ActorSample], window_ns: u64) -> f64 {
    let bytes =
        |it: &ActorSample| f64::midpoint(it.traffic_bytes_min as f64, it.traffic_bytes_max as f64);
    actors.iter().map(bytes).sum::<f64>() / (window_ns as f64 / 1e9)
}

fn of_case(
    load: Option<&LatencyLoad>,
    all: &[&Sample],
    alone: &BTreeMap<u32, f64>,
    node: Option<u32>,
) -> Result<PressureRuns, String> {
    let samples = || all.iter().copied();
    let ratio = |sample: &Sample| Some(seconds(sample) / alone.get(&sample.round)?);
    let ratios: Vec<f64> = match load {
        // Alone the runs scatter around their median.
        None => {
            let middle = median(&alone.values().copied().collect::<Vec<_>>()).unwrap_or(f64::NAN);
            alone.values().map(|it| it / middle).collect()
        }
        Some(_) => samples().filter_map(ratio).collect(),
    };
    if ratios.len() < FEWEST_ROUNDS {
        return Err(format!(
            "{} of its runs {}, and how far times scatter is known from {FEWEST_ROUNDS} on; --budget gives it more",
            ratios.len(),
            if ratios.len() == 1 { "counts" } else { "count" }
        ));
    }
    let logarithms: Vec<f64> = ratios.iter().map(|it| it.ln()).collect();
    let drawn = drawn_estimates(&[&logarithms], DRAWS, SEED, median);
    let drawn: Vec<f64> = drawn.iter().filter_map(|draw| draw[0]).collect();
    let slowdown =
        median(&ratios).ok_or("a load ran in no round in which the program ran alone")?;
    let during: Vec<f64> = samples().map(|it| crossing(&it.actors, it.window_ns)).collect();
    let during = median(&during).ok_or("a kind of runs has none")?;
    let before = samples().filter_map(|sample| {
        let before = sample.run.as_ref()?.before.as_ref()?;
        Some(crossing(&before.actors, before.window_ns))
    });
    let before = median(&before.collect::<Vec<f64>>());
    let before = match load {
        // Nothing is beside it.
        None => 0.0,
        Some(_) => before.ok_or("what a load moves by itself was not counted")?,
    };
    let useful =
        |sample: &Sample| sample.actors.iter().map(|it| it.useful_bytes).sum::<u64>() as f64;
    let per_useful: Vec<f64> = samples()
        .map(|it| crossing(&it.actors, it.window_ns) * seconds(it) / useful(it))
        .filter(|it| it.is_finite())
        .collect();
    let read_share = match load {
        None => 1.0,
        Some(load) => {
            let written = f64::from(load.stores) / f64::from(load.loads + load.stores);
            let crossed = median(&per_useful).ok_or("a load moved nothing beside it")?;
            (1.0 - written / crossed).clamp(0.0, 1.0)
        }
    };
    let placed = samples().flat_map(|it| &it.actors).filter_map(|actor| {
        let proof = actor.proof.as_ref()?;
        let on = |pages: &nearfar_record::PageNodes| node.map(|node| pages.fraction_on(node));
        Some(on(&proof.before)?.min(on(&proof.after)?))
    });
    Ok(PressureRuns {
        load: load.cloned(),
        seconds: samples().map(seconds).collect(),
        slowdown,
        slowdown_error: percentile_error(&drawn).ok_or("its times are no numbers")?,
        traffic_gb_per_s: during / GIGA,
        traffic_before_gb_per_s: before / GIGA,
        read_share,
        placed_share: placed.min_by(f64::total_cmp),
    })
}

/// What a program's time is made of, of a record of its runs and the family of the pair that it ran on.
///
/// # Errors
/// Why that is not known.
pub fn fit_profile(
    figures: &RecordFigures<'_>,
    family: &FamilyLaw,
) -> Result<ProgramProfile, String> {
    let ProgramRuns { runs, left_out, moved } = pressure_runs(figures)?;
    let header = &figures.record().header;
    let commands = header.inputs.commands.as_ref();
    let (program, at) = commands
        .and_then(|it| it.programs.first().zip(it.placements.first()))
        .ok_or("the record names no program")?;
    let FittedProgram { parts, drawn, misfit } =
        fit_program(&memory_runs(&runs), family).ok_or("no law fits its runs")?;
    Ok(ProgramProfile {
        schema: PROGRAM_SCHEMA.into(),
        nearfar: header.versions.nearfar.clone(),
        host: header.host.clone(),
        started: header.started.clone(),
        name: program.label.clone(),
        initiator: at.initiator,
        memory_node: at.memory_node.ok_or("its memory was asked for on no node")?,
        cpus: at.binding.cpus.clone(),
        runs,
        left_out,
        moved,
        parts,
        drawn,
        misfit,
    })
}

/// What a fit takes of runs. Times are slowdowns of the time alone, so that what changed between rounds
/// is in none.
pub fn memory_runs(runs: &[PressureRuns]) -> Vec<MemoryRun> {
    let alone = runs.first().and_then(|alone| median(&alone.seconds)).unwrap_or(f64::NAN);
    let run = |it: &PressureRuns| {
        let pauses = it.load.as_ref().is_none_or(|load| load.pause_cycles > 0);
        let before = (it.traffic_before_gb_per_s * GIGA, it.slowdown_error);
        MemoryRun {
            beside: Beside { traffic: it.traffic_gb_per_s * GIGA, read_share: it.read_share },
            seconds: alone * it.slowdown,
            error: it.slowdown_error,
            before: Some(before).filter(|(traffic, _)| !pauses && *traffic > 0.0),
        }
    };
    runs.iter().map(run).collect()
}
