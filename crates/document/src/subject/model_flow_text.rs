//! The flow model in words and tables.

use std::collections::BTreeMap;

use nearfar_machine::CpuSet;

use super::figures::{count, rounded, significant};
use super::model_flow::{
    FlowErrorsView, FlowLimitView, FlowNumberView, FlowPlacementView, FlowView,
};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::{table, table_in_blocks};

impl FlowView {
    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        let first = format!(
            "Flow model of {} ({}), useful GB/s: streams share paths, controllers, issue limits and \
             links, which fill up smoothly (p = {}) and are divided with fairness {} (0: every \
             thread alike, 1: by demand). In brackets: not bound by any case, so it is at least \
             about so much.",
            printable(&self.kernel),
            printable(&self.variant),
            exponent(&self.saturation),
            exponent(&self.fairness),
        );
        let mut text = paragraph("", &first);
        text += &self.pair_table("One thread of a cluster asks", |view| {
            view.one_thread
                .iter()
                .map(|it| ((it.cluster, it.memory_node), cell(it.gb_per_s, it.is_bound)))
                .collect()
        });
        text += &self.pair_table("A path carries", |view| {
            let paths = view.parts.iter().filter(|it| it.part.kind == "path");
            paths
                .filter_map(|it| {
                    let place = it.part.cluster.zip(it.part.memory_node)?;
                    Some((place, cell(it.gb_per_s, it.is_bound)))
                })
                .collect()
        });
        text += &self.shared_parts();
        text += &self.kernel_lines();
        text += &self.error_table();
        text.push('\n');
        for sentence in &self.advice {
            text += &paragraph("- ", sentence);
        }
        text
    }

    fn pair_table(
        &self,
        title: &str,
        cells: impl Fn(&Self) -> BTreeMap<(usize, u32), String>,
    ) -> String {
        let cells = cells(self);
        let mut rows: Vec<usize> = cells.keys().map(|(cluster, _)| *cluster).collect();
        rows.dedup();
        let mut nodes: Vec<u32> = cells.keys().map(|(_, node)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut header = vec![String::new()];
        header.extend(nodes.iter().map(|node| format!("node {node}")));
        let of_row = |cluster: &usize| {
            let cell = |node: &u32| cells.get(&(*cluster, *node)).cloned().unwrap_or_default();
            let first = std::iter::once(format!("cluster {cluster}"));
            first.chain(nodes.iter().map(cell)).collect()
        };
        let rows: Vec<Vec<String>> = rows.iter().map(of_row).collect();
        format!("\n{title}:\n") + &table_in_blocks(&header, &rows)
    }

    fn shared_parts(&self) -> String {
        let shared = self.parts.iter().filter(|it| it.part.kind != "path");
        let row = |it: &super::model_flow::FlowCapacityView| {
            let (low, high) = it.interval_gb_per_s;
            let told = if it.is_bound {
                format!("{} to {}", significant(low, 3), significant(high, 3))
            } else {
                "not bound by any case".into()
            };
            vec![it.part.words(), cell(it.gb_per_s, it.is_bound), told]
        };
        let rows: Vec<Vec<String>> = shared.map(row).collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["shared part", "GB/s", "95 % interval"].map(String::from).into();
        format!("\n{}", table(header, rows, 1))
    }

    fn kernel_lines(&self) -> String {
        let line = |it: &super::model_flow::FlowKernelView| {
            let text = format!(
                "{} ({}) moves {} times the useful bytes of {} through the same full parts.",
                printable(&it.kernel),
                printable(&it.variant),
                exponent(&it.bytes),
                printable(&self.kernel)
            );
            paragraph("", &text)
        };
        let lines: String = self.kernels.iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    fn error_table(&self) -> String {
        let row = |it: &FlowErrorsView| {
            let words = match it.cases_are {
                "fitted" => "fitted",
                "held_out" => "not fitted",
                _ => "each foretold by all others",
            };
            vec![
                it.experiment.to_string(),
                words.into(),
                it.cases.to_string(),
                it.streams.to_string(),
                percents(it.mean_error),
                percents(it.worst_error),
            ]
        };
        let header = ["cases of", "", "cases", "streams", "mean error", "worst"].map(String::from);
        let rows = self.errors.iter().map(row).collect();
        format!("\n{}", table(header.into(), rows, 2))
    }

    /// What to do about it.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let own = self.placement("own_nodes");
        if let Some(own) = own {
            sentences.push(format!(
                "Every cluster on its own node, all cores: expect {} in sum; {}.",
                expected(own),
                self.held_up(own.limit.as_ref())
            ));
        }
        if let (Some(own), Some(all)) = (own, self.placement("all_nodes")) {
            sentences.push(format!(
                "Interleaving every cluster's pages over all nodes instead: expect {}, {}; {}.",
                expected(all),
                self.against(all, own),
                self.held_up(all.limit.as_ref())
            ));
        }
        if let (Some(own), Some(other)) = (own, self.placement("other_packages")) {
            sentences.push(format!(
                "If every package's data lies in other packages: expect {}, {}; {}.",
                expected(other),
                self.against(other, own),
                self.held_up(other.limit.as_ref())
            ));
        }
        sentences.extend(self.one_node());
        sentences.extend(self.links());
        let judged = self.errors.iter().find(|it| it.cases_are == "left_out");
        if let Some(judged) = judged {
            sentences.push(format!(
                "A stream of {} is foretold by all other cases within {} on average, {} at worst \
                 ({}); the model's error, the largest mean above, is {} ({}): expect figures \
                 within {}, and believe no difference below {}.{}",
                judged.experiment,
                percents(judged.mean_error),
                percents(judged.worst_error),
                count(judged.streams, "stream"),
                percents(self.model_error),
                self.judged_by,
                percents(self.interval_error),
                percents(self.least_difference_share),
                if judged.cases < FEW {
                    " So few cases tell little of the error: nearfar characterize --suite full \
                     --only pairs,mixes measures more."
                } else {
                    ""
                }
            ));
        }
        if self.not_foretold_cases > 0 {
            sentences.push(format!(
                "Of {} the others say nothing when left out: not counted in these errors.",
                count(self.not_foretold_cases, "case")
            ));
        }
        if self.lone_variant != self.variant {
            sentences.push(format!(
                "The record has no lone figures of {} ({}): those of {} stand for them, which is \
                 sound where memory bounds both; nearfar characterize --isa {} --only \
                 pairs,mixes measures them in one variant.",
                printable(&self.kernel),
                printable(&self.variant),
                printable(&self.lone_variant),
                printable(&self.variant)
            ));
        }
        if !self.has_converged {
            sentences.push(
                "The fit had not come to rest after 12 steps: its numbers may be off by more than \
                 their intervals say; the errors above are what it reaches."
                    .into(),
            );
        }
        sentences
    }

    fn placement(&self, name: &str) -> Option<&FlowPlacementView> {
        self.placements.iter().find(|it| it.placement == name)
    }

    fn held_up(&self, limit: Option<&FlowLimitView>) -> String {
        let Some(limit) = limit else {
            return "the threads themselves are the limit (latency)".into();
        };
        let capacity = self.parts.iter().find(|it| it.part == limit.part);
        let of = capacity.map_or_else(String::new, |it| {
            let capacity = significant(it.gb_per_s, 3);
            format!(" (it carries {} of its {capacity} GB/s)", percents(limit.filled_share))
        });
        let clusters: CpuSet = limit.clusters.iter().copied().collect();
        let whom = match limit.clusters.len() {
            0 => String::new(),
            1 => format!("; parts of its sort hold up cluster {clusters} first"),
            _ => format!("; parts of its sort hold up clusters {clusters} first"),
        };
        format!("most is lost at {}{of}{whom}", limit.part.words())
    }

    /// What a placement gains or costs against another, where the model can tell.
    fn against(&self, one: &FlowPlacementView, other: &FlowPlacementView) -> String {
        let gain = best_known(one) / best_known(other) - 1.0;
        if gain.abs() < self.least_difference_share {
            return format!(
                "no difference that the model can tell ({}, it tells those from {} on)",
                signed(gain),
                percents(self.least_difference_share)
            );
        }
        format!("{} against own nodes", signed(gain))
    }

    fn one_node(&self) -> Option<String> {
        let mut of_nodes: Vec<&FlowPlacementView> =
            self.placements.iter().filter(|it| it.placement == "one_node").collect();
        of_nodes.sort_by(|a, b| best_known(a).total_cmp(&best_known(b)));
        let (least, most) = (of_nodes.first()?, of_nodes.last()?);
        let node = |it: &FlowPlacementView| {
            it.memory_node.map_or_else(|| "?".into(), |node: u32| node.to_string())
        };
        Some(format!(
            "All cores on one node's memory: expect {} on node {} up to {} on node {}; if a program \
             of all cores asks for more, spread its data (interleave, or first touch by its users).",
            expected(least),
            node(least),
            expected(most),
            node(most)
        ))
    }

    fn links(&self) -> Vec<String> {
        let links = self.parts.iter().filter(|it| it.part.kind == "link");
        let sentence = |it: &super::model_flow::FlowCapacityView| {
            let (from, to) = it.part.from_package.zip(it.part.to_package)?;
            let (low, high) = it.interval_gb_per_s;
            Some(if it.is_bound {
                format!(
                    "The cores of package {from} reach at most {} GB/s ({} to {}) of package {to}'s \
                     memory together: keep threads and data in one package where they ask for more.",
                    significant(it.gb_per_s, 3),
                    significant(low, 3),
                    significant(high, 3)
                )
            } else {
                format!(
                    "No case fills a link from package {from} to package {to} of its own: the paths \
                     and controllers behind it are full before."
                )
            })
        };
        links.filter_map(sentence).collect()
    }
}

