//! Programs at their placements, in words and tables.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_model::{PlacedRuns, ProgramSensitivity, ReferenceClasses, Relative, Sensitivity};
use nearfar_record::{Metric, Record, TriedCounter};
use nearfar_units::format_significant;
use serde::Serialize;

use super::figures::{capitalised, count, percent_words, significant};
use super::origin::Origin;
use super::sensitivity_counters::{self, counted, counted_matrix, unavailable};
use super::sensitivity_words::{
    USUALLY_SURE, figure_name, least_sure, memory_words, name, notes, ratio, ratio_span, runs_of,
    runs_words, share, what_counts,
};
use super::show::unfinished_words;
use super::who::Who;
use super::workloads::relative_figure;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// What the first screen has room for: programs told one by one, placements of each, notes of each.
const FIRST_PROGRAMS: usize = 2;
const FIRST_ROWS: usize = 6;
const FIRST_NOTES: usize = 2;

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
    /// How it ended before everything had run; null where it did not.
    pub unfinished: Option<String>,
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
            schema: "nearfar.sensitivity/4",
            measured: Origin::new(record),
            record: None,
            unfinished: unfinished_words(record).map(|(first, why)| format!("{first}{why}")),
            nothing_to_choose,
            reference,
            alphas,
            counters: commands.and_then(|commands| commands.counters.clone()),
            found: found.unwrap_or_default(),
        }
    }

    /// For people: what each program loses on the memory that is worst for it, then where.
    pub fn answer(&self) -> Answer {
        let origin = self.measured.answer();
        if let Some(why) = &self.nothing_to_choose {
            return origin.and_says(why.clone());
        }
        let programs = &self.found.programs;
        let unfinished = self.unfinished.iter().map(|words| Part::words("", words));
        let mut answer = origin.and_all(Shown::Always, unfinished).and_gap();
        let is_short = programs.len() <= if self.is_matrix() { 1 } else { FIRST_PROGRAMS };
        if !is_short {
            let summary = Part::Table { table: self.summary(), first_rows: 2 * FIRST_ROWS };
            answer = answer.and(Shown::First, summary);
        } else {
            let told = programs.iter().flat_map(|program| [self.sentence(program), share(program)]);
            answer = answer.and_all(Shown::First, told.flatten().map(|it| Part::words("", it)));
        }
        for program in programs {
            answer = answer.and_answer(self.program(program, is_short));
        }
        answer = answer.and_answer(self.best_programs()).and_gap();
        let record = self.record.as_ref().map(|path| Part::words("record of the runs: ", path));
        let counters = self.counters.as_deref().unwrap_or_default();
        answer
            .and_all(Shown::Always, self.what_counts())
            .and_answer(self.where_bounds_are_from())
            .and_answer(unavailable(counters))
            .and_all(Shown::Always, record)
    }

    fn is_matrix(&self) -> bool {
        let placements = self.found.programs.iter().flat_map(|program| &program.placements);
        placements.map(|runs| runs.initiator).collect::<BTreeSet<u32>>().len() > 1
    }

    /// What counts of all programs; `figure` where they differ.
    fn figure_name(&self) -> &'static str {
        let names: BTreeSet<&str> = self.found.programs.iter().map(figure_name).collect();
        match self.found.programs.first() {
            Some(program) if names.len() == 1 => figure_name(program),
            _ => "figure",
        }
    }

    /// What counts of each program, those that are judged alike together.
    fn what_counts(&self) -> Vec<Part> {
        let mut judged: Vec<(Option<&Metric>, Vec<&str>)> = Vec::new();
        for program in &self.found.programs {
            let metric = program.metric.as_ref();
            match judged.iter_mut().find(|(of, _)| *of == metric) {
                Some((_, labels)) => labels.push(&program.label),
                None => judged.push((metric, vec![&program.label])),
            }
        }
        let placements = self.found.programs.iter().flat_map(|program| &program.placements);
        let sure = least_sure(placements.filter_map(|at| at.runs.as_ref()));
        let all = format!(
            "median of runs ± half its interval ({} sure or more). of local: performance / that with the \
             CPUs' own memory.",
            percent_words(sure.unwrap_or(USUALLY_SURE).min(USUALLY_SURE))
        );
        if let [(metric, _)] = judged.as_slice() {
            return vec![Part::words("", format!("{}; {all}", what_counts(*metric, "")))];
        }
        let of = |(metric, labels): (Option<&Metric>, Vec<&str>)| {
            let names: Vec<_> = labels.iter().map(|it| name(it)).collect();
            let whose = format!(" of {}", names.join(", "));
            Part::words("", format!("{}.", what_counts(metric, &whose)))
        };
        judged.into_iter().map(of).chain([Part::words("", capitalised(&all))]).collect()
    }

    fn where_bounds_are_from(&self) -> Answer {
        let (Some(reference), Some(alphas)) = (&self.reference, &self.alphas) else {
            return Answer::saying(
                "What bandwidth allows is not known: add --record with a record of this machine \
                 (`nearfar characterize` makes one).",
            );
        };
        let alphas: Vec<String> = alphas.iter().map(|it| significant(*it, 3)).collect();
        let bounds = "bandwidth allows: what a program gets that only moves data (D, between serial and \
                      overlap); expected: with the share of its time that scales with bandwidth.";
        Answer::saying(bounds).and(
            Shown::Full,
            Part::words("", format!("By the classes of {reference}, alpha {}.", alphas.join(", "))),
        )
    }

    /// What a program gets of local memory and of the worst for it.
    fn sentence(&self, program: &ProgramSensitivity) -> Option<String> {
        let unit = match &program.metric {
            Some(metric) => {
                metric.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"))
            }
            None => " s".into(),
        };
        let label = name(&program.label);
        let median = |runs: &PlacedRuns| {
            let figure = runs.runs.as_ref().map(|runs| runs.figure.median);
            figure.map(|median| format!("{}{unit}", format_significant(median, 4)))
        };
        let Some((worst, performance)) = worst_of(program) else {
            return Some(format!("{label}: {}", runs_of(program)));
        };
        let own = program.placements.iter();
        let mut own = own.filter(|runs| runs.is_local && runs.initiator == worst.initiator);
        let local =
            own.find_map(median).map_or_else(String::new, |it| format!("{it} with local memory, "));
        let where_to = memory_words(worst);
        let at = median(worst).unwrap_or_default();
        Some(format!(
            "{label}: {local}{at} with {where_to}: {} of local performance",
            relative_figure(performance).words()
        ))
    }

    /// The programs, a row for each.
    fn summary(&self) -> Table {
        let columns =
            ["program", self.figure_name(), "worst memory", "of local", "bandwidth-bound"];
        let row = |program: &ProgramSensitivity| {
            let worst = worst_of(program);
            // The same CPUs' own memory.
            let is_beside =
                |runs: &PlacedRuns| worst.is_none_or(|(at, _)| at.initiator == runs.initiator);
            let mut own = program.placements.iter().filter(|runs| runs.is_local);
            let local = own.find(|runs| is_beside(runs));
            let share = program.memory_share.found();
            vec![
                Cell::text(name(&program.label)),
                local
                    .and_then(|runs| runs.runs.as_ref())
                    .map_or(Cell::Empty, |it| Cell::text(runs_words(it))),
                worst.map_or(Cell::Empty, |(runs, _)| Cell::text(memory_words(runs))),
                worst.map_or(Cell::Empty, |(_, it)| Cell::Figure(relative_figure(it))),
                share.map_or(Cell::Empty, |it| Cell::text(percent_words(it.share))),
            ]
        };
        Table::new("", columns.map(Column::words), self.found.programs.iter().map(row))
    }

    /// Its placements, in the first screen too where there is room for it.
    fn program(&self, program: &ProgramSensitivity, in_first: bool) -> Answer {
        let shown = if in_first { Shown::Always } else { Shown::Full };
        let title = format!("{}, {}", name(&program.label), runs_of(program));
        let mut answer =
            Answer::default().and(Shown::Full, Part::Gap).and(Shown::Full, Part::Title(title));
        let told = [self.sentence(program), share(program)].into_iter().flatten();
        answer = answer.and_all(Shown::Full, told.map(|words| Part::words("", words)));
        let table = |table| Part::Table { table, first_rows: FIRST_ROWS };
        answer = if self.is_matrix() {
            let [figures, ratios] = self.matrices(program);
            let first = Part::Table { table: figures, first_rows: 2 * FIRST_ROWS };
            answer.and(shown, first).and(Shown::Full, Part::table(ratios)).and_all(
                Shown::Full,
                counted_matrix(program, &self.measured.who).into_iter().map(Part::table),
            )
        } else {
            let is_alone = self.found.programs.len() == 1;
            let of_counters = if is_alone { Shown::Always } else { Shown::Full };
            answer
                .and(shown, table(self.placements(program)))
                .and_all(Shown::Full, self.bounds(program).map(Part::table))
                .and_all(of_counters, counted(program).map(table))
        };
        let notes: Vec<Part> = notes(program, &self.measured.who)
            .into_iter()
            .chain(sensitivity_counters::notes(program))
            .map(|note| Part::words("note: ", note))
            .collect();
        let left = notes.len().saturating_sub(FIRST_NOTES);
        let more =
            (left > 0).then(|| Part::words("", format!("{}: --full", count(left, "more note"))));
        let first = notes.iter().take(FIRST_NOTES).cloned().chain(more);
        let first: Vec<Part> = if in_first { first.collect() } else { Vec::new() };
        answer.and_all(Shown::First, first).and_all(Shown::Full, notes)
    }

    fn placements(&self, program: &ProgramSensitivity) -> Table {
        let has_bounds = program.placements.iter().any(|runs| runs.bounds.is_some());
        let mut columns = vec!["memory", figure_name(program), "of local"];
        if has_bounds {
            columns.extend(["bandwidth allows", "expected"]);
        }
        let rows = program.placements.iter().map(|runs| {
            let mut row = vec![
                Cell::text(memory_words(runs)),
                runs.runs.as_ref().map_or(Cell::Empty, |it| Cell::text(runs_words(it))),
                runs.performance.map_or(Cell::Empty, |it| Cell::Figure(relative_figure(it))),
            ];
            if has_bounds {
                let bounds = runs.bounds.as_ref();
                row.push(bounds.map_or(Cell::Empty, |bounds| Cell::text(ratio(bounds.d))));
                row.push(runs.expected.map_or(Cell::Empty, |it| Cell::text(ratio_span(it))));
            }
            row
        });
        let caption = program.placements.first().map_or_else(String::new, |runs| {
            let cpus = self.measured.who.cpus(runs.initiator);
            format!("{} on {cpus}", name(&program.label))
        });
        Table::new(caption, columns.into_iter().map(Column::words), rows)
    }

    /// Where its pages were, and the bounds by another way to count.
    fn bounds(&self, program: &ProgramSensitivity) -> Option<Table> {
        let has = |runs: &PlacedRuns| runs.bounds.is_some() || runs.placed_share.is_some();
        if !program.placements.iter().any(has) {
            return None;
        }
        let columns = ["memory", "pages there", "serial", "D", "overlap"].map(Column::words);
        let bound = |value: Option<f64>| value.map_or(Cell::Empty, |it| Cell::text(ratio(it)));
        let rows = program.placements.iter().map(|runs| {
            let bounds = runs.bounds.as_ref();
            vec![
                Cell::text(memory_words(runs)),
                runs.placed_share.map_or(Cell::Empty, |it| Cell::text(percent_words(it))),
                bound(bounds.map(|bounds| bounds.d_serial)),
                bound(bounds.map(|bounds| bounds.d)),
                bound(bounds.map(|bounds| bounds.d_overlap)),
            ]
        });
        Some(Table::new("", columns, rows))
    }

    /// CPUs against nodes: figures, and performance.
    fn matrices(&self, program: &ProgramSensitivity) -> [Table; 2] {
        let label = name(&program.label);
        let figures = cells(
            &format!("{label}: {}", figure_name(program)),
            program,
            &self.measured.who,
            |runs| runs.runs.as_ref().map(|figure| format_significant(figure.figure.median, 4)),
        );
        let ratios = cells(&format!("{label}: of local"), program, &self.measured.who, |runs| {
            runs.performance.map(|it| ratio(it.ratio))
        });
        [figures, ratios]
    }

    fn best_programs(&self) -> Answer {
        let mut answer = Answer::default();
        if self.found.best.is_empty() {
            return answer;
        }
        if self.found.programs.len() > 1 {
            let columns = ["CPUs", "memory node", "program", self.figure_name()];
            let rows = self.found.best.iter().map(|pair| {
                vec![
                    Cell::text(self.measured.who.cpus(pair.initiator)),
                    Cell::text(pair.memory_node),
                    Cell::text(name(&pair.label)),
                    Cell::text(format_significant(pair.runs.figure.median, 4)),
                ]
            });
            let best =
                Table::new("The best program of each pair", columns.map(Column::words), rows);
            answer = answer.and_table(best, FIRST_ROWS);
        }
        if self.found.classes.is_empty() {
            return answer;
        }
        let columns = ["class", "best", "worst", "alpha to class 0", "pairs"].map(Column::words);
        let rows = self.found.classes.iter().map(|class| {
            let pairs: Vec<String> = class
                .pairs
                .iter()
                .map(|(initiator, node)| {
                    format!("{} on node {node}", self.measured.who.cpus(*initiator))
                })
                .collect();
            vec![
                Cell::text(class.class),
                Cell::text(format_significant(class.best, 4)),
                Cell::text(format_significant(class.worst, 4)),
                Cell::text(significant(class.alpha_relative, 4)),
                Cell::text(pairs.join(", ")),
            ]
        });
        let caption = format!("Classes by the best run of each pair, {}", self.figure_name());
        let classes = Table::new(caption, columns, rows);
        // The first screen has how many pairs there are, and not which.
        let mut short = classes.clone();
        for (row, class) in short.rows.iter_mut().zip(&self.found.classes) {
            row.splice(4.., [Cell::text(class.pairs.len())]);
        }
        answer = answer
            .and(Shown::First, Part::Table { table: short, first_rows: FIRST_ROWS })
            .and(Shown::Full, Part::table(classes));
        if self.found.classes.iter().any(|class| class.border_within_noise) {
            let note = "a border between classes is within the runs' noise: give more --rounds";
            answer = answer.and(Shown::Always, Part::words("note: ", note));
        }
        answer
    }
}

