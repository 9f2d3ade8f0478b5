//! Near and far threads on one memory node, and the sharing factor.

use crate::subject::{Who, measured_beta, place_words};
use nearfar_model::{GridPlace, ModelKind, SharedCell, Sharing, SharingCell};

use super::heat_map::{HeatMap, Place};
use super::lines::{Axis, Lines, Scale, Series, Style, Ticks};
use super::{Chart, Plot};
use crate::figure::{Counted, Figure, Unit};
use crate::subject::Sources;
use crate::table::Cell;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let model = sources.sharing();
    let factor = model.and_then(|model| factor(model, &sources.show.measured.who));
    [map(sources, model), factor].into_iter().flatten().collect()
}

const BETA: &str = "beta: far / both";
const MODELLED: &str = "both by the model";

/// Why cells have no figure by the model.
fn why_not_modelled(sources: &Sources<'_>, model: Option<&Sharing>) -> String {
    let unfitted = model.into_iter().flat_map(|model| &model.unfitted);
    let mut known = sources.unavailable.iter().filter(|it| it.model == ModelKind::Sharing);
    let why = unfitted.map(|grid| grid.why.clone()).next();
    why.or_else(|| known.next().map(|it| it.why.to_string())).map_or_else(
        || {
            "the law that fits best is too far off where a cell is left out of its fit to say anything"
                .into()
        },
        |why| format!("the model was not fitted to all: {why}"),
    )
}

fn map(sources: &Sources<'_>, model: Option<&Sharing>) -> Option<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["near threads", "far threads"],
        &["Grid"],
        &[
            ("both groups", gb, false),
            ("near group", gb, false),
            ("far group", gb, false),
            (BETA, "", false),
            (MODELLED, gb, false),
        ],
    );
    map.explain_statistic(MODELLED, why_not_modelled(sources, model));
    map.explain_statistic(BETA, "it was not measured of both groups");
    let mut cells: Vec<&SharingCell> = sources.show.sharing.iter().collect();
    cells.sort_by_key(|cell| (cell.place.local_threads, cell.place.remote_threads));
    let mut far: Vec<u32> = cells.iter().map(|cell| cell.place.remote_threads).collect();
    far.sort_unstable();
    far.dedup();
    map.set_columns(far.iter().map(u32::to_string).collect());
    for cell in cells {
        let place = Place {
            choice: vec![place_words(&GridPlace::of(&cell.place), &sources.show.measured.who)],
            row: cell.place.local_threads.to_string(),
            column: cell.place.remote_threads.to_string(),
        };
        let sum = |view: &Option<_>| view.as_ref().map(Figure::sum);
        let modelled = model.and_then(|model| of_model(model, cell));
        let predicted = modelled.and_then(|cell| cell.predicted_total.as_ref()).map(Figure::of);
        let beta = modelled.and_then(measured_beta);
        let others = vec![sum(&cell.local), sum(&cell.remote), beta, predicted];
        map.add(&place, Cell::of(&cell.case, sum(&cell.total), Counted::Bytes), others);
    }
    Chart::of(
        "sharing-map",
        "sharing",
        "Near and far threads at once, and the sharing factor beta",
        "A heat map: near threads in rows, far threads in columns, the bandwidth of \
                      both groups written in each cell. beta is the far group's part.",
        Plot::HeatMap(map),
    )
}

/// beta over the near threads, a line for each number of far ones.
fn factor(model: &Sharing, who: &Who) -> Option<Chart> {
    let x = Axis::new("near threads", Scale::FromZero).marked_at(Ticks::Counts);
    let y = Axis::new("beta: far / both", Scale::FromZero);
    let mut lines = Lines::new(x, y, &["Grid"]);
    let mut has_line = false;
    for grid in &model.grids {
        let choice = [place_words(&grid.place, who)];
        let mut cells: Vec<&SharedCell> = grid.cells.iter().collect();
        cells.sort_by_key(|cell| (cell.remote_threads, cell.local_threads));
        let of_far = cells.chunk_by(|one, next| one.remote_threads == next.remote_threads);
        let mut number = 0;
        for of in of_far {
            let Some(far) = of.first().map(|cell| cell.remote_threads) else { continue };
            let predicted = |cell: &SharedCell| Some(Figure::ratio(cell.predicted?.beta()));
            let points = of_beta(format!("{far} far"), Style::Points, of, measured_beta);
            let line = of_beta(format!("{far} far, model"), Style::Edge, of, predicted);
            // Model and measurement of one number of threads have one colour.
            has_line |= line.len() > 0;
            let is_drawn = points.len() + line.len() > 0;
            lines.add(&choice, points.looking([number; 2]));
            lines.add(&choice, line.looking([number; 2]));
            number += usize::from(is_drawn);
        }
    }
    Chart::of(
        "sharing-factor",
        "sharing",
        "The sharing factor beta over threads",
        format!(
            "Points are measured{}: the far group's part of the bandwidth that both groups reach, \
             against the near threads, for each number of far threads. 0.5 is an equal split.",
            if has_line { ", lines the model's" } else { "" }
        ),
        Plot::Lines(lines),
    )
}

fn of_beta(
    name: String,
    style: Style,
    cells: &[&SharedCell],
    beta: impl Fn(&SharedCell) -> Option<Figure>,
) -> Series {
    let mut series = Series::new(name, style);
    // Where one group is alone beta is 0 or 1 by its definition.
    let shared = cells.iter().filter(|cell| cell.local_threads > 0 && cell.remote_threads > 0);
    for cell in shared {
        let Some(figure) = beta(cell) else { continue };
        let about = format!("{} near, {} far", cell.local_threads, cell.remote_threads);
        series.point(f64::from(cell.local_threads), &figure, &about);
    }
    series
}

fn of_model<'a>(model: &'a Sharing, cell: &SharingCell) -> Option<&'a SharedCell> {
    let place = GridPlace::of(&cell.place);
    let grid = model.grids.iter().find(|grid| grid.place == place)?;
    grid.cells.iter().find(|known| {
        (known.local_threads, known.remote_threads)
            == (cell.place.local_threads, cell.place.remote_threads)
    })
}
