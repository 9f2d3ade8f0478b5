//! Machines by cells, each cell over machines, and machines over runs.

use std::collections::BTreeMap;

use nearfar_fleet::{
    FleetCell, FleetComparison, FleetDrift, FleetGroup, FleetMachine, VerdictKind,
};

use super::heat_map::HeatMap;
use super::lines::{Axis, Lines, Scale, Series, Style, Ticks};
use super::{Chart, Plot};
use crate::figure::{Figure, Unit};
use crate::subject::fleet_report::by_effect;
use crate::table::Tone;

/// The most cells that a page draws: those of the machines and series that fall short most.
const MOST_CELLS: usize = 64_000;

/// Machines that a chart has at most.
const MOST_MACHINES: usize = 1000;

/// Rows of the map: more are drawn for minutes, and cannot be told apart.
const MOST_ROWS: usize = 100;

/// Lines of machines over runs.
const MOST_LINES: usize = 40;

pub(crate) fn charts(found: &FleetComparison, drift: Option<&FleetDrift>) -> Vec<Chart> {
    let Some(group) = found.groups.iter().find(|group| !group.cells.is_empty()) else {
        return drift.and_then(drift_lines).into_iter().collect();
    };
    let of_group = |machine: &&FleetMachine| machine.cells.len() == group.cells.len();
    let machines: Vec<&FleetMachine> =
        by_effect(found).into_iter().filter(of_group).take(MOST_MACHINES).collect();
    let cells = worst_cells(group, &machines);
    let map = map(group, &machines, &cells);
    let spread = spread(group, &machines, &cells);
    [map, spread, drift.and_then(drift_lines)].into_iter().flatten().collect()
}

/// Positions of the cells that are drawn, in their order: whole series, those first in which a machine falls
/// shortest.
fn worst_cells(group: &FleetGroup, machines: &[&FleetMachine]) -> Vec<usize> {
    let most = (MOST_CELLS / machines.len().max(1)).max(1);
    let mut series: BTreeMap<&str, (f64, Vec<usize>)> = BTreeMap::new();
    for (position, cell) in group.cells.iter().enumerate() {
        let least =
            machines.iter().map(|machine| machine.cells[position]).fold(f64::INFINITY, f64::min);
        let entry = series.entry(&cell.series).or_insert((f64::INFINITY, Vec::new()));
        entry.0 = entry.0.min(least);
        entry.1.push(position);
    }
    let mut series: Vec<(f64, Vec<usize>)> = series.into_values().collect();
    series.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut cells: Vec<usize> =
        series.into_iter().flat_map(|(_, cells)| cells).take(most).collect();
    cells.sort_unstable();
    cells
}

/// Percent that a cell is below its peers' median; what is better is above 0 too, by the other sign.
fn below(ratio: f64) -> f64 {
    100.0 * (1.0 - ratio)
}

/// Short enough for a column.
fn place(cell: &FleetCell) -> String {
    match (cell.from, cell.to) {
        (Some(from), Some(to)) => format!("{from}→{to}"),
        _ => cell.place_words(),
    }
}

fn map(group: &FleetGroup, machines: &[&FleetMachine], cells: &[usize]) -> Option<Chart> {
    let of_all = machines.len();
    let machines = &machines[..of_all.min(MOST_ROWS)];
    let mut map = HeatMap::new(
        ["machine", "who accesses → node of the memory"],
        &["Cells"],
        &[("below its peers", "%", true)],
    );
    let mut series: Vec<&str> = Vec::new();
    for &cell in cells {
        if !series.contains(&group.cells[cell].series.as_str()) {
            series.push(&group.cells[cell].series);
        }
    }
    let rows: Vec<String> = machines.iter().map(|machine| machine.machine.to_string()).collect();
    for name in series {
        let of_series: Vec<usize> =
            cells.iter().copied().filter(|&cell| group.cells[cell].series == name).collect();
        let columns = of_series.iter().map(|&cell| place(&group.cells[cell])).collect();
        let figures = |row: usize, column: usize| {
            let ratio = machines[row].cells[of_series[column]];
            ratio.is_finite().then(|| Figure::new(below(ratio), None, Unit::One))
        };
        map.fill(&[name.to_string()], &rows, columns, figures);
    }
    map.explain_blanks(Some("the machine did not measure it".into()));
    Chart::of(
        "fleet-map",
        "fleet",
        "Machines by cells: how far below the peers' median",
        format!(
            "A row for each of {} of {of_all} machines of kind {}, those that fall short most, on top \
             the first; a column for each pair: 0→1 is what the CPUs of initiator 0 do with the memory of \
             node 1. The darker, the further below the median of all.",
            machines.len(),
            group.id
        ),
        Plot::HeatMap(map),
    )
}