/// Where memory that is not the CPUs' own serves a program worst, and how well.
fn worst_of(program: &ProgramSensitivity) -> Option<(&PlacedRuns, Relative)> {
    let others = program.placements.iter().filter(|runs| !runs.is_local);
    let rated = others.filter_map(|runs| Some((runs, runs.performance?)));
    rated.min_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio))
}

/// A table of a cell for the CPUs of each group and each node.
pub(crate) fn cells(
    caption: &str,
    program: &ProgramSensitivity,
    who: &Who,
    cell: impl Fn(&PlacedRuns) -> Option<String>,
) -> Table {
    let mut rows: BTreeMap<u32, BTreeMap<u32, Cell>> = BTreeMap::new();
    let mut nodes: BTreeSet<u32> = BTreeSet::new();
    for runs in &program.placements {
        let Some(node) = runs.memory_node else { continue };
        nodes.insert(node);
        let cell = cell(runs).map_or(Cell::Empty, Cell::text);
        rows.entry(runs.initiator).or_default().insert(node, cell);
    }
    let columns = std::iter::once(Column::words("CPUs"))
        .chain(nodes.iter().map(|node| Column::words(format!("node {node}"))));
    let row = |(initiator, mut of): (u32, BTreeMap<u32, Cell>)| {
        let cells = nodes.iter().map(|node| of.remove(node).unwrap_or(Cell::Empty));
        std::iter::once(Cell::text(who.label(initiator))).chain(cells).collect()
    };
    let rows: Vec<Vec<Cell>> = rows.into_iter().map(row).collect();
    Table::new(caption, columns, rows)
}

