//! Why a model says nothing of a record, and which command would change that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use nearfar_record::{Absence, Absent, Executor, Experiment, Reason, ReasonCode, Record, Suite};
use nearfar_units::shell_path;
use serde::Serialize;

/// Why a model says nothing of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{why}")]
pub struct Inapplicable {
    /// In a sentence without its full stop.
    pub why: String,
    /// The command that would add what is missing; null where nothing can on this machine.
    pub remedy: Option<String>,
}

impl Inapplicable {
    /// Nothing can change it on this machine.
    pub fn here(why: impl Into<String>) -> Self {
        Self { why: why.into(), remedy: None }
    }

    /// The command that would change it, behind a message; empty where none would.
    pub fn tried(&self) -> String {
        self.remedy.as_ref().map_or_else(String::new, |command| format!("; try `{command}`"))
    }

    /// Why there is no model of that name, and what to try.
    pub fn without_model(&self, name: &str) -> String {
        format!("no {name} model: {self}{}", self.tried())
    }

    /// Why a question has no answer, and what to try.
    pub fn without_answer(&self, question: &impl fmt::Display) -> String {
        format!("{question} cannot be told: {self}{}", self.tried())
    }

    /// Measuring these experiments in a suite would change it, where the machine has what they measure.
    pub fn until_measured(
        record: &Record,
        experiments: &[Experiment],
        suite: Suite,
        why: impl Into<String>,
    ) -> Self {
        let why = why.into();
        // What has cases can be measured.
        let mut missing = experiments.iter().filter(|&&experiment| !has_cases(record, experiment));
        match missing.find_map(|&experiment| lacking_part(record, experiment)) {
            Some(lacking) => Self::here(format!("{why}: {lacking}")),
            None => {
                // A new record holds what this one does as well: models may need both.
                let held = &record.header.inputs.experiments;
                let is_new = file_that_grows(record).is_none();
                let is_wanted =
                    |it: &Experiment| experiments.contains(it) || is_new && held.contains(it);
                let all: Vec<Experiment> =
                    Experiment::OF_MACHINE.into_iter().filter(is_wanted).collect();
                Self { why, remedy: Some(measuring_command(record, &all, suite)) }
            }
        }
    }

    /// The record has no figures of an experiment that the model needs: what it says of that.
    pub fn without(record: &Record, experiment: Experiment) -> Self {
        let missing = |why: String, suite| Self::until_measured(record, &[experiment], suite, why);
        if !record.header.inputs.experiments.contains(&experiment) {
            return missing(format!("the record holds no {experiment}"), Suite::Standard);
        }
        let Some(absent) = commonest_absence(record, experiment) else {
            let why = format!("{experiment} was begun, and is not finished");
            return Self { why, remedy: Some(finishing_command(record, experiment)) };
        };
        let verb = match absent.absence {
            Absence::Omitted => "left out",
            Absence::Refused => "refused",
        };
        let Reason { code, text } = &absent.reason;
        let why = format!("the record holds no {experiment}: {verb}, as {text}");
        match code {
            code if is_lasting(*code) => Self::here(why),
            ReasonCode::FullSuiteOnly => missing(why, Suite::Full),
            _ => missing(why, Suite::Standard),
        }
    }
}

/// Whether no measurement on this machine changes it.
fn is_lasting(code: ReasonCode) -> bool {
    use ReasonCode::{
        NoDevice, NoVariant, OneCore, OneInitiator, OneMemoryKind, OneNode, OnePackage,
    };
    let lasting = [OneNode, OneInitiator, OnePackage, OneCore, OneMemoryKind, NoDevice, NoVariant];
    lasting.contains(&code)
}

/// Whether it is why an experiment has no figures, which has cases still to come or not. What was left out
/// for others of its cases is not: a variant for a faster one, nor anything while there are cases to come.
fn explains(absent: &Absent, is_finished: bool, is_open: bool) -> bool {
    match absent.reason.code {
        ReasonCode::ScreenedOut => false,
        ReasonCode::UnmeasuredInput => is_finished,
        code => absent.absence == Absence::Refused || is_lasting(code) || !is_open,
    }
}

