//! `fleet`: many machines, measured by what starts them and compared by their folder.

use std::path::absolute;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;
use nearfar_document::{fleet_answer, fleet_drift_answer};
use nearfar_fleet::{
    Engine, FleetChoices, FleetComparison, FleetDrift, Launch, MANIFEST_SCHEMA, MachineName,
    MachineSummary, Manifest, RunFolder, ToldVerdict, Verdict, VerdictKind, expand_hosts,
};
use nearfar_measure::now_utc;
use nearfar_units::format_duration;

use super::fleet_report;
use super::run_member::name_of_this_machine;
use crate::args::{
    Arguments, FleetCommand, FleetCompareArguments, FleetDriftArguments, FleetPlanArguments,
    FleetVerdictArguments,
};
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(command: &FleetCommand) -> anyhow::Result<ExitStatus> {
    match command {
        FleetCommand::Plan(arguments) => plan(arguments),
        FleetCommand::Compare(arguments) => compare(arguments),
        FleetCommand::Verdict(arguments) => verdict(arguments),
        FleetCommand::Drift(arguments) => drift(arguments),
        FleetCommand::Report(arguments) => fleet_report::run(arguments),
    }
}

fn plan(arguments: &FleetPlanArguments) -> anyhow::Result<ExitStatus> {
    let machines = expand_hosts(&arguments.machines).context("--machines")?;
    let folder = absolute(&arguments.run)?;
    let Some(folder) = folder.to_str() else {
        bail!("the folder's name is not UTF-8: machines could not be told it")
    };
    let program = match &arguments.program {
        Some(program) => program.clone(),
        // That of the image, found by its name.
        None if arguments.engine == Engine::Kubernetes => "nearfar".into(),
        None => std::env::current_exe()?.display().to_string(),
    };
    let FleetPlanArguments { image, claim, engine, .. } = arguments;
    let of_containers = [("--image", image.is_some()), ("--claim", claim.is_some())];
    if let Some((option, _)) = of_containers.into_iter().find(|&(_, is_given)| is_given)
        && *engine != Engine::Kubernetes
    {
        bail!("{option} is for --engine kubernetes: leave it out, or start the run there");
    }
    if let Some(budget) = arguments.budget.filter(|budget| budget.as_secs() == 0) {
        bail!("--budget {}: give each machine a second or more", format_duration(budget));
    }
    check_arguments(&arguments.arguments)?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {folder}"))?;
    let path = RunFolder::new(folder.as_ref()).manifest();
    let planned = Manifest::read_at(&path).with_context(|| path.display().to_string())?;
    let is_new = planned.is_none();
    // Who is measured again is measured as before, but for as long as is asked: other cells would not be
    // compared.
    let before = planned.as_ref().map(|manifest| Task::of(&manifest.arguments));
    let asked = Task {
        budget: arguments.budget.map(|budget| budget.as_secs()),
        others: arguments.arguments.clone(),
    };
    if let Some(before) = &before
        && !asked.others.is_empty()
        && asked.others != before.others
    {
        bail!(
            "{} was planned with {} and not with '{}': leave the arguments out, or plan another run",
            path.display(),
            match before.others.as_slice() {
                [] => "no further arguments".into(),
                others => format!("'{}'", others.join(" ")),
            },
            asked.others.join(" ")
        );
    }
    let before = before.unwrap_or_default();
    let budget = asked.budget.or(before.budget).unwrap_or(BUDGET.as_secs());
    let mut of_task = vec!["--budget".into(), format!("{budget}s")];
    of_task.extend(if is_new { asked.others } else { before.others });
    let mut manifest = planned.unwrap_or_else(|| Manifest {
        schema: MANIFEST_SCHEMA.into(),
        created: now_utc(),
        engine: arguments.engine,
        arguments: of_task.clone(),
        machines: Vec::new(),
    });
    manifest.engine = arguments.engine;
    manifest.expect(&machines);
    manifest.write(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let verb = if is_new { "expects" } else { "expects now" };
    let expected = match manifest.machines.len() {
        1 => "1 machine".into(),
        several => format!("{several} machines"),
    };
    output::note(&format!("{} {verb} {expected}", path.display()));
    let launch = Launch {
        engine: arguments.engine,
        program,
        folder: folder.into(),
        machines,
        arguments: of_task,
        // Starting a container or a program from a shared disk takes its time.
        seconds: budget + 120,
        image: arguments.image.clone(),
        claim: arguments.claim.clone(),
    };
    output::print(&launch.text())?;
    Ok(ExitStatus::Done)
}

/// Refuses what every machine would refuse.
fn check_arguments(of_task: &[String]) -> anyhow::Result<()> {
    // As each machine is told, so that these are not given twice.
    let words = ["nearfar", "characterize", "--run", "DIR", "--machine", "n1"];
    let words = words.map(String::from).into_iter();
    let parsed = Arguments::try_parse_from(words.chain(of_task.iter().cloned()));
    let refused = parsed.err().map(|error| error.to_string());
    if let Some(first) = refused.as_deref().and_then(|text| text.lines().next()) {
        let why = first.trim_start_matches("error: ");
        bail!("behind --: {why}; give arguments of `nearfar characterize`");
    }
    Ok(())
}

/// What a machine of a run is told beside where it writes.
#[derive(Default)]
struct Task {
    budget: Option<u64>,
    others: Vec<String>,
}

impl Task {
    fn of(arguments: &[String]) -> Self {
        let budget = match arguments {
            [option, budget, ..] if option == "--budget" => budget.strip_suffix('s'),
            _ => None,
        };
        match budget.and_then(|budget| budget.parse().ok()) {
            Some(budget) => Self { budget: Some(budget), others: arguments[2..].to_vec() },
            None => Self { budget: None, others: arguments.to_vec() },
        }
    }
}

/// What each machine measures for where nothing else is asked.
const BUDGET: Duration = Duration::from_secs(120);

fn compare(arguments: &FleetCompareArguments) -> anyhow::Result<ExitStatus> {
    let folder = RunFolder::new(&arguments.folder);
    let target = arguments.target.as_deref().map(|path| -> anyhow::Result<_> {
        let record = record_file::read(path)?;
        Ok((path.display().to_string(), MachineSummary::of_target(&record)))
    });
    let target = target.transpose()?;
    let now = now_utc();
    let choices = FleetChoices {
        floor: arguments.floor,
        target: target.as_ref().map(|(path, summary)| (path.as_str(), summary)),
        now: &now,
    };
    let compared = FleetComparison::read(&folder, &choices)?;
    compared.write_verdicts(&folder)?;
    output::answer(arguments.form(), &compared, || fleet_answer(&compared))?;
    let has = |verdict| compared.with(verdict).next().is_some();
    Ok(if has(VerdictKind::Bad) {
        ExitStatus::CheckFailed
    } else if has(VerdictKind::Again) || has(VerdictKind::Unknown) {
        ExitStatus::NotKnown
    } else {
        ExitStatus::Done
    })
}

fn drift(arguments: &FleetDriftArguments) -> anyhow::Result<ExitStatus> {
    if let [one] = &arguments.folders[..] {
        bail!(
            "{} is one run, and what changed is seen between two or more: give their folders, the oldest and \
             the newest among them",
            one.display()
        );
    }
    let folders: Vec<RunFolder> =
        arguments.folders.iter().map(|folder| RunFolder::new(folder)).collect();
    let drift = FleetDrift::read(&folders, &now_utc())?;
    output::answer(arguments.form(), &drift, || fleet_drift_answer(&drift))?;
    Ok(if drift.worse().next().is_some() { ExitStatus::CheckFailed } else { ExitStatus::Done })
}

fn verdict(arguments: &FleetVerdictArguments) -> anyhow::Result<ExitStatus> {
    let machine = name_of_this_machine(arguments.machine.as_deref())?;
    let age = i64::try_from(arguments.max_age.as_secs()).unwrap_or(i64::MAX);
    let told = |machine: &MachineName| {
        let path = RunFolder::new(&arguments.folder).verdicts(machine);
        Verdict::tell(&path, machine, &now_utc(), age)
    };
    // Launchers name machines without their domain, which a host's own name may have.
    let short = machine.as_str().split_once('.').map(|(name, _)| name);
    let short = short.filter(|_| arguments.machine.is_none()).and_then(|name| name.parse().ok());
    let by_short = || short.as_ref().map(told).filter(|told| told.is_compared);
    let by_full = told(&machine);
    let found = if by_full.is_compared { by_full } else { by_short().unwrap_or(by_full) };
    let ToldVerdict { line, verdict, .. } = found;
    output::print(&format!("{line}\n"))?;
    Ok(match verdict {
        VerdictKind::Good => ExitStatus::Done,
        VerdictKind::Bad => ExitStatus::CheckFailed,
        VerdictKind::Again | VerdictKind::Unknown => ExitStatus::NotKnown,
    })
}
