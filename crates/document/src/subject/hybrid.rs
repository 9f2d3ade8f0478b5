//! Loads and stores over a fast and a slow memory.

use nearfar_model::{
    FEWEST_DRAWN_ROUNDS, HeldOutErrors, Hybrid, HybridAnswer, HybridFigures, HybridOverlap,
    HybridPair, HybridPlacement, HybridSurfacePoint, OverlapBounds, PlacementName, UNKNOWN_MARGIN,
};
use nearfar_record::{HybridPoint, Outcome, TransferKind};

use super::figures::{count, percent_words, rounded};
use super::hybrid_advice::{MemoryNames, Speaker, program_words};
use super::who::Who;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::{Grid, groups};
use crate::table::{Cell, Column, GB, ONE, Table, WORDS};

/// The share of loads of the program that every pair's best placement is shown for.
const TWO_THIRDS: f64 = 2.0 / 3.0;

/// What was measured, what the model says of it, and where to put buffers.
pub(crate) fn section(
    points: &[HybridFigures],
    model: Option<&Hybrid>,
    who: &Who,
) -> Option<Section> {
    let mut tables = measured(points, who);
    let are_one_kind = points.iter().all(|point| point.is_one_kind)
        && model.is_none_or(|model| model.pairs.iter().all(|it| it.memories().is_one_kind));
    let MemoryNames { fast, slow } = MemoryNames::new(are_one_kind);
    let why = if are_one_kind {
        "Both memories are of one kind: one is the CPUs' own, the other is remote. "
    } else {
        ""
    };
    let mut about = format!(
        "{why}Loads (l) and stores (s) over a {fast} (f) and a {slow} (s) memory: lf is a load from the \
         {fast} one, ss a store to the {slow} one. t = t of the kind that takes longest + the sum of theta \
         t of the others (denoyelle2019, eq. 5)."
    );
    let title = if are_one_kind { "Near and far memory together" } else { "Fast and slow memory" };
    if let Some(model) = model {
        tables.extend([corners(model, who), overlaps(model, who), errors(model, who)]);
        if let Some(first) = model.pairs.first() {
            let of = match model.pairs.len() {
                1 => String::new(),
                many => {
                    format!(
                        ", {}, the first of {many} (--json has all)",
                        memories_words(first, who)
                    )
                }
            };
            tables.extend(surface(first, &of));
            tables.push(best_shares(first, &of));
        }
        if model.bounds == OverlapBounds::None {
            about += " Overlap thetas are fitted without bounds.";
        }
    }
    Section::new("hybrid", title, about, tables)
        .with_findings(model.map(|model| findings(model, who)).unwrap_or_default())
        .unless_empty()
}

/// What to do with programs on the first two memories, in sentences.
pub(crate) fn findings(model: &Hybrid, who: &Who) -> Vec<String> {
    let Some(pair) = model.pairs.first() else { return Vec::new() };
    let of = if model.pairs.len() > 1 { memories_words(pair, who) + ", " } else { String::new() };
    let sentences = |answer| Speaker::of_pair(pair, answer).sentences(&of);
    pair.answers.iter().flat_map(sentences).collect()
}

/// A table for each two memories: the points, and what was found of the pages that were asked for.
fn measured(points: &[HybridFigures], who: &Who) -> Vec<Table> {
    let memories = |point: &HybridFigures| {
        let place = &point.place;
        (place.initiator, place.fast_node, place.slow_node, point.is_one_kind)
    };
    let share = |value| Cell::figure(Figure::ratio(value));
    let row = |point: &&HybridFigures| {
        let found = point.load_fast_share.map(|share| ("read", share));
        let found = found.into_iter().chain(point.store_fast_share.map(|it| ("written", it)));
        let found = found.map(|(pages, share)| format!("{pages} {}", percent_words(share)));
        vec![
            Cell::text(point_words(point.place.point)),
            share(point.load_share),
            share(point.fast_share),
            Cell::Text(found.collect::<Vec<_>>().join(", ")),
            Cell::of(&point.case, point.total.as_ref().map(Figure::sum), Counted::Bytes),
            Cell::figure(point.time_ratio.map(Figure::ratio)),
        ]
    };
    type Memories = (u32, u32, u32, bool);
    let table = |((initiator, near, far, is_one_kind), of): (Memories, Vec<&HybridFigures>)| {
        let MemoryNames { fast, slow } = MemoryNames::new(is_one_kind);
        let cpus = who.cpus(initiator);
        Table::new(
            format!("Measured points: {cpus}, {fast} node {near}, {slow} node {far}"),
            Column::all(
                ["point", "loads", fast, &format!("found {fast}"), "bandwidth", "t / longest"],
                [WORDS, ONE, ONE, WORDS, GB, ONE],
            ),
            of.iter().map(row),
        )
    };
    groups(points, memories).into_iter().map(table).collect()
}

