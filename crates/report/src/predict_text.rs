//! Data-access performance in words and a table.

use nearfar_units::format_significant;

use crate::figures::{rounded, simulated_line};
use crate::predict::{AlphaKind, PredictRow, PredictView};
use crate::printable::printable;
use crate::table::table;

impl PredictView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let (Some(host), Some(started)) = (&self.host, &self.started) {
            text += &format!("{}, {}\n", printable(host), printable(started));
        }
        text += self.executor.map_or("", simulated_line);
        text += &self.alpha_lines();
        text += "\n";
        text += &self.row_table();
        text + &self.legend()
    }

    fn legend(&self) -> String {
        let mut text = String::from(
            " D = sum(alpha x share), the paper's figure (braithwaite2012, eq. 4.6). By time, serial:\n \
             1 / sum(share / alpha), one access after the other; overlap: 1 / max(share / alpha),\n \
             accesses to all classes at once.\n",
        );
        if self.rows.iter().any(|row| row.mappings.is_some()) {
            text += " example: the place of each process, in one of so many mappings with these shares.\n";
        }
        text
    }

    fn alpha_lines(&self) -> String {
        let alphas: Vec<String> =
            self.alphas.iter().map(|&alpha| format_significant(alpha, 4)).collect();
        let mut text = format!("alpha by class, the fastest first: {}; ", alphas.join(", "));
        text += match self.alphas_are {
            AlphaKind::Given => "given",
            AlphaKind::Absolute => "absolute",
            AlphaKind::Relative => "RELATIVE to class 0",
        };
        if let Some(gamma) = &self.gamma {
            text += &format!(", of {}", gamma.words());
        } else if let Some(unit) = self.unit_gb_per_s {
            text += &format!(" ({} GB/s)", format_significant(unit, 3));
        }
        if let (AlphaKind::Relative, Some(reason)) = (self.alphas_are, &self.gamma_unknown) {
            text += &format!("\nthe theoretical maximum is unknown: {}", printable(reason));
        }
        text + "\n"
    }

    fn row_table(&self) -> String {
        let has_unit = self.unit_gb_per_s.is_some();
        let mapped = self.rows.iter().any(|row| row.mappings.is_some());
        let mut header = Vec::new();
        if mapped {
            header.extend(["mappings", "example"]);
        }
        header.extend(["shares", "D", "serial", "overlap"]);
        if has_unit {
            header.extend(["D, GB/s", "serial", "overlap"]);
        }
        let rows = self.rows.iter().map(|row| row_cells(row, mapped, has_unit)).collect();
        table(header.into_iter().map(String::from).collect(), rows, 0)
    }
}

fn row_cells(row: &PredictRow, mapped: bool, has_unit: bool) -> Vec<String> {
    let mut cells = Vec::new();
    if mapped {
        cells.push(row.mappings.map_or("-".into(), |count| count.to_string()));
        let numbers = |places: &Vec<u32>| places.iter().map(u32::to_string).collect::<Vec<_>>();
        cells.push(row.example.as_ref().map_or("-".into(), |places| numbers(places).join(",")));
    }
    let shares: Vec<String> = row.shares.iter().map(|&share| rounded(share, 4)).collect();
    cells.push(shares.join(", "));
    for d in [row.d, row.d_serial, row.d_overlap] {
        cells.push(format!("{d:.4}"));
    }
    if has_unit {
        for gb_per_s in [row.d_gb_per_s, row.d_serial_gb_per_s, row.d_overlap_gb_per_s] {
            cells.push(gb_per_s.map_or("-".into(), |value| format_significant(value, 3)));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use nearfar_model::data_access;

    use super::*;
    use crate::predict::AlphaSource;

    #[test]
    fn rows_stand_in_the_order_given_with_four_decimals() {
        let alphas = vec![0.5449, 0.3281, 0.1816];
        let rows = [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]
            .map(|shares| (shares.to_vec(), data_access(&alphas, &shares).unwrap()));
        let source = AlphaSource {
            header: None,
            alphas,
            alphas_are: AlphaKind::Given,
            gamma: Err("not given".into()),
            unit: None,
        };
        let text = PredictView::of_shares(source, &rows).unwrap().text();
        let lines: Vec<&str> = text.lines().take(5).map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "alpha by class, the fastest first: 0.5449, 0.3281, 0.1816; given",
                "",
                "shares       D  serial  overlap",
                "0.5, 0.25, 0.25  0.3999  0.3272   0.7264",
                "1, 0, 0  0.5449  0.5449   0.5449",
            ]
        );
    }

    #[test]
    fn nothing_asked_is_no_view() {
        let source = AlphaSource {
            header: None,
            alphas: vec![0.5],
            alphas_are: AlphaKind::Given,
            gamma: Err("not given".into()),
            unit: None,
        };
        assert_eq!(PredictView::of_shares(source, &[]), None);
    }
}
