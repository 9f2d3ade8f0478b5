//! Two records beside each other.

use nearfar_machine::GroupBy;
use nearfar_model::{
    CaseStanding, ComparedGroup, ComparedPart, ComparedRecord, EnvironmentDifference,
    GroupComparison, RecordComparison, UncomparedCase, Verdict, compare,
};
use nearfar_record::Executor;
use nearfar_units::{excerpt_of, format_significant};
use serde::Serialize;

use super::compare_cases::{Standings, cases, kinds_of_uncompared, not_compared};
use super::compare_roles::{role_table, roles};
use super::figures::{capitalised, count, percent_words};
use super::origin::Origin;
use super::record_doctor_words::part_words;
use super::tiles::{Tile, TileKind, TileValue};
use super::who::Who;
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::document::{Document, PROGRAM, Section};
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, ONE, Table, WORDS};

/// Rows of one table, in a document and on a terminal; `compare --json` has all.
const MOST_ROWS: usize = 1000;
const MOST_ROWS_OF_TERMINAL: usize = 20;

/// Rows of the first screen, of all its tables.
const FIRST_ROWS: usize = 14;

/// Kinds of reasons for which cases were not compared that an error names.
const MOST_REASONS: usize = 6;

/// Characters of a value of the environment on a terminal.
const MOST_VALUE: usize = 30;

/// From so much on it is told that ratios scatter more than rounds.
const NOTED_EXCESS: f64 = 1.5;

/// Two records beside each other, a the first and b the second (docs/comparing.md); `compare A B
/// --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    pub schema: &'static str,
    /// The first record.
    pub a: Origin,
    /// The second.
    pub b: Origin,
    #[serde(flatten)]
    pub found: RecordComparison,
    /// Of what the parts of the machine are parts.
    #[serde(skip)]
    kind: GroupBy,
}

impl Comparison {
    /// Compares two records.
    pub fn new(a: &ComparedRecord, b: &ComparedRecord, floor: f64) -> Self {
        let found = compare(a, b, floor);
        let [of_a, of_b] = [a, b].map(|it| Origin::new(it.record()));
        let kind = a.record().header.inputs.group_by;
        Self { schema: "nearfar.compare/2", a: of_a, b: of_b, found, kind }
    }

    /// Whether there is anything to compare.
    ///
    /// # Errors
    ///
    /// Why there is not, and what to measure.
    pub fn comparable(&self) -> Result<(), String> {
        if !self.found.cases.is_empty() || !self.found.roles.is_empty() {
            return Ok(());
        }
        let why = self.reasons().map_or_else(String::new, |why| format!(" ({why})"));
        Err(format!(
            "nothing to compare: no case has figures in both records{why}; measure both by \
             `nearfar characterize` on quiet machines, with the same suite, experiments and kernels"
        ))
    }

    /// Whether something is worse.
    pub fn has_failed(&self) -> bool {
        self.found.count(Verdict::Worse) > 0
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let found = &self.found;
        let name = |name: &str, of: &Origin| format!("{name}: {}, {}", of.host, of.started);
        let said = self.summary().into_iter().map(|words| {
            let emphasis = match words.split(':').next() {
                Some("Worse") => Emphasis::Failed,
                Some("Better") => Emphasis::Good,
                _ => Emphasis::Plain,
            };
            let (first, words) = match words.split_once(": ") {
                Some((first, words)) if emphasis != Emphasis::Plain => {
                    (format!("{first}: "), words.into())
                }
                _ => (String::new(), words),
            };
            Part::Words { first, words, emphasis }
        });
        // Each screen says how many of how many cases it shows.
        let tables = |most| cases(found, &[Verdict::Worse, Verdict::Better], most).tables;
        let of_terminal = tables(MOST_ROWS_OF_TERMINAL);
        let first = tables(FIRST_ROWS / of_terminal.len().max(1)).into_iter().flat_map(|table| {
            let notes: Vec<Part> = table.notes.iter().map(|note| Part::words(" ", note)).collect();
            std::iter::once(Part::table(table)).chain(notes)
        });
        let roles = role_table(found);
        let roles = roles.map(|table| Part::Table { table, first_rows: FIRST_ROWS });
        let uncompared: usize =
            kinds_of_uncompared(found).iter().map(|(_, cases)| cases.len()).sum();
        let uncompared = (uncompared > 0).then(|| {
            Part::words("", format!("{} not compared: --full", count(uncompared, "case")))
        });
        let more = [environment(found, MOST_VALUE), not_compared(found)].into_iter().flatten();
        let answer = Answer::saying(name("A", &self.a))
            .and_answer(self.a.caution())
            .and_says(name("B", &self.b))
            .and_answer(self.b.caution())
            .and_gap()
            .and_all(Shown::Always, roles)
            .and_gap()
            .and_all(Shown::Always, said)
            .and_all(Shown::First, first)
            .and_all(Shown::Full, of_terminal.into_iter().map(Part::table))
            .and_all(Shown::First, uncompared);
        more.fold(answer, Answer::and_full_section)
    }

