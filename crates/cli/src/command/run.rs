//! `run`: a program under a placement.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus as ProgramStatus};

use anyhow::{Context, anyhow, bail};
use clap::CommandFactory;
use nearfar_document::run_answer;
use nearfar_machine::{CpuSet, MemoryPolicy};
use nearfar_place::{
    Loss, NotLaunched, Outcome, Placement, Resolution, RunReport, Usable, Verdict, WeightsBy,
    await_signals, become_program, bind, resolve, set_kernel_weights, start_watched, watch,
};
use nearfar_sys::WritableFile;
use nearfar_units::nearest_name;
use serde::Serialize;

use super::advised_placement::advised_placement;
use super::compared_runs::{Ended, compare};
use super::near::{Near, near};
use super::run_files::file_notes;
use super::run_instances::run_instances;
use crate::args::{Arguments, PlacementChoice, RunArguments};
use crate::exit_status::ExitStatus;
use crate::{live_machine, output, record_file};

/// A failure of nearfar's own is 125 before the program has started, and never its status afterwards.
pub fn run(arguments: &RunArguments) -> ExitStatus {
    let is_each = arguments.each_node || arguments.each_package;
    let done = match arguments.without_effect() {
        Some((option, is_for)) => Err(anyhow!("{option} {is_for}: leave it out, or add that")),
        None if is_each => run_instances(arguments),
        None => start(arguments),
    };
    done.unwrap_or_else(|error| {
        output::complain(&error);
        ExitStatus::NotStarted
    })
}

fn start(arguments: &RunArguments) -> anyhow::Result<ExitStatus> {
    let mut told = Told::of(arguments);
    told.file = AskedReport::of(arguments)?;
    let placed = match Placed::by(arguments)? {
        Ok(placed) => placed,
        Err((report, losses)) => return told.not_started(report, &losses),
    };
    let mut report = placed.report();
    if arguments.verify {
        return match compare(&placed, &arguments.command, arguments.follow) {
            Ok((outcome, verification)) => {
                let is_slower = verification.verdict == Verdict::Slower;
                placed.tell(&mut report, outcome);
                report.verification = Some(verification);
                told.say(report, true);
                Ok(if is_slower { ExitStatus::CheckFailed } else { ExitStatus::Done })
            }
            Err(Ended::Failed(status)) => Ok(ExitStatus::OfProgram(status)),
            Err(Ended::Interrupted(signal)) => Ok(ExitStatus::Interrupted(signal)),
            Err(Ended::NotLaunched(why)) => told.not_launched(report, &arguments.command, why),
            Err(Ended::Unknown(error)) => Err(error),
        };
    }
    // A report has them at the end.
    if !arguments.quiet && !matches!(arguments.report, Some(None)) {
        placed.notes.iter().for_each(|note| output::say(&format!("nearfar: {note}")));
    }
    let mut command = command_of(&arguments.command)?;
    command.envs(placed.settings());
    let steering = placed.resolution.steering(arguments.follow);
    if arguments.report.is_none() && !arguments.follow && steering.weights.is_none() {
        let losses = bind(&placed.resolution.start);
        if !losses.is_empty() && !placed.may_lose {
            return told.not_started(report, &losses);
        }
        told.say_losses(&report, &losses);
        let why = NotLaunched::Program(become_program(&mut command));
        return told.not_launched(report, &arguments.command, why);
    }
    let awaited = await_signals().context("cannot wait for signals")?;
    let start = &placed.resolution.start;
    let watched =
        match start_watched(&mut command, Some(start), steering, placed.may_lose, &awaited) {
            Ok(watched) => watched,
            Err(why) => return told.not_launched(report, &arguments.command, why),
        };
    told.say_losses(&report, &watched.losses);
    let outcome = watch(watched, &awaited).context("cannot wait for the program")?;
    let (number, signal) = (status_number(outcome.status), outcome.status.signal());
    placed.tell(&mut report, outcome);
    told.say(report, arguments.report.is_some());
    Ok(signal.map_or(ExitStatus::OfProgram(number), ExitStatus::EndedBySignal))
}

/// A placement on this machine.
pub(super) struct Placed {
    placement: Placement,
    pub resolution: Resolution,
    /// Whether the program may start under a part of it.
    pub may_lose: bool,
    /// What is to be known of it before the program starts, in sentences.
    notes: Vec<String>,
}

