//! Where to put a program's buffers: what to do, and what `predict` says of it.

use nearfar_machine::MemoryPolicy;
use nearfar_model::{
    HeldOutErrors, HybridAdvice, HybridAnswer, HybridAnswers, HybridDrop, HybridMemories,
    HybridPair, HybridPairAnswer, HybridPlacement, HybridPrediction, NoGain, PlacementName,
};
use nearfar_record::{Outcome, TransferKind};

use super::figures::{percent_words, rounded};
use super::hybrid::error_words;
use super::result::ModelResult;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, Table, WORDS};

/// What two memories are called: fast and slow by their kinds; near and far where both are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryNames {
    pub fast: &'static str,
    pub slow: &'static str,
}

impl MemoryNames {
    pub fn new(is_one_kind: bool) -> Self {
        if is_one_kind {
            Self { fast: "near", slow: "far" }
        } else {
            Self { fast: "fast", slow: "slow" }
        }
    }

    pub fn of(memories: &HybridMemories) -> Self {
        Self::new(memories.is_one_kind)
    }

    pub fn placement(self, name: PlacementName) -> String {
        let Self { fast, slow } = self;
        match name {
            PlacementName::AllFast => format!("all {fast}"),
            PlacementName::AllSlow => format!("all {slow}"),
            PlacementName::Even => "even".into(),
            PlacementName::BestTogether => "best together".into(),
            PlacementName::BestSeparately => "best separately".into(),
            PlacementName::HalfFast => format!("half {fast}"),
            PlacementName::Asked => "asked".into(),
        }
    }
}

/// `two thirds reads` for people.
pub(super) fn program_words(load_share: f64) -> String {
    let known = [
        (1.0, "reads only"),
        (0.0, "writes only"),
        (0.5, "half reads, half writes"),
        (2.0 / 3.0, "two thirds reads"),
    ];
    let near = |(share, _): &&(f64, &str)| (share - load_share).abs() < 1e-9;
    known.iter().find(near).map_or_else(
        || format!("{} % reads", rounded(100.0 * load_share, 1)),
        |(_, words)| (*words).into(),
    )
}

/// `lf, ls and ss`.
fn kinds_words(prediction: &HybridPrediction, last: &str) -> String {
    let kinds = std::iter::once(&prediction.dominating).chain(&prediction.may_dominate);
    let kinds: Vec<&str> = kinds.map(|kind| kind.as_str()).collect();
    match kinds.split_last() {
        Some((end, first)) if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        _ => kinds.join(""),
    }
}

/// With its interval; or that nothing validates it, where shares are different.
fn expected(prediction: &HybridPrediction) -> String {
    let figure = Figure::of(&prediction.bandwidth).words();
    if prediction.is_backed() { figure } else { format!("{figure} (not validated)") }
}

fn gb(prediction: &HybridPrediction) -> String {
    Figure::plain(prediction.bandwidth.value).words()
}

/// What sentences are about.
pub(super) struct Speaker<'a> {
    answer: &'a HybridAnswer,
    memories: HybridMemories,
    errors: &'a Outcome<HeldOutErrors>,
    remedy: &'a str,
}

impl<'a> Speaker<'a> {
    pub fn of_pair(pair: &'a HybridPair, answer: &'a HybridAnswer) -> Self {
        Self { answer, memories: pair.memories(), errors: &pair.errors, remedy: &pair.remedy }
    }

    fn of_answer(of: &'a HybridPairAnswer) -> Self {
        let HybridPairAnswer { memories, errors, remedy, answer } = of;
        Self { answer, memories: *memories, errors, remedy }
    }

    fn names(&self) -> MemoryNames {
        MemoryNames::of(&self.memories)
    }

    /// Each begins with these words and the program.
    pub fn sentences(&self, of: &str) -> Vec<String> {
        let program = program_words(self.answer.load_share);
        let advice = self.answer.advice.iter().filter_map(|advice| self.sentence(advice));
        advice.map(|sentence| format!("{of}{program}: {sentence}")).collect()
    }

