//! `advise`: where a program's threads and pages belong.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_advise::{
    Advice, AdviceError, Demand, InstanceQuestion, Ranking, advise_device, advise_each,
    arrange_instances,
};
use nearfar_document::{
    AdviceProfile, AdvisedDevice, AdvisedPlacement, ArrangedInstances, TakenFigure, run_answer,
};
use nearfar_model::{RecordFigures, load_share, profiled_demand};
use nearfar_place::{Placement, Verdict, Verification};
use nearfar_record::Record;

use super::advised_placement::{keep_usable_nodes, refuse_elsewhere, worth_it};
use super::compared_runs::{Ended, compare};
use super::run::Placed;
use crate::args::AdviseArguments;
use crate::exit_status::ExitStatus;
use crate::output::AnswerForm;
use crate::progress::Waiting;
use crate::{output, record_file};

pub fn run(arguments: &AdviseArguments) -> anyhow::Result<ExitStatus> {
    if [&arguments.record, &arguments.profile].iter().all(|it| is_input(it.as_deref())) {
        bail!("the record and the profile cannot both be standard input; name a file for one");
    }
    let (path, mut record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    keep_usable_nodes(&mut record);
    if let Some(device) = &arguments.device {
        return for_device(arguments, &record, device);
    }
    if arguments.instances {
        let asked = InstanceQuestion {
            threads: arguments.demand.threads,
            load_share: arguments.demand.load_share,
            data_bytes: arguments.demand.working_set.map(|bytes| bytes.0),
            step: None,
        };
        return tell_instances(&record, &asked, arguments.form());
    }
    if arguments.verify {
        refuse_elsewhere(&path, &record)?;
    }
    let mut demand = arguments.demand.demand(arguments.initiators.clone().map(|it| it.0));
    let profile = match (&arguments.profile, &arguments.program) {
        (Some(file), _) => Some(take_profile(file, &record, &mut demand)?),
        (None, Some(file)) => Some(take_program(file, &record, &mut demand)?),
        (None, None) => None,
    };
    let patterns = arguments.demand.patterns();
    let waiting = Waiting::new("searching placements", None);
    let each = advise_each(&RecordFigures::new(&record), &demand, &patterns);
    drop(waiting);
    let each = each.map_err(|error| no_advice(&error))?;
    let most = (!arguments.full).then_some(arguments.top);
    let mut advised = AdvisedPlacement::new(&record, &demand, &each, most);
    advised.profile = profile;
    let mut status = ExitStatus::Done;
    if arguments.verify {
        // Where no use is named, what data that any thread uses gains is tried out.
        let last = each.last().context("no use of the data was looked at")?;
        match verified(arguments, last)? {
            Tried::Compared(found) => {
                if found.verdict == Verdict::Slower {
                    status = ExitStatus::CheckFailed;
                }
                advised.verification = Some(found);
            }
            Tried::Nothing(why) => advised.not_verified = Some(why.into()),
            Tried::Ended(ended) => return Ok(ended),
        }
    }
    let answer = || match arguments.launcher {
        Some(launcher) => advised.launcher_answer(launcher),
        None => advised.answer(),
    };
    output::answer(arguments.form(), &advised, answer)?;
    Ok(status)
}

fn no_advice(error: &AdviceError) -> anyhow::Error {
    match error {
        AdviceError::NoModel(without) => anyhow!("{error}{}", without.tried()),
        AdviceError::Demand(demand) => anyhow!("{demand}"),
    }
}

/// What instances of a program get.
pub(super) fn tell_instances(
    record: &Record,
    asked: &InstanceQuestion,
    form: AnswerForm,
) -> anyhow::Result<ExitStatus> {
    let waiting = Waiting::new("fitting the model", None);
    let found = arrange_instances(&RecordFigures::new(record), asked);
    drop(waiting);
    let found = found.map_err(|error| no_advice(&error))?;
    let view = ArrangedInstances::new(record, asked, found);
    output::answer(form, &view, || view.answer())
}

fn is_input(named: Option<&Path>) -> bool {
    named.is_some_and(|path| path.as_os_str() == "-")
}

/// Fills a demand from a profile, where the command line does not say it.
fn take_profile(
    file: &Path,
    record: &Record,
    demand: &mut Demand,
) -> anyhow::Result<AdviceProfile> {
    let profile = record_file::read_profile(file)?;
    let machine = &record.header.machine;
    let initiators = machine.initiators();
    let is_used =
        |initiator: u32| demand.initiators.as_ref().is_none_or(|it| it.contains(&initiator));
    let cpus = || initiators.iter().filter(|it| is_used(it.index)).map(|it| &it.cpus);
    let cores = machine.cores.iter().filter(|core| cpus().any(|it| it.intersects(&core.cpus)));
    let mut told = profiled_demand(&profile, &initiators, cores.count());
    if record.header.host != profile.host {
        told.unknown.insert(
            0,
            format!(
                "It was watched on {} and the record is of {}.",
                profile.host, record.header.host
            ),
        );
    }
    let mut taken = Vec::new();
    if demand.threads.is_none() && told.threads.is_some() {
        (demand.threads, taken) = (told.threads, vec![TakenFigure::Threads]);
    }
    if demand.working_set_bytes.is_none() && told.working_set_bytes.is_some() {
        demand.working_set_bytes = told.working_set_bytes;
        taken.push(TakenFigure::WorkingSetBytes);
    }
    if told.access.is_some() {
        demand.seen.clone_from(&told.access);
        taken.push(TakenFigure::Accesses);
    }
    Ok(AdviceProfile::new(&profile, &told, taken))
}

/// Fills a demand from the profile of a program beside loads.
fn take_program(
    file: &Path,
    record: &Record,
    demand: &mut Demand,
) -> anyhow::Result<AdviceProfile> {
    let profile = record_file::read_program_profile(file)?;
    let mut taken = Vec::new();
    let threads = u32::try_from(profile.cpus.len()).ok();
    let cores = record.header.machine.cores.len();
    if demand.threads.is_none()
        && let Some(threads) = threads.filter(|&it| it as usize <= cores)
    {
        demand.threads = Some(threads);
        taken.push(TakenFigure::Threads);
    }
    if demand.load_share.is_none() {
        demand.load_share = Some(load_share(&profile.parts));
        taken.push(TakenFigure::LoadShare);
    }
    Ok(AdviceProfile::of_program(&profile, record, taken))
}

/// What became of trying out what is recommended.
enum Tried {
    Compared(Verification),
    /// Why there is nothing to compare.
    Nothing(&'static str),
    /// The program did not run to its end, which is said.
    Ended(ExitStatus),
}

/// Runs the program in turns under what is recommended for one process and without it.
fn verified(arguments: &AdviseArguments, advice: &Advice) -> anyhow::Result<Tried> {
    let ranking = match advice {
        Advice::Ranked(ranking) => ranking,
        Advice::OneNode(_) => {
            return Ok(Tried::Nothing("there is one placement"));
        }
    };
    let best = worth_it(ranking);
    let Some((best, policy)) = best.and_then(|best| Some((best, best.policies.first()?))) else {
        let why = if is_by_initiator(ranking) {
            "what is recommended is for a process on each initiator, and no placement of a single \
             process gains as much as can be told"
        } else {
            "what is recommended is what happens without advice"
        };
        return Ok(Tried::Nothing(why));
    };
    let placement = Placement::Memory(policy.clone());
    // Threads on all cores are printed without CPUs, and tried so.
    let cpus = best.bindings().first().map(|binding| binding.cpus.clone());
    let cpus = cpus.filter(|_| !best.team.is_whole);
    let placed = Placed::at(placement, cpus.as_ref(), true);
    let mut report = placed.report();
    match compare(&placed, &arguments.command, false) {
        Ok((outcome, verification)) => {
            placed.tell(&mut report, outcome);
            report.verification = Some(verification.clone());
            // What could not be had, and where its pages were.
            output::say_answer(&run_answer(&report), false);
            Ok(Tried::Compared(verification))
        }
        Err(Ended::Failed(status)) => Ok(Tried::Ended(ExitStatus::OfProgram(status))),
        Err(Ended::Interrupted(signal)) => Ok(Tried::Ended(ExitStatus::Interrupted(signal))),
        Err(Ended::NotLaunched(why)) => bail!("the program was not started: {why}"),
        Err(Ended::Unknown(error)) => Err(error),
    }
}

fn is_by_initiator(ranking: &Ranking) -> bool {
    let best = ranking.recommended.and_then(|it| ranking.candidates.get(it));
    best.is_some_and(|best| best.policies.len() > 1)
}

/// The memory nodes for copies to and from a device, or messages through it.
fn for_device(
    arguments: &AdviseArguments,
    record: &Record,
    device: &str,
) -> anyhow::Result<ExitStatus> {
    let advice = advise_device(&RecordFigures::new(record), device)
        .map_err(|error| anyhow!(error.of(record)))?;
    let advised = AdvisedDevice::new(record, advice);
    let machine = &record.header.machine;
    output::answer(arguments.form(), &advised, || match arguments.launcher {
        Some(launcher) => advised.launcher_answer(machine, launcher),
        None => advised.answer(),
    })
}
