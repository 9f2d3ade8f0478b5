//! Many machines beside each other: who is missing, who falls short, what to measure again.

use nearfar_fleet::{
    FleetComparison, FleetGroup, FleetMachine, MachinePart, ProblemKind, Shortfall, VerdictKind,
    fold_hosts,
};
use nearfar_record::Executor;
use nearfar_units::{format_significant, shell_word};

use super::figures::{count, percent_words};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, ONE, Table, WORDS};

/// Rows of a table of the first screen.
const FIRST_ROWS: usize = 12;

/// Machines that a sentence names in one list.
const MOST_NAMED: usize = 40;

/// `fleet compare` for people.
pub fn fleet_answer(found: &FleetComparison) -> Answer {
    let is_simulated = found.groups.iter().any(|group| group.kind.executor == Executor::Simulated);
    let simulated = "SIMULATED: figures of simulated machines were computed, not measured";
    let again = again(found);
    let commands = again
        .iter()
        .map(|command| (command.as_str(), "measures again who may fall short by chance"));
    let page = format!("nearfar fleet report {} -o fleet.html", shell_word(&found.folder));
    let next: Vec<(&str, &str)> =
        commands.chain([(page.as_str(), "machines by cells, as a page")]).collect();
    let answer = Answer::default()
        .and_all(Shown::Always, is_simulated.then(|| Part::words("", simulated)))
        .and_all(Shown::Always, sentences(found))
        .and_gap()
        .and_all(Shown::Always, table(found, VerdictKind::Bad))
        .and_all(Shown::Always, table(found, VerdictKind::Again))
        .and_all(Shown::Always, problems(found))
        .and_all(Shown::Full, [groups(found)].map(Part::table));
    answer.and_next(next)
}

/// What was found, the worst first.
pub(crate) fn sentences(found: &FleetComparison) -> Vec<Part> {
    let of = |verdict| found.verdicts.get(&verdict).copied().unwrap_or_default();
    let words =
        |first: &str, words: String, emphasis| Part::Words { first: first.into(), words, emphasis };
    let mut parts = Vec::new();
    if !found.missing.is_empty() {
        let expected = found.expected.unwrap_or_default();
        let told = format!(
            "{} of {expected} expected: {}",
            found.missing.len(),
            named(found.missing.iter())
        );
        parts.push(words("Missing: ", told, Emphasis::Failed));
    }
    let failed: Vec<&FleetMachine> = found
        .with(VerdictKind::Unknown)
        .filter(|machine| found.missing.binary_search(&machine.machine).is_err())
        .collect();
    if !failed.is_empty() {
        let told = format!(
            "{}: {}",
            count(failed.len(), "machine"),
            named(failed.iter().map(|it| &it.machine))
        );
        parts.push(words("Not judged: ", told, Emphasis::Failed));
    }
    for (verdict, first, emphasis) in [
        (VerdictKind::Bad, "Bad: ", Emphasis::Failed),
        (VerdictKind::Again, "To be measured again: ", Emphasis::Caution),
    ] {
        if of(verdict) > 0 {
            let names = named(found.with(verdict).map(|it| &it.machine));
            parts.push(words(
                first,
                format!("{}: {names}", count(of(verdict), "machine")),
                emphasis,
            ));
        }
    }
    let kinds = found.groups.len();
    let of_kinds = if kinds == 1 {
        "of one kind".into()
    } else if found.groups.iter().any(|group| group.joined.is_some()) {
        format!("of {kinds} kinds")
    } else {
        format!("of {kinds} kinds, each among its own")
    };
    let against =
        found.target.as_ref().map_or_else(String::new, |file| format!(", compared with {file}"));
    let sound = format!(
        "{} of {}, {of_kinds}{against}: no part more than {} below its peers",
        of(VerdictKind::Good),
        count(found.machines.len(), "machine"),
        percent_words(found.floor)
    );
    parts.push(words("Good: ", sound, Emphasis::Good));
    for group in &found.groups {
        let (some, kind) = (count(group.machines, "machine"), group.kind.words());
        if let Some(joined) = &group.joined {
            let other = found.groups.iter().find(|other| other.id == joined.id);
            let other = other.map_or_else(String::new, |other| other.kind.words());
            let told = format!(
                "{some} of kind {} ({kind}), too few by themselves, were compared with kind {} ({other}); the kinds \
                 differ in {}",
                group.id,
                joined.id,
                joined.differs_in.join(", ")
            );
            parts.push(words("Note: ", told, Emphasis::Caution));
        }
        if let Some(why) = &group.not_compared {
            parts.push(words(
                "Note: ",
                format!("{some} of kind {} ({kind}): {why}", group.id),
                Emphasis::Caution,
            ));
        }
    }
    parts
}