    fn sentence(&self, advice: &HybridAdvice) -> Option<String> {
        let best = || self.answer.placement(self.answer.recommended?);
        let named = |name| self.answer.placement(name);
        Some(match advice {
            HybridAdvice::Leave { because } => {
                let verb = match self.memories.default_node {
                    Some(_) => "keep the default (first-touch) location,",
                    None => "put",
                };
                format!(
                    "{verb} {}; expect {}. {}.",
                    self.place(best()?),
                    expected(&best()?.prediction),
                    self.no_gain(*because)
                )
            }
            HybridAdvice::Put { rounding_cost, drop } => {
                self.put(best()?, *rounding_cost, drop.as_ref())
            }
            HybridAdvice::AvoidJump { placement } => {
                let jump = named(*placement)?.unclaimed.as_ref()?;
                let share = percent_words(jump.fast_share);
                let at = match best() {
                    Some(best) if percent_words(best.prediction.fast_share) == share => {
                        "just beside that share".into()
                    }
                    _ => format!("with {share} of the bytes in the {} memory", self.names().fast),
                };
                format!(
                    "{at} {} take equally long, and the model jumps from {} to {}: which of the two \
                     holds is not known, so no more is claimed.",
                    kinds_words(jump, "and"),
                    Figure::plain(jump.lowest).text,
                    Figure::plain(jump.highest).words()
                )
            }
            HybridAdvice::TrySeparately => {
                let apart = named(PlacementName::BestSeparately)?;
                format!(
                    "with {} the model gives {}. No point with different shares for reads and \
                     writes was measured, so no gain is claimed: try it on the program itself.",
                    self.place(apart),
                    gb(&apart.prediction)
                )
            }
            HybridAdvice::FillHalf => {
                let half = named(PlacementName::HalfFast)?;
                format!(
                    "if only half of the data fits on the {} node: {}; expect {}.",
                    self.names().fast,
                    self.place(half),
                    expected(&half.prediction)
                )
            }
            HybridAdvice::MeasureOverlaps { missing, most } => {
                let most = most.and_then(|position| self.answer.placements.get(position));
                self.without_default(missing, most)
            }
            HybridAdvice::SuspectBetter => {
                "overlaps are missing for some shares: there may be a better one.".into()
            }
        })
    }

    /// Where to put what, and what to expect of it.
    fn put(
        &self,
        best: &HybridPlacement,
        rounding_cost: Option<f64>,
        drop: Option<&HybridDrop>,
    ) -> String {
        let itself = match self.memories.default_node {
            Some(_) => ", the default (first-touch) location",
            None => "",
        };
        let usual = self.answer.placement(self.answer.default);
        let gain = usual.and_then(|usual| Some((usual, best.gain_over(usual.name)?)));
        let gain = gain.map_or_else(String::new, |(usual, gain)| {
            format!(
                ", {} more than with {} ({}){itself}",
                percent_words(gain.gain),
                self.place(usual),
                gb(&usual.prediction)
            )
        });
        let rounding = rounding_cost.map_or_else(String::new, |lost| {
            format!(" The weights are rounded, which costs {} of it.", percent_words(lost))
        });
        let drop = drop.map_or_else(String::new, |drop| {
            let share = percent_words(drop.fast_share);
            format!(
                " Keep to that share: with {share} it is {}.",
                Figure::of(&drop.bandwidth).words()
            )
        });
        let together = self.answer.placement(PlacementName::BestTogether);
        let one_policy = match together.filter(|_| !best.prediction.shares.are_one()) {
            Some(together) => format!(
                " That takes a policy for each buffer (mbind); one for the whole program gives {} at \
                 best, with {}.",
                gb(&together.prediction),
                self.place(together)
            ),
            None => String::new(),
        };
        let (place, expect) = (self.place(best), expected(&best.prediction));
        format!("put {place}; expect {expect}{gain}.{rounding}{drop}{one_policy}")
    }

    /// What of a placement lies where, and its policies.
    fn place(&self, placement: &HybridPlacement) -> String {
        let HybridMemories { fast_node, slow_node, .. } = self.memories;
        let MemoryNames { fast, slow } = self.names();
        let of_buffer = |what: &str, share: f64, policy: &MemoryPolicy| {
            let (part, speed, node) = match share {
                share if share >= 1.0 => (String::new(), fast, fast_node),
                share if share <= 0.0 => (String::new(), slow, slow_node),
                share => (percent_words(share) + " of ", fast, fast_node),
            };
            format!("{part}{what} on the {speed} node {node} (mem={policy})")
        };
        let shares = &placement.prediction.shares;
        let read = shares.of_reads().zip(placement.load_policy.as_ref());
        let written = shares.of_writes().zip(placement.store_policy.as_ref());
        match (read, written) {
            (Some((share, policy)), Some(_)) if shares.are_one() => {
                of_buffer("all buffers", share, policy)
            }
            (None, None) => "nothing".into(),
            _ => {
                let read = read.map(|(share, policy)| of_buffer("what is read", share, policy));
                let written =
                    written.map(|(share, policy)| of_buffer("what is written", share, policy));
                let both: Vec<String> = read.into_iter().chain(written).collect();
                both.join(" and ")
            }
        }
    }

    /// How much a gain must be to count.
    fn no_gain(&self, because: NoGain) -> String {
        match (because, self.errors.found()) {
            (NoGain::TooFewRounds, _) => {
                "No gain is claimed, as the rounds are too few for intervals".into()
            }
            (NoGain::WithinError, Some(errors)) => format!(
                "No other placement gains more than the model's error ({})",
                percent_words(errors.room)
            ),
            _ => "No gain is claimed, as the model's error is not known".into(),
        }
    }

