//! Bandwidth classes and pairs as braithwaite2012 prints them (tables 5.2 and 5.3).

use nearfar_report::{CellView, ClassesView, FittedView, ModelKind};

use super::{grid::Grid, model, pairs::alpha};
use crate::document::Sources;
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, Table};

/// The tables; none where there are no classes.
pub(crate) fn paper_tables(sources: &Sources<'_>) -> Vec<Table> {
    let Some(FittedView::Classes(view)) = model(sources, ModelKind::Classes) else {
        return Vec::new();
    };
    std::iter::once(classes(view)).chain(pairs(view, &sources.show.pairs)).collect()
}

/// Class, maximum, alpha: table 5.2.
fn classes(view: &ClassesView) -> Table {
    let rows = view.classes.iter().map(|class| {
        let maximum = Figure::new(class.max_gb_per_s, None, Unit::GbPerS);
        vec![Cell::text(class.class.to_string()), Cell::Figure(maximum), alpha(view, class)]
    });
    let notes = view.gamma.as_ref().map(|gamma| {
        format!("gamma: {}, {} ({})", gamma.name, gamma_words(gamma.gb_per_s), gamma.source)
    });
    Table {
        caption: format!(
            "Bandwidth classes (as table 5.2): {}, {}",
            view.kernels.join(", "),
            view.threads.words()
        ),
        columns: vec![
            Column::words("class"),
            Column::of("maximum", Unit::GbPerS),
            Column::of("alpha", Unit::One),
        ],
        rows: rows.collect(),
        notes: notes.into_iter().collect(),
    }
}

fn gamma_words(gb_per_s: f64) -> String {
    Figure::new(gb_per_s, None, Unit::GbPerS).words()
}

/// A row for each kernel and variant, a column for each pair that is in a class: table 5.3.
fn pairs(view: &ClassesView, cells: &[CellView]) -> Option<Table> {
    let mut places: Vec<(u32, u32, u32)> = view
        .classes
        .iter()
        .flat_map(|class| &class.pairs)
        .map(|pair| (pair.index, pair.memory_node, pair.threads))
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut grid = Grid::default();
    for (index, node, threads) in places {
        let of_pair = cells
            .iter()
            .filter(|cell| (cell.index, cell.memory_node, cell.threads) == (index, node, threads));
        for cell in of_pair {
            for figure in &cell.figures {
                let row = format!("{}, {}", cell.kernel, figure.variant);
                let sum = Cell::Figure(Figure::sum(&figure.bandwidth));
                grid.add(row, format!("{index}-{node}"), sum);
            }
        }
    }
    let caption = format!(
        "Pairs of {} and memory node (as table 5.3): median of {}",
        view.initiator,
        view.threads.words()
    );
    grid.table(caption, "kernel, variant", Unit::GbPerS)
}
