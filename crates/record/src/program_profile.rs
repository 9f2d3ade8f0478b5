//! A program that ran beside threads that load its memory: its runs, and what its time is made of.
//! One JSON object; `docs/models/programs.md` describes it.

use std::io::Read;

use nearfar_machine::CpuSet;
use serde::{Deserialize, Serialize};

use crate::coordinates::LatencyLoad;
use crate::cpu_distance::MovedCores;
use crate::profile::Profile;
use crate::profile_reader::{ProfileError, parse_profile, profile_text, read_profile};

/// Name and version of the format.
pub const PROGRAM_SCHEMA: &str = "nearfar.program/1";

/// What a program's time is made of, and the runs that say so (docs/models/programs.md);
/// `profile --pressure --out FILE` writes it and `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProgramProfile {
    pub schema: String,
    /// Version of the program that made it.
    pub nearfar: String,
    /// Name of the host.
    pub host: String,
    /// When the runs began, UTC, RFC 3339; of a workload that only declares its traffic when that was
    /// asked.
    pub started: String,
    /// The program's name.
    pub name: String,
    /// The initiator of its CPUs.
    pub initiator: u32,
    /// The node that its memory was asked for on.
    pub memory_node: u32,
    /// CPUs that its threads could use.
    pub cpus: CpuSet,
    /// Alone first; none of a workload that only declares its traffic.
    pub runs: Vec<PressureRuns>,
    /// Kinds of load that ran beside it and are not among the runs.
    #[serde(default)]
    pub left_out: Vec<LoadLeftOut>,
    /// Runs beside loads left out because CPUs were on other cores; null where there were none, or nobody
    /// looked.
    #[serde(default)]
    pub moved: Option<MovedCores>,
    /// What its time is made of.
    pub parts: ProgramParts,
    /// The same of runs drawn again: what intervals come from.
    pub drawn: Vec<ProgramParts>,
    /// Relative standard deviation of what the law leaves of the runs' times.
    pub misfit: f64,
}

/// A program's runs alone, or beside one kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PressureRuns {
    /// Threads beside it; null alone.
    pub load: Option<LatencyLoad>,
    /// Time of each run in seconds, in the order of the rounds.
    pub seconds: Vec<f64>,
    /// Median of time / time alone in the same round.
    pub slowdown: f64,
    /// Standard error of its logarithm, by bootstrap; of few runs drawn towards the other loads'.
    pub slowdown_error: f64,
    /// What crossed to the memory for the threads beside it while it ran, GB/s; 0 alone.
    pub traffic_gb_per_s: f64,
    /// The same just before the program started, GB/s.
    pub traffic_before_gb_per_s: f64,
    /// Of that the share of reads; 1 alone.
    pub read_share: f64,
    /// The least share of their pages that was on the program's node; null alone.
    pub placed_share: Option<f64>,
}

/// A kind of load beside which too few runs count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadLeftOut {
    pub load: LatencyLoad,
    /// How many count, and why no more do.
    pub why: String,
}

/// What a program's time is made of; docs/models/programs.md has the law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProgramParts {
    /// Seconds that do not depend on memory.
    pub core_seconds: f64,
    /// Lines that are waited for one after the other: those fetched / those under way at a time.
    pub exposed_lines: f64,
    /// Bytes that cross to the memory.
    pub bytes: f64,
    /// The share of reads in them.
    pub read_share: f64,
    /// How far core time and waiting overlap: 1 not at all, more the more.
    pub overlap: f64,
    /// Capacity of the memory / that of the record's law, as the runs show it; 1 where nothing ran.
    pub capacity_ratio: f64,
    /// Its time beside cores that others keep busy / without, whatever they move: clocks fall, and a guest's
    /// cores may be halves of one; null where nothing ran beside it.
    #[serde(default)]
    pub busy_ratio: Option<f64>,
    /// What it keeps in a cache that others share; null where nothing ran beside it.
    #[serde(default)]
    pub kept: Option<KeptLines>,
}

