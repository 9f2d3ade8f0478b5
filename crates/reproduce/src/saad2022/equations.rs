//! What the paper's equations give of its own tables: the limits of lone processes, and both
//! groups beside each other.

use nearfar_model::{LoneCurve, SharedGrid};

use super::facts::{Facts, SharingTables};
use super::reason::KnownReason;
use super::tables::item;
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};

pub(super) fn rows(facts: &Facts, grid: &SharedGrid) -> Vec<Row> {
    let tables = &facts.sharing;
    let mut rows = Vec::new();
    let limits = &facts.limits;
    let machine = &tables.machine;
    for (group, limit) in [("local", limits.local), ("remote", limits.remote)] {
        let item = format!("limits, {machine}, {group} processes alone, {}", limits.unit.as_str());
        rows.push(Row::given(item, limit, "an input: the largest of the figures of a group alone"));
    }
    for count in 1..5 {
        rows.push(limit_row(tables, &grid.local, (count, 0), KnownReason::SoftCorner));
    }
    for count in 1..5 {
        rows.push(limit_row(tables, &grid.remote, (0, count), KnownReason::FallsBeyond));
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
    known: KnownReason,
) -> Row {
    let printed = Printed { value: tables.total[at.0][at.1], decimals: tables.decimals };
    let processes = (at.0 + at.1) as f64;
    let ours = (processes * curve.of_one()).min(curve.best()) / tables.unit.bytes_per_s();
    let holds = match known {
        // Below both sides of the corner, and above what fewer processes get.
        KnownReason::SoftCorner => {
            printed.value < ours && printed.value > tables.total[at.0.saturating_sub(1)][at.1]
        }
        // The same or more processes than one that gets more.
        KnownReason::FallsBeyond => printed.value < tables.total[at.0][at.1.saturating_sub(1)],
        KnownReason::AboveBothParts | KnownReason::AsGood => false,
    };
    Comparison {
        item: item("equation of lone processes", tables, at, "min(n b, most)"),
        printed,
        ours: Some(ours),
        room: Room::Rounding(0.0),
        reason: Some(known.checked(holds)),
    }
    .judge()
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
    Comparison {
        item: item("equation 4", tables, (n, m), "nearest total"),
        printed,
        ours: nearest,
        room: Room::Rounding(0.0),
        reason: Some(KnownReason::AboveBothParts.checked(holds)),
    }
    .judge()
}
