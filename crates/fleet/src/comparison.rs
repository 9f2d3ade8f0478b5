//! A run's machines beside each other: who is missing or failed, which are alike, and who falls short of its peers.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use nearfar_record::Executor;
use nearfar_units::Unit;
use serde::Serialize;

use crate::cell_table::CellTable;
use crate::fleet_error::FleetError;
use crate::judgement::{Judgement, Shortfall, judge};
use crate::kind::MachineKind;
use crate::launch::Engine;
use crate::machine_name::MachineName;
use crate::manifest::Manifest;
use crate::parts::CellPlace;
use crate::peers::Peers;
use crate::reading::{Measured, Problem, read_measurements};
use crate::run_folder::{RunFolder, write_whole};
use crate::summary::MachineSummary;
use crate::verdict::{VERDICT_SCHEMA, Verdict, VerdictKind};

/// Fewer machines of a kind are compared with those of the nearest one.
const FEWEST_OF_KIND: usize = 8;

/// Fewer say nothing of each other: of three, any two may be the sound ones.
pub(crate) const FEWEST_PEERS: usize = 4;

/// A run's machines beside each other; `fleet compare DIR --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetComparison {
    pub schema: &'static str,
    /// The run's folder.
    pub folder: String,
    /// When it was compared: RFC 3339, UTC.
    pub compared: String,
    /// The record that takes the place of the peers' medians; null: they are compared with each other.
    pub target: Option<String>,
    /// What the run was to be started by; null: there is no manifest.
    pub engine: Option<Engine>,
    /// Machines that the manifest expects; null: there is none.
    pub expected: Option<usize>,
    /// Expected machines of which nothing is there.
    pub missing: Vec<MachineName>,
    /// What went wrong, by machine; a machine may be judged all the same.
    pub problems: Vec<Problem>,
    /// Machines by verdict.
    pub verdicts: BTreeMap<VerdictKind, usize>,
    /// Machines that share a kind and were judged together, the largest group first.
    pub groups: Vec<FleetGroup>,
    /// Every machine that is there or expected, by name.
    pub machines: Vec<FleetMachine>,
    /// A loss below this fraction does not matter.
    pub floor: f64,
}

/// Machines of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetGroup {
    /// Name of the kind.
    pub id: String,
    pub kind: MachineKind,
    /// Machines of it.
    pub machines: usize,
    /// The larger group that they are compared with, being too few themselves; null: with each other.
    pub joined: Option<JoinedGroup>,
    /// Why they are not compared; null where they are.
    pub not_compared: Option<String>,
    /// What not all of them have alike and what may explain differences: values by name, with how many machines.
    pub configuration: BTreeMap<String, BTreeMap<String, usize>>,
    /// Median and spread of each cell over machines; empty where these are compared with another group.
    pub cells: Vec<FleetCell>,
}

/// The group that a small one is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinedGroup {
    pub id: String,
    /// In what the kinds differ.
    pub differs_in: Vec<&'static str>,
}

/// A cell over the machines of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetCell {
    pub case: String,
    /// Its id without places, which cells of other places share.
    pub series: String,
    /// Number of the initiator that accesses; null: not one.
    pub from: Option<u32>,
    /// The node that is accessed; null: not one.
    pub to: Option<u32>,
    /// What its figures count.
    pub unit: Unit,
    /// Median over machines, GB/s, GFLOP/s or ns.
    pub median: f64,
    /// Whether it is ns, of which less is better.
    pub is_time: bool,
    /// Robust relative standard deviation over machines.
    pub spread: f64,
}

impl FleetCell {
    /// Who accesses what, in a few letters; the case itself where it is of no pair.
    pub fn place_words(&self) -> String {
        match (self.from, self.to) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            _ => self.case.clone(),
        }
    }
}

/// A machine of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetMachine {
    pub machine: MachineName,
    pub verdict: VerdictKind,
    /// Why nothing can be said; null where something is.
    pub unknown: Option<String>,
    /// Name of its group; null where its kind is not known.
    pub group: Option<String>,
    /// Measurements that it was judged by.
    pub measurements: usize,
    /// When the last of them ended.
    pub measured: Option<String>,
    /// How much of its peers' medians it has over all cells; null where it was not compared.
    pub ratio: Option<f64>,
    /// What falls short, most first.
    pub shortfalls: Vec<Shortfall>,
    /// Its last record, from the run's folder.
    pub record: Option<String>,
    /// How much of the peers' median each cell of its group has, in their order; NaN: not measured.
    #[serde(skip)]
    pub cells: Vec<f64>,
}