/// `lf alone`, `lf with ss`: loads (l) and stores (s) of the fast (f) and the slow (s) memory.
fn point_words(point: HybridPoint) -> String {
    match point {
        HybridPoint::Corner { of } => format!("{} alone", of.as_str()),
        HybridPoint::Pair { dominating, beside } => {
            format!("{} with {}", dominating.as_str(), beside.as_str())
        }
        HybridPoint::Surface => "surface".into(),
    }
}

fn memories_words(pair: &HybridPair, who: &Who) -> String {
    format!("{}, nodes {} and {}", who.cpus(pair.initiator), pair.fast_node, pair.slow_node)
}

/// Those of all pairs: by their kinds where these differ in any.
fn names_of_all(model: &Hybrid) -> MemoryNames {
    MemoryNames::new(model.pairs.iter().all(|pair| pair.memories().is_one_kind))
}

fn corners(model: &Hybrid, who: &Who) -> Table {
    let rows = model.pairs.iter().map(|pair| {
        let size = pair.fast_memory_bytes.map(|bytes| bytes as f64 / f64::from(1 << 30));
        let size = size.map_or_else(String::new, |gib| format!(", {} GiB", rounded(gib, 1)));
        let corners = pair.corners.iter();
        let corners =
            corners.map(|it| Cell::Figure(Figure::sampled(&it.bandwidth, Counted::Bytes)));
        let words = [
            who.label(pair.initiator),
            format!("{} ({}{size})", pair.fast_node, pair.fast_kind),
            format!("{} ({})", pair.slow_node, pair.slow_kind),
            format!("{} {}", pair.threads, pair.variant),
        ];
        words.map(Cell::text).into_iter().chain(corners).collect()
    });
    let MemoryNames { fast, slow } = names_of_all(model);
    let words = ["who", &format!("{fast} node"), &format!("{slow} node"), "threads"];
    let words = words.map(Column::words);
    let kinds = TransferKind::ALL.map(|kind| Column::of(kind.as_str(), Unit::GbPerS));
    let mut notes = vec![
        "Two memories at a time are modelled, used by the CPUs of one group while the others are idle; what \
         more memories or more CPUs at once give is for the model flow."
            .to_string(),
    ];
    notes.extend(model.left_out.iter().map(|it| {
        format!(
            "{}, nodes {} and {}: no model: {}.",
            who.cpus(it.initiator),
            it.fast_node,
            it.slow_node,
            it.why
        )
    }));
    notes.extend(model.pairs.iter().flat_map(|pair| doubts(pair, who)));
    Table::new(
        "One kind alone (b): mean of the rounds without outliers",
        words.into_iter().chain(kinds),
        rows,
    )
    .with_notes(notes)
}

fn doubts(pair: &HybridPair, who: &Who) -> Vec<String> {
    let (of, node) = (memories_words(pair, who), pair.fast_node);
    let mut doubts = Vec::new();
    if !pair.is_fast_faster {
        let MemoryNames { fast, slow } = MemoryNames::of(&pair.memories());
        let names = if pair.memories().is_one_kind {
            String::new()
        } else {
            format!(": \"{fast}\" and \"{slow}\" are names here")
        };
        doubts.push(format!(
            "{of}: loads from node {node}, which should be the faster, are not faster{names}."
        ));
    }
    if pair.corners[0].bandwidth.interval.is_none() {
        doubts.push(format!(
            "{of}: {} rounds of a case are too few for intervals ({FEWEST_DRAWN_ROUNDS} are \
             needed); times within {} count as equally long, and no gain is claimed. `{}` measures \
             more.",
            pair.fewest_rounds,
            percent_words(UNKNOWN_MARGIN),
            pair.remedy
        ));
    }
    doubts
}

