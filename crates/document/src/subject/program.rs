//! Programs beside loads, and their times where they have not run.

use nearfar_model::{
    BoundBy, BoundShares, PartEstimates, PlaceTime, ProgramAnswer, RunsBeside, runs_beside,
};
use nearfar_record::{Estimate, LatencyLoad, LoadLeftOut, ProgramProfile};
use nearfar_units::{Ratio, Seconds, format_significant};

use super::figures::percent_words;
use super::moved_cores::moved_words;
use super::predicted_places::{PredictedPlace, findings};
use super::result::ModelResult;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, NS, ONE, SECONDS, Table, WORDS};

const TIMES_ALONE: &str = "times alone";

/// Rows of the first screen.
const FIRST_ROWS: usize = 12;

/// A program's profile, and what its time depends on where it ran; why that is not known where no
/// record is at hand.
pub fn program_answer(profile: &ProgramProfile, depends_on: Result<BoundShares, String>) -> Answer {
    let section = runs_section(profile, depends_on);
    Answer::saying(format!("{}, {}", profile.host, profile.started))
        .and_gap()
        .and_section(section, FIRST_ROWS)
}

fn runs_section(profile: &ProgramProfile, depends_on: Result<BoundShares, String>) -> Section {
    let name = &profile.name;
    let says = match &depends_on {
        Ok(shares) => format!(
            "{name} is bound by {}: {}",
            bound_words(shares.binding()),
            evidence(profile, shares)
        ),
        Err(why) => format!("What {name} is bound by is not known: {why}."),
    };
    // As a rule all kinds of load are of as many threads, which need not stand in every row.
    let mut threads: Vec<u32> =
        profile.runs.iter().filter_map(|it| Some(it.load.as_ref()?.threads)).collect();
    threads.dedup();
    let beside = match threads[..] {
        [threads] => format!("beside {}", threads_words(threads)),
        _ => "beside".into(),
    };
    let words = if threads.len() == 1 { pauses_words } else { load_words };
    let row = |runs: &RunsBeside| {
        let traffic = |which: usize| Cell::figure(runs.traffic.map(|it| Figure::plain(it[which])));
        vec![
            Cell::Text(runs.load.as_ref().map_or_else(|| "alone".into(), words)),
            Cell::figure(runs.time.as_ref().map(Figure::of)),
            Cell::figure(runs.slowdown.as_ref().map(Figure::of)),
            traffic(0),
            traffic(1),
        ]
    };
    let runs = runs_beside(profile);
    let runs = Table::new(
        "Its runs",
        Column::all(
            [beside.as_str(), "time", TIMES_ALONE, "before", "during"],
            [WORDS, SECONDS, ONE, GB, GB],
        ),
        runs.iter().map(row),
    );
    let most = profile.runs.iter().map(|runs| runs.seconds.len()).max().unwrap_or(0);
    let rounds = format!(
        "Medians of up to {most} rounds in turns; times alone are of the same round. Before the program \
         and during it: what the load moved, whose pages were looked at before and after each run."
    );
    let runs = runs.with_notes([rounds]);
    Section::new("program", "A program beside loads", says, vec![parts(profile), runs])
}

fn threads_words(threads: u32) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

fn pauses_words(load: &LatencyLoad) -> String {
    match load.pause_cycles {
        0 => load.kernel.clone(),
        cycles => format!("{}, pauses of {cycles}", load.kernel),
    }
}

fn load_words(load: &LatencyLoad) -> String {
    format!("{} ({})", pauses_words(load), threads_words(load.threads))
}

fn left_out_words(it: &LoadLeftOut) -> String {
    format!("Left out is {}: {}.", load_words(&it.load), it.why)
}

fn bound_words(by: BoundBy) -> &'static str {
    match by {
        BoundBy::Compute => "its cores",
        BoundBy::Bandwidth => "the bandwidth of its memory",
        BoundBy::Latency => "the time of an access",
    }
}

/// In a column.
fn bound_word(by: BoundBy) -> &'static str {
    match by {
        BoundBy::Compute => "compute",
        BoundBy::Bandwidth => "bandwidth",
        BoundBy::Latency => "latency",
    }
}

fn evidence(profile: &ProgramProfile, shares: &BoundShares) -> String {
    let worst = profile.runs.iter().filter(|runs| runs.load.is_some());
    let worst = worst.max_by(|one, other| one.slowdown.total_cmp(&other.slowdown));
    let beside = worst.map_or_else(
        || "nothing ran beside it".to_string(),
        |runs| {
            format!(
                "beside {} GB/s it took {} times as long",
                format_significant(runs.traffic_gb_per_s, 3),
                format_significant(runs.slowdown, 3)
            )
        },
    );
    format!(
        "{beside}; of a change of the cores' speed its time takes {}, of the bandwidth {}, of the time of \
         an access {}.",
        percent_words(shares.compute),
        percent_words(shares.bandwidth),
        percent_words(shares.latency)
    )
}

/// A part is known where its interval's lower end is so much of the upper one: else it is only known to be less
/// than that, and what follows from it not at all.
const KNOWN: f64 = 0.05;

fn is_known(part: &Estimate<Ratio>) -> bool {
    let [low, high] = part.ends();
    low.0 >= KNOWN * high.0
}