/// What a comparison is made by.
#[derive(Debug, Clone)]
pub struct FleetChoices<'a> {
    /// A loss below this fraction does not matter.
    pub floor: f64,
    /// A standard in place of the peers' medians, and its file.
    pub target: Option<(&'a str, &'a MachineSummary)>,
    /// Now: RFC 3339, UTC.
    pub now: &'a str,
}

/// Whether a machine has the same cells as those of a kind.
fn is_standard_of(target: &MachineSummary, kind: &MachineKind) -> bool {
    target.kind.as_ref().is_some_and(|own| own.differences(kind).is_some())
}

/// Machines of one kind.
struct Group {
    kind: MachineKind,
    members: Vec<Measured>,
}

impl FleetComparison {
    /// Reads a run's folder and compares its machines.
    ///
    /// # Errors
    /// Where the folder or its manifest cannot be read, or it holds nothing.
    pub fn read(folder: &RunFolder, choices: &FleetChoices<'_>) -> Result<Self, FleetError> {
        let path = folder.manifest();
        let manifest =
            Manifest::read_at(&path).map_err(|cause| FleetError::Manifest { path, cause })?;
        let read = read_measurements(folder, manifest.as_ref(), choices.now)
            .map_err(|cause| FleetError::Folder { folder: folder.path().into(), cause })?;
        if read.machines.is_empty() && manifest.is_none() {
            return Err(FleetError::Empty(folder.path().into()));
        }
        let compared =
            Self::of(folder.path(), manifest.as_ref(), read.machines, read.problems, choices);
        match choices.target {
            Some((name, target)) if !compared.has_a_kind_like(target) => {
                Err(FleetError::OtherTarget(name.into()))
            }
            _ => Ok(compared),
        }
    }

    /// Whether a standard is one for some of the machines; so where none could be judged.
    fn has_a_kind_like(&self, target: &MachineSummary) -> bool {
        let is_like = |group: &FleetGroup| is_standard_of(target, &group.kind);
        self.groups.is_empty() || self.groups.iter().any(is_like)
    }

    /// Compares machines by their summaries, those of each in the order of its measurements.
    pub fn of_summaries(
        machines: Vec<(MachineName, Vec<MachineSummary>)>,
        choices: &FleetChoices<'_>,
    ) -> Self {
        let measured = machines.into_iter().map(|(machine, runs)| Measured {
            kind: runs.last().and_then(|run| run.kind.clone()),
            machine,
            runs,
            folder: None,
            ended: None,
            why: None,
        });
        Self::of(Path::new(""), None, measured.collect(), Vec::new(), choices)
    }