    /// Why nothing can be said of a gain, and what is known nevertheless.
    fn without_default(
        &self,
        missing: &[(TransferKind, TransferKind)],
        most: Option<&HybridPlacement>,
    ) -> String {
        let HybridMemories { fast_node, slow_node, default_node, .. } = self.memories;
        let (speed, node) = match self.answer.default {
            PlacementName::AllSlow => (self.names().slow, slow_node),
            _ => (self.names().fast, fast_node),
        };
        let thetas = missing.iter();
        let thetas = thetas.map(|(one, other)| format!("{} with {}", other.as_str(), one.as_str()));
        let most = most.map_or_else(String::new, |most| {
            let (place, expect) = (self.place(most), expected(&most.prediction));
            format!(" The best that can be predicted is {place}: {expect}.")
        });
        format!(
            "all buffers on the {speed} node {node}{} cannot be predicted, as {} ({}) is not known \
             (`{}` measures it with more rounds), so no gain over it is known.{most}",
            if default_node.is_some() { ", the default (first-touch) location," } else { "" },
            if missing.len() == 1 { "the overlap theta" } else { "an overlap theta" },
            thetas.collect::<Vec<_>>().join(", "),
            self.remedy
        )
    }
}

/// `CPUs 0-63, fast node 1, slow node 0`.
pub(crate) fn memories_words(of: &HybridMemories, who: &Who) -> String {
    let HybridMemories { initiator, fast_node, slow_node, .. } = *of;
    let MemoryNames { fast, slow } = MemoryNames::of(of);
    format!("{}, {fast} node {fast_node}, {slow} node {slow_node}", who.cpus(initiator))
}

/// What `predict` says of a program over two memories.
pub fn placements_over_two_memories(answers: &ModelResult<HybridAnswers>) -> Answer {
    let pairs = &answers.result.pairs;
    let who = &answers.measured.who;
    let memories = |of: &HybridPairAnswer| memories_words(&of.memories, who);
    let findings = pairs.iter().flat_map(|of| {
        let prefix = if pairs.len() > 1 { memories(of) + ", " } else { String::new() };
        Speaker::of_answer(of).sentences(&prefix)
    });
    let program = pairs.first().map(|of| program_words(of.answer.load_share));
    let are_one_kind = pairs.iter().all(|of| of.memories.is_one_kind);
    let MemoryNames { fast, slow } = MemoryNames::new(are_one_kind);
    let section = Section::new(
        "placements",
        "Placements over two memories",
        format!(
            "What a program gets of a {fast} and a {slow} memory: {}. Useful bytes.",
            program.unwrap_or_default()
        ),
        pairs.iter().map(|of| placements(&memories(of), of)).collect(),
    );
    let section = section.with_findings(findings.collect());
    answers.measured.answer().and_gap().and_section(section, FIRST_ROWS)
}

/// Rows of the first screen.
const FIRST_ROWS: usize = 12;

fn placements(memories: &str, of: &HybridPairAnswer) -> Table {
    let share = |share: Option<f64>| share.map_or("-".into(), |share| rounded(share, 3));
    let names = MemoryNames::of(&of.memories);
    let MemoryNames { fast, slow } = names;
    let rows = of.answer.placements.iter().map(|placement| {
        let prediction = &placement.prediction;
        let gain = |over| {
            let gain = placement.gain_over(over);
            Cell::text(gain.map_or("-".into(), |gain| {
                let claim = if gain.is_claimed || gain.is_sure_loss { "" } else { "?" };
                format!("{}{claim}", percent_words(gain.gain))
            }))
        };
        let mark = if prediction.is_backed() { "" } else { " (!)" };
        vec![
            Cell::text(format!("{}{mark}", names.placement(placement.name))),
            Cell::text(share(prediction.shares.of_reads())),
            Cell::text(share(prediction.shares.of_writes())),
            Cell::Figure(Figure::of(&prediction.bandwidth)),
            Cell::text(kinds_words(prediction, "or")),
            gain(PlacementName::AllFast),
            gain(PlacementName::AllSlow),
            gain(PlacementName::Even),
        ]
    });
    Table::new(
        format!("{memories}; gains over all {fast}, all {slow} and even"),
        Column::all(
            [
                "placement",
                &format!("reads {fast}"),
                &format!("writes {fast}"),
                "gives",
                "longest",
                &format!("over {fast}"),
                &format!("over {slow}"),
                "over even",
            ],
            [WORDS, WORDS, WORDS, GB, WORDS, WORDS, WORDS, WORDS],
        ),
        rows,
    )
    .with_notes(vec![error_words(&of.errors)])
}