fn spread(group: &FleetGroup, machines: &[&FleetMachine], cells: &[usize]) -> Option<Chart> {
    let x = Axis::new("machines, the slowest left", Scale::FromZero).marked_at(Ticks::Counts);
    let y = Axis::new("of the peers' median", Scale::Near);
    let mut lines = Lines::new(x, y, &["Cell"]);
    let least = |cell: &usize| {
        let ratios = machines.iter().map(|machine| machine.cells[*cell]);
        ratios.filter(|ratio| ratio.is_finite()).fold(f64::INFINITY, f64::min)
    };
    // What is shown before anything is chosen is where a machine falls short most.
    let mut cells = cells.to_vec();
    cells.sort_by(|one, other| least(one).total_cmp(&least(other)));
    for cell in cells {
        let mut ordered: Vec<(&FleetMachine, f64)> = machines
            .iter()
            .map(|machine| (*machine, machine.cells[cell]))
            .filter(|(_, ratio)| ratio.is_finite())
            .collect();
        ordered.sort_by(|a, b| a.1.total_cmp(&b.1));
        let of = |tone: Tone| match tone {
            Tone::Worse => "bad",
            Tone::Unclear => "again",
            _ => "others",
        };
        for tone in [Tone::Worse, Tone::Unclear, Tone::Same] {
            let mut series = Series::new(of(tone), Style::Points).toned(tone);
            for (place, (machine, ratio)) in
                ordered.iter().enumerate().filter(|(_, (it, _))| tone_of(it) == tone)
            {
                series.point(
                    (place + 1) as f64,
                    &Figure::new(*ratio, None, Unit::One),
                    machine.machine.as_str(),
                );
            }
            lines.add(&[group.cells[cell].case.clone()], series);
        }
    }
    Chart::of(
        "fleet-spread",
        "fleet",
        "A cell over all machines",
        "A point for each machine, ordered by how much of the peers' median it has in the chosen cell; pointing at one \
         names its machine.",
        Plot::Lines(lines),
    )
}

fn tone_of(machine: &FleetMachine) -> Tone {
    match machine.verdict {
        VerdictKind::Bad => Tone::Worse,
        VerdictKind::Again => Tone::Unclear,
        VerdictKind::Good | VerdictKind::Unknown => Tone::Same,
    }
}

fn drift_lines(drift: &FleetDrift) -> Option<Chart> {
    let x = Axis::new("run", Scale::FromZero).marked_at(Ticks::Counts);
    let y = Axis::new("of the peers' median, all cells", Scale::Near);
    let mut lines = Lines::new(x, y, &[]);
    let mut machines: Vec<_> = drift.machines.iter().collect();
    machines.sort_by_key(|machine| machine.changes.is_empty());
    for (number, machine) in machines.into_iter().take(MOST_LINES).enumerate() {
        let mut series =
            Series::new(machine.machine.as_str(), Style::Line).looking([number, number]);
        series.hidden_first(machine.changes.is_empty() && number > 5);
        for (run, ratio) in machine.ratios.iter().enumerate() {
            let Some(ratio) = ratio else { continue };
            let of_break = machine.breaks.iter().find(|one| one.run == run);
            let changed = of_break
                .map_or_else(String::new, |one| format!("\nchanged: {}", one.changed.join("; ")));
            let about = format!("{}, {}{changed}", machine.machine, drift.runs[run].started);
            series.point((run + 1) as f64, &Figure::new(*ratio, None, Unit::One), &about);
        }
        lines.add(&[], series);
    }
    Chart::of(
        "fleet-drift-lines",
        "fleet-drift",
        "Machines over runs",
        "A line for each machine, those that changed first: how much it has of the median of its peers in each run.",
        Plot::Lines(lines),
    )
}
