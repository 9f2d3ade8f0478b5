//! What counters say of a program's runs, in tables and words.

use nearfar_model::{CountedRuns, PlacedRuns, ProgramSensitivity};
use nearfar_record::{Median, TriedCounter};
use nearfar_units::format_significant;

use super::counter_reasons::unavailable_parts;
use super::figures::{count, percent_words};
use super::sensitivity::cells;
use super::sensitivity_words::memory_words;
use super::who::Who;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// A figure with its words and how it is written.
type Counted = (&'static str, fn(&CountedRuns) -> Option<String>);

/// The figures in the order in which they are printed.
const COLUMNS: [Counted; 3] = [
    ("misses of the last-level cache, of its requests", |it| {
        it.llc_miss_rate.found().map(|figure| percent_words(figure.median))
    }),
    ("misses per 1000 instructions", |it| it.llc_misses_per_1000_instructions.found().map(median)),
    ("instructions per cycle", |it| it.instructions_per_cycle.found().map(median)),
];

fn median(figure: &Median) -> String {
    format_significant(figure.median, 3)
}

/// Counters that were asked for and are not believed, once for all runs; nothing where all are.
pub(crate) fn unavailable(counters: &[TriedCounter]) -> Answer {
    let missing = counters.iter().filter(|it| it.unavailable.is_some()).count();
    if missing == 0 {
        return Answer::default();
    }
    let words = match missing == counters.len() {
        true => "none is to be had here; runs have their times alone",
        false => "not all are to be had here; figures that need them are not known",
    };
    let reasons = counters.iter().filter_map(|it| Some((it.quantity, it.unavailable.as_deref()?)));
    Answer::default()
        .and(Shown::First, Part::words("counters: ", format!("{words} (--full says why).")))
        .and(Shown::Full, Part::words("counters: ", format!("{words}.")))
        .and_all(Shown::Full, unavailable_parts(reasons))
}

/// Figures of a program's placements; nothing where nothing was counted.
pub(crate) fn counted(program: &ProgramSensitivity) -> Option<Table> {
    let of = |runs: &PlacedRuns, counted: &Counted| runs.counted.as_ref().and_then(counted.1);
    if !is_counted(program) {
        return None;
    }
    let columns =
        ["memory", "misses of requests", "per 1000 instructions", "instructions per cycle"];
    let rows = program.placements.iter().map(|runs| {
        let figures =
            COLUMNS.iter().map(|counted| of(runs, counted).map_or(Cell::Empty, Cell::text));
        std::iter::once(Cell::text(memory_words(runs))).chain(figures).collect()
    });
    let caption = "Misses of the last-level cache, and instructions, by the CPU's counters, median";
    Some(Table::new(caption, columns.map(Column::words), rows))
}

/// The same with CPUs against nodes, a table for each figure.
pub(crate) fn counted_matrix(program: &ProgramSensitivity, who: &Who) -> Vec<Table> {
    let counted = COLUMNS.iter().filter(|_| is_counted(program));
    let table = |(words, of): &Counted| {
        cells(words, program, who, |runs| runs.counted.as_ref().and_then(of))
    };
    counted.map(table).collect()
}

fn is_counted(program: &ProgramSensitivity) -> bool {
    program.placements.iter().any(|runs| runs.counted.is_some())
}

/// What to know of the counts.
pub(crate) fn notes(program: &ProgramSensitivity) -> Vec<String> {
    let mut notes = Vec::new();
    let views = || program.placements.iter().filter_map(|runs| runs.counted.as_ref());
    if let Some(why) = views().find_map(|view| view.uncounted.as_ref()) {
        let sum = |of: fn(&CountedRuns) -> usize| views().map(of).sum::<usize>();
        notes.push(format!(
            "{} of {} could be counted throughout: {}",
            sum(|view| view.counted_runs),
            count(sum(|view| view.runs), "run"),
            why
        ));
    }
    let shares = views().filter_map(|view| view.least_counted_share);
    if let Some(least) = shares.reduce(f64::min).filter(|least| *least < 1.0) {
        notes.push(format!(
            "counters took turns with others: counts are scaled up to all of the time, from {} of it \
             at least",
            percent_words(least)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_record::{CountedQuantity, Outcome};

    use super::*;
    use crate::answer::Room;

    const WHOLE: Room = Room { width: 80, full: true };

    /// Runs of an initiator on a node with this share of misses, of which cycles were not counted.
    fn runs(initiator: u32, node: u32, misses: Option<f64>) -> PlacedRuns {
        let figure = |median| {
            let interval = (median, median);
            Outcome::Found(Median { median, interval, confidence: 0.5, count: 1 })
        };
        let counted = misses.map(|misses| CountedRuns {
            llc_miss_rate: figure(misses),
            llc_misses_per_1000_instructions: figure(100.0 * misses),
            instructions_per_cycle: Outcome::Unknown { unknown: "no counter".into() },
            counted_runs: 1,
            runs: 1,
            uncounted: None,
            least_counted_share: Some(1.0),
        });
        PlacedRuns {
            case: format!("commands/it/initiator{initiator}/node{node}"),
            initiator,
            cpu_node: Some(initiator),
            memory_node: Some(node),
            binding: format!("cpus={initiator} mem=preferred:{node}").parse().unwrap(),
            is_local: initiator == node,
            runs: None,
            performance: None,
            placed_share: None,
            seen_bytes: None,
            shared_bytes_elsewhere: None,
            not_seen: None,
            strayed_runs: 0,
            counted,
            bounds: None,
            standing: None,
            expected: None,
            refused: Vec::new(),
        }
    }

    #[test]
    fn a_matrix_has_a_table_for_each_figure() {
        let program = |placements: &[(u32, u32, Option<f64>)]| ProgramSensitivity {
            label: "it".into(),
            metric: None,
            memory_share: Outcome::Unknown { unknown: "nobody asked".into() },
            placements: placements.iter().map(|&(a, b, misses)| runs(a, b, misses)).collect(),
        };
        let some =
            program(&[(0, 0, Some(0.1)), (0, 1, Some(0.2)), (1, 0, Some(0.3)), (1, 1, None)]);
        assert_eq!(notes(&some), [""; 0]);
        let tables = counted_matrix(&some, &Who::default()).into_iter().map(Part::table);
        let text = Answer::default().and_all(Shown::Always, tables).text(WHOLE);
        expect_file!["../../tests/golden/sensitivity_counters.txt"].assert_eq(&text);
        let none = program(&[(0, 0, None), (1, 1, None)]);
        assert!(counted_matrix(&none, &Who::default()).is_empty() && counted(&none).is_none());
    }

    #[test]
    fn counters_that_are_not_to_be_had_are_told_of_once() {
        let tried = |quantity, unavailable: Option<&str>| TriedCounter {
            quantity,
            events: Vec::new(),
            meaning: None,
            source: None,
            check: None,
            unavailable: unavailable.map(Into::into),
        };
        let [cycles, instructions] = [CountedQuantity::Cycles, CountedQuantity::Instructions];
        let refusal =
            |event: &str| format!("perf_event_open({event}) failed with ENOENT\u{1b}: no counters");
        let [one, other] = ["cycles", "instructions"].map(refusal);
        let none = [tried(cycles, Some(&one)), tried(instructions, Some(&other))];
        let text = unavailable(&none).text(WHOLE);
        assert_eq!(text.matches("ENOENT").count(), 1, "{text}");
        assert!(text.contains("none is to be had") && !text.contains('\u{1b}'), "{text}");
        let some = unavailable(&[tried(cycles, Some("not believed")), tried(instructions, None)]);
        let some = some.text(WHOLE);
        assert!(some.contains("not all") && some.contains("cycles: not believed"), "{some}");
        let all = unavailable(&[tried(cycles, None)]).and_answer(unavailable(&[]));
        assert_eq!(all.text(WHOLE), "");
    }
}
