//! Machines over runs: steps and slopes of each against its peers of the same day, so that what changes for all (a
//! kernel, a summer) is told once and of the fleet. A changed kind, configuration or piece of hardware closes a
//! machine's segment: what follows is compared with nothing before it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cell_table::CellTable;
use crate::change::{ChangeShape, Detector, find_changes, successive_spread};
use crate::comparison::FEWEST_PEERS;
use crate::fleet_error::FleetError;
use crate::kind::MachineKind;
use crate::machine_name::MachineName;
use crate::manifest::Manifest;
use crate::parts::{MachinePart, PartSort};
use crate::peers::Peers;
use crate::reading::{Measured, read_measurements};
use crate::run_folder::RunFolder;
use crate::summary::MachineSummary;

/// A shift of the peers' medians from one run to the next that is told.
const FLEET_SHIFT: f64 = 0.02;

/// Machines over several runs; `fleet drift DIR.. --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetDrift {
    pub schema: &'static str,
    /// The runs, the oldest first.
    pub runs: Vec<DriftRun>,
    /// What changed for all machines of a kind at once.
    pub fleet_shifts: Vec<FleetShift>,
    /// Machines that were measured in two runs at the least, by name.
    pub machines: Vec<MachineDrift>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriftRun {
    pub folder: String,
    /// When the first of its measurements began: RFC 3339, UTC.
    pub started: String,
    /// Machines of it that could be judged.
    pub machines: usize,
}

/// A shift of the medians of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetShift {
    /// Name of the kind.
    pub group: String,
    /// Position of the run that shows it first, from 0.
    pub run: usize,
    /// How much of what it was the median is over all cells.
    pub ratio: f64,
}

/// A machine over the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineDrift {
    pub machine: MachineName,
    /// How much of its peers' medians it has over all cells, by run; null: not measured, or it had no peers.
    pub ratios: Vec<Option<f64>>,
    /// Runs at which a new segment begins, and why.
    pub breaks: Vec<SegmentBreak>,
    /// What changed beyond chance, the most certain first.
    pub changes: Vec<PartChange>,
}

/// Where a machine became another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SegmentBreak {
    /// Position of the run, from 0.
    pub run: usize,
    /// What changed, with its values before and after.
    pub changed: Vec<String>,
}

/// A change of a part of a machine against its peers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartChange {
    pub part: MachinePart,
    pub shape: ChangeShape,
    /// Position of the first run after it, from 0.
    pub run: usize,
    /// Position of the run by which it was certain.
    pub found_at: usize,
    /// How much of what it was the part has by now.
    pub ratio: f64,
    /// Standardised size.
    pub score: f64,
}

/// One machine in one run.
struct Point {
    run: usize,
    summary: MachineSummary,
    /// ln of what it has of its peers, by part; without its cells by themselves.
    parts: BTreeMap<MachinePart, f64>,
    has_peers: bool,
}