/// Fewer cases say little of an error.
const FEW: usize = 4;

fn cell(gb_per_s: f64, is_bound: bool) -> String {
    let value = significant(gb_per_s, 3);
    if is_bound { value } else { format!("({value})") }
}

fn exponent(number: &FlowNumberView) -> String {
    let (low, high) = number.interval;
    let told = if number.is_bound { String::new() } else { "; not bound by any case".into() };
    format!(
        "{} ({} to {}{told})",
        significant(number.value, 2),
        significant(low, 2),
        significant(high, 2)
    )
}

/// What was measured, else what is foretold.
fn best_known(placement: &FlowPlacementView) -> f64 {
    placement.measured_gb_per_s.unwrap_or(placement.gb_per_s)
}

/// `240 GB/s (230 to 250)`; `238 GB/s as measured (the model: 240)`.
fn expected(placement: &FlowPlacementView) -> String {
    let foretold = significant(placement.gb_per_s, 3);
    if let Some(measured) = placement.measured_gb_per_s {
        return format!("{} GB/s as measured (the model: {foretold})", significant(measured, 3));
    }
    let (low, high) = placement.interval_gb_per_s;
    format!("{foretold} GB/s ({} to {})", significant(low, 3), significant(high, 3))
}

pub(crate) fn percents(fraction: f64) -> String {
    format!("{} %", rounded(fraction * 100.0, 1))
}

fn signed(fraction: f64) -> String {
    let sign = if fraction < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percents(fraction.abs()))
}
