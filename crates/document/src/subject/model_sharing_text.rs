//! The sharing model in words and tables.

use nearfar_units::format_significant;

use super::figures::{count, percent_words, rounded, significant};
use super::model_sharing::{
    FairnessView, GridPlaceView, LawView, SharedCellView, SharedGridView, SharingModelView,
};
use super::model_sharing_splits::{RankingView, SplitView, more_cells_lines};
use super::show_grid::{Side, dotted_grid, sorted};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::{table_in_blocks, table_with_numbers};

/// Groups whose losses under full load differ by less lose alike.
const ALIKE: f64 = 0.02;

/// So many cells are named that are worth measuring.
const MOST_NAMED: usize = 6;

impl SharingModelView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        let mut text = paragraph(
            "",
            "Sharing (saad2022): threads near a memory node beside threads of a cluster far from \
             it. Two laws are fitted to the measured cells in which both run; the first is off less \
             where a cell is left out of its fit (root mean square over totals and groups).",
        );
        text += &self.law_table();
        for grid in &self.unfitted {
            let why = format!("{}: no law, {}", grid.place.words(), printable(&grid.why));
            text += &paragraph(" - ", &why);
        }
        let Some(shown) = self.shown() else { return text };
        text += "\n";
        let which = if self.grids.len() > 1 {
            format!("; of {} grids the one whose law is off most, --json has all", self.grids.len())
        } else {
            String::new()
        };
        text += &paragraph("", &format!("{}{which}.", shown.place.words()));
        text += &shown.text();
        if shown.wants_more() { text + &more_cells_lines(&self.more_cells) } else { text }
    }

    /// What to do with the most processes of the grid that is shown.
    pub(crate) fn advice(&self) -> Vec<String> {
        let Some(shown) = self.shown() else { return Vec::new() };
        let of = |ranking: &RankingView| format!("{}: {}", shown.place.words(), ranking.advice());
        shown.last_rankings().map(of).collect()
    }

    /// The grid that is shown whole: the one whose law is off most, else the first.
    fn shown(&self) -> Option<&SharedGridView> {
        let off = |grid: &SharedGridView| grid.off().unwrap_or(0.0);
        let worse = |known: &'_ SharedGridView, next: &SharedGridView| off(next) > off(known);
        self.grids.iter().reduce(|known, next| if worse(known, next) { next } else { known })
    }

    fn law_table(&self) -> String {
        let header = [
            "node",
            "near",
            "far",
            "kernel",
            "laws, and by how much each is off",
            "dynamic",
            "static",
        ];
        let rows = self.grids.iter().map(|grid| {
            let place = &grid.place;
            let laws: Vec<String> = grid.laws.iter().map(LawView::words).collect();
            let [dynamic, paced] = ["dynamic", "static"].map(|work| grid.best_words(work));
            vec![
                place.memory_node.to_string(),
                place.local_cluster.to_string(),
                place.remote_cluster.to_string(),
                printable(&place.kernel).into_owned(),
                laws.join("\n"),
                dynamic,
                paced,
            ]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        table_with_numbers(header.map(String::from).into(), rows, 0..3)
            + &paragraph(
                " ",
                "near, far: clusters. dynamic, static: the best split (near + far) of as many \
                 processes as fit near, for work that goes to who is ready and for equal parts, and \
                 its gain over all near where it is beyond what both can be off.",
            )
    }
}

impl GridPlaceView {
    /// `Memory of node 0: cluster 0 near, cluster 1 far, triad sse2`.
    pub(crate) fn words(&self) -> String {
        format!(
            "Memory of node {}: cluster {} near, cluster {} far, {} {}",
            self.memory_node,
            self.local_cluster,
            self.remote_cluster,
            printable(&self.kernel),
            printable(&self.variant)
        )
    }
}

impl LawView {
    /// Its name, its parameters, and how far it is off.
    fn words(&self) -> String {
        let named = |name: &str, value: Option<f64>, unit: &str| {
            value.map(|value| format!("{name} {}{unit}", parameter(value)))
        };
        let parameters = [
            named("a", self.a, ""),
            named("b", self.b, ""),
            named("K", self.limit_gb_per_s, " GB/s"),
            named("p", self.sharpness, ""),
            named("k", self.remote_weight, ""),
        ];
        let parameters: Vec<String> = parameters.into_iter().flatten().collect();
        format!("{} {}: {}", self.law, parameters.join(", "), self.off_words())
    }

    /// What it is off where a cell is left out.
    fn off_words(&self) -> String {
        self.left_out.map_or("unknown".into(), |off| percent_words(off.all))
    }
}

impl SharedGridView {
    fn off(&self) -> Option<f64> {
        Some(self.laws.first()?.left_out?.all)
    }

    /// The best split of as many processes as fit near: `3+1 +7.1 %`.
    fn best_words(&self, work: &str) -> String {
        let Some(ranking) = self.last_rankings().find(|ranking| ranking.work == work) else {
            return "-".into();
        };
        let kept = match (ranking.verdict, &ranking.all_near) {
            ("within_error" | "error_unknown", Some(near)) => Some(near),
            _ => ranking.splits.first(),
        };
        let split = kept.map_or("-".into(), |split| format!("{}+{}", split.near, split.far));
        let gain = ranking.gain.filter(|_| ranking.verdict == "gain");
        split + &gain.map_or_else(String::new, |gain| format!(" +{}", percent_words(gain)))
    }

    /// The rankings of the most processes.
    fn last_rankings(&self) -> impl Iterator<Item = &RankingView> {
        let most = self.rankings.iter().map(|ranking| ranking.processes).max();
        self.rankings.iter().filter(move |ranking| Some(ranking.processes) == most)
    }

    fn text(&self) -> String {
        let mut text = self.cell_table();
        text += &self.ranking_table();
        text += &self.fairness.as_ref().map_or_else(String::new, FairnessView::sentence);
        text += &self.above_lone_sentence();
        text += &self.worth_measuring_sentence();
        for ranking in self.last_rankings() {
            text += &paragraph(" - ", &ranking.advice());
        }
        text
    }

    /// Whether one of the sentences asks for more cells.
    fn wants_more(&self) -> bool {
        let is_asked = self.cells.iter().any(|cell| cell.worth_measuring);
        is_asked || self.last_rankings().any(RankingView::wants_more)
    }

    fn cell_table(&self) -> String {
        let locals = Side {
            keys: sorted(self.cells.iter().map(|cell| cell.local_threads)),
            of: |cell: &SharedCellView| cell.local_threads,
            label: |threads: &u32| format!("{threads} near"),
        };
        let remotes = Side {
            keys: sorted(self.cells.iter().map(|cell| cell.remote_threads)),
            of: |cell: &SharedCellView| cell.remote_threads,
            label: |threads: &u32| format!("{threads} far"),
        };
        let cells: Vec<&SharedCellView> = self.cells.iter().collect();
        let legend = "GB/s together and in brackets the law's error, near + far, and beta, the far part of \
                      the total; ~ is foretold.";
        let dots = " . the record has no such case\n";
        dotted_grid(&cells, &locals, &remotes, |cell| cell.words()).replace(dots, "")
            + &paragraph(" ", legend)
    }

    fn ranking_table(&self) -> String {
        let header = ["processes", "work", "best", "GB/s", "all near", "gain"];
        let rows: Vec<Vec<String>> = self
            .rankings
            .iter()
            .map(|ranking| {
                let figure = |split: Option<&SplitView>| {
                    split.map_or("-".into(), |split| {
                        format_significant(split.figure(ranking.work).0, 3)
                    })
                };
                vec![
                    ranking.processes.to_string(),
                    ranking.work.into(),
                    ranking.best_words(),
                    figure(ranking.splits.first()),
                    figure(ranking.all_near.as_ref()),
                    ranking.gain.map_or("-".into(), |gain| match ranking.verdict {
                        "gain" => percent_words(gain),
                        "all_near" => "none".into(),
                        "error_unknown" => format!("{}, error not known", percent_words(gain)),
                        _ => format!("{}, within the error", percent_words(gain)),
                    }),
                ]
            })
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        format!("\n{}\n", table_in_blocks(&header.map(String::from), &rows))
    }

    fn above_lone_sentence(&self) -> String {
        let found = self.above_lone;
        let (Some(n), Some(m), Some(excess)) =
            (found.local_threads, found.remote_threads, found.excess)
        else {
            return String::new();
        };
        let cells = count(found.cells, "measured cell");
        let text = format!(
            "In {} of {cells} with both groups the total is above what either moves alone, by {} at \
             most ({n} near {m} far): equation 4 of the paper, total = (1 - beta) L0 + beta R0 with \
             beta from 0 to 1, cannot give those.",
            found.above,
            percent_words(excess)
        );
        paragraph(" - ", &text)
    }

    fn worth_measuring_sentence(&self) -> String {
        let worth: Vec<String> = self
            .cells
            .iter()
            .filter(|cell| cell.worth_measuring)
            .map(|cell| format!("{} near {} far", cell.local_threads, cell.remote_threads))
            .collect();
        if worth.is_empty() {
            return String::new();
        }
        let more = worth.len().saturating_sub(MOST_NAMED);
        let named = worth[..worth.len().min(MOST_NAMED)].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text =
            format!("The two laws differ by more than 5 % in {named}{more}: worth measuring.");
        paragraph(" - ", &text)
    }
}

impl SharedCellView {
    fn words(&self) -> String {
        let three = |value: f64| format_significant(value, 3);
        let is_mixed = self.local_threads > 0 && self.remote_threads > 0;
        let (mark, total, local, remote, beta) = match (&self.measured, &self.predicted) {
            (Some(it), _) => {
                ("", it.total_gb_per_s, it.local_gb_per_s, it.remote_gb_per_s, it.beta)
            }
            (None, Some(it)) => {
                ("~", it.total_gb_per_s, it.local_gb_per_s, it.remote_gb_per_s, Some(it.beta))
            }
            (None, None) => return ".".into(),
        };
        let mut text = format!("{mark}{}", three(total));
        if let Some(error) = self.total_error.filter(|_| is_mixed) {
            text += &format!(" ({})", signed_percent(error));
        }
        if is_mixed {
            text += &format!("\n{mark}{} + {mark}{}", three(local), three(remote));
            let beta = beta.map_or("-".into(), |beta| rounded(beta, 3));
            text += &format!("\nbeta {mark}{beta}");
        }
        text
    }
}

impl FairnessView {
    fn sentence(&self) -> String {
        let each = |slope: Option<f64>| {
            slope.map_or("not known".into(), |slope| {
                let points = rounded(slope * 100.0, 1);
                let is_one = points.trim_start_matches('-') == "1";
                format!("{points} point{}", if is_one { "" } else { "s" })
            })
        };
        let more = |local: f64, remote: f64| match remote - local {
            apart if apart.abs() < ALIKE => "both lose alike",
            apart if apart > 0.0 => "the far ones lose more",
            _ => "the near ones lose more",
        };
        let on_average = more(self.local_loss, self.remote_loss);
        let when_full = more(self.local_loss_under_full_load, self.remote_loss_under_full_load);
        let more = if on_average == when_full {
            format!("On average and with the most threads {on_average}")
        } else {
            format!("On average {on_average}, with the most threads {when_full}")
        };
        let text = format!(
            "Fairness: beside each other the near threads lose {} on average of what they move alone \
             and the far ones {} (mean of {}), with the most threads {} and {}; with each further thread {} and {}. \
             {more}.",
            percent_words(self.local_loss),
            percent_words(self.remote_loss),
            count(self.cells, "cell"),
            percent_words(self.local_loss_under_full_load),
            percent_words(self.remote_loss_under_full_load),
            each(self.local_slope),
            each(self.remote_slope),
        );
        paragraph(" - ", &text)
    }
}

/// A parameter of a law in three digits; one that is hardly identified has no more meaning than its
/// size.
fn parameter(value: f64) -> String {
    match value {
        value if value >= 1e5 => "> 99999".into(),
        value if value < 1e-4 => "< 0.0001".into(),
        value => significant(value, 3),
    }
}

fn signed_percent(fraction: f64) -> String {
    let text = percent_words(fraction);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    /// The mean and full load can have it the other way round.
    #[test]
    fn who_loses_more_is_said_on_average_and_with_the_most_threads() {
        let mut text = String::new();
        for ([local_loss, remote_loss], [local_full, remote_full], slope) in [
            ([0.1, 0.2], [0.3, 0.4], 0.01),
            ([0.1, 0.2], [0.4, 0.3], -0.021),
            ([0.1, 0.11], [0.3, 0.31], 0.0),
        ] {
            let view = FairnessView {
                cells: 3,
                local_loss,
                local_loss_under_full_load: local_full,
                local_slope: Some(slope),
                remote_loss,
                remote_loss_under_full_load: remote_full,
                remote_slope: None,
            };
            text += &format!("{}\n", view.sentence());
        }
        expect_file!["../../tests/golden/sharing_fairness.txt"].assert_eq(&text);
    }
}
