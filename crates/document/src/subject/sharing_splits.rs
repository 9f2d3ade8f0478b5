//! How to split processes over near and far cores: what to do, and what `predict` says of it.

use nearfar_model::{
    Law, ProcessSplit, SplitAnswers, SplitRanking, SplitVerdict, Support, WIDEST_GAP, WorkSharing,
};

use super::figures::percent_words;
use super::result::ModelResult;
use super::sharing::place_words;
use crate::answer::{Answer, Part, Shown};
use crate::document::Section;
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, GB, ONE, Table, WORDS};

/// So many splits are named in a sentence.
const MOST_SPLITS: usize = 4;

pub(super) fn more_words(is_wanted: bool, command: Option<&String>) -> Option<String> {
    let command = command.filter(|_| is_wanted)?;
    Some(format!("More cells of the grids are measured by `{command}`."))
}

/// `3 near 1 far`, `all 4 near`.
pub(super) fn split_words(near: u32, far: u32) -> String {
    match (near, far) {
        (near, 0) => format!("all {near} near"),
        (0, far) => format!("all {far} far"),
        (near, far) => format!("{near} near {far} far"),
    }
}

/// `13.8 GB/s (13.6 to 14.0)`.
fn expectation(split: &ProcessSplit, work: WorkSharing) -> String {
    let figure = Figure::of(split.figure(work));
    match figure.interval {
        Some([low, high]) => {
            // Narrow intervals too: without one it would read as not known.
            let [low, high] = [low, high].map(|end| Figure::new(end, None, Unit::GbPerS).text);
            format!("{} GB/s ({low} to {high})", figure.text)
        }
        None => format!("{} GB/s (error not known)", figure.text),
    }
}

/// The best split and what it gives.
pub(super) fn gist(ranking: &SplitRanking) -> Option<String> {
    let best = ranking.splits.first()?;
    let near = ranking.all_near.as_ref().filter(|_| ranking.verdict == SplitVerdict::Gain);
    let gain = near.zip(ranking.gain).map(|(near, gain)| {
        format!(", {} more than {}", percent_words(gain), split_words(near.near, near.far))
    });
    let (split, note) = match (ranking.verdict, &ranking.all_near) {
        (SplitVerdict::Gain, _) | (_, None) => (best, gain.unwrap_or_default()),
        (SplitVerdict::AllNear, Some(near)) => (near, "; no other split looks better".into()),
        (_, Some(near)) => (near, "; whether others are better is not known".into()),
    };
    let words = split_words(split.near, split.far);
    Some(format!("{words} processes reach {}{note}", expectation(split, ranking.work)))
}

/// What to do, with its number and its condition.
pub(super) fn advice(ranking: &SplitRanking) -> String {
    let of = match ranking.work {
        WorkSharing::Static => "static scheduling (equal parts: the slowest process decides)",
        WorkSharing::Dynamic => "dynamic scheduling (the sum counts)",
    };
    let Some(best) = ranking.splits.first() else { return String::new() };
    let plural = if ranking.processes == 1 { "" } else { "es" };
    let expected = |split: &ProcessSplit| expectation(split, ranking.work);
    let words = |split: &ProcessSplit| split_words(split.near, split.far);
    let gain = ranking.gain.map_or_else(String::new, percent_words);
    let others = as_good_words(ranking) + &unsure_words(ranking);
    let better = format!("{} looks {gain} better, {}", words(best), expected(best));
    let what = match (ranking.verdict, &ranking.all_near) {
        (SplitVerdict::Gain, Some(near)) => format!(
            "put {}; expect {}, {gain} more than {}, {}.{others}",
            words(best),
            expected(best),
            words(near),
            expected(near)
        ),
        (SplitVerdict::AllNear, Some(near)) => format!(
            "keep {}; expect {}. No other split looks better.{}",
            words(near),
            expected(near),
            unsure_words(ranking)
        ),
        (SplitVerdict::WithinError, Some(near)) => format!(
            "keep {}; expect {}. {better}: within the error of both.",
            words(near),
            expected(near)
        ),
        (SplitVerdict::ErrorUnknown, Some(near)) => {
            format!("keep {} until more is measured: {}. {better}.", words(near), expected(near))
        }
        _ => {
            let (split, figure) = (words(best), expected(best));
            format!("they do not all fit near; put {split}; expect {figure}.{others}")
        }
    };
    format!("{} process{plural}, {of}: {what}", ranking.processes)
}

/// The others to choose from, each with its figure; empty where there are none.
fn as_good_words(ranking: &SplitRanking) -> String {
    let named = || ranking.best().take(MOST_SPLITS);
    let others = named().skip(1).map(|split| {
        let origin = if split.support == Support::Measured { "" } else { ", predicted" };
        let figure = expectation(split, ranking.work);
        format!("{}, {figure}{origin}", split_words(split.near, split.far))
    });
    let more = ranking.as_good_splits.saturating_sub(named().count());
    let others: Vec<String> = others.chain((more > 0).then(|| format!("{more} more"))).collect();
    if others.is_empty() { String::new() } else { format!(" As good: {}.", others.join("; ")) }
}

