//! What a profile says, for people. For programs it is printed as it is written to a file
//! (docs/schema/nearfar.profile-1.json).

use std::collections::BTreeSet;

use nearfar_record::{CountedQuantity, Profile, ProfileCounter, ProfileLook, ProgramEnd};
use nearfar_units::{Bytes, format_significant};

use super::counter_reasons::unavailable_lines;
use super::figures::{count, percent_words, significant};
use super::who::Who;
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::{table, table_in_blocks, table_with_numbers};

/// Looks that are listed: the first, the last and some between.
const LISTED_LOOKS: usize = 8;

/// Pairs that are listed, those of the largest shares.
const LISTED_PAIRS: usize = 16;

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

/// A profile for a terminal.
pub fn profile_text(profile: &Profile) -> String {
    let mut text = heading(profile);
    text += &looks(profile);
    text += &access(profile);
    text += &classes(profile);
    text += &figures(profile);
    text += &counters(profile);
    for note in &profile.notes {
        text += &paragraph(" note: ", &printable(note));
    }
    text
}

fn heading(profile: &Profile) -> String {
    let program = &profile.program;
    let end = match program.end {
        Some(ProgramEnd::Exited(status)) => format!(", status {status}"),
        Some(ProgramEnd::Signalled(signal)) => format!(", ended by signal {signal}"),
        None if program.attached => ", attached to".into(),
        None => String::new(),
    };
    let most = profile.most_bytes.map_or("not known".into(), |bytes| Bytes(bytes).to_string());
    let what = format!(
        "{}: {} s, {} s of CPU time, {} at most, {most} of memory at most{end}",
        printable(&program.name),
        significant(profile.wall_seconds, 3),
        significant(profile.cpu_seconds, 3),
        count(profile.most_threads as usize, "thread"),
    );
    let origin = format!("{}, {}", printable(&profile.host), printable(&profile.started));
    paragraph("", &what) + &paragraph("", &origin)
}

/// Memory by node and threads over time.
fn looks(profile: &Profile) -> String {
    let Some(last) = profile.looks.len().checked_sub(1) else { return String::new() };
    let step = profile.looks.len().div_ceil(LISTED_LOOKS).max(1);
    let mut listed: Vec<usize> = (0..=last).step_by(step).collect();
    if listed.last() != Some(&last) {
        listed.push(last);
    }
    let nodes: BTreeSet<u32> =
        profile.looks.iter().flat_map(|look| look.bytes.iter().flatten()).map(|it| *it.0).collect();
    let mut header: Vec<String> = ["seconds", "threads"].map(String::from).into();
    header.extend(nodes.iter().map(|node| format!("node {node}")));
    let row = |look: &ProfileLook| {
        let mut row = vec![format!("{:.2}", look.at_seconds), look.threads.to_string()];
        row.extend(nodes.iter().map(|node| {
            let bytes = look.bytes.as_ref().map(|bytes| bytes.get(node).copied().unwrap_or(0));
            bytes.map_or("-".into(), |bytes| Bytes(bytes).to_string())
        }));
        row
    };
    let rows: Vec<Vec<String>> =
        listed.iter().filter_map(|&position| profile.looks.get(position)).map(row).collect();
    let what = format!(
        "Its memory by node, of {} (the time between them grows to 1 s)",
        count(profile.looks.len(), "look")
    );
    format!("\n{}{}", paragraph("", &what), table_in_blocks(&header, &rows))
}

fn access(profile: &Profile) -> String {
    let Some(access) = &profile.access else {
        let why = profile.access_unknown.as_deref().unwrap_or("it was not worked out");
        let what = format!("Where its accesses go is not known: {}", printable(why));
        return format!("\n{}", paragraph("", &what));
    };
    let what = format!(
        "Where its accesses go, every page taken for equally hot: {} to local memory",
        percent_words(access.local_share)
    );
    let mut pairs: Vec<_> = access.pairs.iter().collect();
    pairs.sort_by(|one, other| other.share.total_cmp(&one.share));
    let who = Who::of_profile(profile);
    let rows = pairs.iter().take(LISTED_PAIRS).map(|pair| {
        vec![
            who.cpus(pair.initiator),
            format!("node {}", pair.memory_node),
            percent_words(pair.share),
        ]
    });
    let header = ["threads on", "memory of", "accesses"].map(String::from).to_vec();
    let mut text = format!("\n{}{}", paragraph("", &what), table(header, rows.collect(), 2));
    if pairs.len() > LISTED_PAIRS {
        let more = count(pairs.len() - LISTED_PAIRS, "smaller pair");
        text += &paragraph(" ", &format!("and {more} (--json has them)"));
    }
    text
}

