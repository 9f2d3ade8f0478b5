//! What a profile says, for people. For programs it is printed as it is written to a file
//! (docs/schema/nearfar.profile-1.json).

use std::collections::BTreeSet;

use nearfar_record::{CountedQuantity, Profile, ProfileCounter, ProfileLook, ProgramEnd};
use nearfar_units::{Bytes, format_significant};

use super::counter_reasons::unavailable_parts;
use super::figures::{count, percent_words, significant};
use super::who::Who;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Looks that are listed: the first, the last and some between.
const LISTED_LOOKS: usize = 8;

/// Pairs and classes that the first screen has room for, and pairs that are listed at all, those of the
/// largest shares.
const FIRST_PAIRS: usize = 6;
const LISTED_PAIRS: usize = 64;

/// Notes that the first screen has room for.
const FIRST_NOTES: usize = 3;

/// Figures by their fields' names, their words and units, in the order in which they are printed.
const FIGURES: [(&str, &str, &str); 8] = [
    ("gflop_per_s", "floating-point operations", "GFLOP/s"),
    ("dram_read_gb_per_s", "read from memory", "GB/s"),
    ("operational_flops_per_byte", "operational intensity", "FLOPs per byte read from memory"),
    ("arithmetic_flops_per_byte", "arithmetic intensity", "FLOPs per byte that cores request"),
    ("local_dram_share", "of that from local memory", ""),
    ("llc_miss_rate", "misses of the last-level cache", "of its requests"),
    ("instructions_per_cycle", "instructions per cycle", ""),
    ("memory_level_parallelism", "lines under way at a time", ""),
];

/// A profile for people: where its accesses go and how much it moves, then what that rests on.
pub fn profile_answer(profile: &Profile) -> Answer {
    let notes = profile.notes.iter().map(|note| Part::words("note: ", note));
    let left = profile.notes.len().saturating_sub(FIRST_NOTES);
    let more = (left > 0).then(|| Part::words("", format!("--full: {}", count(left, "more note"))));
    let answer = Answer::saying(sentence(profile))
        .and_says(heading(profile))
        .and_all(Shown::Always, access(profile).map(|table| first(table, FIRST_PAIRS)))
        .and_answer(classes(profile))
        .and_all(Shown::Always, figures(profile).map(Part::table))
        .and_answer(counters(profile))
        .and_all(Shown::Full, looks(profile).map(Part::table));
    let answer = if profile.notes.is_empty() { answer } else { answer.and_gap() };
    answer
        .and_all(Shown::First, notes.clone().take(FIRST_NOTES).chain(more))
        .and_all(Shown::Full, notes)
}

fn first(table: Table, first_rows: usize) -> Part {
    Part::Table { table, first_rows }
}