fn overlaps(model: &Hybrid, who: &Who) -> Table {
    let of_pair = |pair| {
        TransferKind::ALL.map(|dominating| {
            let cells = TransferKind::ALL.map(|beside| overlap_cell(pair, dominating, beside));
            let label = match model.pairs.len() {
                1 => dominating.as_str().into(),
                _ => format!("{}: {}", memories_words(pair, who), dominating.as_str()),
            };
            std::iter::once(Cell::text(label)).chain(cells).collect::<Vec<Cell>>()
        })
    };
    let kinds =
        TransferKind::ALL.map(|kind| Column::of(format!("with {}", kind.as_str()), Unit::One));
    let of =
        |pair| if model.pairs.len() > 1 { memories_words(pair, who) + ": " } else { String::new() };
    let notes = model.pairs.iter().flat_map(|pair| {
        let of = of(pair);
        overlap_notes(pair).into_iter().map(move |note| format!("{of}{note}"))
    });
    Table::new(
        "Overlap theta: of the time of the other kind, the share that is not hidden (95 % of the \
         fits to drawn rounds)",
        std::iter::once(Column::words("longest")).chain(kinds),
        model.pairs.iter().flat_map(of_pair),
    )
    .with_notes(notes)
}

fn overlap_cell(pair: &HybridPair, dominating: TransferKind, beside: TransferKind) -> Cell {
    let is_own = |it: &&HybridOverlap| (it.dominating, it.beside) == (dominating, beside);
    match pair.overlaps.iter().find(is_own).map(|it| it.fit.as_result()) {
        Some(Ok(fit)) => Cell::Figure(Figure::of(&fit.overlap_theta)),
        Some(Err(why)) => Cell::not_measured(why),
        None => Cell::Empty,
    }
}

fn overlap_notes(pair: &HybridPair) -> Vec<String> {
    let known = || pair.overlaps.iter().filter_map(|it| Some((it, it.fit.found()?)));
    let words =
        |it: &HybridOverlap| format!("{} with {}", it.beside.as_str(), it.dominating.as_str());
    let interfering = known().filter(|(_, fit)| fit.is_interference);
    let interfering: Vec<String> = interfering.map(|(it, _)| words(it)).collect();
    let interference = (!interfering.is_empty()).then(|| {
        format!(
            "{}: above 1, they hinder each other (interference): one after the other would be faster.",
            interfering.join(", ")
        )
    });
    let held = known().filter(|(_, fit)| fit.is_held).map(|(it, fit)| {
        format!(
            "{}: held at 0; without bounds {} (--unbounded), which would make a case faster than its \
             longest part.",
            words(it),
            rounded(fit.unbounded, 3)
        )
    });
    interference.into_iter().chain(held).collect()
}

fn errors(model: &Hybrid, who: &Who) -> Table {
    let rows = model.pairs.iter().map(|pair| {
        let errors = match pair.errors.as_result() {
            Ok(HeldOutErrors { points, paper_measure, relative_rms, worst, .. }) => {
                let off = [*relative_rms, *paper_measure, worst.abs()].map(percent_words);
                let points = std::iter::once(points.to_string());
                off.into_iter().chain(points).map(Cell::text).collect()
            }
            Err(why) => vec![Cell::not_measured(why), Cell::Empty, Cell::Empty, Cell::Empty],
        };
        let near = |it: &&HybridAnswer| (it.load_share - TWO_THIRDS).abs() < 1e-9;
        let answer = pair.answers.iter().find(near);
        let best = answer.and_then(|it| it.placement(it.recommended?));
        let best = match best {
            Some(best) => {
                let figure = Figure::of(&best.prediction.bandwidth);
                let names = MemoryNames::of(&pair.memories());
                vec![Cell::text(names.placement(best.name)), Cell::Figure(figure)]
            }
            None => vec![Cell::Empty, Cell::Empty],
        };
        let label = Cell::text(memories_words(pair, who));
        std::iter::once(label).chain(errors).chain(best).collect()
    });
    let words = ["memories", "true RMS", "paper's", "worst", "points", "2/3 reads: best"];
    let best = Column::of("gives", Unit::GbPerS);
    Table::new(
        "Errors on points of the surface, which were not fitted (true RMS: relative; paper's: 1/n \
         sqrt of the sum of squares), and the best placement of a program",
        words.map(Column::words).into_iter().chain([best]),
        rows,
    )
}

