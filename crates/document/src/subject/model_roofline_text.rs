//! The charts of clusters in words and tables.

use nearfar_units::format_significant;

use super::figures::{count, percent_words, significant};
use super::model_roofline::{
    CeilingView, ChartRoofView, ChartView, RoofValidationView, RooflineView,
};
use super::model_roofline_advice::sentences;
use super::show_grid::{Side, dotted_grid, in_order};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

impl RooflineView {
    /// The model, below what it is of: the first cluster's chart whole, of the others the roofs
    /// of memory in a line each.
    pub(crate) fn body(&self) -> String {
        let mut text = paragraph(
            "",
            "roofline: what a cluster's threads attain together at an arithmetic intensity (FLOPs \
             per byte that the cores request) is the lower of a ceiling, which arithmetic sets, \
             and intensity x a roof of bandwidth. A ridge is where a roof meets a ceiling.",
        );
        let Some(first) = self.charts.first() else { return text };
        text += &first.text();
        text += &others(&self.charts);
        text += "\n";
        for sentence in sentences(first) {
            text += &paragraph("-> ", &sentence);
        }
        text
    }
}

impl ChartView {
    /// The cluster and its CPUs.
    pub(crate) fn title(&self) -> String {
        format!("cluster {} (CPUs {})", self.cluster, self.cpus)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let title = self.title();
        if !self.ceilings.is_empty() {
            text += "\n";
            let threads = self.ceilings.first().map_or(0, |ceiling| ceiling.threads as usize);
            let what = format!(
                "{title}, {}: ceilings, GFLOP/s (1e9 FLOP/s), best variant",
                count(threads, "thread")
            );
            text += &paragraph("", &what);
            text += &self.ceilings_table();
        }
        if !self.roofs.is_empty() {
            text += "\n";
            let held = self.ceiling.as_ref().map_or_else(String::new, |ceiling| {
                format!(
                    "; in brackets the ridge below {}, FLOPs per byte (--json has those below all \
                     ceilings)",
                    printable(ceiling)
                )
            });
            text += &paragraph(
                "",
                &format!("{title}: roofs, GB/s (1e9 useful bytes/s) by what accesses memory{held}"),
            );
            text += &self.roofs_table();
        }
        if let Some(other) = self.within_of {
            let text_of_other = format!(
                "caches and arithmetic are those of cluster {other}, which has as many threads: \
                 this cluster's own were not measured"
            );
            text += &paragraph(" ", &text_of_other);
        }
        text + &self.validation_table()
    }

    fn ceilings_table(&self) -> String {
        let parts = |ceiling: &CeilingView| -> (String, String) {
            let kernel = &ceiling.kernel;
            let (operation, precision) = kernel.rsplit_once('_').unwrap_or((kernel, ""));
            (printable(operation).into(), printable(precision).to_uppercase())
        };
        let ceilings: Vec<&CeilingView> = self.ceilings.iter().collect();
        let rows = Side {
            keys: in_order(ceilings.iter().map(|ceiling| parts(ceiling).0)),
            of: |ceiling: &CeilingView| parts(ceiling).0,
            label: String::clone,
        };
        let columns = Side {
            keys: in_order(ceilings.iter().map(|ceiling| parts(ceiling).1)),
            of: |ceiling: &CeilingView| parts(ceiling).1,
            label: String::clone,
        };
        dotted_grid(&ceilings, &rows, &columns, |ceiling| {
            let figure = format_significant(ceiling.gflop_per_s, 3);
            format!("{figure} {}", printable(&ceiling.variant))
        })
    }

