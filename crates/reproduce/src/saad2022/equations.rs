//! What the paper's equations give of its own tables: the limits of lone processes, and both
//! groups beside each other.

use nearfar_model::{LoneCurve, SharedGrid};

use super::facts::{Facts, SharingTables};
use super::tables::item;
use crate::printed::Printed;
use crate::row::{Comparison, Reason, Row};

// Where the paper's tables and its own equations differ, and why: `docs/papers/saad2022.md` has the
// same sentences.

const SOFT_CORNER: &str = "the equation turns a sharp corner at the limit, and local processes near it softly: the \
     printed figure is below what the equation gives and above that of one process fewer; our \
     laws therefore start from the measured lone figures";

const FALLS_BEYOND: &str = "the printed figure is below that of one remote process fewer, and the smaller of n b and a \
     limit never falls; our laws therefore start from the measured lone figures";

const ABOVE_BOTH_PARTS: &str = "the equation with a sharing factor from 0 to 1 gives nothing above the larger of the two lone \
     figures, and the printed total is above both; our laws have no such limit";

pub(super) fn rows(facts: &Facts, grid: &SharedGrid) -> Vec<Row> {
    let tables = &facts.sharing;
    let mut rows = Vec::new();
    let limits = &facts.limits;
    let machine = &tables.machine;
    for (group, limit) in [("local", limits.local), ("remote", limits.remote)] {
        let item = format!("limits, {machine}, {group} processes alone, {}", limits.unit);
        rows.push(Row::given(item, limit, "an input: the largest of the figures of a group alone"));
    }
    for count in 1..5 {
        let total = |at: usize| tables.total[at][0];
        // Below both sides of the corner, and above what fewer processes get.
        let holds = |ours| total(count) < ours && total(count) > total(count - 1);
        rows.push(limit_row(tables, &grid.local, (count, 0), SOFT_CORNER, holds));
    }
    for count in 1..5 {
        // Less than one process fewer gets.
        let holds = |_| tables.total[0][count] < tables.total[0][count - 1];
        rows.push(limit_row(tables, &grid.remote, (0, count), FALLS_BEYOND, holds));
    }
    let mixed = tables.places().filter(|&(n, m)| n > 0 && m > 0);
    rows.extend(mixed.map(|(n, m)| shared_row(tables, grid, n, m)));
    rows
}

/// min(n b, most) of a group alone.
fn limit_row(
    tables: &SharingTables,
    curve: &LoneCurve,
    at: (usize, usize),
    why: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Row {
    let printed = Printed { value: tables.total[at.0][at.1], decimals: tables.decimals };
    let processes = (at.0 + at.1) as f64;
    let ours = (processes * curve.of_one()).min(curve.best()) / tables.unit.bytes_per_s();
    let reason = Some(Reason { why, holds: holds(ours) });
    let item = item("equation of lone processes", tables, at, "min(n b, most)");
    Comparison { reason, ..Comparison::of(item, printed, Some(ours)) }.judge()
}

/// (1 - beta) L0 + beta R0 with the beta from 0 to 1 that comes nearest.
fn shared_row(tables: &SharingTables, grid: &SharedGrid, n: usize, m: usize) -> Row {
    let printed = Printed { value: tables.total[n][m], decimals: tables.decimals };
    let alone = |curve: &LoneCurve, count: usize| {
        let point = curve.measured(u32::try_from(count).ok()?)?;
        Some(point.sum.value.0 / tables.unit.bytes_per_s())
    };
    let parts = alone(&grid.local, n).zip(alone(&grid.remote, m));
    let nearest = parts.map(|(near, far)| printed.value.clamp(near.min(far), near.max(far)));
    let holds = printed.value > tables.total[n][0].max(tables.total[0][m]);
    let reason = Some(Reason { why: ABOVE_BOTH_PARTS, holds });
    let item = item("equation 4", tables, (n, m), "nearest total");
    Comparison { reason, ..Comparison::of(item, printed, nearest) }.judge()
}
