//! The cells of a group's machines, each with a column of its own.

use std::collections::HashMap;

use nearfar_units::Unit;

use crate::parts::CellPlace;
use crate::summary::MachineSummary;

#[derive(Debug, Default)]
pub(crate) struct CellTable {
    positions: HashMap<String, usize>,
    cells: Vec<(String, Option<u32>, Option<u32>)>,
    /// What the figures of each count; of ns less is better.
    pub units: Vec<Unit>,
}

impl CellTable {
    /// All cells that any of these has, in the order in which they come.
    pub fn of<'a>(summaries: impl Iterator<Item = &'a MachineSummary>) -> Self {
        let mut table = Self::default();
        for cell in summaries.flat_map(|summary| &summary.cells) {
            if !table.positions.contains_key(&cell.case)
                && let Some((_, is_time)) = cell.figure()
            {
                table.positions.insert(cell.case.clone(), table.cells.len());
                table.cells.push((cell.case.clone(), cell.from, cell.to));
                table.units.push(if is_time { Unit::Ns } else { cell.rate_unit() });
            }
        }
        table
    }

    /// ln of a machine's figures, of times negated, so that more is better; NaN where it has none.
    pub fn gains(&self, summary: &MachineSummary) -> Vec<f64> {
        let mut gains = vec![f64::NAN; self.cells.len()];
        for cell in &summary.cells {
            let position = self.positions.get(&cell.case);
            if let (Some(&position), Some((span, is_time))) = (position, cell.figure()) {
                let sign = if is_time { -1.0 } else { 1.0 };
                gains[position] = sign * span.median.ln();
            }
        }
        gains
    }

    pub fn places(&self) -> Vec<CellPlace<'_>> {
        self.cells.iter().map(|(case, from, to)| CellPlace { case, from: *from, to: *to }).collect()
    }
}
