//! What a run's folder holds of each machine, whatever state it was left in.

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::identity::Identity;
use crate::kind::MachineKind;
use crate::machine_name::MachineName;
use crate::manifest::Manifest;
use crate::run_folder::{FoundMeasurement, RunFolder};
use crate::summary::{MachineSummary, MeasurementEnd, MeasurementStatus};
use crate::verdict::seconds_of;

/// Clocks within a cluster differ by less, s.
const CLOCK_ROOM: i64 = 300;

/// Something that went wrong with a machine or a file of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Null of a file that is of no machine.
    pub machine: Option<MachineName>,
    pub kind: ProblemKind,
    /// What it is, in words.
    pub what: String,
}

/// Sorts of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// It said that it failed, and why.
    Failed,
    /// A record was begun and has no end: its machine was stopped, or still measures.
    Unended,
    /// A signal or the budget ended it.
    EndedEarly,
    /// It was measured on a part of itself.
    Partial,
    /// Its summary cannot be read.
    UnreadableSummary,
    /// Its clock is wrong.
    WrongClock,
    /// It has several measurements.
    SeveralMeasurements,
    /// Two measurements of one name are of different hardware.
    OtherHardware,
    /// Nobody expected it.
    NotExpected,
    /// A file that is none of a run's.
    ForeignFile,
}

/// A machine with its measurements.
#[derive(Debug)]
pub(crate) struct Measured {
    pub machine: MachineName,
    /// Of its last measurement.
    pub kind: Option<MachineKind>,
    /// Measurements that can be judged, in their order: of the whole machine, of its last kind.
    pub runs: Vec<MachineSummary>,
    /// Where the last judged record is, from the run's folder.
    pub folder: Option<String>,
    /// By the file where the machine's clock is wrong.
    pub ended: Option<String>,
    /// Why there is none.
    pub why: Option<String>,
}

/// A folder's machines, by name, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct ReadFolder {
    pub machines: Vec<Measured>,
    pub problems: Vec<Problem>,
}

impl Measured {
    /// Why it is not compared.
    pub fn unjudged(&self) -> Option<String> {
        self.runs
            .is_empty()
            .then(|| self.why.clone().unwrap_or_else(|| "nothing was measured".into()))
    }

    /// When its last judged measurement ended.
    pub fn measured(&self) -> Option<String> {
        self.ended.clone().or_else(|| self.runs.last().map(|run| run.ended.clone()))
    }

    pub fn record(&self) -> Option<String> {
        let name = self.runs.last()?.record.as_ref()?;
        Some(format!("{}/{name}", self.folder.as_ref()?))
    }
}

