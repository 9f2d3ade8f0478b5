//! `run`: a program under a placement.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus as ProgramStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_place::{
    Launched, Loss, NotLaunched, Outcome, Placement, Resolution, Side, Steering, Usable,
    UsableNodes, Verdict, Verification, WeightsBy, await_signals, launch, resolve,
    set_kernel_weights, verify, watch,
};
use nearfar_report::RunView;
use nearfar_sys::AwaitedSignals;

use super::advised_placement::advised_placement;
use crate::args::{PlacementChoice, RunArguments};
use crate::exit_status::ExitStatus;
use crate::near_device::nodes_near_device;
use crate::written_file::WritableFile;
use crate::{live_machine, output};

const NOT_STARTED: &str = "the program was not started";

pub fn run(arguments: &RunArguments) -> anyhow::Result<ExitStatus> {
    if arguments.verify {
        return Ok(match compare(arguments)? {
            Ok(Compared { mut view, verification }) => {
                view.verify(&verification);
                if !arguments.quiet {
                    output::say(view.text().trim_end());
                }
                write_report(arguments, &view)?;
                match verification.verdict {
                    Verdict::Slower => ExitStatus::CheckFailed,
                    Verdict::Faster | Verdict::Same | Verdict::Undecided => ExitStatus::Done,
                }
            }
            Err(status) => status,
        });
    }
    let (placement, resolution, mut view) = match resolved(arguments)? {
        Ok(found) => found,
        Err(view) => return not_started(arguments, view, ExitStatus::NotStarted),
    };
    if arguments.strict && !resolution.losses.is_empty() {
        return not_started(arguments, view, ExitStatus::NotStarted);
    }
    let awaited = await_signals().context("cannot wait for signals")?;
    let launched = match start(arguments, Some(&resolution), Stdio::inherit, &awaited) {
        Ok(launched) => launched,
        Err(why) => return refused(arguments, view, why),
    };
    view.lose(&launched.losses);
    let outcome = wait(&launched, resolution.steering(arguments.no_trace), &awaited)?;
    let status = status_number(outcome.status);
    let asked = placement.asked_shares(&resolution.asked.memory);
    view.tell(asked.as_ref(), &outcome, status);
    if !arguments.quiet {
        output::say(view.text().trim_end());
    }
    write_report(arguments, &view)?;
    Ok(ExitStatus::OfProgram(status))
}

/// A placement, what it means here, and what is told of it before the program starts.
type Resolved = (Placement, Resolution, RunView);

/// What is asked for; only what is told where the kernel's weights could not be set.
fn resolved(arguments: &RunArguments) -> anyhow::Result<Result<Resolved, RunView>> {
    let usable = Usable {
        cpus: nearfar_sys::thread_cpus(),
        nodes: UsableNodes::new(Box::new(|| nearfar_sys::usable_nodes(Path::new("/")))),
    };
    let machine = || live_machine::read().map_err(|error| format!("{error:#}"));
    let (placement, cpus) = chosen(arguments)?;
    let mut resolution = resolve(&placement, cpus.as_ref(), &usable, machine);
    let mut note = None;
    if arguments.set_kernel_weights {
        match set_weights(arguments, &placement, &resolution)? {
            Ok(said) => note = Some(said),
            Err(loss) => {
                let mut view = RunView::new(&placement, &resolution);
                view.lose(&[loss]);
                return Ok(Err(view));
            }
        }
        resolution = resolve(&placement, cpus.as_ref(), &usable, machine);
    }
    let mut view = RunView::new(&placement, &resolution);
    view.notes.extend(note);
    Ok(Ok((placement, resolution, view)))
}

/// Gives the kernel the placement's weights; what was done, or why it was not.
///
/// # Errors
/// When the placement that the user names has none.
fn set_weights(
    arguments: &RunArguments,
    placement: &Placement,
    resolution: &Resolution,
) -> anyhow::Result<Result<String, Loss>> {
    Ok(match &resolution.weights {
        Some((weights, WeightsBy::Moving)) => {
            set_kernel_weights(Path::new("/"), weights).map(|set| set.sentence())
        }
        Some((_, WeightsBy::Kernel)) => Ok("the kernel's weights had these ratios already".into()),
        None if matches!(arguments.placement, PlacementChoice::Named(_))
            && !matches!(resolution.asked.memory, MemoryPolicy::Weighted(_)) =>
        {
            bail!(
                "--set-kernel-weights: the placement '{placement}' has no weights; give \
                 --placement weighted:NODE=W,.. or auto"
            )
        }
        None => {
            Ok("the kernel's weights were left as they are: there are no unequal ones to set"
                .into())
        }
    })
}

/// The placement and the CPUs that are asked for: as they are named, or as they are advised.
fn chosen(arguments: &RunArguments) -> anyhow::Result<(Placement, Option<CpuSet>)> {
    let cpus = arguments.cpus.clone();
    if let Some(device) = &arguments.near {
        let nodes = nodes_near_device(&live_machine::read()?, device)?;
        return Ok((Placement::Local(Some(nodes)), cpus));
    }
    match &arguments.placement {
        PlacementChoice::Named(placement) => Ok((placement.clone(), cpus)),
        PlacementChoice::Auto => {
            let demand = arguments.demand.demand(None);
            let advised = advised_placement(arguments.record.as_deref(), &demand, arguments.quiet)?;
            let cpus = match (cpus, advised.cpus) {
                (Some(own), Some(advised)) if own.intersects(&advised) => {
                    Some(own.intersection(&advised))
                }
                (Some(own), _) => Some(own),
                (None, advised) => advised,
            };
            Ok((advised.placement, cpus))
        }
    }
}

