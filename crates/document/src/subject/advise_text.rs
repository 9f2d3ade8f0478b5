//! What is advised, in words and a table.

use nearfar_advise::{AdvisingModel, Candidate, Ranking, Room};

use super::advise::{AdviceProfileView, AdviseView, CandidateView, NodeAccessView};
use super::figures::{count, significant};
use super::flow::percents;
use super::run_text::verification_text;
use crate::printable::printable;
use crate::terminal::paragraph::{folded, paragraph};
use crate::terminal::table::{room_for, table};

/// Columns for a command, with room for what stands around it: longer ones go on in the next line, as
/// a shell reads them.
const COMMAND_WIDTH: usize = 92;

impl AdviseView {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.measured.heading();
        text += &paragraph("", &format!("For {}.", self.demand_words()));
        if let Some(profile) = &self.profile {
            text += &profile.lines();
        }
        if let Some(basis) = &self.basis {
            let by_hybrid = self.candidates.iter().any(|it| it.model == "hybrid");
            let figures = if by_hybrid {
                "Useful GB/s of this mix of loads and stores, by the hybrid model".into()
            } else {
                format!(
                    "Useful GB/s of {}, threads x the slowest thread, give or take {} (the flow \
                     model's error is {}, on {})",
                    printable(&basis.kernel),
                    percents(basis.interval_error),
                    percents(basis.model_error),
                    basis.judged_by
                )
            };
            let first = format!("{figures}. Without advice: {}.", self.demand.default_is);
            text += &(paragraph("", &first) + "\n" + &self.candidate_table());
            if self.not_shown > 0 {
                text += &format!(" and {} more (--top)\n", self.not_shown);
            }
        }
        text.push('\n');
        for sentence in &self.advice {
            text += &paragraph("- ", sentence);
        }
        if let Some(best) = self.recommended.and_then(|it| self.candidates.get(it)) {
            for command in best.command.iter().chain(&best.cluster_commands) {
                let lines = folded(command.split(' '), COMMAND_WIDTH);
                text += &format!("  -> {}\n", lines.join(" \\\n     "));
            }
        }
        if let Some(verification) = &self.verification {
            text += &verification_text(verification);
        }
        text
    }

    fn demand_words(&self) -> String {
        let demand = &self.demand;
        let threads = match demand.threads {
            Some(threads) => count(threads as usize, "thread"),
            None => "a thread on every core".into(),
        };
        let on = match &demand.clusters {
            Some(clusters) => {
                let names: Vec<String> = clusters.iter().map(u32::to_string).collect();
                format!(
                    " of {} {}",
                    if names.len() == 1 { "cluster" } else { "clusters" },
                    names.join(", ")
                )
            }
            None => String::new(),
        };
        let size = demand.working_set_bytes.map_or_else(
            || "data of unknown size".into(),
            |bytes| format!("{} of data", nearfar_units::Bytes(bytes)),
        );
        let loads = demand
            .load_share
            .map_or_else(String::new, |share| format!(", {} of the bytes loaded", percents(share)));
        format!("{threads}{on}, {size}, {} use{loads}", demand.pattern)
    }

    fn candidate_table(&self) -> String {
        let header = ["", "threads and pages", "GB/s", "interval", "gain", "fits"];
        let header: Vec<String> = header.map(String::from).into();
        let row = |(place, it): (usize, &CandidateView)| {
            let (low, high) = it.interval_gb_per_s;
            let mark = match (self.recommended == Some(place), it.is_default) {
                (true, _) => "*",
                (false, true) => "-",
                (false, false) => "",
            };
            vec![
                mark.into(),
                String::new(),
                significant(it.predicted_gb_per_s, 3),
                format!("{} to {}", significant(low, 3), significant(high, 3)),
                match it.gain {
                    _ if it.is_default => "-".into(),
                    gain => gain.map_or_else(|| "unknown".into(), signed),
                },
                it.fits.map_or("unknown", |fits| if fits { "yes" } else { "no" }).into(),
            ]
        };
        let mut rows: Vec<Vec<String>> = self.candidates.iter().enumerate().map(row).collect();
        let room = room_for(&header, &rows, 1);
        for (cells, candidate) in rows.iter_mut().zip(&self.candidates) {
            let bindings = candidate.binding.iter().chain(&candidate.cluster_bindings);
            let mut lines: Vec<String> = bindings.flat_map(|it| wrapped(it, room)).collect();
            if candidate.is_default {
                lines.push("(without advice)".into());
            } else if candidate.command.is_none() && candidate.cluster_commands.is_empty() {
                lines.push("(after a change to the program)".into());
            }
            cells[1] = lines.join("\n");
        }
        table(header, rows, 2) + " * recommended, - what happens without advice\n"
    }

    pub(crate) fn sentences(&self, ranking: &Ranking) -> Vec<String> {
        let mut sentences = Vec::new();
        let least = ranking.flow.least_difference();
        match (self.recommended.and_then(|it| self.candidates.get(it)), ranking.default) {
            (Some(best), _) if best.is_default => sentences.push(format!(
                "Keep the default: no placement that finds room gains as much as can be told, {} \
                 here. {}",
                percents(least),
                best.reason
            )),
            (Some(best), Some(_)) => {
                let (low, high) = best.interval_gb_per_s;
                sentences.push(format!(
                    "Use the placement marked *: expect {} GB/s ({} to {}), {} over the default. {}",
                    significant(best.predicted_gb_per_s, 3),
                    significant(low, 3),
                    significant(high, 3),
                    best.gain.map_or_else(String::new, signed),
                    best.reason
                ));
            }
            (Some(best), None) => sentences.push(format!(
                "Placed by itself the data finds no room; use the placement marked *, the best that \
                 does: expect {} GB/s. {}",
                significant(best.predicted_gb_per_s, 3),
                best.reason
            )),
            (None, _) => sentences.push(
                "The data finds no room on this machine: nothing is recommended.".to_string(),
            ),
        }
        if let Some(better) = self
            .candidates
            .iter()
            .find(|it| self.is_better(it) && it.command.is_none() && it.cluster_commands.is_empty())
        {
            sentences.push(format!(
                "If each thread writes its part of the data first: {} GB/s, {} over the default; \
                 that takes a change to the program.",
                significant(better.predicted_gb_per_s, 3),
                better.gain.map_or_else(String::new, signed)
            ));
        }
        if let Some(better) =
            self.candidates.iter().find(|it| self.is_better(it) && it.fits == Some(false))
        {
            sentences.push(format!("What looks better and does not fit: {}", better.reason));
        }
        if self
            .recommended
            .and_then(|it| self.candidates.get(it))
            .is_some_and(|it| !it.cluster_commands.is_empty())
        {
            sentences.push(
                "Each command is for the processes of one cluster: a policy is one for a whole \
                 process."
                    .into(),
            );
        }
        sentences.extend(self.cautions(ranking));
        sentences
    }

    /// Whether a candidate's gain is above that of what is recommended, by more than the model can
    /// tell from none.
    fn is_better(&self, candidate: &CandidateView) -> bool {
        let best = self.recommended.and_then(|it| self.candidates.get(it)).and_then(|it| it.gain);
        candidate.is_claimed && candidate.gain.zip(best).is_some_and(|(own, best)| own > best)
    }

    fn cautions(&self, ranking: &Ranking) -> Vec<String> {
        let mut cautions = Vec::new();
        let best = ranking.recommended.and_then(|it| ranking.candidates.get(it));
        if best.is_some_and(|it| it.room == Room::Unknown) {
            let why = if self.demand.working_set_bytes.is_some() {
                "the size of a node is not known"
            } else {
                "give --working-set to have it looked at"
            };
            cautions.push(format!("Whether the data finds room is not known: {why}."));
        }
        if self.demand.pattern == "irregular" {
            cautions.push(
                "Accesses in no order move fewer bytes than these figures, which are of streams: \
                 believe the order, not the height."
                    .into(),
            );
        }
        let of_hybrid = |it: &Candidate| it.model == AdvisingModel::Hybrid;
        if ranking.candidates.iter().any(of_hybrid) {
            cautions.push(
                "The hybrid model compares the two memories of this cluster for this share of \
                 loads; other nodes are left out, as it knows nothing of them. Without --load-share \
                 the flow model compares all nodes."
                    .into(),
            );
            return cautions;
        }
        let kernel = self.basis.as_ref().and_then(|it| it.kernel_load_share);
        if let Some((asked, known)) = self.demand.load_share.zip(kernel)
            && (asked - known).abs() > 0.1
        {
            cautions.push(format!(
                "The flow model's figures are of a kernel with {} of its bytes loaded, the nearest \
                 that the record has in mixes; the program has {}.",
                percents(known),
                percents(asked)
            ));
        }
        if !ranking.unmeasured.is_empty() {
            let nodes: Vec<String> = ranking.unmeasured.iter().map(u32::to_string).collect();
            cautions.push(format!(
                "Nothing is said of {} {}: the record has no figures of {}.",
                if nodes.len() == 1 { "node" } else { "nodes" },
                nodes.join(", "),
                if nodes.len() == 1 { "it" } else { "them" }
            ));
        }
        cautions
    }
}