#[cfg(test)]
mod tests {
    use nearfar_record::{Executor, Outcome};

    use super::*;
    use crate::answer::Room;
    use crate::subject::origin::Seals;

    /// Programs without runs at each of 8 nodes, of one initiator or of 8.
    fn programs(count: usize, initiators: u32) -> ProgramRuns {
        let runs = |initiator: u32, node: u32| PlacedRuns {
            case: format!("commands/it/initiator{initiator}/node{node}"),
            initiator,
            cpu_node: Some(initiator),
            memory_node: Some(node),
            binding: format!("cpus={initiator} mem=preferred:{node}").parse().unwrap(),
            is_local: initiator == node,
            runs: None,
            performance: None,
            placed_share: Some(0.5),
            seen_bytes: None,
            shared_bytes_elsewhere: None,
            not_seen: None,
            strayed_runs: 0,
            counted: None,
            bounds: None,
            standing: None,
            expected: None,
            refused: Vec::new(),
        };
        let program = |number: usize| ProgramSensitivity {
            label: format!("a program with a long name, number {number}"),
            metric: None,
            memory_share: Outcome::Unknown { unknown: "nobody asked".into() },
            placements: (0..initiators)
                .flat_map(|initiator| (0..8).map(move |node| (initiator, node)))
                .map(|(initiator, node)| runs(initiator, node))
                .collect(),
        };
        let found =
            Sensitivity { programs: (0..count).map(program).collect(), ..Sensitivity::default() };
        ProgramRuns {
            schema: "nearfar.sensitivity/4",
            measured: Origin {
                may_contain_cache: false,
                host: "node17".into(),
                started: "2026-11-23T01:02:03Z".into(),
                executor: Executor::Native,
                sealing: Seals { seals: "fit", lines: Vec::new(), count: 0, finding: None },
                is_disturbed: false,
                remarks: String::new(),
                who: Who::default(),
            },
            record: Some("/home/somebody/.local/state/nearfar/programs/node17.jsonl".into()),
            unfinished: None,
            nothing_to_choose: None,
            reference: None,
            alphas: None,
            counters: None,
            found,
        }
    }

