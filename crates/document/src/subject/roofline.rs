//! What limits an initiator at each arithmetic intensity: roofs, points below them, what programs can expect.

use nearfar_model::{
    BandwidthRoof, Chart, Expected, ProgramExpectation, RoofFigures, RoofValidation, Roofline,
    RooflineAdvice, ValidationPoint,
};
use nearfar_record::{Roof, RoofPurpose};
use nearfar_units::format_significant;

use super::figures::{count, percent_words, significant};
use super::roofline_phases;
use super::who::Who;
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
    .with_findings(model.map(|model| findings(model, who)).unwrap_or_default())
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

fn ratio(value: f64) -> String {
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

/// What follows for the first initiator; the other charts are in the JSON.
pub(crate) fn findings(model: &Roofline, who: &Who) -> Vec<String> {
    let Some(chart) = model.charts.first() else { return Vec::new() };
    chart.advice.iter().filter_map(|advice| finding(model, chart, advice, who)).collect()
}

fn finding(model: &Roofline, chart: &Chart, advice: &RooflineAdvice, who: &Who) -> Option<String> {
    let program = |at: &usize| chart.programs.get(*at);
    Some(match advice {
        RooflineAdvice::PutPages { .. }
        | RooflineAdvice::LeavePages { .. }
        | RooflineAdvice::ExpectOnly { .. } => alone(model, chart, advice, who)?,
        RooflineAdvice::ArrangePages { program: at, between } => {
            arranged(model, chart, program(at)?, between, who)?
        }
        RooflineAdvice::ArrangeFreely { program: at } => {
            let of = program(at)?;
            format!(
                "{}: expect {} on {}; its placements differ by {}, which is less than the \
                 model can tell apart ({}).",
                together(model, of),
                expected(of.together.first()?),
                who.cpus(chart.initiator),
                percent_words(of.together_factor? - 1.0),
                percent_words(chart.least_difference)
            )
        }
        RooflineAdvice::ExpectOnlyTogether { program: at } => {
            let of = program(at)?;
            let only = of.together.first()?;
            format!(
                "{}: expect {} on {} with {}; other placements were not measured with such \
                 accesses (`{}` measures them).",
                together(model, of),
                expected(only),
                who.cpus(chart.initiator),
                arrangement(only),
                model.commands.all
            )
        }
        RooflineAdvice::ComputeBetter { roof, ceiling, intensity } => {
            let (roof, ceiling) = (chart.roofs.get(*roof)?, chart.ceilings.get(*ceiling)?);
            format!(
                "Above {} FLOPs per byte {} does not limit {}, their arithmetic does ({} by {} \
                 in {}): there vectors and fused operations help, and placement does not.",
                significant(*intensity, 3),
                roof_words(roof.roof, roof.is_local),
                who.cpus(chart.initiator),
                Figure::plain(ceiling.flops.value).words(),
                ceiling.kernel,
                ceiling.variant
            )
        }
        RooflineAdvice::DistrustRoofs { validations, worst } => {
            distrust(model, chart, validations, chart.validations.get(*worst)?)?
        }
        RooflineAdvice::TrustRoofs { worst } => {
            let of = chart.validations.get(*worst)?;
            let errors = of.errors?;
            format!(
                "The roofs predict points of known intensity within {} (relative RMS; by the paper's \
                 measure {}), worst below {}; differences below {} between memories are not told \
                 apart.",
                percent_words(errors.relative_rms),
                percent_words(errors.paper),
                roof_words(of.roof, of.is_local),
                percent_words(chart.least_difference)
            )
        }
        RooflineAdvice::MeasurePoints => format!(
            "No point of known intensity was measured below these roofs: how well they predict \
             programs is not known, and differences below {} are not told apart. `{}` measures some.",
            percent_words(chart.least_difference),
            model.commands.again
        ),
        RooflineAdvice::MeasureExceeded { validation, point } => {
            let of = chart.validations.get(*validation)?;
            exceeded(model, of, of.points.get(*point)?)
        }
    })
}

/// `4.51 GFLOP/s (4.50 to 4.52), 36.1 GB/s`.
fn expected(of: &Expected) -> String {
    format!("{}, {}", Figure::of(&of.flops).words(), Figure::plain(of.bandwidth).words())
}

/// `ddot (0.125 FLOPs per byte, by the roofs of load)`.
fn named(of: &ProgramExpectation) -> String {
    let program = of.program;
    format!(
        "{} ({} FLOPs per byte, by the roofs of {})",
        program.name,
        significant(program.intensity, 3),
        program.kernel
    )
}

/// A program of one initiator.
fn alone(model: &Roofline, chart: &Chart, advice: &RooflineAdvice, who: &Who) -> Option<String> {
    let (RooflineAdvice::PutPages { program }
    | RooflineAdvice::LeavePages { program }
    | RooflineAdvice::ExpectOnly { program, .. }) = advice
    else {
        return None;
    };
    let of = chart.programs.get(*program)?;
    let (best, worst) = (of.alone.first()?, of.alone.last()?);
    let node = |of: &Expected| match of.roof {
        Roof::Memory { node } => Some(node),
        _ => None,
    };
    let best_node = node(best)?;
    let idle = if model.charts.len() > 1 { ", the others idle" } else { "" };
    let who = format!("{} on {}{idle}", named(of), who.cpus(chart.initiator));
    let places = count(of.alone.len(), "node");
    let what = match advice {
        RooflineAdvice::PutPages { .. } => format!(
            "put its pages on node {best_node} (cpus={} mem=preferred:{best_node}) and expect {}; on \
             node {}, the worst of {places}, expect {}: the best is {} times that.",
            chart.cpus,
            expected(best),
            node(worst)?,
            expected(worst),
            ratio(of.alone_factor?)
        ),
        RooflineAdvice::LeavePages { .. } => format!(
            "expect {}; {places} differ by {}, which is less than the model can tell apart ({}), so \
             where its pages lie does not matter.",
            expected(best),
            percent_words(of.alone_factor? - 1.0),
            percent_words(chart.least_difference)
        ),
        RooflineAdvice::ExpectOnly { has_others: true, .. } => format!(
            "expect {} with its pages on node {best_node}; other nodes were not measured with such \
             accesses (`{}` measures them).",
            expected(best),
            model.commands.all
        ),
        _ => format!("expect {} with its pages on node {best_node}, the only one.", expected(best)),
    };
    Some(format!("{who}: {what}"))
}

/// How pages come to lie as a placement of all initiators has them.
fn arrangement(of: &Expected) -> String {
    match of.roof {
        Roof::AllLocal { node } if of.is_first_touch => format!(
            "each initiator's pages on its own memory (here node {node}: let each thread first touch \
             what it will use)"
        ),
        Roof::AllLocal { node } => format!(
            "each initiator's pages on its own memory of this kind (here mem=preferred:{node}: first \
             touch alone does not place them there)"
        ),
        Roof::Congested { kind } => format!("pages in turn over all nodes of {kind} (interleave)"),
        Roof::Contended { node, .. } => {
            format!("all pages on node {node} (as one thread that touches them all leaves them)")
        }
        _ => roof_words(of.roof, of.is_local),
    }
}

fn together(model: &Roofline, of: &ProgramExpectation) -> String {
    format!("{} on all {} at once", named(of), count(model.charts.len(), "initiator"))
}

fn arranged(
    model: &Roofline,
    chart: &Chart,
    of: &ProgramExpectation,
    between: &[usize],
    who: &Who,
) -> Option<String> {
    let (best, worst) = (of.together.first()?, of.together.last()?);
    let gives = |of: &Expected| format!("{} gives {}", arrangement(of), expected(of));
    let between = between.iter().filter_map(|&at| Some(gives(of.together.get(at)?) + "; "));
    Some(format!(
        "{}: arrange {} and expect {} on {}; {}{}: the best is {} times that.",
        together(model, of),
        arrangement(best),
        expected(best),
        who.cpus(chart.initiator),
        between.collect::<String>(),
        gives(worst),
        ratio(of.together_factor?)
    ))
}

/// That roofs predict nothing, and what to do.
fn distrust(
    model: &Roofline,
    chart: &Chart,
    validations: &[usize],
    worst: &RoofValidation,
) -> Option<String> {
    let refuted = validations.iter().filter_map(|&at| chart.validations.get(at));
    let names: Vec<String> = refuted.map(|of| roof_words(of.roof, of.is_local)).collect();
    let (point, errors) = worst.worst()?;
    Some(format!(
        "What {} allows predicts nothing here: points of known intensity are off by {} (relative \
         RMS; by the paper's measure {}), the worst, {}, reaches {} times what was allowed. Most \
         likely roofs or points were measured while something disturbed them (other programs, a \
         changing clock), so that no placement is advised by them. Measure again while nothing else \
         runs: `{}`.",
        names.join(" or "),
        percent_words(errors.relative_rms),
        percent_words(errors.paper),
        point.kernel,
        ratio(point.ratio),
        model.commands.again
    ))
}

/// A roof that a point lies above.
fn exceeded(model: &Roofline, of: &RoofValidation, point: &ValidationPoint) -> String {
    let of_memory = match of.roof {
        Roof::Cache { .. } => "",
        _ => {
            ", and loads with arithmetic between them can be a little faster from memory than loads \
             alone"
        }
    };
    format!(
        "{} reaches {} times what the roofs allow below {}: what is exceeded is no roof. Disturbed \
         or short measurements do that{of_memory}; measure again while nothing else runs: `{}`.",
        point.kernel,
        ratio(point.ratio),
        roof_words(of.roof, of.is_local),
        model.commands.again
    )
}