    pub fn document(&self) -> Document {
        let found = &self.found;
        let is_simulated =
            [&self.a, &self.b].into_iter().any(|of| of.executor == Executor::Simulated);
        let has_cases = !found.cases.is_empty();
        let sections = [
            environment(found, usize::MAX),
            roles(found).filter(|_| has_cases),
            has_cases.then(|| groups(found)),
            (!found.parts.is_empty()).then(|| parts(&found.parts, self.kind, &self.a.who)),
            has_cases.then(|| cases(found, &Verdict::ALL, MOST_ROWS)),
            not_compared(found),
        ];
        // Machines that have no case in common are compared by where memory lies alone.
        let matrices = role_table(found).filter(|_| !has_cases);
        Document {
            title: format!(
                "A: {}, {}; B: {}, {}",
                self.a.host, self.a.started, self.b.host, self.b.started
            ),
            is_simulated,
            program: PROGRAM,
            cautions: self.cautions(),
            summary: self.summary(),
            tiles: if has_cases { self.tiles() } else { Vec::new() },
            health: None,
            matrices: matrices.into_iter().collect(),
            sections: sections.into_iter().flatten().collect(),
            paper_tables: Vec::new(),
        }
    }

    /// How many cases are worse, better and the same.
    fn tiles(&self) -> Vec<Tile> {
        let found = &self.found;
        let tile = |kind, label, verdict: Verdict, note| {
            let of = found.cases.iter().filter(|case| case.verdict == verdict).count();
            let of_all = format!("of {}", count(found.cases.len(), "case"));
            let value = TileValue::new(Cell::text(of), of_all);
            Tile::new(kind, label, vec![value], note)
        };
        let beyond = format!("by more than {} and than noise explains", percent_words(found.floor));
        let unclear = found.cases.iter().filter(|case| case.verdict == Verdict::Unclear).count();
        vec![
            tile(TileKind::Worse, "Worse", Verdict::Worse, beyond.clone()),
            tile(TileKind::Better, "Better", Verdict::Better, beyond),
            tile(TileKind::Same, "Same", Verdict::Same, format!("{unclear} more are unclear")),
        ]
    }

    fn cautions(&self) -> Vec<String> {
        let records = [("A", &self.a), ("B", &self.b)];
        let simulated = records.iter().filter(|(_, of)| of.executor == Executor::Simulated);
        let simulated: Vec<&str> = simulated.map(|(name, _)| *name).collect();
        let mut cautions = Vec::new();
        if !simulated.is_empty() {
            let names = simulated.join(" and of ");
            cautions
                .push(format!("SIMULATED: the figures of {names} were computed, not measured."));
        }
        cautions.extend(records.iter().filter_map(|(name, of)| {
            Some(format!("WARNING: {name}: {}.", of.sealing.finding.as_ref()?))
        }));
        cautions
    }