impl Placed {
    /// What is asked for; where that cannot be had, what is told and what of it is lost.
    fn by(arguments: &RunArguments) -> anyhow::Result<Result<Self, (RunReport, Vec<Loss>)>> {
        let Chosen { placement, cpus, note } = chosen(arguments)?;
        let mut placed = Self::at(placement, cpus.as_ref(), arguments.best_effort);
        placed.notes.extend(note);
        if arguments.set_kernel_weights {
            match placed.set_weights(arguments)? {
                Ok(note) => placed.notes.push(note),
                Err(loss) => return Ok(Err((placed.report(), vec![loss]))),
            }
            let notes = std::mem::take(&mut placed.notes);
            placed = Self::at(placed.placement, cpus.as_ref(), arguments.best_effort);
            placed.notes = notes;
        }
        if !placed.resolution.losses.is_empty() && !placed.may_lose {
            return Ok(Err((placed.report(), Vec::new())));
        }
        let asked = &placed.resolution.asked.memory;
        placed.notes.extend(file_notes(&placed.placement, asked, arguments));
        let openmp = placed.openmp_note(arguments);
        placed.notes.extend(openmp.filter(|_| !arguments.follow));
        if placed.resolution.steering(false).weights.is_some() {
            placed.notes.push(format!(
                "{}: the kernel does not have these weights (--set-kernel-weights), so nearfar stays \
                 as the program's parent and moves pages while it runs, in up to a quarter of the time",
                placed.placement
            ));
        }
        Ok(Ok(placed))
    }

    /// A placement on the CPUs that this process may use, or on those of these that it may.
    pub fn at(placement: Placement, cpus: Option<&CpuSet>, may_lose: bool) -> Self {
        let usable = Usable::of_this_process();
        let machine = || live_machine::read().map_err(|error| format!("{error:#}"));
        let resolution = resolve(&placement, cpus, &usable, machine);
        let notes = resolution.notes.clone();
        Self { placement, resolution, may_lose, notes }
    }

    /// Who takes the order of threads, where there is one and the program is not followed.
    fn openmp_note(&self, arguments: &RunArguments) -> Option<String> {
        let pinning = self.resolution.pinning.as_ref()?;
        let (placement, cpus) = (&self.placement, &self.resolution.start.cpus);
        Some(match pinning.openmp_settings() {
            _ if arguments.quiet => return None,
            Some(_) => format!(
                "{placement}: OpenMP is told the order of threads (OMP_PLACES); other threads may use \
                 all of CPUs {cpus}: --follow pins each"
            ),
            None => format!(
                "{placement}: OMP_PLACES or the like is set already and stays; other threads may use \
                 all of CPUs {cpus}: --follow pins each"
            ),
        })
    }

    /// Gives the kernel the placement's weights; what was done, or why it was not.
    ///
    /// # Errors
    /// When the placement that the user names has none.
    fn set_weights(&self, arguments: &RunArguments) -> anyhow::Result<Result<String, Loss>> {
        Ok(match &self.resolution.weights {
            Some((weights, WeightsBy::MovedPages)) => {
                set_kernel_weights(Path::new("/"), weights).map(|set| set.sentence())
            }
            Some((_, WeightsBy::Kernel)) => {
                Ok("the kernel's weights had these ratios already".into())
            }
            None if !matches!(arguments.placement, Some(PlacementChoice::Auto))
                && !matches!(self.resolution.asked.memory, MemoryPolicy::Weighted(_)) =>
            {
                bail!(
                    "--set-kernel-weights: the placement '{}' has no weights; give \
                     --placement weighted:NODE=W,.. or auto",
                    self.placement
                )
            }
            None => {
                Ok("the kernel's weights were left as they are: there are no unequal ones to set"
                    .into())
            }
        })
    }

    /// Before the program is started.
    pub fn report(&self) -> RunReport {
        let mut report = RunReport::new(&self.placement, &self.resolution);
        report.notes.clone_from(&self.notes);
        report
    }

    /// Adds what the program did.
    pub fn tell(&self, report: &mut RunReport, outcome: Outcome) {
        let asked = self.placement.asked_shares(&self.resolution.asked.memory);
        let status = status_number(outcome.status);
        report.tell(asked.as_ref(), outcome, status);
    }

    /// What OpenMP is told in the environment.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let pinning = self.resolution.pinning.as_ref();
        pinning.and_then(|pinning| pinning.openmp_settings()).into_iter().flatten()
    }
}