/// What its time is made of.
fn parts(profile: &ProgramProfile) -> Table {
    let of = PartEstimates::of(profile);
    let row = |what: &str, figure: Figure| vec![Cell::text(what), Cell::Figure(figure)];
    let count = |part: &Estimate<Ratio>, unit: f64| match part.scaled(unit) {
        scaled if is_known(part) => Figure::of(&scaled),
        scaled => Figure::below(scaled.ends()[1]),
    };
    let (lines, bytes) = (&of.exposed_lines, &of.bytes);
    let mut rows = vec![
        row("core time, s", Figure::of(&of.core)),
        row("lines waited for, one after the other, millions", count(lines, 1e-6)),
    ];
    if is_known(lines) && is_known(bytes) {
        rows.push(row("lines under way at a time", Figure::of(&of.lines_under_way)));
    }
    rows.push(row("bytes moved, GB", count(bytes, 1e-9)));
    if is_known(bytes) {
        rows.push(row("of them reads", Figure::of(&of.read_share)));
    }
    rows.push(row("overlap of core time and memory (1: none)", Figure::of(&of.overlap)));
    if let Some(busy) = &of.busy_ratio {
        rows.push(row("beside busy cores, whatever they move, times alone", Figure::of(busy)));
    }
    if let (Some(kept), Some(half)) = (&of.kept_lines, &of.half_lost_beside) {
        rows.push(row("lines kept in a shared cache, millions", count(kept, 1e-6)));
        if is_known(kept) {
            rows.push(row("half of them lost beside reads of, GB/s", Figure::of(half)));
        }
    }
    let left_out = profile.left_out.iter().map(left_out_words);
    let moved = profile.moved.as_ref().map(moved_words);
    Table::new("What its time is made of", Column::all(["part", ""], [WORDS, ONE]), rows)
        .with_notes(left_out.chain(moved))
}

/// A program's time at every pair, for people.
pub fn program_at_placements(of: &ModelResult<ProgramAnswer>) -> Answer {
    let section = places_section(&of.result, &of.measured.who);
    of.measured.answer().and_gap().and_section(section, FIRST_ROWS)
}

/// Its predicted time on each pair, beside what was measured of it.
pub(crate) fn places_section(of: &ProgramAnswer, who: &Who) -> Section {
    let place = |it: &PlaceTime| format!("{} on node {}", who.cpus(it.initiator), it.memory_node);
    let row = |it: &PlaceTime| {
        let time = match it.time.as_result() {
            Ok(time) => Cell::Figure(Figure::of(time)),
            Err(why) => Cell::unknown(why),
        };
        vec![
            Cell::Text(place(it)),
            time,
            Cell::figure(it.measured.as_ref().map(Figure::of)),
            Cell::figure(it.slowdown.as_ref().map(Figure::of)),
            Cell::figure(it.slowdown_by_alpha.map(Figure::ratio)),
            Cell::text(it.bound_by.map_or("", bound_word)),
            Cell::figure(it.traffic.map(Figure::plain)),
            Cell::figure(it.access.map(Figure::plain)),
        ]
    };
    let has_interval =
        of.places.iter().any(|it| it.time.found().is_some_and(|time| time.interval.is_some()));
    let interval =
        if has_interval { "The interval is of what would be measured there. " } else { "" };
    let mut notes = vec![format!(
        "{interval}The column `by alpha` is the rule that performance follows bandwidth \
         (docs/models/data-access.md)."
    )];
    let places: Vec<PredictedPlace<'_>> = (of.places.iter())
        .map(|it| (place(it), it.time.as_result().map(|_| it.is_within_measured)))
        .collect();
    if !of.is_same_machine {
        notes.push(format!(
            "Its runs were on {}: core time is taken as it was there, and times are not compared.",
            of.ran_on
        ));
    }
    const COLUMNS: [&str; 8] = [
        "CPUs and node",
        "time",
        "measured",
        TIMES_ALONE,
        "by alpha",
        "bound by",
        "moves",
        "access",
    ];
    let mut table = Table::new(
        "Its time",
        Column::all(COLUMNS, [WORDS, SECONDS, SECONDS, ONE, ONE, WORDS, GB, NS]),
        of.places.iter().map(row),
    )
    .with_notes(notes);
    if of.places.iter().all(|it| it.measured.is_none()) {
        table = table.without_column("measured");
    }
    if of.measured.is_none() {
        table = table.without_column(TIMES_ALONE);
    }
    Section::new("predict-program", "A program at every placement", says(of, &place), vec![table])
        .with_findings(findings(&places))
}

fn says(of: &ProgramAnswer, place: &dyn Fn(&PlaceTime) -> String) -> String {
    let seconds = |time: &Estimate<Seconds>| Figure::of(time).words();
    let best = of.places.iter().find_map(|it| Some((it, it.time.found()?)));
    let asked = match (of.copies, of.beside.0 > 0.0) {
        (1, false) => String::new(),
        (1, true) => format!(" beside {}", Figure::plain(of.beside).words()),
        (copies, false) => format!(", {copies} copies at a time"),
        (copies, true) => {
            format!(", {copies} copies at a time beside {}", Figure::plain(of.beside).words())
        }
    };
    let found = best.map_or_else(
        || "no placement has a time".to_string(),
        |(it, time)| format!("shortest on {}, {}", place(it), seconds(time)),
    );
    let here = best.and_then(|(it, _)| it.measured.as_ref());
    let measured = match (&of.measured, here) {
        (Some(alone), _) => format!("; it ran alone in {}", seconds(alone)),
        (None, Some(here)) => format!("; measured there {}", seconds(here)),
        (None, None) => "; it has not run".into(),
    };
    format!("{}{asked}: {found}{measured}.", of.program)
}