/// A program that was run in turns under a placement and without it.
pub(super) struct Compared {
    /// What became of the placement when it ran last.
    pub view: RunView,
    /// What comparing found.
    pub verification: Verification,
}

/// Runs the program in turns under the placement and without it. Where it does not run to its end
/// the status for that, which is said.
pub(super) fn compare(arguments: &RunArguments) -> anyhow::Result<Result<Compared, ExitStatus>> {
    let (placement, resolution, mut view) = match resolved(arguments)? {
        Ok(found) => found,
        Err(view) => return Ok(Err(not_started(arguments, view, ExitStatus::NotStarted)?)),
    };
    if arguments.strict && !resolution.losses.is_empty() {
        return Ok(Err(not_started(arguments, view, ExitStatus::NotStarted)?));
    }
    let awaited = await_signals().context("cannot wait for signals")?;
    let mut last: Option<(Outcome, Launched)> = None;
    let verified = verify(|side| {
        let placed = (side == Side::Placed).then_some(&resolution);
        let begun = Instant::now();
        let launched = start(arguments, placed, Stdio::null, &awaited).map_err(Ended::Early)?;
        let is_untraced = arguments.no_trace;
        let steering = placed.map_or_else(
            || Steering { is_untraced, ..Steering::default() },
            |placed| placed.steering(is_untraced),
        );
        // What following costs is in both times.
        let steering = Steering { is_followed_at_once: true, ..steering };
        let outcome = wait(&launched, steering, &awaited).map_err(Ended::Unknown)?;
        let seconds = begun.elapsed().as_secs_f64();
        if !outcome.status.success() {
            return Err(Ended::Failed(outcome.status));
        }
        if placed.is_some() {
            last = Some((outcome, launched));
        }
        Ok(seconds)
    });
    let verification = match verified {
        Ok(verification) => verification.context("the program took no time")?,
        Err(Ended::Early(why)) => return Ok(Err(refused(arguments, view, why)?)),
        Err(Ended::Unknown(error)) => return Err(error),
        Err(Ended::Failed(status)) => {
            let status = status_number(status);
            output::say(&format!(
                "nearfar: the program ended with status {status}, so there is nothing to compare; run it \
                 without --verify to see what it says"
            ));
            return Ok(Err(ExitStatus::OfProgram(status)));
        }
    };
    if let Some((outcome, launched)) = last {
        view.lose(&launched.losses);
        let asked = placement.asked_shares(&resolution.asked.memory);
        view.tell(asked.as_ref(), &outcome, status_number(outcome.status));
    }
    Ok(Ok(Compared { view, verification }))
}

/// Why comparing ended before its verdict.
enum Ended {
    Early(NotLaunched),
    Unknown(anyhow::Error),
    Failed(ProgramStatus),
}

/// Starts the program under a placement, or as it would start without nearfar.
fn start(
    arguments: &RunArguments,
    placed: Option<&Resolution>,
    streams: fn() -> Stdio,
    awaited: &AwaitedSignals,
) -> Result<Launched, NotLaunched> {
    let (program, program_arguments) = arguments.command.split_first().ok_or_else(|| {
        NotLaunched::Program(io::Error::new(io::ErrorKind::NotFound, "no program is named"))
    })?;
    let mut command = Command::new(program);
    command.args(program_arguments).stdin(streams()).stdout(streams()).stderr(streams());
    let unbound = Binding { cpus: CpuSet::new(), memory: MemoryPolicy::FirstTouch };
    let Some(placed) = placed else {
        return launch(&mut command, &unbound, false, false, Some(awaited));
    };
    let settings = placed.pinning.as_ref().and_then(|pinning| pinning.openmp_settings());
    command.envs(settings.into_iter().flatten());
    let will_pin = placed.pinning.is_some();
    launch(&mut command, &placed.start, will_pin, arguments.strict, Some(awaited))
}

fn wait(
    launched: &Launched,
    steering: Steering,
    awaited: &AwaitedSignals,
) -> anyhow::Result<Outcome> {
    watch(launched.child.id(), steering, awaited).context("cannot wait for the program")
}

/// As a shell tells it: the status, or 128 and the number of the signal.
pub(super) fn status_number(status: ProgramStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

/// Tells why there is no program to wait for.
fn refused(
    arguments: &RunArguments,
    mut view: RunView,
    why: NotLaunched,
) -> anyhow::Result<ExitStatus> {
    let error = match why {
        NotLaunched::Lost(losses) => {
            view.lose(&losses);
            return not_started(arguments, view, ExitStatus::NotStarted);
        }
        NotLaunched::Program(error) => error,
    };
    let status = match error.kind() {
        io::ErrorKind::NotFound => ExitStatus::NotFound,
        _ => ExitStatus::NotExecutable,
    };
    let named = arguments.command.first().map(Path::new).unwrap_or(Path::new("")).display();
    output::complain(&anyhow::Error::new(error).context(format!("cannot start '{named}'")));
    view.say_why_absent(NOT_STARTED);
    write_report(arguments, &view)?;
    Ok(status)
}

fn not_started(
    arguments: &RunArguments,
    mut view: RunView,
    status: ExitStatus,
) -> anyhow::Result<ExitStatus> {
    view.say_why_absent(NOT_STARTED);
    output::say(view.text().trim_end());
    write_report(arguments, &view)?;
    Ok(status)
}

fn write_report(arguments: &RunArguments, view: &RunView) -> anyhow::Result<()> {
    let Some(path) = &arguments.report else {
        return Ok(());
    };
    let mut json = serde_json::to_vec(view)?;
    json.push(b'\n');
    WritableFile::find(path)
        .and_then(|file| file.write(&json))
        .with_context(|| format!("cannot write the report '{}'", path.display()))
}
