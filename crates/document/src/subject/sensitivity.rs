//! Programs at their placements, in words and tables.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::MemoryPolicy;
use nearfar_model::{
    BoundsStanding, PlacedRuns, ProgramSensitivity, ReferenceClasses, Sensitivity,
};
use nearfar_record::{Better, Record, RunSummary, TriedCounter};
use nearfar_units::format_significant;
use serde::Serialize;

use super::figures::{count, percent_words, rounded, significant};
use super::origin::Origin;
use super::sensitivity_counters::{self, counted, counted_matrix, unavailable};
use super::who::Who;
use crate::printable::printable;
use crate::terminal::paragraph::{folded, paragraph};
use crate::terminal::table::{table, table_in_blocks, table_with_numbers};

/// Below this fraction of the pages a line says that they were elsewhere.
const PLACED: f64 = 0.9;

/// How sensitive programs are to where their memory is (docs/sensitivity.md); `sensitivity --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramRuns {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// The file with the runs; null where there is none.
    pub record: Option<String>,
    /// Why nothing was run: there is nothing to choose; null where something was.
    pub nothing_to_choose: Option<String>,
    /// The record whose classes give the bounds; null where none was given.
    pub reference: Option<String>,
    /// Alpha of its classes relative to class 0; null as above.
    pub alphas: Option<Vec<f64>>,
    /// Counters that were to be read of every run, as they were tried out before; null where
    /// nobody asked for them.
    pub counters: Option<Vec<TriedCounter>>,
    #[serde(flatten)]
    pub found: Sensitivity,
}

impl ProgramRuns {
    /// The programs of a record; without them, why nothing was run.
    pub fn new(
        record: &Record,
        found: Result<Sensitivity, String>,
        reference: Option<(String, &ReferenceClasses)>,
    ) -> Self {
        let commands = record.header.inputs.commands.as_ref();
        let (reference, alphas) =
            reference.map(|(name, classes)| (name, classes.alphas.clone())).unzip();
        let nothing_to_choose = found.as_ref().err().cloned();
        Self {
            schema: "nearfar.sensitivity/3",
            measured: Origin::new(record),
            record: None,
            nothing_to_choose,
            reference,
            alphas,
            counters: commands.and_then(|commands| commands.counters.clone()),
            found: found.unwrap_or_else(|_| Sensitivity::of_none(commands)),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.measured.heading();
        if let Some(why) = &self.nothing_to_choose {
            return text + &paragraph("", &printable(why));
        }
        if let Some(record) = &self.record {
            text += &format!("record of the runs: {}\n", printable(record));
        }
        text += &paragraph("", &self.what_counts());
        text += &paragraph("", &self.where_bounds_are_from());
        text += &unavailable(self.counters.as_deref().unwrap_or_default());
        for program in &self.found.programs {
            text += &self.program(program);
        }
        text + &self.best_programs()
    }

    fn is_matrix(&self) -> bool {
        let placements = self.found.programs.iter().flat_map(|program| &program.placements);
        placements.map(|runs| runs.initiator).collect::<BTreeSet<u32>>().len() > 1
    }

    /// `time, s` or `metric`: the unit of a metric is the user's and may have any length.
    fn figure_name(&self) -> &'static str {
        if self.found.metric.is_some() { "metric" } else { "time, s" }
    }

    fn what_counts(&self) -> String {
        let better = match self.found.better {
            Better::Higher => "the higher the better",
            Better::Lower => "the lower the better",
        };
        let what = match &self.found.metric {
            Some(metric) => {
                let unit = metric.unit.as_ref();
                let unit = unit.map_or_else(String::new, |unit| format!("{}, ", printable(unit)));
                format!("{unit}what '{}' finds last in a run's output", printable(&metric.pattern))
            }
            None => "from the start of a run to its end".into(),
        };
        format!(
            "{}: {what}, {better}; median over runs, give or take half its interval. performance: \
             against the same CPUs with their own memory.",
            self.figure_name()
        )
    }

    fn where_bounds_are_from(&self) -> String {
        match (&self.reference, &self.alphas) {
            (Some(reference), Some(alphas)) => {
                let alphas: Vec<String> = alphas.iter().map(|it| significant(*it, 3)).collect();
                format!(
                    "serial, D, overlap: what a program gets that only moves data, by the classes \
                     of {} (alpha {}); expected: with the program's own share of such time.",
                    printable(reference),
                    alphas.join(", ")
                )
            }
            _ => "What bandwidth allows is not known: give a record of this machine by --record \
                  (`nearfar characterize` makes one)."
                .into(),
        }
    }

    fn program(&self, program: &ProgramSensitivity) -> String {
        let mut text = format!("\n{}\n", name(&program.label));
        if self.is_matrix() {
            text += &self.matrix(program);
        } else {
            text += &self.placements(program);
        }
        text += &share_line(program, self.reference.is_some());
        text + &notes(program, &self.measured.who) + &sensitivity_counters::notes(program)
    }

