//! Data-access performance in words and a table.

use nearfar_machine::InitiatorKind;
use nearfar_units::format_significant;

use super::classes_text::maximum_words;
use super::figures::{significant, simulated_line};
use super::pair_words::{InitiatorSet, initiators};
use super::predict::{AlphaKind, PlaceKind, PredictRow, PredictView};
use crate::printable::printable;
use crate::terminal::paragraph::{folded, paragraph};
use crate::terminal::table::{room_for, table};

impl PredictView {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let (Some(host), Some(started)) = (&self.host, &self.started) {
            text += &format!("{}, {}\n", printable(host), printable(started));
        }
        text += self.executor.map_or("", simulated_line);
        if let Some(sealing) = &self.sealing {
            text += &sealing.warning();
        }
        text += &self.alpha_lines();
        text += "\n";
        match &self.places {
            None => text + &self.share_table() + SHARE_LEGEND,
            Some(_) => text + &self.mapping_table() + &self.mapping_legend(),
        }
    }

    fn alpha_lines(&self) -> String {
        let alphas: Vec<String> =
            self.alphas.iter().map(|&alpha| format_significant(alpha, 4)).collect();
        // Given alphas may stand in any order.
        let order =
            if self.alphas.is_sorted_by(|a, b| a >= b) { ", the fastest first" } else { "" };
        let mut text = format!("alpha by class{order}: {}; ", alphas.join(", "));
        text += match self.alphas_are {
            AlphaKind::Given => "given",
            AlphaKind::Absolute => "absolute",
            AlphaKind::Relative => "RELATIVE to class 0",
        };
        if let Some(gamma) = &self.gamma {
            text += &format!(", of {}", printable(&maximum_words(gamma)));
        } else if let Some(unit) = self.unit_gb_per_s {
            text += &format!(" ({} GB/s)", format_significant(unit, 3));
        }
        let mut text = paragraph("", &text);
        if let (AlphaKind::Relative, Some(reason)) = (self.alphas_are, &self.gamma_unknown) {
            let unknown = format!("the theoretical maximum is unknown: {}", printable(reason));
            text += &paragraph("", &unknown);
            if let Some(remedy) = &self.gamma_remedy {
                text += &paragraph("  -> ", remedy);
            }
        }
        text
    }

    fn share_table(&self) -> String {
        let mut header = vec!["shares", "D", "serial", "overlap"];
        let has_unit = self.unit_gb_per_s.is_some();
        if has_unit {
            header.extend(["D, GB/s", "serial", "overlap"]);
        }
        let cells = |row: &PredictRow| {
            let mut cells = vec![shares_text(row)];
            cells.extend([Some(row.d), row.d_serial, row.d_overlap].map(|d| figure(d, 4)));
            if has_unit {
                let gb_per_s = [row.d_gb_per_s, row.d_serial_gb_per_s, row.d_overlap_gb_per_s];
                cells.extend(gb_per_s.map(|value| figure(value, 3)));
            }
            cells
        };
        let rows = self.rows.iter().map(cells).collect();
        table(header.into_iter().map(String::from).collect(), rows, 0)
    }

    fn mapping_table(&self) -> String {
        let mut header = vec!["mappings", "example", "shares", "slowest", "D"];
        let has_unit = self.unit_gb_per_s.is_some();
        if has_unit {
            header.extend(["slowest,\nlone GB/s", "sum,\nlone GB/s"]);
        }
        let cells = |row: &PredictRow| {
            let mut cells = vec![
                row.mappings.map_or("-".into(), |count| count.to_string()),
                String::new(),
                shares_text(row),
                figure(row.slowest_alpha, 4),
                figure(Some(row.d), 4),
            ];
            if has_unit {
                let lone = [row.slowest_lone_gb_per_s, row.sum_lone_gb_per_s];
                cells.extend(lone.map(|value| figure(value, 3)));
            }
            cells
        };
        let header: Vec<String> = header.into_iter().map(String::from).collect();
        let mut rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        let room = room_for(&header, &rows, 1);
        for (cells, row) in rows.iter_mut().zip(&self.rows) {
            cells[1] = folded(self.example_words(row).iter().map(String::as_str), room).join("\n");
        }
        table(header, rows, 2)
    }

    /// The place of each process: `cluster 0 (node 8), cluster 3 (node 11)`, or its position.
    fn example_words(&self, row: &PredictRow) -> Vec<String> {
        let place = |&index: &u32| {
            if self.places_are == Some(PlaceKind::MemoryNodes) {
                return format!("node {index}");
            }
            let Some(kind) = self.initiator else { return index.to_string() };
            let name = initiators(kind, &InitiatorSet::single(index));
            let mut places = self.places.iter().flatten();
            let node = places.find(|place| place.index == index).and_then(|place| place.cpu_node);
            node.map_or(name.clone(), |node| format!("{name} (node {node})"))
        };
        let mut places: Vec<String> = row.example.iter().flatten().map(place).collect();
        if let Some((_, all_but_last)) = places.split_last_mut() {
            all_but_last.iter_mut().for_each(|place| place.push(','));
        }
        places
    }

    fn mapping_legend(&self) -> String {
        let place = match self.initiator {
            None if self.places_are == Some(PlaceKind::MemoryNodes) => "memory node with the data",
            None => "place, by its position in --reach",
            Some(InitiatorKind::Cluster) => "cluster (and its node)",
            Some(InitiatorKind::L3) => "L3 domain (and its node)",
            Some(InitiatorKind::Core) => "core (and its node)",
        };
        let mut text = format!(
            "example: the {place} of each process, in one of so many mappings with these shares. \
             slowest: alpha of the process that gets least; all run at the same time, so that with \
             equal work it decides the time. D = sum(alpha x share), the paper's figure \
             (braithwaite2012, eq. 4.17), the mean of the processes."
        );
        if self.unit_gb_per_s.is_some() {
            text += " Lone GB/s: of the slowest process, and the sum of all, each as if it ran alone; \
                     contention is not in it.";
        }
        paragraph(" ", &text)
    }
}