impl FleetDrift {
    /// Reads runs and looks for changes.
    ///
    /// # Errors
    /// Where a folder or manifest cannot be read, or a folder is there twice.
    pub fn read(folders: &[RunFolder], now: &str) -> Result<Self, FleetError> {
        let mut seen = BTreeSet::new();
        let twice = folders.iter().find(|folder| {
            let path = folder.path();
            !seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()))
        });
        if let Some(folder) = twice {
            return Err(FleetError::Twice(folder.path().into()));
        }
        let mut runs = Vec::new();
        for folder in folders {
            let path = folder.manifest();
            let manifest =
                Manifest::read_at(&path).map_err(|cause| FleetError::Manifest { path, cause })?;
            let read = read_measurements(folder, manifest.as_ref(), now)
                .map_err(|cause| FleetError::Folder { folder: folder.path().into(), cause })?;
            let machines: Vec<Measured> =
                read.machines.into_iter().filter(|it| !it.runs.is_empty()).collect();
            if machines.is_empty() {
                return Err(FleetError::Empty(folder.path().into()));
            }
            runs.push((folder.path().display().to_string(), machines));
        }
        Ok(Self::of(runs))
    }

    fn of(runs: Vec<(String, Vec<Measured>)>) -> Self {
        let began =
            |machines: &[Measured]| machines.iter().map(|it| it.runs[0].started.clone()).min();
        let mut dated: Vec<(String, String, Vec<Measured>)> = runs
            .into_iter()
            .map(|(folder, machines)| (began(&machines).unwrap_or_default(), folder, machines))
            .collect();
        // Runs of one second stay in the order in which they are named.
        dated.sort_by(|a, b| a.0.cmp(&b.0));
        let mut drift = Self {
            schema: "nearfar.fleet-drift/1",
            runs: Vec::new(),
            fleet_shifts: Vec::new(),
            machines: Vec::new(),
        };
        let mut points: BTreeMap<MachineName, Vec<Point>> = BTreeMap::new();
        let mut before: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for (run, (started, folder, machines)) in dated.into_iter().enumerate() {
            drift.runs.push(DriftRun { folder, started, machines: machines.len() });
            let mut groups: BTreeMap<String, (MachineKind, Vec<Measured>)> = BTreeMap::new();
            for machine in machines {
                if let Some(kind) = machine.kind.clone() {
                    groups.entry(kind.id()).or_insert_with(|| (kind, Vec::new())).1.push(machine);
                }
            }
            for (id, (kind, members)) in groups {
                let centers = take_group(run, &kind, members, &mut points);
                if let Some(known) =
                    before.get(&id).filter(|known| !known.is_empty() && !centers.is_empty())
                {
                    drift.note_shift(id.clone(), run, known, &centers);
                }
                before.insert(id, centers);
            }
        }
        let of_runs = drift.runs.len();
        let segments: Vec<(MachineName, Vec<SegmentBreak>, Vec<Vec<Point>>)> = points
            .into_iter()
            .filter(|(_, points)| points.len() > 1)
            .map(|(machine, points)| {
                let (breaks, segments) = segments(points);
                (machine, breaks, segments)
            })
            .collect();
        let spreads = spreads(&segments);
        drift.machines = segments
            .into_iter()
            .map(|(machine, breaks, segments)| {
                of_machine(machine, breaks, &segments, &spreads, of_runs)
            })
            .collect();
        drift
    }

    fn note_shift(
        &mut self,
        group: String,
        run: usize,
        before: &BTreeMap<String, f64>,
        now: &BTreeMap<String, f64>,
    ) {
        let mut shifts: Vec<f64> =
            now.iter().filter_map(|(case, center)| Some(center - before.get(case)?)).collect();
        let shift = crate::peers::median_of(&mut shifts).unwrap_or_default();
        if shift.abs() > FLEET_SHIFT {
            self.fleet_shifts.push(FleetShift { group, run, ratio: shift.exp() });
        }
    }

    /// Machines with a change for the worse.
    pub fn worse(&self) -> impl Iterator<Item = &MachineDrift> {
        self.machines
            .iter()
            .filter(|machine| machine.changes.iter().any(|change| change.ratio < 1.0))
    }
}

/// Takes in the machines of a kind in one run, and gives the peers' medians (ln, more is better) by case; none of
/// too few machines.
fn take_group(
    run: usize,
    kind: &MachineKind,
    members: Vec<Measured>,
    points: &mut BTreeMap<MachineName, Vec<Point>>,
) -> BTreeMap<String, f64> {
    let table = CellTable::of(members.iter().flat_map(|member| &member.runs));
    let places = table.places();
    // The last measurement of a run is the one that stands.
    let gains: Vec<Vec<f64>> = members
        .iter()
        .map(|member| member.runs.last().map_or_else(Vec::new, |last| table.gains(last)))
        .collect();
    let all: Vec<&[f64]> = gains.iter().map(Vec::as_slice).collect();
    let has_peers = members.len() >= FEWEST_PEERS;
    let alone = vec![0.0; places.len()];
    let peers = Peers::new(&places, kind, &all, (!has_peers).then_some(alone.as_slice()));
    for (member, gains) in members.into_iter().zip(&gains) {
        let mut sums: BTreeMap<MachinePart, (f64, f64)> = BTreeMap::new();
        let statistics = peers.statistics(gains);
        for ((test, norm), statistic) in peers.tests.iter().zip(&peers.norms).zip(statistics) {
            // A mean of cells that are held down tells a large loss of a part as a small one, and gives
            // the other parts what they have not gained: of a part the median is taken.
            let effect = match test.part {
                MachinePart::Machine => statistic - norm.center,
                _ => peers.ratio(test, gains).ln(),
            };
            let is_known = statistic.is_finite() && effect.is_finite();
            if test.part.sort() != PartSort::Cell && is_known {
                let sum = sums.entry(test.part.clone()).or_default();
                *sum = (sum.0 + effect, sum.1 + 1.0);
            }
        }
        let parts = sums.into_iter().map(|(part, (sum, count))| (part, sum / count)).collect();
        let Measured { machine, mut runs, .. } = member;
        if let Some(summary) = runs.pop() {
            points.entry(machine).or_default().push(Point { run, summary, parts, has_peers });
        }
    }
    if !has_peers {
        return BTreeMap::new();
    }
    places.iter().zip(&peers.centers).map(|(place, center)| (place.case.into(), *center)).collect()
}

