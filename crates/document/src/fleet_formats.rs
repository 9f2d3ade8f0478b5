//! A run of many machines for other programs: CSV, metrics for Prometheus, and the JSON Lines of SuperBench.

use std::io::{self, Write};

use nearfar_fleet::{FleetCell, FleetComparison, FleetGroup, FleetMachine, VerdictKind};
use nearfar_record::Executor;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::csv::output_error;
use crate::frame::{CellValue, ColumnKind, FrameColumn, column, put_row};
use crate::metrics::Labels;

/// A machine's cells with their figures: GB/s, GFLOP/s or ns.
fn cells<'a>(
    found: &'a FleetComparison,
    machine: &'a FleetMachine,
) -> impl Iterator<Item = (&'a FleetCell, f64)> {
    let id = machine.group.as_deref();
    let own = found.group_of(machine);
    let joined = own.and_then(|own| own.joined.as_ref()).map(|joined| joined.id.as_str());
    let group: Option<&FleetGroup> =
        found.groups.iter().find(|group| Some(group.id.as_str()) == joined.or(id));
    let cells = group.map_or(&[][..], |group| &group.cells);
    let measured = cells.iter().zip(&machine.cells).filter(|(_, ratio)| ratio.is_finite());
    measured.map(|(cell, ratio)| {
        (cell, if cell.is_time { cell.median / ratio } else { cell.median * ratio })
    })
}

/// A cell of a machine: what it gives, and how much of its peers' median that is.
#[derive(Debug, Serialize)]
struct FleetRow<'a> {
    machine: &'a str,
    kind: &'a str,
    verdict: VerdictKind,
    measured: &'a str,
    case: &'a str,
    unit: &'static str,
    figure: f64,
    of_peers_median: f64,
    from: Option<u32>,
    to: Option<u32>,
    executor: Option<Executor>,
}

/// The columns of a run's cells: `figure` is in its row's `unit`, and `from` and `to` are an initiator and a node.
pub const FLEET_COLUMNS: [FrameColumn; 11] = [
    column("machine", ColumnKind::Text, ""),
    column("kind", ColumnKind::Text, ""),
    column("verdict", ColumnKind::Text, ""),
    column("measured", ColumnKind::Text, ""),
    column("case", ColumnKind::Text, ""),
    column("unit", ColumnKind::Text, ""),
    column("figure", ColumnKind::Number, ""),
    column("of_peers_median", ColumnKind::Number, "fraction"),
    column("from", ColumnKind::Integer, ""),
    column("to", ColumnKind::Integer, ""),
    column("executor", ColumnKind::Text, ""),
];

/// A row for each machine and cell that was measured.
fn rows(found: &FleetComparison) -> impl Iterator<Item = FleetRow<'_>> {
    found.machines.iter().flat_map(|machine| {
        let ratios = machine.cells.iter().filter(|ratio| ratio.is_finite());
        let executor = found.executor_of(machine);
        cells(found, machine).zip(ratios).map(move |((cell, figure), ratio)| FleetRow {
            machine: machine.machine.as_str(),
            kind: machine.group.as_deref().unwrap_or_default(),
            executor,
            verdict: machine.verdict,
            measured: machine.measured.as_deref().unwrap_or_default(),
            case: &cell.case,
            unit: cell.unit.as_str(),
            figure,
            of_peers_median: *ratio,
            from: cell.from,
            to: cell.to,
        })
    })
}

