//! The group of CPUs x memory node matrix and its classes.

use nearfar_machine::GroupBy;
use nearfar_model::{Figure as Measured, PlacedCell};
use nearfar_record::{Absence, Experiment};

use super::class_map::{MAP_WIDTH, class_map};
use super::classes;
use super::figures::{count, percent_words};
use super::sources::Sources;
use super::who::Who;
use crate::answer::Room;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::{Grid, groups};
use crate::table::{Cell, Table};

/// Which of a pair's thread counts.
#[derive(Clone, Copy)]
enum Threads {
    One,
    All,
    /// All, by the slowest.
    Paced,
    /// The count that moves most.
    Peak,
}

/// Paces that differ by less from the sum are not shown beside it.
const SAME_PACE: f64 = 0.03;

/// From this share of the memory on it is as good as all.
const ALL_HUGE: f64 = 0.99;

pub(crate) fn section(sources: &Sources<'_>) -> Option<Section> {
    let cells = &sources.show.pairs;
    if cells.is_empty() {
        return None;
    }
    let classes = sources.classes();
    let who = &sources.show.measured.who;
    let mut tables = classes.map(|model| classes::tables(model, who)).unwrap_or_default();
    for (kernel, of_kernel) in groups(cells, |cell| cell.kernel.as_str()) {
        for threads in [Threads::One, Threads::All, Threads::Paced, Threads::Peak] {
            let mut table = matrix(&of_kernel, kernel, threads, who);
            if let Some(table) = &mut table
                && table.rows.iter().flatten().any(|cell| *cell == Cell::Empty)
            {
                table.notes.extend(why_thinned(sources).map(|why| format!("Empty cells: {why}.")));
            }
            tables.extend(table);
        }
    }
    let section = Section::new(
        "pairs",
        "Bandwidth of each group of cores with each memory node",
        "Useful bandwidth (STREAM's count of bytes), median over rounds. Rows: CPUs; columns: \
         memory. A class is a group of pairs that measure alike.",
        tables,
    );
    let room = Room { width: MAP_WIDTH, full: true };
    let model_text = classes.map(|model| class_map(model, who, false).text(room));
    Some(Section { model_text, ..section })
}

/// Why a large machine's suite leaves pairs out; `None` where it left out none.
pub(crate) fn why_thinned(sources: &Sources<'_>) -> Option<String> {
    let absent = sources.show.absent.iter();
    let mut reasons: Vec<&str> = absent
        .filter(|absent| absent.absence == Absence::Omitted)
        .filter(|absent| absent.experiment() == Some(Experiment::Pairs))
        .map(|absent| absent.reason.text.as_str())
        .collect();
    reasons.dedup();
    (!reasons.is_empty()).then(|| format!("omitted, {}", reasons.join("; ")))
}

fn matrix(cells: &[&PlacedCell], kernel: &str, threads: Threads, who: &Who) -> Option<Table> {
    let counts = |index: u32| cells.iter().filter(move |cell| cell.row.index == index);
    let chosen = |cell: &&PlacedCell| match threads {
        Threads::One => cell.threads == 1,
        Threads::All | Threads::Paced => {
            let most = counts(cell.row.index).map(|cell| cell.threads).max();
            cell.threads > 1 && Some(cell.threads) == most
        }
        Threads::Peak => {
            let more = counts(cell.row.index).any(|other| other.threads > cell.threads);
            cell.is_peak && cell.threads > 1 && more
        }
    };
    let chosen: Vec<&PlacedCell> = cells.iter().copied().filter(chosen).collect();
    let differs = |cell: &&PlacedCell| {
        let best = cell.cell.best();
        best.is_some_and(|best| {
            best.summary.paced.median < (1.0 - SAME_PACE) * best.summary.sum.median
        })
    };
    if matches!(threads, Threads::Paced) && !chosen.iter().any(differs) {
        return None;
    }
    let mut grid = Grid::default();
    for cell in &chosen {
        let figure = cell.cell.best().map(|best| {
            let (figure, counted) = match threads {
                Threads::Paced => (Figure::paced(&best.summary), Counted::PacedBytes),
                _ => (Figure::sum(&best.summary), Counted::Bytes),
            };
            figure.of_samples(&best.case, counted)
        });
        let value = figure.map_or_else(|| Cell::absent(&cell.cell.refused), Cell::Figure);
        let row = match threads {
            Threads::Peak => {
                format!("{}, {}", row_words(cell, who), count(cell.threads as usize, "thread"))
            }
            _ => row_words(cell, who),
        };
        grid.add(row, format!("node {}", cell.memory_node), value);
    }
    let words = match threads {
        Threads::One => "one thread",
        Threads::All => "all threads together",
        Threads::Paced => "threads x the slowest, what a statically divided loop sees",
        Threads::Peak => "fewer threads than all, where these move more",
    };
    let mut table = grid.table(format!("{kernel}, {words}"), "", Unit::GbPerS)?;
    table.notes.extend(variants_words(&chosen));
    table.notes.extend(turns_words(&chosen));
    table.notes.extend(huge_page_words(&chosen));
    Some(table)
}