impl AdviceProfileView {
    fn lines(&self) -> String {
        let taken: Vec<&str> = self
            .taken
            .iter()
            .map(|name| match *name {
                "working_set_bytes" => "the size of its data",
                "accesses" => "where its accesses go without advice",
                name => name,
            })
            .collect();
        let what = if taken.is_empty() { "nothing".into() } else { taken.join(", ") };
        let said = format!("From the profile of {} on {}: {what}", self.program, self.host);
        let mut text = paragraph("", &(printable(&said).into_owned() + "."));
        if !self.accesses.is_empty() {
            let share =
                |it: &NodeAccessView| format!("node {} {}", it.memory_node, percents(it.share));
            let shares: Vec<String> = self.accesses.iter().map(share).collect();
            text += &paragraph("  ", &format!("Its accesses went to {}.", shares.join(", ")));
        }
        if let Some(counted) = self.uneven_local_share {
            text += &paragraph(
                "  ",
                &format!(
                    "Its pages are used unevenly: {} of its lines came from near memory, which is \
                     taken for the default. A placement page by page deals hot and cold alike.",
                    percents(counted)
                ),
            );
        }
        for sentence in &self.unknown {
            text += &paragraph("  ", &printable(sentence));
        }
        text
    }
}

/// Over or under the default.
fn signed(gain: f64) -> String {
    let sign = if gain < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percents(gain.abs()))
}

/// A binding in lines of at most so many characters, cut at its space and its commas.
fn wrapped(binding: &str, width: usize) -> Vec<String> {
    let parts: Vec<&str> = binding.split_inclusive([' ', ',']).collect();
    let mut lines = vec![String::new()];
    for part in parts {
        let is_full = lines.last().is_some_and(|line| {
            !line.is_empty() && line.chars().count() + part.trim_end().chars().count() > width
        });
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(part);
        }
    }
    lines
}