    fn summary(&self) -> Vec<String> {
        let names: Vec<String> = differing(&self.found).map(name_of).collect();
        let differing = format!("Configuration differs: {}.", names.join(", "));
        self.sentences().into_iter().chain((!names.is_empty()).then_some(differing)).collect()
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.counts()];
        sentences.extend(self.findings());
        if differing(&self.found).next().is_none() {
            let none = "Machine, system and inputs differ in nothing that both records tell.";
            sentences.push(none.into());
        }
        sentences
    }

    /// How many cases were compared and how they stand, and which loss would show.
    fn counts(&self) -> String {
        let found = &self.found;
        if found.cases.is_empty() {
            let is_of_another = |it: &UncomparedCase| it.b == CaseStanding::OtherMachine;
            let why = match found.not_compared.iter().any(is_of_another) {
                true => "Nodes, or how many cores are near them, differ",
                false => "No case is in both records",
            };
            return format!("{why}: the machines are compared by where memory lies.");
        }
        let of = |verdict| found.cases.iter().filter(|case| case.verdict == verdict).count();
        let resolution = found.resolution.map_or_else(String::new, |loss| {
            format!("; median detectable loss: {}", percent_words(loss))
        });
        format!(
            "{} compared: {} worse and {} better by more than {} and than noise explains, {} \
             unclear (noise may explain it), {} the same{resolution}.",
            count(found.cases.len(), "case"),
            of(Verdict::Worse),
            of(Verdict::Better),
            percent_words(found.floor),
            of(Verdict::Unclear),
            of(Verdict::Same),
        )
    }

    /// What cases have in common, each behind its verdict, or what to note.
    fn findings(&self) -> Vec<String> {
        let of_groups = self.found.groups.iter().flat_map(|group| {
            let shift = group.shift.as_ref().filter(|shift| shift.verdict != Verdict::Same);
            let shift = shift.map(|shift| {
                let (low, high) = shift.interval;
                // Of times the inverse of what is gained is what is seen.
                let (verb, ratio, ends) = if group.group == ComparedGroup::AccessTimes {
                    ("takes", 1.0 / shift.ratio, [1.0 / high, 1.0 / low])
                } else {
                    ("reaches", shift.ratio, [low, high])
                };
                let [low, high] = ends.map(three);
                format!(
                    "{}: B {verb} {} ({low} to {high}) of A in all of {} ({}); single cases are \
                     named where they differ from that as well.",
                    capitalised(shift.verdict.as_str()),
                    three(ratio),
                    group_words(group.group),
                    count(group.cases, "case"),
                )
            });
            let excess = (group.excess > NOTED_EXCESS).then(|| {
                format!(
                    "Note: ratios of {} scatter {} times as much as their rounds explain; intervals \
                     and verdicts allow for that.",
                    group_words(group.group),
                    format_significant(group.excess, 2)
                )
            });
            [shift, excess].into_iter().flatten()
        });
        let of_parts = self.found.parts.iter().map(|part| {
            format!(
                "{}: {}: in {} of {} that use it, median {} of what A reaches.",
                capitalised(part.verdict.as_str()),
                part_words(part.place, self.kind, &self.a.who),
                part.cases,
                count(part.of, "case"),
                three(part.ratio)
            )
        });
        of_groups.chain(of_parts).collect()
    }

    /// Of how many cases, and how they stand, most that are not compared are; `None` where all
    /// are compared.
    fn reasons(&self) -> Option<String> {
        let kinds = kinds_of_uncompared(&self.found);
        let words = |((a, b), cases): &(Standings, Vec<&UncomparedCase>)| {
            let [a, b] = [a, b].map(|it| it.replace('_', " "));
            format!("{}: {a} in A, {b} in B", count(cases.len(), "case"))
        };
        let reasons: Vec<String> = kinds.iter().take(MOST_REASONS).map(words).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// What a group of cases is, in words.
pub(crate) fn group_words(group: ComparedGroup) -> &'static str {
    match group {
        ComparedGroup::Memory => "memory's bandwidth with pinned threads",
        ComparedGroup::Unbound => "memory's bandwidth with unpinned threads",
        ComparedGroup::Cores => "what caches and arithmetic give",
        ComparedGroup::AccessTimes => "times of accesses",
    }
}