/// `CPUs 0-17`, `core 3 (CPUs 3,67)`.
pub(crate) fn row_words(cell: &PlacedCell, who: &Who) -> String {
    let row = &cell.row;
    let plural = if row.cpus.len() == 1 { "" } else { "s" };
    match row.group_by {
        GroupBy::Memory => who.label(row.initiator),
        part => format!("{} {} (CPU{plural} {})", part.group(), row.index, row.cpus),
    }
}

/// How much of their memory huge pages backed, where it was not all of it everywhere.
fn huge_page_words(cells: &[&PlacedCell]) -> Option<String> {
    let shares = || cells.iter().filter_map(|cell| cell.cell.best()?.summary.huge_page_share);
    let [least, most] = [shares().reduce(f64::min)?, shares().reduce(f64::max)?];
    let [low, high] = [least, most].map(percent_words);
    match least {
        ALL_HUGE.. => None,
        _ if low == high => Some(format!("Huge pages backed {low} of the memory.")),
        _ => Some(format!("Huge pages backed {low} to {high} of a cell's memory.")),
    }
}

/// What taking pages in turn moves beside what the cells show, which is walked in order.
fn turns_words(cells: &[&PlacedCell]) -> Option<String> {
    let turns: Vec<(f64, &str)> = cells
        .iter()
        .filter_map(|cell| {
            let best = cell.cell.best().filter(|figure| figure.walks_in_order())?;
            let others = cell.cell.figures.iter().filter(|figure| !figure.walks_in_order());
            let median = |figure: &Measured| figure.summary.sum.median;
            let most = others.max_by(|a, b| median(a).total_cmp(&median(b)))?;
            let ratio = median(most) / median(best);
            ratio.is_finite().then_some((ratio, most.variant.as_str()))
        })
        .collect();
    let ratios = || turns.iter().map(|(ratio, _)| *ratio);
    let [low, high] =
        [ratios().reduce(f64::min)?, ratios().reduce(f64::max)?].map(|it| format!("{it:.2}"));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let names = groups(&turns, |(_, name)| *name).into_iter().map(|(name, _)| name);
    let names = names.collect::<Vec<_>>().join(", ");
    Some(format!(
        "Walked in order, as by a program's plain loop; pages in turn ({names}) moved {range} times as much."
    ))
}

/// Which variants the figures are of.
fn variants_words(cells: &[&PlacedCell]) -> Option<String> {
    let best: Vec<&str> =
        cells.iter().filter_map(|cell| Some(cell.cell.best()?.variant.as_str())).collect();
    let variants: Vec<&str> =
        groups(&best, |name| *name).into_iter().map(|(name, _)| name).collect();
    let in_order = |cell: &PlacedCell| {
        let best = cell.cell.best().is_some_and(Measured::walks_in_order);
        cell.cell.figures.iter().filter(|figure| figure.walks_in_order() == best).count()
    };
    let tried = cells.iter().map(|cell| in_order(cell)).max()?;
    (!variants.is_empty()).then(|| match tried {
        0 | 1 => format!("Variant {}.", variants.join(", ")),
        _ => format!("Best of {tried} variants: {}.", variants.join(", ")),
    })
}