    /// Compares machines that were read.
    pub(crate) fn of(
        folder: &Path,
        manifest: Option<&Manifest>,
        machines: Vec<Measured>,
        problems: Vec<Problem>,
        choices: &FleetChoices<'_>,
    ) -> Self {
        let mut compared = Self {
            schema: "nearfar.fleet-compare/1",
            folder: folder.display().to_string(),
            compared: choices.now.into(),
            target: choices.target.map(|(name, _)| name.into()),
            engine: manifest.map(|manifest| manifest.engine),
            expected: manifest.map(|manifest| manifest.machines.len()),
            missing: Vec::new(),
            problems,
            verdicts: BTreeMap::new(),
            groups: Vec::new(),
            machines: Vec::with_capacity(machines.len()),
            floor: choices.floor,
        };
        compared.miss(manifest, &machines);
        let mut groups: HashMap<MachineKind, Vec<Measured>> = HashMap::new();
        for machine in machines {
            match (&machine.kind, machine.unjudged()) {
                (Some(kind), None) => groups.entry(kind.clone()).or_default().push(machine),
                (kind, why) => {
                    let why = why.unwrap_or_else(|| "its kind is not known".into());
                    let group = kind.as_ref().map(MachineKind::id);
                    compared.machines.push(machine.unknown(group, why));
                }
            }
        }
        let mut groups: Vec<Group> =
            groups.into_iter().map(|(kind, members)| Group { kind, members }).collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.members.len()), group.kind.id()));
        compared.judge_groups(groups, choices);
        compared.machines.sort_by(|a, b| a.machine.cmp(&b.machine));
        for machine in &compared.machines {
            *compared.verdicts.entry(machine.verdict).or_default() += 1;
        }
        compared
    }

    fn miss(&mut self, manifest: Option<&Manifest>, machines: &[Measured]) {
        let there: std::collections::HashSet<&MachineName> =
            machines.iter().map(|it| &it.machine).collect();
        let expected = manifest.map_or(&[][..], |manifest| &manifest.machines);
        self.missing = expected.iter().filter(|name| !there.contains(name)).cloned().collect();
        self.machines.extend(self.missing.iter().map(|machine| FleetMachine {
            machine: machine.clone(),
            verdict: VerdictKind::Unknown,
            unknown: Some("is missing: it never began".into()),
            group: None,
            measurements: 0,
            measured: None,
            ratio: None,
            shortfalls: Vec::new(),
            record: None,
            cells: Vec::new(),
        }));
    }

    fn judge_groups(&mut self, groups: Vec<Group>, choices: &FleetChoices<'_>) {
        // Each group with those that join it, whose machines come last.
        let own: Vec<(MachineKind, usize)> =
            groups.iter().map(|it| (it.kind.clone(), it.members.len())).collect();
        let joins: Vec<Option<(usize, Vec<&'static str>)>> =
            own.iter().map(|(kind, count)| nearest(kind, *count, &own)).collect();
        let mut judged: Vec<Vec<(usize, Measured)>> = groups.iter().map(|_| Vec::new()).collect();
        for (position, group) in groups.into_iter().enumerate() {
            let configuration = group.configuration();
            let at = joins[position].as_ref().map_or(position, |(other, _)| *other);
            self.groups.push(FleetGroup {
                id: group.kind.id(),
                machines: group.members.len(),
                joined: joins[position].as_ref().map(|(other, differs_in)| JoinedGroup {
                    id: own[*other].0.id(),
                    differs_in: differs_in.clone(),
                }),
                not_compared: None,
                configuration,
                cells: Vec::new(),
                kind: group.kind,
            });
            judged[at].extend(group.members.into_iter().map(|member| (position, member)));
        }
        let family: f64 = judged.iter().map(|members| tests_of(members)).sum();
        for (position, members) in
            judged.into_iter().enumerate().filter(|(_, members)| !members.is_empty())
        {
            let has_target =
                choices.target.is_some_and(|(_, target)| is_standard_of(target, &own[position].0));
            let target = choices.target.filter(|_| has_target).map(|(_, target)| target);
            if members.len() < FEWEST_PEERS && target.is_none() {
                let why = format!(
                    "only {} of its kind, and no larger group is like it: {FEWEST_PEERS} are compared, \
                     or one with a standard (--target)",
                    members.len()
                );
                self.groups[position].not_compared = Some(why.clone());
                let id = self.groups[position].id.clone();
                self.machines.extend(
                    members.into_iter().map(|(_, it)| it.unknown(Some(id.clone()), why.clone())),
                );
                continue;
            }
            let own_count = own[position].1;
            self.judge_group(position, own_count, members, target, family, choices.floor);
        }
    }

    fn judge_group(
        &mut self,
        position: usize,
        own_count: usize,
        members: Vec<(usize, Measured)>,
        target: Option<&MachineSummary>,
        family: f64,
        floor: f64,
    ) {
        let kind = self.groups[position].kind.clone();
        // Those of the kind itself: what only machines that join it have is compared with nothing.
        let own = members.iter().take(own_count);
        let cells = CellTable::of(own.filter_map(|(_, member)| member.runs.first()));
        let machines: Vec<Vec<Vec<f64>>> = members
            .iter()
            .map(|(_, member)| member.runs.iter().map(|run| cells.gains(run)).collect())
            .collect();
        let places: Vec<CellPlace<'_>> = cells.places();
        let firsts: Vec<&[f64]> =
            machines.iter().take(own_count).map(|runs| runs[0].as_slice()).collect();
        let reference = target.map(|target| cells.gains(target));
        let peers = Peers::new(&places, &kind, &firsts, reference.as_deref());
        let judgements = judge(&peers, &machines, family, floor);
        self.groups[position].cells = (0..places.len())
            .map(|cell| FleetCell {
                case: places[cell].case.into(),
                series: peers.series_of(cell).into(),
                from: places[cell].from,
                to: places[cell].to,
                unit: cells.units[cell],
                median: if cells.units[cell] == Unit::Ns {
                    (-peers.centers[cell]).exp()
                } else {
                    peers.centers[cell].exp()
                },
                is_time: cells.units[cell] == Unit::Ns,
                spread: peers.cell_spreads[cell],
            })
            .collect();
        for (((of, member), runs), judgement) in members.into_iter().zip(&machines).zip(judgements)
        {
            let Judgement { verdict, shortfalls, ratio } = judgement;
            let last = runs.last().map_or(&[][..], Vec::as_slice);
            let cells = last
                .iter()
                .zip(&peers.centers)
                .map(|(gain, center)| (gain - center).exp())
                .collect();
            let is_short = verdict == VerdictKind::Unknown;
            self.machines.push(FleetMachine {
                verdict,
                unknown: is_short.then(|| "too few of its cells were measured".into()),
                group: Some(self.groups[of].id.clone()),
                measurements: runs.len(),
                measured: member.measured(),
                ratio: ratio.is_finite().then_some(ratio),
                shortfalls,
                record: member.record(),
                cells,
                machine: member.machine,
            });
        }
    }

    pub fn group_of(&self, machine: &FleetMachine) -> Option<&FleetGroup> {
        let id = machine.group.as_deref()?;
        self.groups.iter().find(|group| group.id == id)
    }

    /// How a machine's figures came about; `None` where its kind is not known.
    pub fn executor_of(&self, machine: &FleetMachine) -> Option<Executor> {
        self.group_of(machine).map(|group| group.kind.executor)
    }

    /// The verdict of each machine, as a health check reads it.
    pub fn verdict_of(&self, machine: &FleetMachine) -> Verdict {
        let why = match (&machine.unknown, machine.shortfalls.first()) {
            (Some(why), _) => why.clone(),
            (None, Some(shortfall)) => shortfall.words(),
            (None, None) => String::new(),
        };
        Verdict {
            schema: VERDICT_SCHEMA.into(),
            machine: machine.machine.clone(),
            verdict: machine.verdict,
            why,
            measured: machine.measured.clone(),
            simulated: self.executor_of(machine) == Some(Executor::Simulated),
            compared: self.compared.clone(),
        }
    }

    /// Leaves a verdict of each machine in the run's folder.
    ///
    /// # Errors
    /// Where a file of them cannot be written; what was there before stays.
    pub fn write_verdicts(&self, folder: &RunFolder) -> Result<(), FleetError> {
        let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        for machine in &self.machines {
            let path = folder.verdicts(&machine.machine);
            let lines = files.entry(path.clone()).or_default();
            serde_json::to_writer(&mut *lines, &self.verdict_of(machine))
                .map_err(|cause| FleetError::Verdict { path, cause: cause.into() })?;
            lines.push(b'\n');
        }
        for (path, lines) in files {
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| write_whole(&path, &lines))
                .map_err(|cause| FleetError::Verdict { path, cause })?;
        }
        Ok(())
    }

    /// Machines with a verdict, by name.
    pub fn with(&self, verdict: VerdictKind) -> impl Iterator<Item = &FleetMachine> + Clone {
        self.machines.iter().filter(move |machine| machine.verdict == verdict)
    }
}

