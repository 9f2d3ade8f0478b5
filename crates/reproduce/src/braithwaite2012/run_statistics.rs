//! Table 3.2: mean, standard deviation and "95 % interval" of STREAM's triad. The runs
//! are not printed, so the table is held against itself.

use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};

use super::facts::{RunStatistics, RunStatisticsRow};
use super::reason::reason_of;

/// Student's t for a two-sided 95 % interval with 29 degrees of freedom, as tables
/// print it; the test integrates the density.
const T_29: f64 = 2.0452;

/// The number of runs that [`T_29`] is for.
const RUNS: u32 = 30;

pub(super) fn rows(table: &RunStatistics) -> Vec<Row> {
    let RunStatistics { table: number, machine, unit, .. } = table;
    let mut rows = Vec::new();
    for row in &table.rows {
        let node = row.memory_node;
        let item =
            |what: &str| format!("table {number}, {machine}, data on node {node}, {what}, {unit}");
        let printed = |value| Printed { value, decimals: table.decimals };
        // Each end is rounded by itself, so their middle is known to half a unit.
        let middle = f64::midpoint(row.low, row.high);
        let rounding = printed(middle).half_unit();
        let mean = Printed { value: row.mean, decimals: table.mean_decimals };
        let of_mean = Comparison::of(item("mean"), mean, Some(middle));
        rows.push(Comparison { room: Room::Rounding(rounding), ..of_mean }.judge());
        rows.push(Row::given(
            item("standard deviation"),
            row.sd,
            "an input: the runs themselves are not printed",
        ));
        let half = T_29 * row.sd / f64::from(table.runs_per_core).sqrt();
        for (what, value, ours) in
            [("interval low", row.low, middle - half), ("interval high", row.high, middle + half)]
        {
            let item = item(what);
            let reason =
                reason_of(&item, |_| is_deviation(row, rounding) && table.runs_per_core == RUNS);
            let of_end = Comparison::of(item, printed(value), Some(ours));
            rows.push(Comparison { reason, ..of_end }.judge());
        }
    }
    rows
}

/// Whether the printed interval reaches from the mean one standard deviation each way.
fn is_deviation(row: &RunStatisticsRow, half_unit: f64) -> bool {
    // Half the width is known to half a unit and the deviation as well.
    let half_width = (row.high - row.low) / 2.0;
    (half_width - row.sd).abs() <= 2.0 * half_unit && (row.low..=row.high).contains(&row.mean)
}
