//! What is advised, in words and a table.

use nearfar_advise::{AdvisingModel, Candidate, CandidateKind, Pattern, Room};
use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, Quantity};

use super::advise::{
    AdviceBasis, AdviceProfile, AdvisedCandidate, AdvisedPlacement, NodeAccess, TakenFigure,
};
use super::figures::{count, significant};
use super::flow::{part_words, percents, signed};
use super::run::verification_text;
use super::who::Who;
use crate::printable::printable;
use crate::terminal::paragraph::{WIDTH, folded, paragraph};
use crate::terminal::table::{room_for, table};

/// Columns for a command, with room for what stands around it: longer ones go on in the next line, as
/// a shell reads them.
const COMMAND_WIDTH: usize = 92;

impl AdvisedPlacement {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.measured.heading();
        text += &paragraph("", &format!("For {}.", self.demand_words()));
        if let Some(profile) = &self.profile {
            text += &profile.lines();
        }
        if let Some(basis) = &self.basis {
            let by_hybrid = self.is_by_hybrid();
            let figures = if by_hybrid {
                "Useful GB/s of this mix of loads and stores, by the hybrid model".into()
            } else {
                format!(
                    "Useful GB/s of {}, threads x the slowest thread, give or take {} (the flow \
                     model's error is {}, on {})",
                    printable(&basis.kernel),
                    percents(basis.trust.interval_error),
                    percents(basis.trust.model_error),
                    basis.trust.judged_by
                )
            };
            let first = format!("{figures}. Without advice: {}.", self.default_words(basis));
            text += &(paragraph("", &first) + "\n" + &self.candidate_table());
            if self.not_shown > 0 {
                text += &format!(" and {} more (--top)\n", self.not_shown);
            }
        }
        text.push('\n');
        for sentence in self.sentences() {
            text += &paragraph("- ", &sentence);
        }
        if let Some(best) = self.best() {
            for command in &best.commands {
                let lines = folded(command.split(' '), COMMAND_WIDTH);
                text += &format!("  -> {}\n", lines.join(" \\\n     "));
            }
        }
        if let Some(verification) = &self.verification {
            text += &verification_text(verification);
        }
        text
    }

    fn best(&self) -> Option<&AdvisedCandidate> {
        self.candidates.get(self.recommended?)
    }

    fn is_by_hybrid(&self) -> bool {
        self.candidates.iter().any(|it| it.candidate.model == AdvisingModel::Hybrid)
    }

    /// Where pages come to lie that nobody places.
    fn default_words(&self, basis: &AdviceBasis) -> &'static str {
        match self.demand.pattern {
            _ if basis.is_default_seen => "pages where the profile saw them",
            Pattern::Private => "each thread's pages on its own node, because it writes them first",
            Pattern::Shared | Pattern::Regular | Pattern::Irregular => {
                "all pages on the node of the first CPUs in use, because one thread there \
                 writes them first"
            }
        }
    }

    fn demand_words(&self) -> String {
        let demand = &self.demand;
        let threads = match demand.threads {
            Some(threads) => count(threads as usize, "thread"),
            None => "a thread on every core".into(),
        };
        let on = match &demand.initiators {
            Some(initiators) => {
                format!(" of {}", self.measured.who.all_cpus(initiators.iter().copied()))
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
        format!("{threads}{on}, {size}, {} use{loads}", demand.pattern.as_str())
    }

    fn candidate_table(&self) -> String {
        let header = ["", "threads and pages", "GB/s", "interval", "gain", "fits"];
        let header: Vec<String> = header.map(String::from).into();
        let row = |(place, it): (usize, &AdvisedCandidate)| {
            let it = &it.candidate;
            let [low, high] = it.predicted.ends().map(shown);
            let mark = match (self.recommended == Some(place), it.is_default) {
                (true, _) => "*",
                (false, true) => "-",
                (false, false) => "",
            };
            vec![
                mark.into(),
                String::new(),
                shown(it.predicted.value),
                format!("{low} to {high}"),
                match it.gain {
                    _ if it.is_default => "-".into(),
                    gain => gain.map_or_else(|| "unknown".into(), signed),
                },
                match it.room {
                    Room::Fits => "yes".into(),
                    Room::TooSmall { .. } => "no".into(),
                    Room::Unknown => "unknown".into(),
                },
            ]
        };
        let mut rows: Vec<Vec<String>> = self.candidates.iter().enumerate().map(row).collect();
        let room = room_for(WIDTH, &header, &rows, 1);
        for (cells, candidate) in rows.iter_mut().zip(&self.candidates) {
            let bindings = candidate.bindings.iter().map(ToString::to_string);
            let mut lines: Vec<String> = bindings.flat_map(|it| wrapped(&it, room)).collect();
            if candidate.candidate.is_default {
                lines.push("(without advice)".into());
            } else if candidate.commands.is_empty() {
                lines.push("(after a change to the program)".into());
            }
            cells[1] = lines.join("\n");
        }
        table(header, rows, 2) + " * recommended, - what happens without advice\n"
    }

    fn sentences(&self) -> Vec<String> {
        let nothing = self.not_verified.iter().map(|why| format!("Nothing was compared: {why}."));
        let mut sentences = match (self.only_node, &self.basis) {
            (Some(node), _) => vec![format!(
                "Pages can lie on one memory node, node {node}: there is nothing to choose."
            )],
            (None, Some(basis)) => self.sentences_of(basis),
            (None, None) => Vec::new(),
        };
        sentences.extend(nothing);
        sentences
    }

    fn sentences_of(&self, basis: &AdviceBasis) -> Vec<String> {
        let who = &self.measured.who;
        let mut sentences = vec![self.recommendation(basis)];
        let better = |is_wanted: fn(&AdvisedCandidate) -> bool| {
            let mut all = self.candidates.iter().filter(|it| self.is_better(&it.candidate));
            all.find(|it| is_wanted(it)).map(|it| &it.candidate)
        };
        sentences.extend(better(|it| it.commands.is_empty()).map(|better| {
            format!(
                "If each thread writes its part of the data first: {} GB/s, {} over the default; \
                 that takes a change to the program.",
                shown(better.predicted.value),
                gain_words(better)
            )
        }));
        let too_small = better(|it| matches!(it.candidate.room, Room::TooSmall { .. }));
        sentences.extend(
            too_small.map(|better| {
                format!("What looks better and does not fit: {}", reason(better, who))
            }),
        );
        if self.best().is_some_and(|it| it.commands.len() > 1) {
            sentences.push(
                "Each command is for the processes on its CPUs: a policy is one for a whole \
                 process."
                    .into(),
            );
        }
        sentences.extend(self.cautions(basis));
        sentences
    }

    fn recommendation(&self, basis: &AdviceBasis) -> String {
        let who = &self.measured.who;
        let has_default = self.candidates.iter().any(|it| it.candidate.is_default);
        match self.best().map(|it| &it.candidate) {
            Some(best) if best.is_default => format!(
                "Keep the default: no placement that finds room gains as much as can be told, {} \
                 here. {}",
                percents(basis.trust.least_difference_share),
                reason(best, who)
            ),
            Some(best) if has_default => format!(
                "Use the placement marked *: expect {}, {} over the default. {}",
                expected(&best.predicted),
                gain_words(best),
                reason(best, who)
            ),
            Some(best) => format!(
                "Placed by itself the data finds no room; use the placement marked *, the best that \
                 does: expect {} GB/s. {}",
                shown(best.predicted.value),
                reason(best, who)
            ),
            None => "The data finds no room on this machine: nothing is recommended.".into(),
        }
    }

    /// Whether a candidate's gain is above that of what is recommended, by more than the model can
    /// tell from none.
    fn is_better(&self, candidate: &Candidate) -> bool {
        let best = self.best().and_then(|it| it.candidate.gain);
        candidate.is_claimed && candidate.gain.zip(best).is_some_and(|(own, best)| own > best)
    }

    fn cautions(&self, basis: &AdviceBasis) -> Vec<String> {
        let mut cautions = Vec::new();
        if self.best().is_some_and(|it| it.candidate.room == Room::Unknown) {
            let why = if self.demand.working_set_bytes.is_some() {
                "the size of a node is not known"
            } else {
                "give --working-set to have it looked at"
            };
            cautions.push(format!("Whether the data finds room is not known: {why}."));
        }
        if self.demand.pattern == Pattern::Irregular {
            cautions.push(
                "Accesses in no order move fewer bytes than these figures, which are of streams: \
                 believe the order, not the height."
                    .into(),
            );
        }
        if self.is_by_hybrid() {
            cautions.push(
                "The hybrid model compares the two memories of these CPUs for this share of \
                 loads; other nodes are left out, as it knows nothing of them. Without --load-share \
                 the flow model compares all nodes."
                    .into(),
            );
            return cautions;
        }
        if let Some((asked, known)) = self.demand.load_share.zip(basis.kernel_load_share)
            && (asked - known).abs() > 0.1
        {
            cautions.push(format!(
                "The flow model's figures are of a kernel with {} of its bytes loaded, the nearest \
                 that the record has in mixes; the program has {}.",
                percents(known),
                percents(asked)
            ));
        }
        if !basis.unmeasured_nodes.is_empty() {
            let nodes: Vec<String> = basis.unmeasured_nodes.iter().map(u32::to_string).collect();
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

/// Why a candidate is as good as it is.
fn reason(candidate: &Candidate, who: &Who) -> String {
    use CandidateKind::{ByInitiator, FirstTouch, Interleave, Local, OneNode, Weighted};
    let what = match candidate.kind {
        FirstTouch if candidate.is_default => "Pages lie where the program puts them by itself",
        FirstTouch | Local => "Each thread's pages are on its own node",
        OneNode => "All pages are on one node",
        Interleave => "Each of these nodes gives the same part",
        Weighted => "Each node gives as much as it can beside the others",
        ByInitiator => "The CPUs of each node take from each node what is left for them there",
    };
    let slowed = match (&candidate.limit, candidate.model) {
        (Some(part), _) => format!("the slowest threads wait most for {}", part_words(part, who)),
        (None, AdvisingModel::Flow) => "the threads wait for themselves (latency)".into(),
        (None, AdvisingModel::Hybrid) => {
            "loads and stores overlap as they were measured on these two memories".into()
        }
    };
    let mut reason = format!("{what}; {slowed}.");
    if let Room::TooSmall { node, needed_bytes, usable_bytes } = candidate.room {
        reason += &format!(
            " It does not fit: {} for node {node}, which has {} for programs.",
            gib(needed_bytes),
            gib(usable_bytes)
        );
    }
    if candidate.needs_change {
        reason += " No policy gives it: in the program let each thread write its part first.";
    }
    reason
}

fn gib(bytes: f64) -> String {
    format!("{} GiB", significant(bytes / f64::from(1 << 30), 3))
}

fn shown(rate: BytesPerSecond) -> String {
    significant(rate.in_unit(), 3)
}

/// `240 GB/s (230 to 250)`.
fn expected(rate: &Estimate<BytesPerSecond>) -> String {
    let [low, high] = rate.ends().map(shown);
    format!("{} GB/s ({low} to {high})", shown(rate.value))
}

fn gain_words(candidate: &Candidate) -> String {
    candidate.gain.map_or_else(String::new, signed)
}

impl AdviceProfile {
    fn lines(&self) -> String {
        let words = |taken: &TakenFigure| match taken {
            TakenFigure::Threads => "threads",
            TakenFigure::WorkingSetBytes => "the size of its data",
            TakenFigure::Accesses => "where its accesses go without advice",
        };
        let taken: Vec<&str> = self.taken.iter().map(words).collect();
        let what = if taken.is_empty() { "nothing".into() } else { taken.join(", ") };
        let said = format!("From the profile of {} on {}: {what}", self.program, self.host);
        let mut text = paragraph("", &(printable(&said).into_owned() + "."));
        if !self.accesses.is_empty() {
            let share = |it: &NodeAccess| format!("node {} {}", it.memory_node, percents(it.share));
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
