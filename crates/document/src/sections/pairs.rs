//! The initiator x memory node matrix and its classes.

use std::collections::BTreeSet;

use crate::subject::{CellView, FittedView, ModelKind, class_map, classes};

use super::{meaning, model, without_colours};
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Table};

/// Which of a pair's thread counts.
#[derive(Clone, Copy)]
enum Threads {
    One,
    All,
}

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let cells = &sources.show.pairs;
    if cells.is_empty() {
        return None;
    }
    let mut tables = Vec::new();
    let classes = match model(sources, ModelKind::Classes) {
        Some(FittedView::Classes(view)) => Some(&view.result),
        _ => None,
    };
    tables.extend(classes.map(classes::tables).unwrap_or_default());
    let kernels: Vec<&str> = in_order(cells.iter().map(|cell| cell.kernel.as_str()));
    for kernel in kernels {
        for threads in [Threads::One, Threads::All] {
            let mut table = matrix(cells, kernel, threads);
            if let Some(table) = &mut table
                && table.rows.iter().flatten().any(|cell| *cell == Cell::Empty)
            {
                table.notes.extend(why_thinned(sources).map(|why| format!("Empty cells: {why}.")));
            }
            tables.extend(table);
        }
    }
    let (findings, strategy) = meaning(sources, &[ModelKind::Strategy]);
    let map = classes.map(|model| without_colours(&class_map(model)));
    let texts: Vec<String> = map.into_iter().chain(strategy).collect();
    Some(Section {
        id: "pairs",
        title: "Bandwidth of each group of cores with each memory node",
        about: "Useful bandwidth (STREAM's count of bytes), median over rounds. Rows: who \
                accesses; columns: whose memory. A class is a group of pairs that measure alike."
            .into(),
        tables,
        findings,
        model_text: (!texts.is_empty()).then(|| texts.join("\n")),
    })
}

/// Why a large machine's suite leaves pairs out; `None` where it left out none.
pub(crate) fn why_thinned(sources: &Sources<'_>) -> Option<String> {
    let omitted = sources.show.omitted.iter();
    let mut reasons: Vec<&str> = omitted
        .filter(|absent| absent.case.starts_with("pairs/"))
        .map(|absent| absent.reason.as_str())
        .collect();
    reasons.dedup();
    (!reasons.is_empty()).then(|| format!("omitted, {}", reasons.join("; ")))
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

fn matrix(cells: &[CellView], kernel: &str, threads: Threads) -> Option<Table> {
    let of_kernel = || cells.iter().filter(|cell| cell.kernel == kernel);
    let counts = |index: u32| of_kernel().filter(move |cell| cell.index == index);
    let chosen = |cell: &&CellView| match threads {
        Threads::One => cell.threads == 1,
        Threads::All => {
            let most = counts(cell.index).map(|cell| cell.threads).max();
            cell.threads > 1 && Some(cell.threads) == most
        }
    };
    let mut grid = Grid::default();
    for cell in of_kernel().filter(chosen) {
        let figure = cell.figures.first();
        let figure = figure
            .map(|figure| Figure::sum(&figure.bandwidth).of_samples(&figure.case, Counted::Bytes));
        let value = figure.map_or_else(|| Cell::absent(&cell.refused, &[]), Cell::Figure);
        let row = format!("{} {} (CPUs {})", cell.initiator, cell.index, cell.cpus);
        grid.add(row, format!("node {}", cell.memory_node), value);
    }
    let words = match threads {
        Threads::One => "one thread",
        Threads::All => "all threads together",
    };
    grid.table(format!("{kernel}, {words}, best variant"), "", Unit::GbPerS)
}