fn classes(profile: &Profile) -> String {
    let Some(classes) = &profile.classes else { return String::new() };
    let what = format!(
        "The same by the classes of the record of {}, {}",
        printable(&classes.record_host),
        printable(&classes.record_started)
    );
    let row = |of: &nearfar_record::ClassShare| {
        vec![
            format!("class {}", of.class),
            significant(of.alpha_relative, 3),
            percent_words(of.share),
        ]
    };
    let rows = classes.shares.iter().map(row).collect();
    let header = ["", "relative alpha", "accesses"].map(String::from).to_vec();
    let mut text = format!("\n{}{}", paragraph("", &what), table(header, rows, 1));
    if classes.unclassed_share > 0.0 {
        let share = percent_words(classes.unclassed_share);
        text += &paragraph(" ", &format!("{share} to pairs that are in none of its classes"));
    }
    text
}

fn figures(profile: &Profile) -> String {
    let values = profile.figures.values();
    let mut rows = Vec::new();
    for (name, words, unit) in FIGURES {
        let value = values.iter().find(|(field, _)| *field == name).and_then(|it| it.1);
        if let Some(value) = value {
            let value = match name {
                "local_dram_share" | "llc_miss_rate" => percent_words(value),
                _ => format_significant(value, 3),
            };
            rows.push(vec![words.into(), value, unit.into()]);
        }
    }
    if rows.is_empty() {
        return format!("\n{}", paragraph("", "What it moves and computes is not known (below)."));
    }
    let header = ["by counters", "", " "].map(String::from).to_vec();
    format!("\n{}", table_with_numbers(header, rows, 1..2))
}

/// The counters with a count, and those without by their reasons.
fn counters(profile: &Profile) -> String {
    let counted: Vec<&ProfileCounter> =
        profile.counters.iter().filter(|it| it.count.is_some()).collect();
    let mut text = String::new();
    if !counted.is_empty() {
        let row = |counter: &&ProfileCounter| {
            let check = counter.check.as_ref();
            let off = check.map(|check| check.counted / check.expected - 1.0);
            vec![
                counter.quantity.words().into(),
                counter.count.map_or("-".into(), |count| format!("{count:.4e}")),
                counter.counted_share.map_or("-".into(), percent_words),
                off.filter(|off| off.is_finite()).map_or("-".into(), percent_words),
            ]
        };
        let header =
            ["counter", "count", "of the time", "off, of known work"].map(String::from).to_vec();
        text += &format!("\n{}", table(header, counted.iter().map(row).collect(), 1));
        if counted.iter().any(|it| it.counted_share.is_some_and(|share| share < 1.0)) {
            text += &paragraph(" ", "Counters that took turns are scaled up to all of the time.");
        }
    }
    let reasons = profile.counters.iter().filter_map(|counter| {
        let why = counter.unavailable.as_deref()?;
        let is_missed =
            !counter.events.is_empty() || !is_counted_otherwise(profile, counter.quantity);
        is_missed.then_some((counter.quantity, why))
    });
    text + &unavailable_lines(reasons)
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

    fn planted() -> Profile {
        read_profile(&include_bytes!("../../tests/profiles/planted.json")[..]).unwrap()
    }

    #[test]
    fn everything_that_is_known_is_said() {
        let text = profile_text(&planted());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        expect_file!["../../tests/golden/profile.txt"].assert_eq(&text);
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
        let text = profile_text(&profile);
        expect_file!["../../tests/golden/profile_unknown.txt"].assert_eq(&text);
    }

    #[test]
    fn names_of_strangers_are_shown_escaped() {
        let mut profile = planted();
        profile.program.name = "a\u{1b}[2Jb".into();
        profile.notes.push("c\u{9b}".into());
        assert!(!profile_text(&profile).contains(['\u{1b}', '\u{9b}']));
    }
}