const SHARE_LEGEND: &str = " D = sum(alpha x share), the paper's figure (braithwaite2012, eq. 4.6). By time, serial:\n \
     1 / sum(share / alpha), one access after the other; overlap: 1 / max(share / alpha),\n \
     accesses to all classes at once.\n";

fn shares_text(row: &PredictRow) -> String {
    let shares: Vec<String> = row.shares.iter().map(|&share| significant(share, 4)).collect();
    shares.join(", ")
}

fn figure(value: Option<f64>, digits: u32) -> String {
    value.map_or("-".into(), |value| format_significant(value, digits))
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_model::{MappingPlace, Reach, Target, data_access, mappings};

    use super::*;
    use crate::subject::predict::AlphaSource;

    fn given(alphas: &[f64]) -> AlphaSource<'static> {
        AlphaSource {
            record: None,
            alphas: alphas.to_vec(),
            alphas_are: AlphaKind::Given,
            gamma: Err("not given".into()),
            unit: None,
        }
    }

    fn of_shares(alphas: &[f64], shares: &[&[f64]]) -> PredictView {
        let accesses: Vec<_> =
            shares.iter().map(|shares| data_access(alphas, shares).unwrap()).collect();
        PredictView::of_shares(given(alphas), &accesses).unwrap()
    }

    #[test]
    fn nothing_asked_is_no_view() {
        assert_eq!(PredictView::of_shares(given(&[0.5]), &[]), None);
    }

    /// Two processes on initiators 0 and 3, whose cluster's nodes are 8 and 9.
    fn of_mappings(initiator: Option<InitiatorKind>, unit: Option<f64>) -> PredictView {
        let alphas = [0.5, 0.3];
        let target = Target { class_from: vec![Some(0), Some(1)] };
        let targets = vec![target.clone(), target];
        let places =
            [(0, 8), (3, 9)].map(|(index, node)| MappingPlace { index, cpu_node: Some(node) });
        let table = mappings(&targets, &alphas).unwrap();
        let reach = Reach { places: places.into(), targets };
        let source = AlphaSource { unit, ..given(&alphas) };
        PredictView::of_mappings(source, &table, &reach, initiator).unwrap()
    }

    #[test]
    fn predictions_are_worded_as_in_their_golden_file() {
        let texts = [
            of_shares(&[0.5449, 0.3281, 0.1816], &[&[0.5, 0.25, 0.25], &[1.0, 0.0, 0.0]]).text(),
            // In another order than the fastest first.
            of_shares(&[0.2, 0.5], &[&[0.5, 0.5]]).text(),
            // Shares as they count: (1e-5 + 2 x 2e-6) / 3; 3 / (1e5 + 1e6); 1.5 x 2e-6, all nearly.
            of_shares(&[1e-5, 2e-6], &[&[0.333, 0.6665]]).text(),
            of_mappings(Some(InitiatorKind::Cluster), Some(10e9)).text(),
            of_mappings(None, None).text(),
        ];
        expect_file!["../../tests/golden/predict.txt"].assert_eq(&texts.join("\n"));
    }

    /// Processes that run at the same time are bounded by neither sum of times.
    #[test]
    fn mappings_have_no_bounds_by_time_and_say_why() {
        let view = of_mappings(Some(InitiatorKind::L3), None);
        assert_eq!((view.d_serial, view.d_overlap, view.rows[0].d_serial), (None, None, None));
        assert!(view.bounds_unknown.unwrap().contains("at the same time"));
        assert_eq!(view.rows[0].sum_lone_gb_per_s, None);
        assert_eq!(of_shares(&[0.5], &[&[1.0]]).bounds_unknown, None);
    }
}
