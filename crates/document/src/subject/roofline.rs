//! What limits an initiator at each arithmetic intensity: roofs, points below them, what programs can expect.

use nearfar_model::{BandwidthRoof, Chart, RoofFigures, RoofValidation, Roofline, RooflineAdvice};
use nearfar_record::{Roof, RoofPurpose};
use nearfar_units::format_significant;

use super::figures::{count, percent_words, significant};
use super::who::Who;
use super::{roofline_advice, roofline_phases};
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, GFLOP, ONE, Table, WORDS};

/// What limits: `contended node 0, 4 initiators`.
pub(crate) fn roof_words(roof: Roof, is_local: Option<bool>) -> String {
    match roof {
        Roof::Compute => "arithmetic".into(),
        Roof::Cache { level } => format!("L{level}"),
        Roof::Memory { node } if is_local == Some(true) => format!("local node {node}"),
        Roof::Memory { node } => format!("remote node {node}"),
        Roof::Interleaved { kind } => format!("interleaved {kind}"),
        Roof::Contended { node, initiators } => {
            format!("contended node {node}, {}", count(initiators as usize, "initiator"))
        }
        Roof::AllLocal { node } => format!("all local node {node}"),
        Roof::Congested { kind } => format!("congested {kind}"),
    }
}

/// What was measured and what it means; `measured` are the roofs and points of `show`, without which
/// roofs are the model's.
pub(crate) fn section(
    measured: &[RoofFigures],
    model: Option<&Roofline>,
    who: &Who,
) -> Option<Section> {
    let mut initiators: Vec<u32> = measured.iter().map(|roof| roof.place.initiator).collect();
    initiators.sort_unstable();
    initiators.dedup();
    let of_initiators = initiators.into_iter().flat_map(|initiator| {
        let of: Vec<&RoofFigures> =
            measured.iter().filter(|it| it.place.initiator == initiator).collect();
        let cpus = who.cpus(initiator);
        [measured_ceilings(&cpus, &of), measured_roofs(&cpus, &of), points(&cpus, &of)]
    });
    let mut tables: Vec<Table> = of_initiators.flatten().collect();
    if let Some((first, others)) = model.and_then(|model| model.charts.split_first()) {
        if tables.is_empty() {
            tables.extend(ceilings(first, who));
            tables.extend(roofs(first, who));
        }
        tables.extend(ridges(first, who));
        tables.extend(errors(first, who));
        tables.extend(
            model
                .into_iter()
                .flat_map(|it| &it.charts)
                .filter_map(|it| roofline_phases::phases(it, who)),
        );
        if measured.is_empty() && !others.is_empty() {
            tables.push(others_table(others, who));
        }
    }
    Section::new(
        "roofline",
        "Roofline",
        "What the threads of CPUs with the same memory attain together at an arithmetic intensity \
         (FLOPs per byte that the cores request): the lower of a ceiling of arithmetic and intensity \
         x a roof of bandwidth (useful bytes). A ridge is where a roof meets a ceiling.",
        tables,
    )
    .with_findings(model.map(|model| roofline_advice::findings(model, who)).unwrap_or_default())
    .unless_empty()
}

fn is_roof(roof: &RoofFigures) -> bool {
    roof.place.purpose == RoofPurpose::Roof
}

fn flops(roof: &RoofFigures) -> Cell {
    let counted = Counted::ActorFlops(roof.place.actor as usize);
    Cell::of(&roof.case, roof.flops.as_ref().map(Figure::flops), counted)
}

fn measured_ceilings(cpus: &str, all: &[&RoofFigures]) -> Option<Table> {
    let mut grid = Grid::default();
    for roof in all.iter().filter(|roof| is_roof(roof) && roof.place.roof == Roof::Compute) {
        grid.add(roof.place.kernel.clone(), roof.place.variant.clone(), flops(roof));
    }
    let caption = format!("{cpus}: arithmetic on registers");
    grid.table(caption, "kernel", Unit::GflopPerS)
}