/// Cuts a machine's points where it became another one.
fn segments(points: Vec<Point>) -> (Vec<SegmentBreak>, Vec<Vec<Point>>) {
    let (mut breaks, mut segments) = (Vec::new(), Vec::<Vec<Point>>::new());
    for point in points {
        let last = segments.last().and_then(|segment| segment.last());
        let changed = last.map(|last| changed(last, &point)).unwrap_or_default();
        match segments.last_mut() {
            Some(segment) if changed.is_empty() => segment.push(point),
            _ => {
                if !changed.is_empty() {
                    breaks.push(SegmentBreak { run: point.run, changed });
                }
                segments.push(vec![point]);
            }
        }
    }
    (breaks, segments)
}

/// What differs of what both know.
fn changed(before: &Point, now: &Point) -> Vec<String> {
    let (a, b) = (&before.summary, &now.summary);
    let mut changed = Vec::new();
    if a.identity.differs_from(&b.identity) {
        changed.push("the hardware: another serial number or machine-id".into());
    }
    if let (Some(old), Some(new)) = (&a.kind, &b.kind)
        && old != new
    {
        let differences =
            old.differences(new).map_or_else(|| "CPUs or nodes".into(), |it| it.join(", "));
        changed.push(format!("the kind: {differences}"));
    }
    let settings = a
        .configuration
        .iter()
        .filter_map(|(name, old)| Some((name, old, b.configuration.get(name)?)));
    changed.extend(
        settings
            .filter(|(_, old, new)| old != new)
            .map(|(name, old, new)| format!("{name}: {old} -> {new}")),
    );
    if before.has_peers != now.has_peers {
        changed.push("whether it has peers".into());
    }
    changed
}

type Segments = [(MachineName, Vec<SegmentBreak>, Vec<Vec<Point>>)];

/// How far parts scatter from one run to the next, over all machines, and on how many differences that rests.
fn spreads(machines: &Segments) -> BTreeMap<PartSort, (f64, f64)> {
    let mut values: BTreeMap<PartSort, Vec<Vec<f64>>> = BTreeMap::new();
    for segment in machines.iter().flat_map(|(_, _, segments)| segments) {
        for part in segment[0].parts.keys() {
            values.entry(part.sort()).or_default().push(series_of(segment, part).1);
        }
    }
    values.into_iter().filter_map(|(sort, of)| Some((sort, successive_spread(&of)?))).collect()
}

/// Runs and values of a part in a segment.
fn series_of(segment: &[Point], part: &MachinePart) -> (Vec<usize>, Vec<f64>) {
    segment.iter().filter_map(|point| Some((point.run, *point.parts.get(part)?))).unzip()
}

fn of_machine(
    machine: MachineName,
    breaks: Vec<SegmentBreak>,
    segments: &[Vec<Point>],
    spreads: &BTreeMap<PartSort, (f64, f64)>,
    of_runs: usize,
) -> MachineDrift {
    let mut ratios = vec![None; of_runs];
    let mut changes = Vec::new();
    for segment in segments {
        for point in segment.iter().filter(|point| point.has_peers) {
            ratios[point.run] = point.parts.get(&MachinePart::Machine).map(|effect| effect.exp());
        }
        for part in segment[0].parts.keys() {
            let Some(&(spread, values)) = spreads.get(&part.sort()) else { continue };
            let (runs, series) = series_of(segment, part);
            // Half of the false alarms are the whole machine's.
            let share = match (part, segment[0].parts.len()) {
                (MachinePart::Machine, 1) => 1.0,
                (MachinePart::Machine, _) => 0.5,
                (_, parts) => 0.5 / (parts - 1).max(1) as f64,
            };
            let detector = Detector::new(spread, values, share);
            changes.extend(find_changes(&series, &detector).into_iter().map(|change| PartChange {
                part: part.clone(),
                shape: change.shape,
                run: runs[change.first],
                found_at: runs[change.found_at],
                ratio: change.size.exp(),
                score: change.score,
            }));
        }
    }
    changes.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
    MachineDrift { machine, ratios, breaks, changes }
}