impl Measured {
    /// A machine that nothing can be said of.
    fn unknown(self, group: Option<String>, why: String) -> FleetMachine {
        FleetMachine {
            verdict: VerdictKind::Unknown,
            unknown: Some(why),
            group,
            measurements: self.runs.len(),
            measured: self.measured(),
            ratio: None,
            shortfalls: Vec::new(),
            record: self.record(),
            cells: Vec::new(),
            machine: self.machine,
        }
    }
}

/// The group that a small one joins: one that has enough machines and differs in least.
fn nearest(
    kind: &MachineKind,
    count: usize,
    groups: &[(MachineKind, usize)],
) -> Option<(usize, Vec<&'static str>)> {
    if count >= FEWEST_OF_KIND {
        return None;
    }
    let near = groups.iter().enumerate().filter(|(_, (_, count))| *count >= FEWEST_OF_KIND);
    let near = near.filter_map(|(position, (other, _))| Some((position, kind.differences(other)?)));
    near.min_by_key(|(_, differences)| differences.len())
}

fn tests_of(members: &[(usize, Measured)]) -> f64 {
    // Each cell is tested by itself, and parts add some for each series.
    let most = members.iter().map(|(_, member)| member.runs[0].cells.len()).max();
    2.0 * most.unwrap_or_default() as f64 * members.len() as f64
}

impl Group {
    fn configuration(&self) -> BTreeMap<String, BTreeMap<String, usize>> {
        let mut values: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for run in self.members.iter().filter_map(|member| member.runs.last()) {
            for (name, value) in &run.configuration {
                let of_name = values.entry(name.clone()).or_default();
                *of_name.entry(value.clone()).or_default() += 1;
            }
        }
        values.retain(|_, of| of.len() > 1);
        values
    }
}