fn measured_roofs(cpus: &str, all: &[&RoofFigures]) -> Option<Table> {
    let mut grid = Grid::default();
    for roof in all.iter().filter(|roof| is_roof(roof) && roof.place.roof != Roof::Compute) {
        let counted = Counted::ActorBytes(roof.place.actor as usize);
        let cell = Cell::of(&roof.case, roof.bandwidth.as_ref().map(Figure::sum), counted);
        grid.add(
            roof_words(roof.place.roof, roof.is_local),
            format!("{} {}", roof.place.kernel, roof.place.variant),
            cell,
        );
    }
    grid.table(format!("{cpus}: roofs of bandwidth"), "roof", Unit::GbPerS)
}

fn points(cpus: &str, all: &[&RoofFigures]) -> Option<Table> {
    let rows = all.iter().filter(|roof| !is_roof(roof)).map(|roof| {
        vec![
            Cell::text(roof_words(roof.place.roof, roof.is_local)),
            Cell::text(format!("{} {}", roof.place.kernel, roof.place.variant)),
            Cell::figure(roof.intensity.map(Figure::ratio)),
            flops(roof),
            Cell::figure(roof.attainable.map(|attainable| Figure::ratio(attainable.ratio))),
        ]
    });
    Table::new(
        format!("{cpus}: points of known intensity below their roofs"),
        Column::all(
            ["roof", "mix", "FLOPs per byte", "measured", "measured / attainable"],
            [WORDS, WORDS, ONE, GFLOP, ONE],
        ),
        rows,
    )
    .unless_empty()
}

fn ceilings(chart: &Chart, who: &Who) -> Option<Table> {
    let mut grid = Grid::default();
    for ceiling in &chart.ceilings {
        let figure = Cell::Figure(Figure::of(&ceiling.flops));
        grid.add(ceiling.kernel.clone(), ceiling.variant.clone(), figure);
    }
    let threads = count(chart.ceilings.first()?.threads as usize, "thread");
    let cpus = who.cpus(chart.initiator);
    let caption = format!("Ceilings of {cpus}: {threads}, best variant");
    grid.table(caption, "", Unit::GflopPerS)
}

/// The roofs of a chart by place and kernel.
fn by_place(
    chart: &Chart,
    caption: String,
    unit: Unit,
    figure: impl Fn(&BandwidthRoof) -> Option<Figure>,
) -> Option<Table> {
    let mut grid = Grid::default();
    for roof in &chart.roofs {
        let (name, cell) = (roof_words(roof.roof, roof.is_local), Cell::figure(figure(roof)));
        grid.add(name, roof.kernel.clone(), cell);
    }
    grid.table(caption, "", unit)
}

fn roofs(chart: &Chart, who: &Who) -> Option<Table> {
    let cpus = who.cpus(chart.initiator);
    let caption = format!("Roofs of {cpus} by what accesses memory, best variant");
    let mut table =
        by_place(chart, caption, Unit::GbPerS, |roof| Some(Figure::of(&roof.bandwidth)))?;
    table.notes.extend(chart.within_of.map(|other| {
        format!(
            "Caches and arithmetic are those of {}, which have as many threads: these CPUs' own were \
             not measured.",
            who.cpus(other)
        )
    }));
    Some(table)
}

fn ridges(chart: &Chart, who: &Who) -> Option<Table> {
    let ceiling = chart.ceiling.as_ref()?;
    let caption = format!(
        "Ridges of {} below {ceiling}, FLOPs per byte (--json has those below all ceilings)",
        who.cpus(chart.initiator)
    );
    by_place(chart, caption, Unit::One, |roof| Some(Figure::ratio(roof.ridge(ceiling)?)))
}