/// A program and its arguments.
pub(super) fn command_of(words: &[OsString]) -> anyhow::Result<Command> {
    let (program, arguments) = words.split_first().context("no program is named")?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// A placement and the CPUs that are asked for.
struct Chosen {
    placement: Placement,
    cpus: Option<CpuSet>,
    /// Where the placement follows from something else, from what.
    note: Option<String>,
}

/// As they are named, as they are near something, or as they are advised.
fn chosen(arguments: &RunArguments) -> anyhow::Result<Chosen> {
    let cpus = arguments.cpus.clone();
    if let Some(asked) = &arguments.near {
        let machine = live_machine::read()?;
        let Near { nodes, note } =
            near(&machine, asked, arguments.record.as_deref(), cpus.as_ref())?;
        // Of the CPUs that are near, those that are this process's: a launcher may have given it a part.
        let mut of_nodes = machine.nodes.iter().filter(|node| nodes.contains(node.os_index));
        let is_near = of_nodes.any(|node| {
            node.cpus.intersects(&machine.allowed_cpus)
                || machine.cpus_near(node).intersects(&machine.allowed_cpus)
        });
        let cpus = match cpus {
            None if is_near => Some(machine.allowed_cpus),
            cpus => cpus,
        };
        let placement = Placement::Local(Some(nodes));
        return Ok(Chosen { placement, cpus, note: Some(note) });
    }
    match &arguments.placement {
        None => {
            let (placement, note) = inherited_placement();
            Ok(Chosen { placement, cpus, note })
        }
        Some(PlacementChoice::Named(placement)) => {
            Ok(Chosen { placement: placement.clone(), cpus, note: None })
        }
        Some(PlacementChoice::Auto) => {
            let demand = arguments.demand.demand(None);
            let advised = advised_placement(arguments.record.as_deref(), &demand, arguments.quiet)?;
            let cpus = match (cpus, advised.cpus) {
                (Some(own), Some(advised)) if own.intersects(&advised) => {
                    Some(own.intersection(&advised))
                }
                (Some(own), Some(advised)) if !arguments.best_effort => bail!(
                    "none of --cpus {own} is advised, which are CPUs {advised}: leave --cpus out, \
                     or name the placement in place of auto"
                ),
                (Some(own), _) => Some(own),
                // A cpuset may leave a part of those that were measured.
                (None, Some(advised)) => Usable::of_this_process()
                    .cpus
                    .ok()
                    .map(|usable| usable.intersection(&advised))
                    .filter(|usable| !usable.is_empty())
                    .or(Some(advised)),
                (None, None) => None,
            };
            Ok(Chosen { placement: advised.placement, cpus, note: None })
        }
    }
}

/// The memory policy that this process was started under, as the placement of a program that is given none;
/// else `local`. With a sentence where there is one.
fn inherited_placement() -> (Placement, Option<String>) {
    let local = Placement::Local(None);
    let Ok(policy) = nearfar_sys::thread_policy() else { return (local, None) };
    match policy.as_memory_policy() {
        Some(MemoryPolicy::FirstTouch) => (local, None),
        Some(memory) => {
            let note = format!("{memory} is the policy that nearfar was started under (numactl?)");
            (Placement::Memory(memory), Some(note))
        }
        None if policy.is_local() => (local, None),
        None => {
            let note =
                "replaces the memory policy that nearfar was started under, which has no name here";
            (local, Some(format!("local {note}")))
        }
    }
}

/// Where it is told what became of a placement.
struct Told {
    is_quiet: bool,
    has_bare_report: bool,
    is_full: bool,
    file: Option<AskedReport>,
}

impl Told {
    fn of(arguments: &RunArguments) -> Self {
        // What stands right behind `--` is meant as a program, and not as the report's file.
        let words: Vec<OsString> = std::env::args_os().collect();
        let parting = words.iter().position(|word| word == "--");
        let is_parted = parting.is_some_and(|at| words[at + 1..] == arguments.command[..]);
        let has_bare_report = matches!(arguments.report, Some(None)) && !is_parted;
        Self { is_quiet: arguments.quiet, has_bare_report, is_full: arguments.full, file: None }
    }

    /// The report, to the file or else, where it is asked for, to people. What fails here does not
    /// touch the program's status.
    fn say(&mut self, report: RunReport, is_asked: bool) {
        match self.file.take() {
            Some(file) => {
                file.write(&report);
                // The verdict is what was asked for.
                if report.verification.is_some() {
                    output::say_answer(&run_answer(&report), self.is_full);
                }
            }
            None if is_asked => output::say_answer(&run_answer(&report), self.is_full),
            None => {}
        }
    }

    /// What is lost of a placement under which the program starts all the same.
    fn say_losses(&self, report: &RunReport, losses: &[Loss]) {
        for loss in report.refused.iter().chain(losses).filter(|_| !self.is_quiet) {
            output::say(&format!("nearfar: without {loss}"));
        }
    }

    /// Why no program was started: the placement cannot be had.
    fn not_started(
        &mut self,
        mut report: RunReport,
        losses: &[Loss],
    ) -> anyhow::Result<ExitStatus> {
        report.lose(losses);
        for loss in &report.refused {
            output::say(&format!("nearfar: {}: cannot have {loss}", report.placement));
        }
        output::say(
            "nearfar: the program was not started; --best-effort starts it under what can be had",
        );
        self.say(report, false);
        Ok(ExitStatus::NotStarted)
    }

    /// What may have been meant where there is no such program.
    fn hint(&self, command: &[OsString]) -> String {
        let word = command.first().and_then(|word| word.to_str()).unwrap_or_default();
        match meant(word) {
            Some(meant) => format!(" ({meant})"),
            None if self.has_bare_report => {
                format!(" (--report={word} would write the report there)")
            }
            None => String::new(),
        }
    }

    /// Why no program was started.
    fn not_launched(
        &mut self,
        report: RunReport,
        command: &[OsString],
        why: NotLaunched,
    ) -> anyhow::Result<ExitStatus> {
        let error = match why {
            NotLaunched::Lost(losses) => return self.not_started(report, &losses),
            NotLaunched::Program(error) => error,
        };
        let status = status_of_start(&error);
        let named = command.first().map(Path::new).unwrap_or(Path::new("")).display();
        let hint = match status {
            ExitStatus::NotFound => self.hint(command),
            _ => String::new(),
        };
        let context = format!("cannot start '{named}'{hint}");
        output::complain(&anyhow::Error::new(error).context(context));
        self.say(report, false);
        Ok(status)
    }
}

/// What a word that is no program may have been meant to be.
fn meant(word: &str) -> Option<String> {
    if word.parse::<PlacementChoice>().is_ok() {
        return Some(format!("did you mean --placement {word}?"));
    }
    if !word.starts_with('-') {
        return None;
    }
    let arguments = Arguments::command();
    let run = arguments.find_subcommand("run")?;
    let options: Vec<String> =
        run.get_arguments().filter_map(|it| it.get_long()).map(|it| format!("--{it}")).collect();
    let name = word.split('=').next().unwrap_or(word);
    let nearest = nearest_name(name, options.iter().map(String::as_str));
    let meant = nearest.map_or_else(String::new, |option| format!("did you mean {option}? "));
    Some(format!("{meant}options of nearfar stand before --"))
}

/// The file that a report is asked for in.
pub(super) struct AskedReport {
    path: PathBuf,
    file: WritableFile,
}

impl AskedReport {
    /// `None` where none is named.
    ///
    /// # Errors
    /// When it could not be written: nothing has started yet.
    pub fn of(arguments: &RunArguments) -> anyhow::Result<Option<Self>> {
        let Some(Some(path)) = &arguments.report else { return Ok(None) };
        if path.as_os_str() == "-" {
            bail!("--report names a file; what is run may write to standard output itself");
        }
        if let Some(record) = &arguments.record {
            record_file::refuse_replacing(record, path, "--report")?;
        }
        let file = WritableFile::find(path).with_context(|| unwritten(path))?;
        Ok(Some(Self { path: path.clone(), file }))
    }

    /// The programs have ended: what fails here is said and does not touch their status.
    pub fn write(self, report: &impl Serialize) {
        let written =
            output::json_line(report).and_then(|json| Ok(self.file.write(json.as_bytes())?));
        if let Err(error) = written {
            output::complain(&error.context(unwritten(&self.path)));
        }
    }
}

fn unwritten(report: &Path) -> String {
    format!("cannot write the report '{}'", report.display())
}

/// The status where a program cannot be started.
pub(super) fn status_of_start(error: &io::Error) -> ExitStatus {
    match error.kind() {
        io::ErrorKind::NotFound => ExitStatus::NotFound,
        // No process can be started, whatever the program.
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => ExitStatus::NotStarted,
        _ => ExitStatus::NotExecutable,
    }
}

/// As a shell tells it: the status, or 128 and the number of the signal.
pub(super) fn status_number(status: ProgramStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}