fn named<'a>(names: impl Iterator<Item = &'a nearfar_fleet::MachineName> + Clone) -> String {
    let all = names.clone().count();
    let more = all.saturating_sub(MOST_NAMED);
    let listed = fold_hosts(names.take(MOST_NAMED));
    if more > 0 { format!("{listed} and {more} more (--json)") } else { listed }
}

/// What falls short at the machines of a verdict.
pub(crate) fn table(found: &FleetComparison, verdict: VerdictKind) -> Option<Part> {
    let rows: Vec<Vec<Cell>> = found
        .with(verdict)
        .flat_map(|machine| machine.shortfalls.iter().map(move |shortfall| row(machine, shortfall)))
        .collect();
    let caption = match verdict {
        VerdictKind::Bad => "What falls short, and did so again",
        _ => "What falls short, which may be chance",
    };
    let columns = Column::all(
        ["machine", "part", "of its peers' median", "score", "measured", "seen in"],
        [WORDS, WORDS, ONE, WORDS, WORDS, WORDS],
    );
    let table = Table::new(caption, columns, rows).unless_empty()?;
    Some(Part::Table { table, first_rows: FIRST_ROWS })
}

fn row(machine: &FleetMachine, shortfall: &Shortfall) -> Vec<Cell> {
    let more = shortfall.further_series;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    vec![
        Cell::text(&machine.machine),
        Cell::text(part_words(&shortfall.part)),
        Cell::figure(Figure::new(shortfall.ratio, None, Unit::One)),
        Cell::text(format_significant(shortfall.score, 2)),
        Cell::text(match machine.measurements {
            1 => "once".into(),
            2 => "twice".into(),
            times => format!("{times} times"),
        }),
        Cell::text(format!("{}{more}", shortfall.series)),
    ]
}

/// A part of a machine in words.
pub(crate) fn part_words(part: &MachinePart) -> String {
    match part {
        MachinePart::Machine => "the whole machine".into(),
        MachinePart::Memory(node) => format!("memory of node {node}"),
        MachinePart::Initiator(initiator) => format!("CPUs of initiator {initiator}"),
        MachinePart::Link(from, to) => format!("link between packages {from} and {to}"),
        MachinePart::Cell(case) => case.clone(),
    }
}

pub(crate) fn problems(found: &FleetComparison) -> Option<Part> {
    let row = |problem: &nearfar_fleet::Problem| {
        vec![
            problem.machine.as_ref().map_or(Cell::Empty, Cell::text),
            Cell::text(match problem.kind {
                ProblemKind::Failed => "failed",
                ProblemKind::Unended => "did not end",
                ProblemKind::EndedEarly => "ended early",
                ProblemKind::Partial => "partial",
                ProblemKind::UnreadableSummary => "unreadable",
                ProblemKind::WrongClock => "wrong clock",
                ProblemKind::SeveralMeasurements => "several times",
                ProblemKind::OtherHardware => "other hardware",
                ProblemKind::NotExpected => "not expected",
                ProblemKind::ForeignFile => "foreign file",
            }),
            Cell::text(&problem.what),
        ]
    };
    let columns = ["machine", "problem", "what"].map(Column::words);
    let table = Table::new("What to know of machines", columns, found.problems.iter().map(row))
        .unless_empty()?;
    Some(Part::Table { table, first_rows: FIRST_ROWS })
}

pub(crate) fn groups(found: &FleetComparison) -> Table {
    let row = |group: &FleetGroup| {
        let differs = group.configuration.iter().map(|(name, values)| {
            let values: Vec<String> =
                values.iter().map(|(value, machines)| format!("{value} ({machines})")).collect();
            format!("{}: {}", name.replace('_', " "), values.join(", "))
        });
        vec![
            Cell::text(&group.id),
            Cell::text(group.machines),
            Cell::text(group.kind.words()),
            Cell::text(group.cells.len()),
            Cell::text(differs.collect::<Vec<_>>().join("; ")),
        ]
    };
    let columns =
        ["kind", "machines", "what it is", "cells", "not alike in all"].map(Column::words);
    Table::new("Kinds of machines", columns, found.groups.iter().map(row))
}

/// The command that measures again who may fall short by chance.
fn again(found: &FleetComparison) -> Option<String> {
    let names: Vec<_> = found.with(VerdictKind::Again).map(|machine| &machine.machine).collect();
    let engine = found.engine.map_or("ENGINE", nearfar_fleet::Engine::as_str);
    (!names.is_empty()).then(|| {
        format!(
            "nearfar fleet plan --run {} --engine {engine} --machines {} | sh",
            shell_word(&found.folder),
            shell_word(&fold_hosts(names))
        )
    })
}