/// Where its accesses go, and what it moves and computes in a second.
fn sentence(profile: &Profile) -> String {
    let name = &profile.program.name;
    let local = match &profile.access {
        Some(access) => {
            format!(
                "{name}: {} of its accesses go to local memory if all its pages are used alike",
                percent_words(access.local_share)
            )
        }
        None => {
            let why = profile.access_unknown.as_deref().unwrap_or("it was not computed");
            format!("{name}: where its accesses go is not known ({why})")
        }
    };
    let value = |name| {
        let values = profile.figures.values();
        values.iter().find(|(field, _)| *field == name).and_then(|it| it.1)
    };
    let rate = |value: Option<f64>, what: &str| {
        value.map(|value| format!("{} {what}", format_significant(value, 3)))
    };
    let rates = [
        rate(value("dram_read_gb_per_s"), "GB/s read from memory"),
        rate(value("gflop_per_s"), "GFLOP/s"),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    if rates.is_empty() { format!("{local}.") } else { format!("{local}; {}.", rates.join(", ")) }
}

fn heading(profile: &Profile) -> String {
    let program = &profile.program;
    let end = match program.end {
        Some(ProgramEnd::Exited(status)) => format!(", status {status}"),
        Some(ProgramEnd::Signalled(signal)) => format!(", ended by signal {signal}"),
        None if program.attached => ", attached to".into(),
        None => String::new(),
    };
    // A program that ended before the first look has none of these.
    let threads =
        (profile.most_threads > 0).then(|| count(profile.most_threads as usize, "thread"));
    let memory = profile.most_bytes.map(|bytes| format!("{} of memory", Bytes(bytes)));
    let most: Vec<String> = threads.into_iter().chain(memory).collect();
    let most = match most.is_empty() {
        true => String::new(),
        false => format!(", up to {}", most.join(" and ")),
    };
    format!(
        "{} s, {} s of CPU time{most}{end}; {}, {}",
        significant(profile.wall_seconds, 3),
        significant(profile.cpu_seconds, 3),
        profile.host,
        profile.started,
    )
}

/// Memory by node and threads over time.
fn looks(profile: &Profile) -> Option<Table> {
    let last = profile.looks.len().checked_sub(1)?;
    let step = profile.looks.len().div_ceil(LISTED_LOOKS).max(1);
    let mut listed: Vec<usize> = (0..=last).step_by(step).collect();
    if listed.last() != Some(&last) {
        listed.push(last);
    }
    let nodes: BTreeSet<u32> =
        profile.looks.iter().flat_map(|look| look.bytes.iter().flatten()).map(|it| *it.0).collect();
    let columns = ["seconds", "threads"].into_iter().map(Column::words);
    let columns = columns.chain(nodes.iter().map(|node| Column::words(format!("node {node}"))));
    let row = |look: &ProfileLook| {
        let mut row = vec![Cell::text(format!("{:.2}", look.at_seconds)), Cell::text(look.threads)];
        row.extend(nodes.iter().map(|node| {
            let bytes = look.bytes.as_ref().map(|bytes| bytes.get(node).copied().unwrap_or(0));
            bytes.map_or(Cell::Empty, |bytes| Cell::text(Bytes(bytes)))
        }));
        row
    };
    let rows = listed.iter().filter_map(|&position| profile.looks.get(position)).map(row);
    let caption = format!(
        "Its memory by node, {} (the time between them grows to 1 s)",
        count(profile.looks.len(), "look")
    );
    Some(Table::new(caption, columns, rows))
}

fn access(profile: &Profile) -> Option<Table> {
    let access = profile.access.as_ref()?;
    let mut pairs: Vec<_> = access.pairs.iter().collect();
    pairs.sort_by(|one, other| other.share.total_cmp(&one.share));
    let who = Who::of_profile(profile);
    let rows = pairs.iter().take(LISTED_PAIRS).map(|pair| {
        vec![
            Cell::text(who.cpus(pair.initiator)),
            Cell::text(format!("node {}", pair.memory_node)),
            Cell::text(percent_words(pair.share)),
        ]
    });
    let columns = ["threads on", "memory of", "accesses"].map(Column::words);
    let caption = "Where its accesses go, if all its pages are accessed alike";
    let left = pairs.len().saturating_sub(LISTED_PAIRS);
    let more = (left > 0).then(|| format!("{} (--json)", count(left, "smaller pair")));
    Some(Table::new(caption, columns, rows).with_notes(more))
}

fn classes(profile: &Profile) -> Answer {
    let Some(classes) = &profile.classes else { return Answer::default() };
    let caption = format!(
        "The same by the classes of the record of {}, {}",
        classes.record_host, classes.record_started
    );
    let row = |of: &nearfar_record::ClassShare| {
        vec![
            Cell::text(format!("class {}", of.class)),
            Cell::text(significant(of.alpha_relative, 3)),
            Cell::text(percent_words(of.share)),
        ]
    };
    let columns = ["", "relative alpha", "accesses"].map(Column::words);
    let answer = Answer::default()
        .and_table(Table::new(caption, columns, classes.shares.iter().map(row)), FIRST_PAIRS);
    if classes.unclassed_share > 0.0 {
        let share = percent_words(classes.unclassed_share);
        return answer.and_says(format!("{share} to pairs that are in none of its classes"));
    }
    answer
}

fn figures(profile: &Profile) -> Option<Table> {
    let values = profile.figures.values();
    let row = |(name, words, unit): (&str, &str, &str)| {
        let value = values.iter().find(|(field, _)| *field == name).and_then(|it| it.1)?;
        let value = match name {
            "local_dram_share" | "llc_miss_rate" => percent_words(value),
            _ => format_significant(value, 3),
        };
        Some(vec![Cell::text(words), Cell::text(value), Cell::text(unit)])
    };
    let columns = ["by counters", "", " "].map(Column::words);
    Table::new("", columns, FIGURES.into_iter().filter_map(row)).unless_empty()
}

/// The counters with a count, and those without by their reasons.
fn counters(profile: &Profile) -> Answer {
    let counted: Vec<&ProfileCounter> =
        profile.counters.iter().filter(|it| it.count.is_some()).collect();
    let row = |counter: &&ProfileCounter| {
        let check = counter.check.as_ref();
        let off = check.map(|check| check.counted / check.expected - 1.0);
        vec![
            Cell::text(counter.quantity.words()),
            counter.count.map_or(Cell::Empty, |count| Cell::text(format!("{count:.4e}"))),
            counter.counted_share.map_or(Cell::Empty, |share| Cell::text(percent_words(share))),
            off.filter(|off| off.is_finite())
                .map_or(Cell::Empty, |off| Cell::text(percent_words(off))),
        ]
    };
    let columns = ["counter", "count", "of the time", "off, of known work"].map(Column::words);
    let table = Table::new("", columns, counted.iter().map(row)).unless_empty();
    let took_turns = counted.iter().any(|it| it.counted_share.is_some_and(|share| share < 1.0));
    let scaled = took_turns
        .then(|| Part::words("", "Counters that took turns are scaled up to all of the time."));
    let reasons = profile.counters.iter().filter_map(|counter| {
        let why = counter.unavailable.as_deref()?;
        let is_missed =
            !counter.events.is_empty() || !is_counted_otherwise(profile, counter.quantity);
        is_missed.then_some((counter.quantity, why))
    });
    let reasons: Vec<(CountedQuantity, &str)> = reasons.collect();
    let missing = (!reasons.is_empty()).then(|| {
        let words = match counted.is_empty() {
            true => "no counter is to be had here: what it moves and computes is not known".into(),
            false => format!("{} not to be had here", count(reasons.len(), "counter")),
        };
        Part::words("", format!("{words} (--full says why)"))
    });
    let gap = (!reasons.is_empty()).then_some(Part::Gap);
    Answer::default()
        .and_all(Shown::First, gap.into_iter().chain(missing))
        .and_all(Shown::Full, table.map(Part::table).into_iter().chain(scaled))
        .and_all(Shown::Full, unavailable_parts(reasons.into_iter()))
}

/// A CPU has events for operations of each precision or for both together.
fn is_counted_otherwise(profile: &Profile, quantity: CountedQuantity) -> bool {
    let has_events = |quantity| {
        profile.counters.iter().any(|it| it.quantity == quantity && !it.events.is_empty())
    };
    match quantity {
        CountedQuantity::Flops => has_events(CountedQuantity::FlopsDouble),
        CountedQuantity::FlopsDouble | CountedQuantity::FlopsSingle => {
            has_events(CountedQuantity::Flops)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_record::read_profile;

    use super::*;
    use crate::answer::Room;

    fn planted() -> Profile {
        read_profile(&include_bytes!("../../tests/profiles/planted.json")[..]).unwrap()
    }

    #[test]
    fn everything_that_is_known_is_said() {
        let answer = profile_answer(&planted());
        let first = answer.text(Room { width: 80, full: false });
        let full = answer.text(Room { width: 80, full: true });
        let is_long = |line: &str| line.chars().count() > 80;
        assert!(first.lines().count() <= 40 && !first.lines().any(is_long), "{first}");
        assert!(!full.lines().any(is_long), "{full}");
        let both = format!("{first}--full\n{full}");
        expect_file!["../../tests/golden/profile.txt"].assert_eq(&both);
    }

    #[test]
    fn what_is_not_known_is_said_with_its_reason_once() {
        let mut profile = planted();
        profile.access = None;
        profile.access_unknown = Some("no look counted its pages".into());
        profile.classes = None;
        for counter in &mut profile.counters {
            (counter.count, counter.counted_share, counter.check) = (None, None, None);
            counter.unavailable =
                Some(format!("perf_event_open({:?}) failed with ENOENT", counter.quantity));
        }
        for (name, _) in profile.figures.clone().values() {
            profile.figures.unknown.insert(name.into(), "not counted".into());
        }
        profile.figures = nearfar_record::ProfileFigures {
            unknown: profile.figures.unknown,
            ..Default::default()
        };
        let text = profile_answer(&profile).text(Room { width: 80, full: true });
        expect_file!["../../tests/golden/profile_unknown.txt"].assert_eq(&text);
    }

    #[test]
    fn what_no_look_counted_is_left_out() {
        let profile = Profile { most_threads: 0, most_bytes: None, ..planted() };
        let heading = heading(&profile);
        assert!(!heading.contains("thread") && !heading.contains("memory"), "{heading}");
    }

    #[test]
    fn names_of_strangers_are_shown_escaped() {
        let mut profile = planted();
        profile.program.name = "a\u{1b}[2Jb".into();
        profile.notes.push("c\u{9b}".into());
        let text = profile_answer(&profile).text(Room { width: 80, full: true });
        assert!(!text.contains(['\u{1b}', '\u{9b}']));
    }
}
