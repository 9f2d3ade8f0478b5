//! Equations 4.10 and 4.11, D of given shares, and 4.17 and 4.18, D of all mappings of
//! two processes with a device each.

use nearfar_machine::TransferDirection;
use nearfar_model::{Mapping, Reach, Target, data_access, mappings, reach_of_devices};

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed::Printed;
use crate::row::{Comparison, Row};

use super::KEY;
use super::facts::{DataAccessRow, Facts, WhatIf};
use super::machines::Measured;
use super::reason::reason_of;

/// Digits of the alphas that the equations are given with.
const ALPHA_DECIMALS: u8 = 4;

pub(super) fn rows(facts: &Facts, measured: &Measured) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for row in &facts.data_access.rows {
        rows.push(data_access_row(row, facts.data_access.decimals)?);
    }
    for table in &facts.what_if {
        rows.extend(what_if_rows(table, measured)?);
    }
    Ok(rows)
}

fn data_access_row(row: &DataAccessRow, decimals: u8) -> Result<Row, ReproduceError> {
    let what = format!("equation {}", row.equation);
    let found = data_access(&row.alpha, &row.share).map_err(refused(what))?;
    let item = format!("equation {}, {}, D", row.equation, row.machine);
    let printed = Printed { value: row.d, decimals };
    let reason = reason_of(&item, |_| is_three_digits(row, found.d, printed));
    // The thesis goes on from its printed alphas (all of table 4.1 shows it), so their
    // rounding is no room here.
    Ok(Comparison { reason, ..Comparison::of(item, printed, Some(found.d)) }.judge())
}

/// Whether no alphas that round to the given ones come to the printed value, and the sum
/// rounded to three digits is the printed value.
fn is_three_digits(row: &DataAccessRow, d: f64, printed: Printed) -> bool {
    let half_unit = Printed { value: 0.0, decimals: ALPHA_DECIMALS }.half_unit();
    let rounding: f64 = row.share.iter().map(|share| share * half_unit).sum();
    let out_of_reach = (d - printed.value).abs() > rounding + printed.half_unit();
    let three = Printed { value: printed.value, decimals: 3 };
    let has_three = (printed.value * 1e3 - (printed.value * 1e3).round()).abs() < 1e-9;
    out_of_reach && has_three && three.is_rounded(d)
}

/// The classes in which devices are reached are those of the simulated machine that has them so,
/// and must be those that the thesis's equation takes; the alphas are its printed ones.
fn what_if_rows(table: &WhatIf, measured: &Measured) -> Result<Vec<Row>, ReproduceError> {
    let classes = measured.copies(&table.simulated, TransferDirection::ToHost)?;
    let devices: Vec<String> =
        (0..table.reach.len()).map(|number| format!("{}{number}", classes.backend)).collect();
    let Reach { targets, .. } = reach_of_devices(classes, &devices);
    let as_printed =
        |reach: &Vec<usize>| Target { class_from: reach.iter().copied().map(Some).collect() };
    if targets != table.reach.iter().map(as_printed).collect::<Vec<Target>>() {
        let WhatIf { equation, simulated, .. } = table;
        let what = format!("equation {equation}: {simulated} reaches its devices in other classes");
        return Err(contradiction(KEY, what));
    }
    let what = format!("equation {}", table.equation);
    let outcomes = mappings(&targets, &table.alpha).map_err(refused(what))?;
    let rows = table.rows.iter().map(|row| {
        let shares_agree = |mapping: &&Mapping| {
            mapping.shares.len() == row.share.len()
                && mapping.shares.iter().zip(&row.share).all(|(a, b)| (a - b).abs() < 1e-9)
        };
        let item = format!("equation {}, {}, line {}, D", table.equation, table.machine, row.line);
        let printed = Printed { value: row.d, decimals: table.decimals };
        let ours = outcomes.iter().find(shares_agree).map(|mapping| mapping.d);
        Comparison::of(item, printed, ours).judge()
    });
    Ok(rows.collect())
}
