//! Tables 2, 4 and 5: what initiators get of caches and memories. The simulated machines hold
//! these figures, or capacities that were fitted to them.

use nearfar_record::Roof;

use crate::error::{ReproduceError, contradiction};
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::Machines;

use super::KEY;
use super::facts::{Facts, MachineFacts, PairTable, RoofTable};
use super::machines::MeasuredRoofs;

/// How far, as a fraction, capacities that are fitted to all shared roofs of table 5 at once may be
/// from each of them. The fit reaches that; nothing of it is predicted.
const FITTED: f64 = 0.005;

/// What the paper says of its machines.
pub(super) fn machine_rows(facts: &Facts) -> Vec<Row> {
    let rows = |of: &MachineFacts| {
        let given = |what: &str, value: f64, why: &str| {
            Row::given(format!("machines, {}, {what}", of.machine), value, why)
        };
        let why = "an input of the simulated machine";
        [
            given("initiators", f64::from(of.initiators), why),
            given("cores of an initiator", f64::from(of.cores_per_initiator), why),
            given("clock, GHz", of.core_ghz, why),
            given(
                "widest vectors, bytes",
                f64::from(of.vector_bytes),
                "an input of tables 1 and 3: bytes that an instruction moves",
            ),
        ]
    };
    facts.machines.iter().flat_map(rows).collect()
}

/// A table of the roofs of one initiator.
pub(super) fn rows(
    facts: &Facts,
    table: &RoofTable,
    machines: &Machines<MeasuredRoofs>,
) -> Result<Vec<Row>, ReproduceError> {
    let of = Roofs { table, measured: machines.find(&table.machine)? };
    let mut rows = vec![Row::given(
        of.item("number of the initiator"),
        f64::from(table.initiator),
        "names the initiator whose roofs the table prints",
    )];
    for (kernel, &peak) in &table.peak_gflop_per_s {
        rows.extend(of.peaks(facts, kernel, peak)?);
    }
    for (level, &printed) in (1..).zip(&table.caches) {
        rows.push(of.row(&format!("L{level}"), Roof::Cache { level }, printed));
    }
    for (&node, &printed) in &table.memory {
        rows.push(of.row(&format!("alone on node {node}"), Roof::Memory { node }, printed));
    }
    let initiators = of.initiators();
    for (&node, &printed) in &table.contended {
        let what = format!("node {node}, contended by {initiators} initiators");
        rows.push(of.row(&what, Roof::Contended { node, initiators }, printed));
    }
    for (&node, &printed) in &table.all_local {
        let what = format!("node {node}, every initiator on its own");
        rows.push(of.row(&what, Roof::AllLocal { node }, printed));
    }
    for (&kind, &printed) in &table.congested {
        let what = format!("all nodes of {kind}, congested");
        rows.push(of.row(&what, Roof::Congested { kind }, printed));
    }
    let cached = [
        ("memory-side cache, alone", table.memory_side_cache),
        ("memory-side cache, every initiator on its own", table.memory_side_cache_all_local),
    ];
    for (what, printed) in cached {
        let why = "roofs has no working set that only a memory-side cache holds: its sets of memory \
                   are larger than that cache too";
        let item = of.item(&format!("{what}, {}", table.unit));
        rows.extend(printed.map(|printed| Row::given(item, printed, why)));
    }
    Ok(rows)
}

/// Table 4.
pub(super) fn pair_rows(
    table: &PairTable,
    machines: &Machines<MeasuredRoofs>,
) -> Result<Vec<Row>, ReproduceError> {
    let PairTable { table, machine, kernel, unit, decimals, columns, rows: printed } = table;
    let measured = machines.find(machine)?;
    let mut rows = Vec::new();
    for (initiator, printed) in (0..).zip(printed) {
        for (column, &value) in columns.iter().zip(printed) {
            let node = column.split_once(':').and_then(|(_, node)| node.parse().ok());
            let what = || format!("table {table} has the column {column}, which names no node");
            let node = node.ok_or_else(|| contradiction(KEY, what()))?;
            let ours = measured.bandwidth(initiator, Roof::Memory { node }, kernel);
            let item =
                format!("table {table}, {machine}, initiator {initiator} on {column}, {unit}");
            let printed = Printed { value, decimals: *decimals };
            let ours = ours.map(|ours| ours / unit.bytes_per_s());
            rows.push(Comparison::of(item, printed, ours).judge().after_round_trip());
        }
    }
    Ok(rows)
}

/// A printed table beside the roofs of its simulated machine.
struct Roofs<'a> {
    table: &'a RoofTable,
    measured: &'a MeasuredRoofs,
}

impl Roofs<'_> {
    fn item(&self, what: &str) -> String {
        let RoofTable { table, machine, initiator, .. } = self.table;
        format!("table {table}, {machine}, initiator {initiator}, {what}")
    }

    /// How many initiators contend where the most do.
    fn initiators(&self) -> u32 {
        let contending = self.measured.roofs.iter().filter_map(|of| match of.place.roof {
            Roof::Contended { initiators, .. } => Some(initiators),
            _ => None,
        });
        contending.max().unwrap_or_default()
    }

    fn row(&self, what: &str, roof: Roof, printed: f64) -> Row {
        let RoofTable { initiator, kernel, unit, .. } = self.table;
        let ours = self.measured.bandwidth(*initiator, roof, kernel);
        let ours = ours.map(|ours| ours / unit.bytes_per_s());
        // Roofs of an initiator alone are given; what several get of one part is fitted.
        let is_given = matches!(roof, Roof::Cache { .. } | Roof::Memory { .. });
        let is_of_table_5 = self.table.table.starts_with('5');
        let item = self.item(&format!("{what}, {unit}"));
        let mut comparison = Comparison::of(item, self.table.printed(printed), ours);
        if is_of_table_5 && !is_given {
            comparison.room = Room::Model(FITTED);
        }
        comparison.judge().after_round_trip()
    }

    /// The peak as the machine's figures give it, and as it is measured: the simulated machine has
    /// the instructions a cycle that the paper measured.
    fn peaks(&self, facts: &Facts, kernel: &str, peak: f64) -> Result<[Row; 2], ReproduceError> {
        /// Elements of double precision are of 8 bytes; a fused multiply-add is two operations.
        const FLOPS_PER_BYTE: f64 = 2.0 / 8.0;
        let RoofTable { machine, initiator, .. } = self.table;
        let of = facts.machine(machine)?;
        let per_instruction = f64::from(of.vector_bytes) * FLOPS_PER_BYTE;
        let each_cycle = f64::from(of.cores_per_initiator) * of.core_ghz * per_instruction;
        let table = facts.instructions_of(machine)?;
        let theoretical = table.fused(&table.theoretical)?;
        let measured = self.measured.roof(*initiator, Roof::Compute, kernel);
        let measured = measured.and_then(|of| of.flops.as_ref()).map(|of| of.sum.median / 1e9);
        let row = |how: &str, ours: Option<f64>, of_inputs: f64| {
            let item = self.item(&format!("peak of {kernel} {how}, GFLOP/s"));
            let of = Comparison::of(item, Printed { value: peak, decimals: 0 }, ours);
            Comparison { room: Room::Rounding(of_inputs), ..of }.judge()
        };
        // Half a unit of the last digit of the instructions a cycle.
        let rounding = table.printed(0.0).half_unit() * each_cycle;
        Ok([
            row("by cores, clock and table 1", Some(each_cycle * theoretical), 0.0),
            row("as measured", measured, rounding).after_round_trip(),
        ])
    }
}
