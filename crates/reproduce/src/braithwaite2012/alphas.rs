//! Tables 4.1 and 6.1: alphas, against the theoretical maximum and against class 0.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::Class;

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed::Printed;
use crate::printed_table::{PrintedOf, PrintedTable, PrintedValue};
use crate::row::{Comparison, Row};

use super::KEY;
use super::facts::{AlphaTable, Alphas, Facts, RelativeAlphas};
use super::machines::{Measured, direction_of, transfer_set};
use super::reason::reason_of;

/// The theoretical maximum of memory, under the thesis's name, which must be the printed one.
pub(super) fn gamma(facts: &Facts) -> Result<TheoreticalMaximum, ReproduceError> {
    of_the_thesis(TheoreticalMaximum::memory(KEY), facts.gamma_gb_per_s)
}

/// The theoretical maximum of transfers, likewise.
pub(super) fn phi(facts: &Facts) -> Result<TheoreticalMaximum, ReproduceError> {
    of_the_thesis(TheoreticalMaximum::link(KEY), facts.phi_gb_per_s)
}

fn of_the_thesis(
    known: Result<TheoreticalMaximum, nearfar_machine::TheoreticalMaximumError>,
    printed: f64,
) -> Result<TheoreticalMaximum, ReproduceError> {
    let known = known.map_err(refused("the theoretical maximum"))?;
    if (known.gb_per_s() / printed - 1.0).abs() > 1e-12 {
        let (name, gb_per_s) = (&known.name, known.gb_per_s());
        let what = format!("{printed} GB/s are printed where {name} is {gb_per_s} GB/s");
        return Err(contradiction(KEY, what));
    }
    Ok(known)
}

/// Table 4.1.
pub(super) fn absolute_rows(
    facts: &Facts,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for table in &facts.alpha_tables {
        for stream in &table.streams {
            let set = measured.machines.find(&table.machine)?.classes_of(&stream.of)?;
            let ours = over(&set.classes, &gamma(facts)?);
            rows.extend(alpha_rows(table, &format!("memory, {}", stream.of), stream, &ours));
        }
        for transfer in &table.transfers {
            let ours = transfer_alphas(facts, table, transfer, measured)?;
            rows.extend(alpha_rows(table, &transfer.of, transfer, &ours));
        }
    }
    Ok(rows)
}

/// The thesis works its alphas out of the printed maxima, so the rounding of those is
/// no room here.
fn alpha_rows(table: &AlphaTable, what: &str, printed: &Alphas, ours: &[f64]) -> Vec<Row> {
    let AlphaTable { table, machine, decimals, .. } = table;
    let rows = printed.alpha.iter().enumerate().map(|(class, &value)| {
        let item = format!("table {table}, {machine}, {what}, class {class}");
        let printed = Printed { value, decimals: *decimals };
        Comparison::of(item, printed, ours.get(class).copied()).judge()
    });
    rows.collect()
}

/// Alphas of transfers, from the maxima of table 3.4: seen from node 0, memory node i is
/// in class i, as table 5.5 shows.
fn transfer_alphas(
    facts: &Facts,
    table: &AlphaTable,
    transfer: &Alphas,
    measured: &Measured,
) -> Result<Vec<f64>, ReproduceError> {
    let of_machine = facts.class_tables.iter().filter(|known| known.machine == table.machine);
    let mut values = Vec::new();
    for known in of_machine {
        // The interfaces stand in one table with the same figures: each a device.
        let of_way = known.transfers.iter().filter(|known| known.direction == transfer.of);
        for maxima in of_way {
            values.extend((0..).zip(&maxima.max).map(|(memory_node, &value)| PrintedValue {
                row: maxima.interface.as_deref().unwrap_or_default(),
                cpu_node: 0,
                memory_node,
                value: value * known.unit.bytes_per_s(),
            }));
        }
    }
    let printed = PrintedTable {
        title: format!("{KEY}, {}, {}", table.machine, transfer.of),
        machine: &measured.machines.find(&table.machine)?.machine,
        of: PrintedOf::Copies(direction_of(&transfer.of)?),
        bytes_per_s: 1.0,
        values,
    };
    Ok(over(&transfer_set(&printed)?, &phi(facts)?))
}

/// Measured / theoretical maximum: equation 4.3.
fn over<Pair>(classes: &[Class<Pair>], maximum: &TheoreticalMaximum) -> Vec<f64> {
    classes.iter().map(|class| class.max / maximum.bytes_per_s).collect()
}

/// Table 6.1: the classes of the best compiler against class 0. It is computed from
/// printed figures, so their rounding is no room here either.
pub(super) fn relative_rows(
    facts: &Facts,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let RelativeAlphas { table, decimals, rows } = &facts.relative_alphas;
    let mut made = Vec::new();
    for row in rows {
        let set = &measured.machines.find(&row.of)?.best;
        for (class, &value) in row.alpha.iter().enumerate() {
            let item =
                format!("table {table}, {}, class {class}, alpha relative to class 0", row.of);
            let printed = Printed { value, decimals: *decimals };
            let ratio = open64_ratio(facts, &row.of, class);
            let reason = reason_of(&item, |_| ratio.is_some_and(|ratio| printed.is_rounded(ratio)));
            let ours = set.classes.get(class).map(|class| class.alpha_relative);
            made.push(Comparison { reason, ..Comparison::of(item, printed, ours) }.judge());
        }
    }
    Ok(made)
}

/// A class's alpha / that of class 0, both as table 4.1 prints them for Open64.
fn open64_ratio(facts: &Facts, machine: &str, class: usize) -> Option<f64> {
    let table = facts.alpha_tables.iter().find(|table| table.machine == machine)?;
    let stream = table.streams.iter().find(|stream| stream.of == "open64")?;
    Some(stream.alpha.get(class)? / stream.alpha.first()?)
}