/// Which splits may be as good, or of many how many; empty where none may.
fn unsure_words(ranking: &SplitRanking) -> String {
    let is_measured = |(near, far): &&(u32, u32)| {
        let mut splits = ranking.splits.iter();
        splits.any(|split| {
            (split.near, split.far) == (*near, *far) && split.support == Support::Measured
        })
    };
    let (measured, unmeasured): (Vec<_>, Vec<_>) = ranking.unsure.iter().partition(is_measured);
    let words = |splits: &[&(u32, u32)], lack: [&str; 2]| match splits {
        [] => String::new(),
        [(near, far)] => format!(" {}{} may do as well.", split_words(*near, *far), lack[0]),
        [(near, far), (other_near, other_far)] => format!(
            " {} and {}{} may do as well.",
            split_words(*near, *far),
            split_words(*other_near, *other_far),
            lack[1]
        ),
        many => format!(" {} other splits{} may do as well.", many.len(), lack[1]),
    };
    words(&measured, ["", ""]) + &words(&unmeasured, [" is unmeasured and", " are unmeasured and"])
}

/// Of named splits those whose figures nobody knows the error of: the law's is that of cells whose lone
/// figures were measured.
fn of_unknown_error(splits: &[ProcessSplit]) -> Option<String> {
    let is_unknown =
        |it: &&ProcessSplit| it.support != Support::Measured && it.sum.interval.is_none();
    let unknown: Vec<String> =
        splits.iter().filter(is_unknown).map(|it| split_words(it.near, it.far)).collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "How far {} can be off is not known: numbers of threads that were measured alone lie more \
             than {WIDEST_GAP} times apart there, or end below it. `nearfar characterize --suite full \
             --only sharing` measures every number.",
            unknown.join(", ")
        )
    })
}

/// What `predict` says of splits.
pub fn splits_of_processes(answers: &ModelResult<SplitAnswers>) -> Answer {
    let mut told = answers.measured.answer();
    for (number, answer) in answers.result.grids.iter().enumerate() {
        let off = answer.law.left_out.map_or_else(
            || "with one mixed cell its error is not known".into(),
            |off| {
                format!(
                    "leave-one-out error {} on totals and {} on groups",
                    percent_words(off.total),
                    percent_words(off.group)
                )
            },
        );
        let ranked = answer
            .rankings
            .iter()
            .map(|ranking| split_table(format!("{} work", ranking.work.as_str()), &ranking.splits));
        let mut tables: Vec<Table> = ranked.collect();
        if !answer.splits.is_empty() {
            tables.push(split_table("the splits that were named".into(), &answer.splits));
        }
        let law = match answer.law.law {
            Law::Pressure { .. } => "pressure",
            Law::Saturation { .. } => "saturation",
        };
        let section = Section::new(
            "splits",
            "Splits of processes",
            format!(
                "{}. {}: {off}.",
                place_words(&answer.place, &answers.measured.who),
                match answer.is_predictive {
                    true => format!("Unmeasured cells are predicted by the {law} law"),
                    false => format!("All is measured; the {law} law predicts nothing"),
                }
            ),
            tables,
        );
        let findings = answer.rankings.iter().map(advice).chain(of_unknown_error(&answer.splits));
        let section = section.with_findings(findings.collect());
        told = match number {
            0 => told.and_gap().and_section(section, MOST_ROWS),
            _ => told.and_full_section(section),
        };
    }
    let others = answers.result.grids.iter().skip(1);
    let others: Vec<String> =
        others.map(|it| place_words(&it.place, &answers.measured.who)).collect();
    if let Some(other) = others.first() {
        let more = match others.len() {
            1 => other.clone(),
            many => format!("{other}, and {} more", many - 1),
        };
        let more = Part::words("", format!("--full: {more}."));
        told = told.and_all(Shown::First, [Part::Gap, more]);
    }
    let mut rankings = answers.result.grids.iter().flat_map(|grid| &grid.rankings);
    let wants_more = rankings.any(|ranking| ranking.wants_more);
    let note = more_words(wants_more, answers.result.more_cells.as_ref());
    told.and_all(Shown::Full, note.iter().map(|note| Part::words(" - ", note)))
}

/// Rows of the first screen.
const MOST_ROWS: usize = 14;

fn split_table(caption: String, splits: &[ProcessSplit]) -> Table {
    let rows = splits.iter().map(|split| {
        vec![
            Cell::text(split_words(split.near, split.far)),
            Cell::figure(Figure::of(&split.sum)),
            Cell::figure(Figure::of(&split.paced)),
            Cell::figure(split.near_each.map(Figure::plain)),
            Cell::figure(split.far_each.map(Figure::plain)),
            Cell::figure(split.beta.map(Figure::ratio)),
            Cell::text(match split.support {
                Support::Measured => "measured",
                Support::Interpolated => "interpolated",
                Support::Extrapolated => "extrapolated",
            }),
        ]
    });
    Table::new(
        caption,
        Column::all(
            ["split", "sum", "paced", "each near", "each far", "beta", "figures"],
            [WORDS, GB, GB, GB, GB, ONE, WORDS],
        ),
        rows,
    )
}