/// Reads all measurements of a run, on two threads.
///
/// # Errors
/// Where the folder cannot be read; of single files problems are told.
pub(crate) fn read_measurements(
    folder: &RunFolder,
    manifest: Option<&Manifest>,
    now: &str,
) -> io::Result<ReadFolder> {
    let (found, others) = folder.measurements()?;
    let machines: Vec<&[FoundMeasurement]> =
        found.chunk_by(|one, next| one.machine == next.machine).collect();
    let (first, second) = machines.split_at(machines.len() / 2);
    let read = |machines: &[&[FoundMeasurement]]| {
        let mut read = ReadFolder::default();
        machines.iter().for_each(|of| read.take(of, manifest, now));
        read
    };
    let (mut all, rest) = std::thread::scope(|scope| {
        let other = scope.spawn(|| read(second));
        (read(first), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    all.machines.extend(rest.machines);
    all.problems.extend(rest.problems);
    if let Some(manifest) = manifest {
        let expected: std::collections::HashSet<&MachineName> = manifest.machines.iter().collect();
        let unexpected = all.machines.iter().filter(|it| !expected.contains(&it.machine));
        let told: Vec<Problem> = unexpected
            .map(|it| {
                problem(&it.machine, ProblemKind::NotExpected, "is in no manifest of the run")
            })
            .collect();
        all.problems.extend(told);
    }
    all.problems.extend(others.into_iter().map(|path| Problem {
        machine: None,
        kind: ProblemKind::ForeignFile,
        what: format!("{} is no file of a run; it was left alone", within(folder.path(), &path)),
    }));
    Ok(all)
}

fn problem(machine: &MachineName, kind: ProblemKind, what: impl Into<String>) -> Problem {
    Problem { machine: Some(machine.clone()), kind, what: what.into() }
}

fn within(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

impl ReadFolder {
    /// Takes in the measurements of one machine.
    fn take(&mut self, found: &[FoundMeasurement], manifest: Option<&Manifest>, now: &str) {
        let name = &found[0].machine;
        let mut machine = Measured {
            machine: name.clone(),
            kind: None,
            runs: Vec::new(),
            folder: None,
            ended: None,
            why: None,
        };
        let mut ended_at = None;
        for one in found {
            let Some((summary, of_file)) = self.read(one) else {
                let why = self.problems.last().map(|problem| problem.what.clone());
                machine.why = why;
                continue;
            };
            let wrong_clock = wrong_clock(&summary, of_file, manifest, now);
            if let Some(what) = &wrong_clock {
                self.problems.push(problem(name, ProblemKind::WrongClock, what.clone()));
            }
            if let Some((kind, what)) = unfit(&summary) {
                machine.why = Some(what.clone());
                self.problems.push(problem(name, kind, what));
                if matches!(kind, ProblemKind::Failed | ProblemKind::Partial)
                    || summary.cells.is_empty()
                {
                    continue;
                }
            }
            ended_at = wrong_clock.and(of_file).or(ended_at);
            machine.folder =
                one.summary.as_ref().or(one.record.as_ref()).and_then(|path| {
                    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
                });
            machine.runs.push(summary);
        }
        self.settle(&mut machine, found);
        machine.ended = ended_at
            .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
            .map(|it| it.to_string());
        self.machines.push(machine);
    }

    /// Keeps the measurements that are of one kind and one piece of hardware with the last.
    fn settle(&mut self, machine: &mut Measured, found: &[FoundMeasurement]) {
        let Some(last) = machine.runs.last() else { return };
        machine.kind.clone_from(&last.kind);
        let (kind, identity) = (last.kind.clone(), last.identity.clone());
        let before = machine.runs.len();
        machine.runs.retain(|run| run.kind == kind && !run.identity.differs_from(&identity));
        let name = &machine.machine;
        if machine.runs.len() < before {
            let what = "has measurements of other hardware or of another kind; the last and those like it are \
                        compared";
            self.problems.push(problem(name, ProblemKind::OtherHardware, what));
        }
        if found.len() > 1 {
            let what = format!(
                "was measured {} times in this run, of which {} are compared",
                found.len(),
                machine.runs.len()
            );
            self.problems.push(problem(name, ProblemKind::SeveralMeasurements, what));
        }
    }

    /// A measurement's summary and when its file was written; one that cannot be read is made again from its
    /// record, where that is whole.
    fn read(&mut self, found: &FoundMeasurement) -> Option<(MachineSummary, Option<i64>)> {
        let name = &found.machine;
        let written = |path: &PathBuf| -> Option<i64> {
            let time = std::fs::metadata(path).ok()?.modified().ok()?;
            i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
        };
        let why = match found.read_summary() {
            Some(Ok(summary)) => return Some((summary, found.summary.as_ref().and_then(written))),
            Some(Err(error)) => format!("its summary cannot be read: {error}"),
            None => "it has no summary".into(),
        };
        if let Some(path) = &found.record {
            return match again_from_record(name, path) {
                Ok(summary) => {
                    let what = format!("{why}; it was made again from its record");
                    self.problems.push(problem(name, ProblemKind::UnreadableSummary, what));
                    Some((summary, written(path)))
                }
                Err(error) => {
                    let what = format!("{why}; neither can its record: {error}");
                    self.problems.push(problem(name, ProblemKind::UnreadableSummary, what));
                    None
                }
            };
        }
        let (kind, what) = match &found.running {
            Some(path) => (
                ProblemKind::Unended,
                format!(
                    "began and did not end: it still measures, or was stopped; what it measured is in {}",
                    path.display()
                ),
            ),
            None => (ProblemKind::UnreadableSummary, why),
        };
        self.problems.push(problem(name, kind, what));
        None
    }
}

/// Why a measurement is not that of a whole, whole-heartedly measured machine.
fn unfit(summary: &MachineSummary) -> Option<(ProblemKind, String)> {
    let why = summary.why.as_deref().unwrap_or("it did not say why");
    if let Some(part) = &summary.partial {
        return Some((ProblemKind::Partial, format!("was measured on a part of itself: {part}")));
    }
    match summary.status {
        MeasurementStatus::Measured => None,
        MeasurementStatus::Failed => Some((ProblemKind::Failed, format!("failed: {why}"))),
        MeasurementStatus::OutOfTime | MeasurementStatus::Interrupted => Some((
            ProblemKind::EndedEarly,
            format!("ended early with {} cells: {why}", summary.cells.len()),
        )),
    }
}

fn again_from_record(name: &MachineName, path: &Path) -> Result<MachineSummary, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let record = nearfar_record::read_record(file).map_err(|error| error.to_string())?;
    let ended =
        record.finished.as_ref().map_or_else(|| record.header.started.clone(), |it| it.at.clone());
    let end = MeasurementEnd {
        ended,
        status: MeasurementStatus::Measured,
        why: None,
        partial: None,
        record: path.file_name().map(|name| name.to_string_lossy().into_owned()),
    };
    Ok(MachineSummary::new(name.clone(), &record, Identity::default(), end))
}

/// What says that a machine's clock is wrong: a run before its plan or after now, or a file of another time.
fn wrong_clock(
    summary: &MachineSummary,
    written: Option<i64>,
    manifest: Option<&Manifest>,
    now: &str,
) -> Option<String> {
    let (started, ended) = (seconds_of(&summary.started)?, seconds_of(&summary.ended)?);
    let planned = manifest.and_then(|manifest| seconds_of(&manifest.created));
    let off = |seconds: i64, what: &str| {
        let hours = seconds as f64 / 3600.0;
        format!(
            "its clock is wrong: it says that it ended at {}, {hours:.1} h {what}",
            summary.ended
        )
    };
    if let Some(now) = seconds_of(now).filter(|now| ended > now + CLOCK_ROOM) {
        return Some(off(ended - now, "after now"));
    }
    if let Some(planned) = planned.filter(|planned| started + CLOCK_ROOM < *planned) {
        return Some(off(planned - started, "and more before the run was planned"));
    }
    let written = written.filter(|written| (written - ended).abs() > CLOCK_ROOM)?;
    Some(off((written - ended).abs(), "from when its file was written"))
}