    fn placements(&self, program: &ProgramSensitivity) -> String {
        let has_bounds = program.placements.iter().any(|runs| runs.bounds.is_some());
        let mut header = vec!["memory", "pages\nthere", self.figure_name(), "give or\ntake"];
        header.push("perform-\nance");
        if has_bounds {
            header.extend(["serial", "D", "overlap", "expected"]);
        }
        let header: Vec<String> = header.into_iter().map(String::from).collect();
        let rows = program.placements.iter().map(|runs| {
            let figure =
                |of: fn(&RunSummary) -> String| runs.runs.as_ref().map_or_else(|| "-".into(), of);
            let mut row = vec![
                memory_words(runs),
                runs.placed_share.map_or_else(|| "-".into(), percent_words),
                figure(|figure| format_significant(figure.figure.median, 4)),
                figure(give_or_take),
                runs.performance.map_or_else(|| "-".into(), |it| ratio(it.ratio)),
            ];
            if has_bounds {
                let bound = |value: Option<f64>| value.map_or_else(|| "-".into(), ratio);
                let bounds = runs.bounds.as_ref();
                row.push(bound(bounds.map(|bounds| bounds.d_serial)));
                row.push(bound(bounds.map(|bounds| bounds.d)));
                row.push(bound(bounds.map(|bounds| bounds.d_overlap)));
                row.push(runs.expected.map_or_else(|| "-".into(), ratio_span));
            }
            row
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let cpus = program.placements.first().map_or_else(String::new, |runs| {
            format!("on {}, {}\n", self.measured.who.cpus(runs.initiator), runs_of(program))
        });
        cpus + &table(header, rows, 1) + &counted(program, &self.costs(program))
    }

    /// Time or metric, and performance, of each placement.
    fn costs(&self, program: &ProgramSensitivity) -> [(String, Vec<String>); 2] {
        let each = |of: fn(&PlacedRuns) -> Option<String>| {
            program.placements.iter().map(|runs| of(runs).unwrap_or_else(|| "-".into())).collect()
        };
        let figure = |runs: &PlacedRuns| {
            runs.runs.as_ref().map(|figure| format_significant(figure.figure.median, 4))
        };
        let performance = |runs: &PlacedRuns| runs.performance.map(|it| ratio(it.ratio));
        [(self.figure_name().into(), each(figure)), ("perform-\nance".into(), each(performance))]
    }

    /// CPUs against nodes: figures, and performance below them.
    fn matrix(&self, program: &ProgramSensitivity) -> String {
        let figures = cells(program, &self.measured.who, |runs| {
            runs.runs.as_ref().map(|figure| format_significant(figure.figure.median, 4))
        });
        let ratios =
            cells(program, &self.measured.who, |runs| runs.performance.map(|it| ratio(it.ratio)));
        let what = format!("{}, {}", self.figure_name(), runs_of(program));
        format!(
            "{what}\n{figures}performance\n{ratios}{}",
            counted_matrix(program, &self.measured.who)
        )
    }

    fn best_programs(&self) -> String {
        if self.found.best.is_empty() {
            return String::new();
        }
        let mut text = String::new();
        if self.found.programs.len() > 1 {
            text += "\nthe best program of each pair\n";
            let header = ["CPUs", "memory node", "program", self.figure_name()].map(String::from);
            let rows = self.found.best.iter().map(|pair| {
                vec![
                    self.measured.who.cpus(pair.initiator),
                    pair.memory_node.to_string(),
                    name(&pair.label),
                    format_significant(pair.runs.figure.median, 4),
                ]
            });
            text += &table(header.into(), rows.collect(), 3);
        }
        if self.found.classes.is_empty() {
            return text;
        }
        text += &format!("\nclasses by the best run of each pair, {}\n", self.figure_name());
        let header = ["class", "best", "worst", "alpha to class 0", "pairs"];
        let rows = self.found.classes.iter().map(|class| {
            let pairs: Vec<String> = class
                .pairs
                .iter()
                .map(|(initiator, node)| {
                    format!("{} on node {node}", self.measured.who.cpus(*initiator))
                })
                .collect();
            vec![
                class.class.to_string(),
                format_significant(class.best, 4),
                format_significant(class.worst, 4),
                significant(class.alpha_relative, 4),
                folded(pairs.join(", ").split(' '), 48).join("\n"),
            ]
        });
        let header: Vec<String> = header.map(String::from).into();
        text += &table_with_numbers(header, rows.collect(), 1..4);
        if self.found.classes.iter().any(|class| class.border_within_noise) {
            text +=
                "note: a border between classes is within the runs' noise; give more --rounds\n";
        }
        text
    }
}

/// A table of a cell for the CPUs of each group and each node.
pub(crate) fn cells(
    program: &ProgramSensitivity,
    who: &Who,
    cell: impl Fn(&PlacedRuns) -> Option<String>,
) -> String {
    let mut rows: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
    let mut nodes: BTreeSet<u32> = BTreeSet::new();
    for runs in &program.placements {
        let Some(node) = runs.memory_node else { continue };
        nodes.insert(node);
        let text = cell(runs).unwrap_or_else(|| "-".into());
        rows.entry(runs.initiator).or_default().insert(node, text);
    }
    let mut header = vec!["CPUs".into()];
    header.extend(nodes.iter().map(|node| format!("node {node}")));
    let row = |(initiator, of): (&u32, &BTreeMap<u32, String>)| {
        let cell = |node: &u32| of.get(node).cloned().unwrap_or_else(|| "-".into());
        std::iter::once(who.label(*initiator)).chain(nodes.iter().map(cell)).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    table_in_blocks(&header, &rows)
}

pub(crate) fn memory_words(runs: &PlacedRuns) -> String {
    match (runs.memory_node, runs.is_local) {
        (Some(node), true) => format!("node {node}, its own"),
        (Some(node), false) => format!("node {node}"),
        (None, _) => match &runs.binding.memory {
            MemoryPolicy::Interleave(nodes) => format!("nodes {nodes} in turn"),
            _ => "several nodes".into(),
        },
    }
}

fn ratio(value: f64) -> String {
    rounded(value, 3)
}

fn ratio_span([low, high]: [f64; 2]) -> String {
    let (low, high) = (ratio(low), ratio(high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn give_or_take(runs: &RunSummary) -> String {
    let half = runs.figure.relative_half_width();
    if half.is_finite() { percent_words(half) } else { "-".into() }
}

/// `6 runs`, `6 to 15 runs`.
fn runs_of(program: &ProgramSensitivity) -> String {
    let runs =
        program.placements.iter().filter_map(|at| at.runs.as_ref()).map(|it| it.figure.count);
    let (least, most) =
        runs.fold((usize::MAX, 0), |(least, most), runs| (least.min(runs), most.max(runs)));
    match (least, most) {
        (_, 0) => "no run that ended well".into(),
        (least, most) if least == most => count(most, "run"),
        (least, most) => format!("{least} to {most} runs"),
    }
}

/// A program's label, of which a stranger's record may have any length.
fn name(label: &str) -> String {
    const LONGEST: usize = 40;
    let short: String = label.chars().take(LONGEST).collect();
    let more = if short.len() < label.len() { ".." } else { "" };
    format!("{}{more}", printable(&short))
}

fn share_line(program: &ProgramSensitivity, has_reference: bool) -> String {
    match program.memory_share.as_result() {
        Ok(share) => {
            let words = format!(
                "{} of its local time moves with bandwidth ({} to {}), by {}; its times are off by \
                 {} at most",
                percent_words(share.share),
                percent_words(share.interval.0),
                percent_words(share.interval.1),
                count(share.placements, "placement"),
                percent_words(share.worst_error)
            );
            paragraph("sensitivity: ", &words)
        }
        Err(why) if has_reference => paragraph("sensitivity: ", &format!("not known: {why}")),
        Err(_) => String::new(),
    }
}

/// What to know of a program's runs.
fn notes(program: &ProgramSensitivity, who: &Who) -> String {
    let mut text = String::new();
    let mut note = |words: &str| text += &paragraph("note: ", words);
    for runs in &program.placements {
        let place = format!("{}, {}", who.cpus(runs.initiator), memory_words(runs));
        for refusal in &runs.refused {
            note(&format!("{place}: refused: {}", printable(&refusal.reason.text)));
        }
        if runs.placed_share.is_some_and(|share| share < PLACED) {
            let share = runs.placed_share.map_or_else(String::new, percent_words);
            note(&format!(
                "{place}: {share} of the program's pages were there; it places some itself, or the \
                 node had no room"
            ));
        }
        match runs.standing {
            Some(BoundsStanding::Below) => note(&format!(
                "{place}: slower than bandwidth explains: latency, or links that its threads share"
            )),
            Some(BoundsStanding::Above) => note(&format!(
                "{place}: faster than bandwidth explains: more of the machine serves it than one \
                 thread's streams use"
            )),
            Some(BoundsStanding::Within) | None => {}
        }
    }
    let strayed: usize = program.placements.iter().map(|runs| runs.strayed_runs).sum();
    if strayed > 0 {
        note(&format!(
            "in {} its threads were seen on other CPUs than asked for; it sets its own affinity",
            count(strayed, "run")
        ));
    }
    let unseen = program.placements.iter().find_map(|runs| runs.not_seen.as_ref());
    if let Some(why) = unseen {
        note(&format!("where its pages were is not known everywhere: {}", printable(why)));
    }
    text
}
