//! A fast and a slow memory: what shares of pages give.

use nearfar_model::{Hybrid, HybridFigures, HybridPair};
use nearfar_record::{HybridCoordinates, HybridPoint};
use nearfar_units::{BytesPerSecond, format_significant};

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

/// Steps of a line from 0 to 1.
const STEPS: u32 = 100;

/// What the model gives with one share for all buffers: finely, as it bends and jumps between the points
/// of the surface, and where the best shares lie, which is on its corners.
fn model_line(pair: &HybridPair, load: f64, fast: &str) -> Series {
    let mut series = Series::new(format!("model, {} loads", percent(load)), Style::Edge);
    let of_load =
        pair.answers.iter().filter(|answer| answer.load_share.to_bits() == load.to_bits());
    let placements = of_load.flat_map(|answer| &answer.placements);
    let best = placements
        .filter(|placement| placement.prediction.shares.are_one())
        .map(|placement| placement.prediction.fast_share);
    let steps = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let mut shares: Vec<f64> = steps.chain(best).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    for share in shares {
        let Some(value) = pair.bandwidth(load, share) else { continue };
        let about = format!(
            "by the model: {} loads, {} of the pages in the {fast} memory",
            percent(load),
            percent(share)
        );
        series.point(share, &Figure::plain(BytesPerSecond(value)), &about);
    }
    series
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
        let programs: Vec<f64> = pair.answers.iter().map(|answer| answer.load_share).collect();
        for (number, &load) in programs.iter().enumerate() {
            lines.add(&choice, model_line(pair, load, fast).looking([number; 2]));
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
        for (number, (is_kind, name)) in kinds.into_iter().enumerate() {
            let look = [programs.len() + number; 2];
            let mut series = Series::new(name, Style::Points).looking(look);
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
        for (number, answer) in pair.answers.iter().enumerate() {
            let recommended = answer.recommended.and_then(|name| answer.placement(name));
            let Some(placement) = recommended else { continue };
            let prediction = &placement.prediction;
            let about = format!(
                "{}, {} of the bytes in the {fast} memory",
                MemoryNames::of(&pair.memories()).placement(placement.name),
                percent(prediction.fast_share)
            );
            let name = format!("best for {} loads", percent(answer.load_share));
            let mut best = Series::new(name, Style::Stars).looking([number; 2]);
            best.point(prediction.fast_share, &Figure::of(&prediction.bandwidth), &about);
            lines.add(&choice, best);
        }
        let others = pair.surface.iter().map(|point| point.load_share);
        let mut others: Vec<f64> = others.filter(|load| !programs.contains(load)).collect();
        others.dedup();
        for (number, &load) in others.iter().enumerate() {
            let look = [programs.len() + kinds.len() + number; 2];
            let mut series = model_line(pair, load, fast).looking(look);
            series.hidden_first(true);
            lines.add(&choice, series);
        }
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
             {fast} memory, with one share for all buffers; it jumps where another kind of transfer takes \
             longest. Marks are measured points; pointing at one tells its share of loads. A star in the \
              colour of its line is the best placement of a program with that share of loads; one off \
             its line places what is read and what is written differently."
        ),
        Plot::Lines(lines),
    )
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_model::ModelChoices;
    use nearfar_record::{Experiment, Inputs, Suite};

    use super::*;

    /// The line of a program reaches what its star promises, where the star stands.
    #[test]
    fn lines_meet_their_stars() {
        let inputs = suite_inputs(Suite::Standard);
        let inputs = Inputs { experiments: vec![Experiment::Hybrid], ..inputs };
        let record = simulate(&read_machine("xeon-8568-cxl").unwrap(), inputs, true).unwrap();
        let sources = Sources::new(&record, &ModelChoices::default());
        let chart = serde_json::to_value(shares(&sources, sources.hybrid().unwrap())).unwrap();
        let series = |pair: usize, name: &str| {
            let all = chart["layers"][pair]["series"].as_array().unwrap();
            let found = all.iter().find(|of| of["name"] == name);
            found.unwrap_or_else(|| panic!("{name}")).clone()
        };
        let mut stars = 0;
        for (number, pair) in sources.hybrid().unwrap().pairs.iter().enumerate() {
            for answer in &pair.answers {
                let placement = answer.recommended.and_then(|name| answer.placement(name));
                let Some(placement) = placement else { continue };
                let load = percent(answer.load_share);
                let star = series(number, &format!("best for {load} loads"));
                let line = series(number, &format!("model, {load} loads"));
                assert_eq!(star["look"], line["look"]);
                if !placement.prediction.shares.are_one() {
                    continue;
                }
                stars += 1;
                let at = line["x"].as_array().unwrap().iter().position(|x| *x == star["x"][0]);
                let (on_line, best) = (&line["y"][at.unwrap()], &star["y"][0]);
                let ratio = on_line.as_f64().unwrap() / best.as_f64().unwrap();
                assert!((ratio - 1.0).abs() < 0.02, "{load}: {on_line} and {best}");
            }
        }
        assert!(stars > 0);
    }
}
