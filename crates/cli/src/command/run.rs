//! `run`: a program under a placement.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus as ProgramStatus};

use anyhow::Context;
use nearfar_place::{NotLaunched, Resolution, Steering, Usable, WeightsBy, launch, resolve, watch};
use nearfar_report::RunView;

use crate::args::RunArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output, written_file};

pub fn run(arguments: &RunArguments) -> anyhow::Result<ExitStatus> {
    let usable = Usable {
        cpus: nearfar_sys::thread_cpus(),
        nodes: nearfar_sys::usable_nodes(Path::new("/")),
    };
    let machine = || live_machine::read().map_err(|error| format!("{error:#}"));
    let resolution = resolve(&arguments.placement, arguments.cpus.as_ref(), &usable, machine);
    let mut view = RunView::new(&arguments.placement, &resolution);
    let [program, program_arguments @ ..] = arguments.command.as_slice() else {
        anyhow::bail!("no program is named");
    };
    if arguments.strict && !resolution.losses.is_empty() {
        return not_started(arguments, &view);
    }
    let mut command = Command::new(program);
    command.args(program_arguments);
    let settings = resolution.pinning.as_ref().and_then(|pinning| pinning.openmp_settings());
    command.envs(settings.into_iter().flatten());
    let launched = match launch(&mut command, &resolution.start, arguments.strict) {
        Ok(launched) => launched,
        Err(NotLaunched::Lost(losses)) => {
            view.lose(&losses);
            return not_started(arguments, &view);
        }
        Err(NotLaunched::Program(error)) => {
            let status = match error.kind() {
                io::ErrorKind::NotFound => ExitStatus::NotFound,
                _ => ExitStatus::NotExecutable,
            };
            view.say_why_absent("the program was not started");
            write_report(arguments, &view)?;
            let named = Path::new(program).display();
            let error = anyhow::Error::new(error).context(format!("cannot start '{named}'"));
            output::complain(&error);
            return Ok(status);
        }
    };
    view.lose(&launched.losses);
    let steering = steering(arguments, &resolution);
    let outcome = watch(launched.child.id(), steering).context("cannot wait for the program")?;
    let status = number(outcome.status);
    let asked = arguments.placement.asked_shares(&resolution.asked.memory);
    view.tell(asked.as_ref(), &outcome, status);
    if !arguments.quiet {
        output::say(view.text().trim_end());
    }
    write_report(arguments, &view)?;
    Ok(ExitStatus::OfProgram(status))
}

/// What is done to the program while it runs.
fn steering(arguments: &RunArguments, resolution: &Resolution) -> Steering {
    let moved = resolution.weights.as_ref().filter(|(_, by)| *by == WeightsBy::Moving);
    Steering {
        pinning: resolution.pinning.clone().map(|pinning| (pinning, resolution.start.cpus.clone())),
        weights: moved.map(|(weights, _)| weights.clone()),
        is_untraced: arguments.no_trace,
    }
}

/// As a shell tells it: the status, or 128 and the number of the signal.
fn number(status: ProgramStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

fn not_started(arguments: &RunArguments, view: &RunView) -> anyhow::Result<ExitStatus> {
    let mut view = view.clone();
    view.say_why_absent("the program was not started");
    output::say(view.text().trim_end());
    write_report(arguments, &view)?;
    Ok(ExitStatus::NotStarted)
}

fn write_report(arguments: &RunArguments, view: &RunView) -> anyhow::Result<()> {
    let Some(path) = &arguments.report else {
        return Ok(());
    };
    let mut json = serde_json::to_vec(view)?;
    json.push(b'\n');
    written_file::write(path, &json)
        .with_context(|| format!("cannot write the report '{}'", path.display()))
}