/// Lines that a program finds in a shared cache unless others' reads take them first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeptLines {
    /// As many more lines it waits for, one after the other, where all are taken.
    pub exposed_lines: f64,
    /// Reads of others, bytes/s, by which 1 - 1/e of them are taken.
    pub lost_beside: f64,
}

/// Reads what `profile --pressure` wrote.
///
/// # Errors
/// When the input fails, is no profile of this format, or holds a number that cannot be.
pub fn read_program_profile(input: impl Read) -> Result<ProgramProfile, ProfileError> {
    let profile: ProgramProfile = parse_profile(input, PROGRAM_SCHEMA)?;
    check(&profile).map_err(|what| ProfileError::Malformed { what })?;
    Ok(profile)
}

/// A profile of either kind.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyProfile {
    /// Of a program that was watched.
    Seen(Box<Profile>),
    /// Of a program beside loads.
    Program(Box<ProgramProfile>),
}

/// Reads what `profile` wrote, with or without `--pressure`.
///
/// # Errors
/// As [`read_profile`].
pub fn read_any_profile(input: impl Read) -> Result<AnyProfile, ProfileError> {
    let text = profile_text(input)?;
    match read_program_profile(text.as_slice()) {
        Err(ProfileError::Schema { .. }) => {
            Ok(AnyProfile::Seen(Box::new(read_profile(text.as_slice())?)))
        }
        read => Ok(AnyProfile::Program(Box::new(read?))),
    }
}

/// What every such profile is.
fn check(profile: &ProgramProfile) -> Result<(), String> {
    std::iter::once(&profile.parts).chain(&profile.drawn).try_for_each(check_parts)?;
    let within = |what: &str, value: f64, most: f64| match (0.0..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} is {value}")),
    };
    within("misfit", profile.misfit, 1e3)?;
    if profile.cpus.is_empty() {
        return Err("the program had no CPU".into());
    }
    for (position, runs) in profile.runs.iter().enumerate() {
        if runs.load.is_none() != (position == 0) {
            return Err("the runs alone stand first, and no others are alone".into());
        }
        if runs.seconds.is_empty() {
            return Err("a kind of runs without a run".into());
        }
        runs.seconds.iter().try_for_each(|&seconds| within("time of a run", seconds, 1e9))?;
        within("slowdown", runs.slowdown, 1e6)?;
        within("slowdown_error", runs.slowdown_error, 1e3)?;
        within("traffic_gb_per_s", runs.traffic_gb_per_s, 1e6)?;
        within("traffic_before_gb_per_s", runs.traffic_before_gb_per_s, 1e6)?;
        within("read_share", runs.read_share, 1.0)?;
        if let Some(share) = runs.placed_share {
            within("placed_share", share, 1.0)?;
        }
    }
    Ok(())
}

fn check_parts(parts: &ProgramParts) -> Result<(), String> {
    let ProgramParts {
        core_seconds,
        exposed_lines,
        bytes,
        read_share,
        overlap,
        capacity_ratio,
        busy_ratio,
        kept,
    } = *parts;
    let is_one = |value: f64| value.is_finite() && value >= 0.0;
    if ![core_seconds, exposed_lines, bytes].into_iter().all(is_one) {
        return Err("a part of the program's time is no number".into());
    }
    if core_seconds + exposed_lines + bytes == 0.0 {
        return Err("the program's time has no parts".into());
    }
    if kept.is_some_and(|it| !is_one(it.exposed_lines) || !(1.0..=1e15).contains(&it.lost_beside)) {
        return Err("what the program keeps in a cache is no number".into());
    }
    if let Some(ratio) = busy_ratio.filter(|it| !(0.1..=10.0).contains(it)) {
        return Err(format!("a time beside busy cores of {ratio} times that without"));
    }
    match (0.0..=1.0).contains(&read_share)
        && (1.0..=1e3).contains(&overlap)
        && (1e-3..=1e3).contains(&capacity_ratio)
    {
        true => Ok(()),
        false => Err(format!(
            "a read share of {read_share}, an overlap of {overlap} and a capacity of {capacity_ratio} \
             times the law's"
        )),
    }
}