/// Whether cases of an experiment are neither measured nor absent, and nobody has ended the record.
fn is_open(record: &Record, experiment: Experiment) -> bool {
    if record.finished.is_some() {
        return false;
    }
    let samples = record.samples.iter().map(|sample| sample.case.as_str());
    let absent = record.absent.iter().map(|absent| absent.case.as_str());
    let done: BTreeSet<&str> = samples.chain(absent).collect();
    let of_experiment = record
        .cases
        .iter()
        .filter(|case| case.coordinates.iter().any(|it| it.experiment() == experiment));
    let mut of_experiment = of_experiment.map(|case| case.id.as_str());
    of_experiment.any(|case| !done.contains(case))
}

/// What most of an experiment's cases are absent for; of equally many reasons the first by its words.
fn commonest_absence(record: &Record, experiment: Experiment) -> Option<&Absent> {
    let mut counts: BTreeMap<&str, (usize, &Absent)> = BTreeMap::new();
    let is_of = |absent: &&Absent| {
        let rest = absent.case.strip_prefix(experiment.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let (is_finished, is_open) = (record.finished.is_some(), is_open(record, experiment));
    for absent in record.absent.iter().filter(is_of) {
        if explains(absent, is_finished, is_open) {
            counts.entry(&absent.reason.text).or_insert((0, absent)).0 += 1;
        }
    }
    let commonest = counts.into_values().rev().max_by_key(|(count, _)| *count);
    commonest.map(|(_, first)| first)
}

fn has_cases(record: &Record, experiment: Experiment) -> bool {
    let places = record.cases.iter().flat_map(|case| &case.coordinates);
    places.into_iter().any(|place| place.experiment() == experiment)
}

/// What a record's machine lacks, so that an experiment measures nothing there in any suite.
fn lacking_part(record: &Record, experiment: Experiment) -> Option<&'static str> {
    let machine = &record.header.machine;
    let nodes = machine.nodes.iter().filter(|node| node.has_memory());
    let kinds = nodes.clone().map(|node| node.kind).collect::<BTreeSet<_>>().len();
    let (nodes, initiators) = (nodes.count(), machine.initiators().len());
    match experiment {
        Experiment::Devices if !has_devices(record) => {
            Some("the machine has no device that data could be copied to")
        }
        Experiment::Exchange if !has_hand_overs(record) => {
            Some("the file of this simulated machine says nothing of hand-overs ([exchange])")
        }
        Experiment::Network if record.header.simulation.is_some() => {
            Some("a simulated machine has no other machine that messages could go to")
        }
        Experiment::Links if machine.packages.len() < 2 => Some("the machine has one package"),
        Experiment::Sharing if initiators < 2 => {
            Some("the machine has one initiator, so that no cores are remote to any memory")
        }
        Experiment::Hybrid if nodes < 2 => Some("the machine has one memory node"),
        Experiment::Hybrid if initiators < 2 && kinds < 2 => {
            Some("the machine's memory nodes are near all of its CPUs and of one kind")
        }
        _ => None,
    }
}

/// Whether data can be copied to a device, as far as the record tells.
fn has_devices(record: &Record) -> bool {
    let header = &record.header;
    match (&header.simulation, &header.inputs.devices) {
        (_, Some(found)) => !found.accelerators.is_empty(),
        (Some(simulation), None) => {
            let machine = nearfar_flow::parse_machine(&simulation.name, &simulation.file);
            machine.is_ok_and(|machine| !machine.devices.is_empty())
        }
        // Nobody has asked the drivers: OpenCL's devices need not be on the bus.
        (None, None) => true,
    }
}

/// Whether the machine answers how long hand-overs of a line take: a measured one does.
fn has_hand_overs(record: &Record) -> bool {
    let Some(simulation) = &record.header.simulation else { return true };
    let machine = nearfar_flow::parse_machine(&simulation.name, &simulation.file);
    machine.is_ok_and(|machine| !machine.exchange.ns.is_empty())
}

/// The file to which more can be written; `None` where it is not known, and where the record's host is not.
fn file_that_grows(record: &Record) -> Option<&Path> {
    record.file.as_deref().filter(|_| !record.header.is_of_no_host())
}

/// Whether a record's own plan has these experiments, and nobody has ended it.
fn is_under_way(record: &Record, experiments: &[Experiment], suite: Suite) -> bool {
    let inputs = &record.header.inputs;
    let is_planned = experiments.iter().all(|it| inputs.experiments.contains(it));
    file_that_grows(record).is_some()
        && record.finished.is_none()
        && inputs.suite == suite
        && is_planned
}

/// The command that measures experiments of a record's machine: what goes on with the record, where that
/// is not finished and was to hold them, else [`adding_command`].
pub fn measuring_command(record: &Record, experiments: &[Experiment], suite: Suite) -> String {
    match is_under_way(record, experiments, suite) {
        true => resuming_command(record),
        false => adding_command(record, experiments, suite),
    }
}

/// The command that measures experiments of a record's machine: into the record, where its file and host
/// are known, else into a new one. It takes further options.
pub fn adding_command(record: &Record, experiments: &[Experiment], suite: Suite) -> String {
    let names: Vec<&str> = experiments.iter().map(|experiment| experiment.as_str()).collect();
    let names = match experiments.contains(&Experiment::Network) {
        true => format!("{} --peer HOST --token-file FILE", names.join(",")),
        false => names.join(","),
    };
    if let Some(file) = file_that_grows(record) {
        let suite = if record.header.inputs.suite == suite {
            String::new()
        } else {
            format!(" --suite {}", suite.as_str())
        };
        return format!(
            "nearfar characterize --append {}{suite} --only {names}",
            shell_path(&file.display().to_string())
        );
    }
    let machine = match (&record.header.simulation, record.header.executor) {
        (Some(simulation), Executor::Simulated) => {
            // A machine from a file is not known by its name alone.
            let known = nearfar_flow::builtin_text(&simulation.name);
            let name = if known == Some(&simulation.file) { &simulation.name } else { "FILE.toml" };
            format!(" --simulate {name}")
        }
        _ => String::new(),
    };
    format!("nearfar characterize{machine} --suite {} --only {names}", suite.as_str())
}

/// A command on a record with what stands behind that: without a name where it is the newest, else with
/// its file's; RECORD stands for one that came another way.
pub fn command_on(record: &Record, command: &str, options: &str) -> String {
    let name = match &record.file {
        _ if record.is_newest => String::new(),
        Some(file) => shell_path(&file.display().to_string()),
        None => "RECORD".into(),
    };
    let words = ["nearfar", command, &name, options];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The command that models a record; `None` of links and mixes alone, which say something beside other figures
/// only.
pub fn modelling_command(record: &Record) -> Option<String> {
    let mut places = record.cases.iter().flat_map(|case| &case.coordinates);
    let is_modelled =
        places.any(|it| !matches!(it.experiment(), Experiment::Links | Experiment::Mixes));
    is_modelled.then(|| command_on(record, "model", ""))
}

/// The command that advises by a record, where it has what advice is made of.
pub fn advising_command(record: &Record) -> Option<String> {
    let pairs = record
        .cases
        .iter()
        .filter(|case| case.coordinates.iter().any(|it| it.experiment() == Experiment::Pairs));
    let pairs: BTreeSet<&str> = pairs.map(|case| case.id.as_str()).collect();
    let is_measured = record.samples.iter().any(|sample| pairs.contains(sample.case.as_str()));
    is_measured.then(|| command_on(record, "advise", ""))
}

/// The command that measures the rest of an experiment that was begun.
fn finishing_command(record: &Record, experiment: Experiment) -> String {
    match record.header.is_of_no_host() {
        true => adding_command(record, &[experiment], record.header.inputs.suite),
        false => resuming_command(record),
    }
}

/// The command that goes on with a record.
pub fn resuming_command(record: &Record) -> String {
    let out = record
        .file
        .as_ref()
        .map(|file| format!(" --out {}", shell_path(&file.display().to_string())));
    format!("nearfar characterize --resume{}", out.unwrap_or_default())
}