fn name_of(difference: &EnvironmentDifference) -> String {
    difference.name.replace('_', " ")
}

/// Values are told up to this many characters.
fn environment(found: &RecordComparison, most: usize) -> Option<Section> {
    if found.environment.is_empty() {
        return None;
    }
    let value = |text: &Option<String>| {
        let value = text.as_ref().map(|text| Cell::text(excerpt_of(text, most)));
        value.unwrap_or_else(|| Cell::not_measured("the record does not say"))
    };
    let row =
        |it: &EnvironmentDifference| vec![Cell::text(name_of(it)), value(&it.a), value(&it.b)];
    let one_sided = found.environment.iter().filter(|it| it.a.is_none() || it.b.is_none());
    let table = |caption: &str, rows: Vec<Vec<Cell>>| {
        Table::new(caption, ["", "A", "B"].map(Column::words), rows)
    };
    let tables = [
        table("Configuration differences", differing(found).map(row).collect()),
        table("Known of one record only, which is no difference", one_sided.map(row).collect()),
    ];
    Some(Section::new(
        "environment",
        "Configuration differences",
        "Machine, system and inputs as the records tell of them.",
        tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
    ))
}

/// What both records know and do not agree about.
fn differing(found: &RecordComparison) -> impl Iterator<Item = &EnvironmentDifference> {
    found.environment.iter().filter(|it| it.a.is_some() && it.b.is_some())
}

fn groups(found: &RecordComparison) -> Section {
    let percent = |fraction: f64| Cell::text(format!("{} %", three(100.0 * fraction)));
    let row = |group: &GroupComparison| {
        let shift = group.shift.as_ref();
        vec![
            Cell::text(group_words(group.group)),
            Cell::text(group.cases),
            percent(group.a_noise),
            percent(group.b_noise),
            Cell::figure(Figure::ratio(group.excess)),
            shift.map_or(
                Cell::not_measured("too few of its cases, or they do not agree"),
                |shift| {
                    let interval = Some(shift.interval.into());
                    Cell::Figure(Figure::new(shift.ratio, interval, Unit::One))
                },
            ),
            shift.map_or(Cell::Empty, |shift| Cell::text(shift.verdict.as_str())),
        ]
    };
    let table = Table::new(
        "Groups of cases, their noise, and what all of a group have in common",
        Column::all(
            [
                "group",
                "cases",
                "noise of a round in A",
                "in B",
                "scatter beyond it",
                "gain in common",
                "verdict",
            ],
            [WORDS, WORDS, WORDS, WORDS, ONE, ONE, WORDS],
        ),
        found.groups.iter().map(row),
    )
    .with_notes(vec![
        "A gain above 1 is better: of times, A / B. Scatter beyond noise widens intervals.".into(),
    ]);
    Section::new(
        "groups",
        "What cases have in common",
        "Cases whose noise and common causes are alike are judged together.",
        vec![table],
    )
}

fn parts(parts: &[ComparedPart], kind: GroupBy, who: &Who) -> Section {
    let row = |part: &ComparedPart| {
        vec![
            Cell::text(part.verdict.as_str()),
            Cell::text(part_words(part.place, kind, who)),
            Cell::text(format!("{} of {}", part.cases, part.of)),
            Cell::figure(Figure::ratio(part.ratio)),
        ]
    };
    let table = Table::new(
        "Parts of the machine that worse or better cases use",
        Column::all(
            ["verdict", "part", "cases that use it", "median gain"],
            [WORDS, WORDS, WORDS, ONE],
        ),
        parts.iter().map(row),
    )
    .with_notes(vec!["What cases have in common need not be the cause.".into()]);
    Section::new(
        "parts",
        "Parts in common",
        "The parts that most of the cases with a finding use.",
        vec![table],
    )
}

fn three(value: f64) -> String {
    format_significant(value, 3)
}