    fn roofs_table(&self) -> String {
        let roofs: Vec<&ChartRoofView> = self.roofs.iter().collect();
        let rows = Side {
            keys: in_order(roofs.iter().map(|roof| roof.roof.name.clone())),
            of: |roof: &ChartRoofView| roof.roof.name.clone(),
            label: String::clone,
        };
        let columns = Side {
            keys: in_order(roofs.iter().map(|roof| roof.kernel.clone())),
            of: |roof: &ChartRoofView| roof.kernel.clone(),
            label: |kernel: &String| printable(kernel).into_owned(),
        };
        dotted_grid(&roofs, &rows, &columns, |roof| {
            let figure = format_significant(roof.gb_per_s, 3);
            match self.ridge(roof) {
                Some(ridge) => format!("{figure} ({})", significant(ridge, 3)),
                None => figure,
            }
        })
    }

    /// Where a roof meets the ceiling that points are held against.
    pub(crate) fn ridge(&self, roof: &ChartRoofView) -> Option<f64> {
        let ceiling = self.ceiling.as_ref()?;
        let ridge = roof.ridges.iter().find(|ridge| ridge.ceiling == *ceiling)?;
        Some(ridge.flops_per_byte)
    }

    fn validation_table(&self) -> String {
        if self.validations.is_empty() {
            return String::new();
        }
        let row = |of: &RoofValidationView| {
            let points = if of.points.len() == of.planned {
                of.planned.to_string()
            } else {
                format!("{} of {}", of.points.len(), of.planned)
            };
            let mut row = vec![of.roof.name.clone(), points];
            match &of.errors {
                Some(errors) => row.extend([
                    percent_words(errors.relative_rms),
                    percent_words(errors.paper),
                    percent_words(errors.mean),
                    format!(
                        "{} x in {}",
                        format_significant(errors.worst_ratio, 3),
                        printable(&errors.worst_kernel)
                    ),
                ]),
                None => row.extend(["-"; 4].map(String::from)),
            }
            row
        };
        let header =
            ["", "points", "relative RMS", "paper's", "mean", "worst: measured / attainable"];
        let rows = self.validations.iter().map(row).collect();
        let what = format!(
            "{}: points of known intensity against their roofs. relative RMS: sqrt(mean of r^2), r = \
             measured / attainable - 1; paper's: sqrt(sum of r^2) / n, as denoyelle2019 prints it, \
             which is smaller by sqrt(n)",
            self.title()
        );
        format!("\n{}{}", paragraph("", &what), table(header.map(String::from).to_vec(), rows, 1))
    }
}

/// Roofs of loads on memory, a line for each cluster but the first.
fn others(charts: &[ChartView]) -> String {
    let Some((_, others @ [_, ..])) = charts.split_first() else { return String::new() };
    let range = |chart: &ChartView, limit: &str, is_local: Option<bool>| {
        let of = |roof: &&ChartRoofView| {
            roof.kernel == "load"
                && roof.roof.limit == limit
                && (is_local.is_none() || roof.roof.is_local == is_local)
        };
        let figures: Vec<f64> = chart.roofs.iter().filter(of).map(|roof| roof.gb_per_s).collect();
        let least = figures.iter().copied().min_by(f64::total_cmp);
        let most = figures.iter().copied().max_by(f64::total_cmp);
        match (least, most) {
            (Some(least), Some(most)) => {
                let [least, most] = [least, most].map(|figure| format_significant(figure, 3));
                if least == most { most } else { format!("{least} - {most}") }
            }
            _ => "-".into(),
        }
    };
    let row = |chart: &ChartView| {
        vec![
            format!("cluster {}", chart.cluster),
            range(chart, "memory", Some(true)),
            range(chart, "memory", Some(false)),
            range(chart, "interleaved", None),
            range(chart, "contended", None),
            range(chart, "all_local", None),
            range(chart, "congested", None),
        ]
    };
    let header = ["", "local", "remote", "interleaved", "contended", "all local", "congested"];
    let rows = others.iter().map(row).collect();
    let what = "the other clusters: roofs of loads on memory, GB/s, least - most (--json has their \
                charts)";
    format!("\n{}{}", paragraph("", what), table(header.map(String::from).to_vec(), rows, 1))
}
