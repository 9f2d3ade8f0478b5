//! What to do by the roofs, in sentences.

use nearfar_model::{
    Chart, Expected, ProgramExpectation, RoofValidation, Roofline, RooflineAdvice, ValidationPoint,
};
use nearfar_record::Roof;

use super::figures::{count, percent_words, significant};
use super::roofline::{ratio, roof_words};
use super::who::Who;
use crate::figure::Figure;

/// What follows for the first initiator; the other charts are in the JSON.
pub(super) fn findings(model: &Roofline, who: &Who) -> Vec<String> {
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
                "The roofs predict points of known intensity within {} (relative RMS; by the \
                 paper's measure {}), worst below {}; differences below {} between memories are \
                 not significant.",
                percent_words(errors.relative_rms),
                percent_words(errors.paper),
                roof_words(of.roof, of.is_local),
                percent_words(chart.least_difference)
            )
        }
        RooflineAdvice::MeasurePoints => format!(
            "No point of known intensity was measured below these roofs: their error is not known, \
             and differences below {} are not significant. `{}` measures some.",
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
    let (RooflineAdvice::PutPages { program, .. }
    | RooflineAdvice::LeavePages { program, .. }
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
    // Of a machine with many nodes not every suite measures all.
    let measured = of.alone.len();
    let places = |of_nodes: usize| match measured < of_nodes {
        true => format!("{measured} of {}", count(of_nodes, "node")),
        false => count(measured, "node"),
    };
    let what = match advice {
        RooflineAdvice::PutPages { of_nodes, .. } => format!(
            "put its pages on node {best_node} (cpus={} mem=preferred:{best_node}) and expect {}; on \
             node {}, the worst of {}, expect {}: the best is {} times that.",
            chart.cpus,
            expected(best),
            node(worst)?,
            places(*of_nodes),
            expected(worst),
            ratio(of.alone_factor?)
        ),
        RooflineAdvice::LeavePages { of_nodes, .. } => format!(
            "expect {}; {} differ by {}, which is less than the model can tell apart ({}), so where \
             its pages lie does not matter{}.",
            expected(best),
            places(*of_nodes),
            percent_words(of.alone_factor? - 1.0),
            percent_words(chart.least_difference),
            if measured < *of_nodes { " among these" } else { "" }
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
