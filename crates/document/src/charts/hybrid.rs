//! A fast and a slow memory: what shares of pages give.

use nearfar_model::{Hybrid, HybridFigures};
use nearfar_record::{HybridCoordinates, HybridPoint};
use nearfar_units::format_significant;

use super::heat_map::{HeatMap, Place};
use super::lines::{Axis, Lines, Scale, Series, Style};
use super::{Chart, Plot};
use crate::figure::{Counted, Figure, Unit};
use crate::subject::Sources;
use crate::subject::{MemoryNames, memories_words, surface_cell};

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let model = sources.hybrid();
    let model = model.map(|model| [surface(sources, model), shares(sources, model)]);
    model.into_iter().flatten().flatten().collect()
}

fn percent(share: f64) -> String {
    format!("{} %", format_significant(100.0 * share, 3).trim_end_matches(".0"))
}

/// Whether all memories are of one kind, and what they are called.
fn names_of_all(model: &Hybrid) -> (bool, MemoryNames) {
    let are_one_kind = model.pairs.iter().all(|pair| pair.memories().is_one_kind);
    (are_one_kind, MemoryNames::new(are_one_kind))
}

fn surface(sources: &Sources<'_>, model: &Hybrid) -> Option<Chart> {
    let statistics = [("by the model", Unit::GbPerS.as_str(), false)];
    let (are_one_kind, MemoryNames { fast, .. }) = names_of_all(model);
    let pages = if are_one_kind {
        "share of pages in the near memory"
    } else {
        "share of pages in the fast memory"
    };
    let axes = ["share of loads in all bytes", pages];
    let mut map = HeatMap::new(axes, &["Memories"], &statistics);
    for pair in &model.pairs {
        for point in &pair.surface {
            let place = Place {
                choice: vec![memories_words(&pair.memories(), &sources.show.measured.who)],
                row: percent(point.load_share),
                column: percent(point.fast_share),
            };
            map.add(&place, surface_cell(point), Vec::new());
        }
    }
    Chart::of(
        "hybrid-surface",
        "hybrid",
        if are_one_kind {
            "Bandwidth by shares of loads and of near pages, by the model"
        } else {
            "Bandwidth by shares of loads and of fast pages, by the model"
        },
        format!(
            "A heat map of what the model gives: share of loads in rows, share of pages in the {fast} \
             memory in columns, the bandwidth written in each cell."
        ),
        Plot::HeatMap(map),
    )
}

fn shares(sources: &Sources<'_>, model: &Hybrid) -> Option<Chart> {
    let (are_one_kind, MemoryNames { fast, .. }) = names_of_all(model);
    let title = if are_one_kind {
        "share of all bytes in the near memory"
    } else {
        "share of all bytes in the fast memory"
    };
    let x = Axis::new(title, Scale::FromZero);
    let y = Axis::new("bandwidth, GB/s", Scale::FromZero);
    let mut lines = Lines::new(x, y, &["Memories"]);
    for pair in &model.pairs {
        let choice = [memories_words(&pair.memories(), &sources.show.measured.who)];
        let mut loads: Vec<f64> = pair.surface.iter().map(|point| point.load_share).collect();
        loads.dedup();
        for load in loads {
            let mut series = Series::new(format!("model, {} loads", percent(load)), Style::Line);
            let of =
                pair.surface.iter().filter(|point| point.load_share.to_bits() == load.to_bits());
            for point in of {
                let Some(value) = point.bandwidth else { continue };
                let about = format!(
                    "by the model: {} loads, {} of the pages in the {fast} memory",
                    percent(load),
                    percent(point.fast_share)
                );
                series.point(point.fast_share, &Figure::plain(value), &about);
            }
            lines.add(&choice, series);
        }
        let of_pair = |figures: &&HybridFigures| {
            let HybridCoordinates { initiator, fast_node, slow_node, .. } = figures.place;
            (initiator, fast_node, slow_node) == (pair.initiator, pair.fast_node, pair.slow_node)
        };
        type IsKind = fn(&HybridPoint) -> bool;
        let kinds: [(IsKind, &str); 3] = [
            (|it| matches!(it, HybridPoint::Corner { .. }), "measured: one kind alone"),
            (|it| matches!(it, HybridPoint::Pair { .. }), "measured: two kinds at once"),
            (|it| matches!(it, HybridPoint::Surface), "measured: never fitted"),
        ];
        for (is_kind, name) in kinds {
            let mut series = Series::new(name, Style::Points);
            let of_pair = sources.show.hybrid.iter().filter(of_pair);
            for figures in of_pair.filter(|it| is_kind(&it.place.point)) {
                let Some(total) = &figures.total else { continue };
                let figure = Figure::sum(total).of_samples(&figures.case.id, Counted::Bytes);
                let about = format!(
                    "{name}: {} loads, {} of the bytes in the {fast} memory",
                    percent(figures.load_share),
                    percent(figures.fast_share)
                );
                series.point(figures.fast_share, &figure, &about);
            }
            lines.add(&choice, series);
        }
        let mut best = Series::new("best placement of a program", Style::Stars);
        for answer in &pair.answers {
            let recommended = answer.recommended.and_then(|name| answer.placement(name));
            let Some(placement) = recommended else { continue };
            let prediction = &placement.prediction;
            let about = format!(
                "best for {} loads: {}, {} of the bytes in the {fast} memory",
                percent(answer.load_share),
                MemoryNames::of(&pair.memories()).placement(placement.name),
                percent(prediction.fast_share)
            );
            best.point(prediction.fast_share, &Figure::of(&prediction.bandwidth), &about);
        }
        lines.add(&choice, best);
    }
    Chart::of(
        "hybrid-shares",
        "hybrid",
        if are_one_kind {
            "Bandwidth against the share of the near memory, and the best share"
        } else {
            "Bandwidth against the share of the fast memory, and the best share"
        },
        format!(
            "A line for each share of loads: bandwidth by the model against the share of bytes in the \
             {fast} memory, computed at its marks. Marks without a line are measured points; stars are \
             the best placements, which may lie between."
        ),
        Plot::Lines(lines),
    )
}