pub(super) fn error_words(errors: &Outcome<HeldOutErrors>) -> String {
    match errors.as_result() {
        Ok(errors) => format!(
            "Model error: {} true relative RMS on {} that were not fitted; gains with ? are not \
             above {} with all uncertainties.",
            percent_words(errors.relative_rms),
            count(errors.points, "point"),
            percent_words(errors.room)
        ),
        Err(why) => format!("The model's error is not known: {why}."),
    }
}

fn surface(pair: &HybridPair, of: &str) -> Option<Table> {
    let mut grid = Grid::default();
    let name = MemoryNames::of(&pair.memories()).fast;
    for point in &pair.surface {
        let [loads, fast] = [point.load_share, point.fast_share].map(|share| rounded(share, 2));
        grid.add(format!("{loads} loads"), format!("{fast} {name}"), surface_cell(point));
    }
    let caption = format!(
        "Predicted GB/s{of}: share of loads in all bytes (rows), of all buffers in the {name} memory \
         (columns)"
    );
    let mut table = grid.table(caption, "", Unit::GbPerS)?;
    table.columns.iter_mut().for_each(|column| column.unit = None);
    Some(table)
}

/// What the model gives at these shares, or why that is not known.
pub(crate) fn surface_cell(point: &HybridSurfacePoint) -> Cell {
    match point.bandwidth {
        Some(bandwidth) => Cell::Figure(Figure::plain(bandwidth)),
        None => Cell::not_measured("an overlap that it needs is not known"),
    }
}

/// What the usual placements and the best ones give, by share of loads.
fn best_shares(pair: &HybridPair, of: &str) -> Table {
    let value = |placement: Option<&HybridPlacement>| {
        Cell::figure(placement.map(|it| Figure::plain(it.prediction.bandwidth.value)))
    };
    let share = |share: Option<f64>| share.map_or("-".into(), |share| format!("{share:.2}"));
    let MemoryNames { fast, slow } = MemoryNames::of(&pair.memories());
    let mut is_any_open = false;
    let rows = pair.answers.iter().map(|answer| {
        let of = |name| answer.placement(name);
        let (together, apart) =
            (of(PlacementName::BestTogether), of(PlacementName::BestSeparately));
        let apart_words = apart.map_or("-".into(), |it| {
            let shares = &it.prediction.shares;
            is_any_open |= !it.prediction.is_backed();
            let mark = if it.prediction.is_backed() { "" } else { " (!)" };
            format!("{}, {}{mark}", share(shares.of_reads()), share(shares.of_writes()))
        });
        vec![
            Cell::text(program_words(answer.load_share)),
            value(of(PlacementName::AllSlow)),
            value(of(PlacementName::AllFast)),
            value(of(PlacementName::Even)),
            Cell::text(share(together.map(|it| it.prediction.fast_share))),
            value(together),
            Cell::text(apart_words),
            value(apart),
        ]
    });
    let open = "(!): not validated: no point with different shares for reads and writes was \
                measured; try it on the program itself.";
    Table::new(
        format!("Best shares of the {fast} memory, GB/s{of}"),
        [
            "program",
            &format!("all {slow}"),
            &format!("all {fast}"),
            "even",
            "one share",
            "best",
            "reads, writes",
            "best",
        ]
        .map(Column::words),
        rows,
    )
    .with_notes(is_any_open.then(|| open.into()))
}