fn errors(chart: &Chart, who: &Who) -> Option<Table> {
    let row = |of: &RoofValidation| {
        let points = match of.points.len() {
            all if all == of.planned => all.to_string(),
            some => format!("{some} of {}", of.planned),
        };
        let name = roof_words(of.roof, of.is_local);
        let told = [name, points].map(Cell::text);
        let errors: Vec<Cell> = match of.worst() {
            Some((worst, errors)) => {
                let errors = [errors.relative_rms, errors.paper, errors.mean].map(percent_words);
                let worst = format!("{} x in {}", ratio(worst.ratio), worst.kernel);
                errors.into_iter().chain([worst]).map(Cell::text).collect()
            }
            None => vec![Cell::Empty; 4],
        };
        told.into_iter().chain(errors).collect()
    };
    let rows: Vec<Vec<Cell>> = chart.own_validations().map(|(_, of)| row(of)).collect();
    let columns = ["", "points", "relative RMS", "paper's", "mean", "worst: measured / attainable"];
    Table::new(
        format!("Points of known intensity of {} against their roofs", who.cpus(chart.initiator)),
        columns.map(Column::words),
        rows,
    )
    .with_notes(vec![
        "relative RMS: sqrt(mean of r^2), r = measured / attainable - 1; paper's: sqrt(sum of \
             r^2) / n, as denoyelle2019 prints it, which is smaller by sqrt(n)."
            .into(),
    ])
    .unless_empty()
}

/// Roofs of loads on memory, a line for each initiator.
fn others_table(others: &[Chart], who: &Who) -> Table {
    let sorts = ["local", "remote", "interleaved", "contended", "all local", "congested"];
    let sort = |roof: &BandwidthRoof| match roof.roof {
        Roof::Compute | Roof::Cache { .. } => "",
        Roof::Memory { .. } if roof.is_local == Some(true) => "local",
        Roof::Memory { .. } => "remote",
        Roof::Interleaved { .. } => "interleaved",
        Roof::Contended { .. } => "contended",
        Roof::AllLocal { .. } => "all local",
        Roof::Congested { .. } => "congested",
    };
    let range = |chart: &Chart, wanted: &str| {
        let roofs = chart.roofs.iter().filter(|roof| roof.is_of_loads() && sort(roof) == wanted);
        let figures = roofs.map(|roof| roof.bandwidth.value);
        let least = figures.clone().min_by(|one, other| one.0.total_cmp(&other.0));
        let most = figures.max_by(|one, other| one.0.total_cmp(&other.0));
        least.zip(most).map_or(Cell::Empty, |ends| {
            let (least, most) = (Figure::plain(ends.0).text, Figure::plain(ends.1).text);
            Cell::text(if least == most { most } else { format!("{least} - {most}") })
        })
    };
    let row = |chart: &Chart| {
        let ranges = sorts.iter().map(|wanted| range(chart, wanted));
        std::iter::once(Cell::Text(who.label(chart.initiator))).chain(ranges).collect()
    };
    Table::new(
        "The other CPUs: roofs of loads on memory, GB/s, least - most (--json has their \
                  charts)",
        [""].into_iter().chain(sorts).map(Column::words),
        others.iter().map(row),
    )
}

pub(super) fn ratio(value: f64) -> String {
    format_significant(value, 3)
}

/// The answer in a sentence, for the first initiator.
pub(crate) fn answer(model: &Roofline, who: &Who) -> Option<String> {
    let chart = model.charts.first()?;
    chart.advice.iter().find_map(|advice| match advice {
        RooflineAdvice::ComputeBetter { roof, intensity, .. } => {
            let roof = chart.roofs.get(*roof)?;
            Some(format!(
                "Below {} FLOPs per byte {} limits {} ({}), above it their arithmetic.",
                significant(*intensity, 3),
                roof_words(roof.roof, roof.is_local),
                who.cpus(chart.initiator),
                Figure::of(&roof.bandwidth).words()
            ))
        }
        _ => None,
    })
}