/// Hands out these rows' cells, row by row in the order of [`FLEET_COLUMNS`]; `None` is an empty one.
///
/// # Errors
/// Where a row holds what no column can.
pub fn read_fleet_cells(
    found: &FleetComparison,
    take: &mut impl FnMut(Option<CellValue<'_>>),
) -> Result<(), serde::de::value::Error> {
    rows(found).try_for_each(|row| put_row(&row, &[], &[], take))
}

/// The same as CSV.
///
/// # Errors
/// Where the output fails.
pub fn write_fleet_csv(found: &FleetComparison, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(FLEET_COLUMNS.map(|column| column.name)).map_err(output_error)?;
    for row in rows(found) {
        writer.serialize(row).map_err(output_error)?;
    }
    writer.flush()
}

/// How many machines stand how, and each machine's verdict, as OpenMetrics text.
///
/// # Errors
/// Where the output fails.
pub fn write_fleet_metrics(found: &FleetComparison, out: &mut impl Write) -> io::Result<()> {
    let mut family = |name: &str,
                      help: &str,
                      samples: &mut dyn Iterator<Item = (Labels, f64)>|
     -> io::Result<()> {
        writeln!(out, "# HELP nearfar_fleet_{name} {help}\n# TYPE nearfar_fleet_{name} gauge")?;
        for (labels, value) in samples {
            writeln!(out, "nearfar_fleet_{name}{{{labels}}} {value}")?;
        }
        Ok(())
    };
    let of = |machine: &FleetMachine| {
        let kind = machine.group.as_deref().unwrap_or_default();
        let executor = found.executor_of(machine);
        let labels = Labels::default().with("machine", &machine.machine).with("kind", kind);
        labels.with_known("executor", executor)
    };
    let verdicts = [VerdictKind::Good, VerdictKind::Unknown, VerdictKind::Again, VerdictKind::Bad];
    family(
        "machines",
        "Machines of the run by verdict.",
        &mut verdicts.iter().map(|verdict| {
            let count = found.verdicts.get(verdict).copied().unwrap_or_default();
            (Labels::default().with("verdict", verdict), count as f64)
        }),
    )?;
    family(
        "verdict",
        "0: good, 1: bad, 2: not known, or to be measured again.",
        &mut found.machines.iter().map(|machine| {
            let value = match machine.verdict {
                VerdictKind::Good => 0.0,
                VerdictKind::Bad => 1.0,
                VerdictKind::Again | VerdictKind::Unknown => 2.0,
            };
            (of(machine), value)
        }),
    )?;
    family(
        "of_peers_median_ratio",
        "What a machine has of its peers' medians over all cells.",
        &mut found.machines.iter().filter_map(|machine| Some((of(machine), machine.ratio?))),
    )?;
    family(
        "shortfall_ratio",
        "What a part that falls short has of its peers' median.",
        &mut found
            .machines
            .iter()
            .flat_map(|machine| machine.shortfalls.iter().map(move |it| (machine, it)))
            .map(|(machine, it)| (of(machine).with("part", it.part_words()), it.ratio)),
    )?;
    writeln!(out, "# EOF")
}

/// A line for each machine as SuperBench's `results-summary.jsonl` has them: `{"node": .., "benchmark/metric:rank":
/// number}`, bandwidth in MB/s, time in ns; a pair of CPUs and node has the name of its `cpu-memory-bw-latency`.
/// Benchmarks of a simulated machine are `nearfar-simulated-..`.
///
/// # Errors
/// Where the output fails.
pub fn write_superbench(found: &FleetComparison, out: &mut impl Write) -> io::Result<()> {
    for machine in found.machines.iter().filter(|machine| !machine.cells.is_empty()) {
        let mut line = Map::new();
        line.insert("node".into(), json!(machine.machine));
        let is_simulated = found.executor_of(machine) == Some(Executor::Simulated);
        let program = if is_simulated { "nearfar-simulated" } else { "nearfar" };
        for (cell, figure) in cells(found, machine) {
            let series = cell.series.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let (kind, value) = if cell.is_time { ("lat", figure) } else { ("bw", 1e3 * figure) };
            let name = match (cell.from, cell.to) {
                (Some(from), Some(to)) => {
                    format!("{program}-{series}/mem_bandwidth_matrix_numa_{from}_{to}_{kind}:0")
                }
                _ => format!("{program}-{series}/{kind}:0"),
            };
            line.insert(name, json!(value));
        }
        serde_json::to_writer(&mut *out, &Value::Object(line))?;
        writeln!(out)?;
    }
    Ok(())
}