    #[test]
    fn the_first_screen_is_one_whatever_was_run() {
        for (count, initiators) in [(1, 1), (2, 1), (40, 1), (1, 8), (2, 8), (40, 8)] {
            let answer = programs(count, initiators).answer();
            let text = answer.text(Room { width: 80, full: false });
            let long: Vec<&str> = text.lines().filter(|it| it.chars().count() > 80).collect();
            assert!(long.is_empty() && text.lines().count() <= 40, "{long:#?}\n{text}");
            let full = answer.text(Room { width: 80, full: true });
            assert!(full.contains(&format!("number {}, no run", count - 1)), "{full}");
        }
    }

    #[test]
    fn files_that_no_placement_moves_are_told() {
        let mut runs = programs(1, 1);
        let placement = &mut runs.found.programs[0].placements[3];
        placement.seen_bytes = Some(1e9);
        placement.shared_bytes_elsewhere = Some(2.5 * f64::from(1 << 30));
        let said = |runs: &ProgramRuns| runs.answer().text(Room { width: 200, full: true });
        assert!(said(&runs).contains("at 1 placement up to 2.5 GiB of files"), "{}", said(&runs));
        runs.found.programs[0].placements[3].seen_bytes = Some(1e11);
        assert!(!said(&runs).contains("GiB of files"), "a fortieth of its memory is little");
    }
}
