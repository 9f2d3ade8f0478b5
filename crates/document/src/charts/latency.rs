//! Times of an access: idle, by size, and beside traffic.

use crate::subject::{latency_cell, law_line, share_words, walk_words};
use nearfar_model::{ChaseFigures, Latency, PlaceTime, ProgramAnswer};
use nearfar_units::{Bytes, BytesPerSecond};

use super::heat_map::{HeatMap, Place};
use super::lines::{Axis, Lines, Scale, Series, Style, Ticks};
use super::{Chart, Plot};
use crate::figure::{Counted, Figure, Unit};
use crate::subject::Sources;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let model = sources.latency();
    let loaded = model.and_then(|model| loaded(sources, model));
    [idle(sources, model), sizes(sources), loaded].into_iter().flatten().collect()
}

fn idle(sources: &Sources<'_>, model: Option<&Latency>) -> Option<Chart> {
    let mut map = HeatMap::new(
        ["who accesses", "whose memory"],
        &[],
        &[("time of an idle access", Unit::Ns.as_str(), true), ("NUMA factor", "", true)],
    );
    for chase in sources.show.latency.iter().filter(|chase| chase.in_matrix) {
        let place = Place {
            choice: Vec::new(),
            row: sources.show.measured.who.cpus(chase.place.initiator),
            column: format!("node {}", chase.place.memory_node),
        };
        let factor = model.into_iter().flat_map(|view| &view.factors).find(|factor| {
            (factor.initiator, factor.memory_node)
                == (chase.place.initiator, chase.place.memory_node)
        });
        let factor = factor.and_then(|factor| factor.factor.found()).map(Figure::of);
        map.add(&place, latency_cell(chase), vec![factor]);
    }
    Chart::of(
        "latency-map",
        "latency",
        "Time of an idle access",
        "A heat map: the CPUs of the thread in rows, whose memory in columns, the time \
                      of an access written in each cell.",
        Plot::HeatMap(map),
    )
}

fn sizes(sources: &Sources<'_>) -> Option<Chart> {
    let x = Axis::new("bytes that are walked through", Scale::Log).marked_at(Ticks::Bytes);
    let y = Axis::new("time of an access, ns", Scale::Log);
    let mut lines = Lines::new(x, y, &["Walk"]);
    let mut idle: Vec<_> =
        sources.show.latency.iter().filter(|it| it.place.load.is_none()).collect();
    let place = |it: &&ChaseFigures| {
        (it.place.walk, it.place.pages, it.place.initiator, it.place.memory_node)
    };
    idle.sort_by_key(|it| (place(it), it.place.working_set_bytes));
    for of in idle.chunk_by(|one, next| place(one) == place(next)) {
        let Some(first) = of.first() else { continue };
        let cpus = sources.show.measured.who.cpus(first.place.initiator);
        let name = format!("{cpus} on node {}", first.place.memory_node);
        let mut series = Series::new(name, Style::Line);
        for chase in of {
            let Some(time) = &chase.time else { continue };
            let figure = Figure::time(time).of_samples(&chase.case.id, Counted::AccessTime);
            let size = Bytes(chase.place.working_set_bytes).to_string();
            series.point(chase.place.working_set_bytes as f64, &figure, &size);
        }
        if series.len() > 1 {
            lines.add(&[walk_words((first.place.walk, first.place.pages))], series);
        }
    }
    Chart::of(
        "latency-sizes",
        "latency",
        "Time of an idle access by size",
        "A line for the CPUs of each group and each node: time of an access against the bytes that \
                      are walked through, both logarithmic. Steps are caches.",
        Plot::Lines(lines),
    )
}

/// The colour behind those of the curves of a pair, which are of three read shares.
const PROGRAM_LOOK: [usize; 2] = [3; 2];

/// Families as they are usually drawn: latency over traffic, a line for each read share.
fn loaded(sources: &Sources<'_>, model: &Latency) -> Option<Chart> {
    let x = Axis::new("traffic that crosses to the memory, GB/s", Scale::FromZero);
    let y = Axis::new("time of an access, ns", Scale::FromZero);
    let mut lines = Lines::new(x, y, &["CPUs and node"]);
    let choice_of = |initiator: u32, memory_node: u32| {
        [format!("{} on node {memory_node}", sources.show.measured.who.cpus(initiator))]
    };
    for (number, curve) in model.curves.iter().enumerate() {
        let pair = (curve.initiator, curve.memory_node);
        let choice = choice_of(curve.initiator, curve.memory_node);
        let before = model.curves[..number].iter();
        let look = [before.filter(|it| (it.initiator, it.memory_node) == pair).count(); 2];
        let share = curve.read_share.as_ref();
        let name = format!("{}{}", curve.kernel, share.map_or_else(String::new, share_words));
        let mut measured = Series::new(format!("{name}: measured"), Style::Points).looking(look);
        if let Some(idle) = &curve.idle {
            let figure = Figure::sampled(idle, Counted::AccessTime);
            measured.point(0.0, &figure, "no traffic");
        }
        for point in &curve.points {
            let figure = Figure::sampled(&point.time, Counted::AccessTime);
            let traffic = Figure::of(&point.traffic);
            measured.point(traffic.value, &figure, &format!("with {}", traffic.words()));
        }
        lines.add(&choice, measured);
        let family = model.families.iter().find(|it| (it.initiator, it.memory_node) == pair);
        let law = family.and_then(|family| family.law.found());
        if let Some(line) = law.and_then(|law| law_line(law, curve)) {
            let mut predicted = Series::new(format!("{name}: law"), Style::Edge).looking(look);
            for (traffic, ns) in line {
                let traffic = Figure::plain(traffic);
                let about = format!("by the law, with {}", traffic.words());
                predicted.point(traffic.value, &Figure::plain(ns), &about);
            }
            lines.add(&choice, predicted);
        }
        if let Some(knee) = curve.knee.found() {
            let mut bend =
                Series::new(format!("{name}: where it bends"), Style::Stars).looking(look);
            let figure = Figure::new(knee.time.0, None, Unit::Ns);
            let traffic = Figure::of(&knee.traffic);
            bend.point(traffic.value, &figure, &format!("with {} GB/s", traffic.text));
            lines.add(&choice, bend);
        }
    }
    if let Some(program) = sources.program {
        for place in &program.places {
            let choice = choice_of(place.initiator, place.memory_node);
            lines.add(&choice, program_point(program, place).looking(PROGRAM_LOOK));
        }
    }
    Chart::of(
        "latency-loaded",
        "latency",
        "Loaded latency",
        format!(
            "A line for each read share of the traffic: time of an access against the bytes that cross to \
             the memory; points are measured, lines the fitted law, stars in their colours where they \
             bend.{}",
            if sources.program.is_some() {
                " A star of another colour is what is predicted for the program."
            } else {
                ""
            }
        ),
        Plot::Lines(lines),
    )
}

/// Where a program's copies and what runs beside them lie on the family of a pair, by what is predicted.
fn program_point(program: &ProgramAnswer, place: &PlaceTime) -> Series {
    let mut point = Series::new(format!("{}: predicted", program.program), Style::Stars);
    if let (Some(time), Some(traffic), Some(access)) =
        (place.time.found(), place.traffic, place.access)
    {
        let crosses = BytesPerSecond(program.beside.0 + traffic.0 * f64::from(program.copies));
        let crosses = Figure::plain(crosses);
        let about =
            format!("{}, {} cross to the memory", Figure::of(time).words(), crosses.words());
        point.point(crosses.value, &Figure::plain(access), &about);
    }
    point
}
