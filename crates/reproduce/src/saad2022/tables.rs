//! The tables of total, local and remote bandwidth, and the sharing factor.

use nearfar_model::{SharedCell, SharedGrid, Shares, Support};

use super::FITTED;
use super::facts::{Facts, SharingTables};
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};

/// What the model promises of cells that it has not seen, as fractions, and of the sharing factor
/// as such.
const TOTALS: f64 = 0.03;
const GROUPS: f64 = 0.04;
const BETA: f64 = 0.02;

/// Digits that the quotient of two printed figures is given with.
const BETA_DECIMALS: u8 = 4;

const NOBODY: &str = "an input: no process runs there";
const ALONE: &str = "an input: a group alone";

pub(super) fn rows(facts: &Facts, grid: &SharedGrid) -> Vec<Row> {
    let tables = &facts.sharing;
    let of_table = |make: fn(&SharingTables, &SharedGrid, usize, usize) -> Row| {
        tables.places().map(move |(n, m)| make(tables, grid, n, m))
    };
    let mut rows: Vec<Row> = of_table(total_row).collect();
    rows.extend(of_table(|tables, grid, n, m| {
        group_row(tables, grid, (n, m), "local", &tables.local, |shares| shares.local.0)
    }));
    rows.extend(of_table(|tables, grid, n, m| {
        group_row(tables, grid, (n, m), "remote", &tables.remote, |shares| shares.remote.0)
    }));
    rows.extend(of_table(per_core_row));
    let unseen = tables.places().filter(|&(n, m)| n > 0 && m > 0 && !FITTED.contains(&(n, m)));
    rows.extend(unseen.map(|(n, m)| beta_row(tables, grid, n, m)));
    rows
}

/// `table of total bandwidth, e5520, 3 local 1 remote, MB/s`.
pub(super) fn item(
    table: &str,
    tables: &SharingTables,
    (n, m): (usize, usize),
    what: &str,
) -> String {
    let what = if what.is_empty() { String::new() } else { format!(", {what}") };
    format!("{table}, {}, {n} local {m} remote{what}, {}", tables.machine, tables.unit)
}

/// A cell of the model, and what it says of the groups.
fn of_cell(grid: &SharedGrid, n: usize, m: usize) -> Option<(SharedCell, Shares)> {
    let cell = grid.cell(u32::try_from(n).ok()?, u32::try_from(m).ok()?)?;
    let shares = cell.shares()?;
    Some((cell, shares))
}

fn total_row(tables: &SharingTables, grid: &SharedGrid, n: usize, m: usize) -> Row {
    let value = tables.total[n][m];
    let item = item("table of total bandwidth", tables, (n, m), "");
    let Some((cell, shares)) = of_cell(grid, n, m) else { return Row::given(item, value, NOBODY) };
    match (cell.support, n, m) {
        (Support::Measured, 0, _) | (Support::Measured, _, 0) => Row::given(item, value, ALONE),
        (Support::Measured, ..) => {
            Row::given(item, value, "an input: the sum of the two groups that the law is fitted to")
        }
        _ => predicted(tables, item, value, shares.total().0, TOTALS),
    }
}

fn group_row(
    tables: &SharingTables,
    grid: &SharedGrid,
    (n, m): (usize, usize),
    group: &str,
    table: &[[f64; 5]; 5],
    of: fn(&Shares) -> f64,
) -> Row {
    let value = table[n][m];
    let item = item(&format!("table of {group} bandwidth"), tables, (n, m), "");
    match of_cell(grid, n, m) {
        _ if value == 0.0 => Row::given(item, value, NOBODY),
        Some((cell, shares)) if cell.support != Support::Measured => {
            predicted(tables, item, value, of(&shares), GROUPS)
        }
        _ if n == 0 || m == 0 => Row::given(item, value, ALONE),
        _ => Row::given(item, value, "an input: one of the four cells that the law is fitted to"),
    }
}

fn per_core_row(tables: &SharingTables, grid: &SharedGrid, n: usize, m: usize) -> Row {
    let value = tables.remote_per_core[n][m];
    let item = item("table of remote bandwidth per core", tables, (n, m), "");
    let Some((cell, shares)) = of_cell(grid, n, m).filter(|_| m > 0) else {
        return Row::given(item, value, NOBODY);
    };
    let processes = m as f64;
    if cell.support == Support::Measured {
        let why = "an input: the quotient of the remote group, which is one, and its processes";
        return Row::given(item, value, why);
    }
    predicted(tables, item, value, shares.remote.0 / processes, GROUPS)
}

/// A printed bandwidth beside what the model predicts, bytes/s.
fn predicted(tables: &SharingTables, item: String, value: f64, ours: f64, promise: f64) -> Row {
    let printed = Printed { value, decimals: tables.decimals };
    let ours = Some(ours / tables.unit.bytes_per_s());
    Comparison { room: Room::Model(promise), ..Comparison::of(item, printed, ours) }.judge()
}

/// The quotient of two printed figures beside ours; what is promised of it is no fraction of it.
fn beta_row(tables: &SharingTables, grid: &SharedGrid, n: usize, m: usize) -> Row {
    let exact = tables.remote[n][m] / tables.total[n][m];
    let digits = 10_f64.powi(i32::from(BETA_DECIMALS));
    let printed = Printed { value: (exact * digits).round() / digits, decimals: BETA_DECIMALS };
    let item = format!("sharing factor, {}, {n} local {m} remote, remote / total", tables.machine);
    let ours = of_cell(grid, n, m).map(|(_, shares)| shares.beta());
    let room = Room::Model(BETA / printed.value);
    Comparison { room, ..Comparison::of(item, printed, ours) }.judge()
}
