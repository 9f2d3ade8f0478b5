//! What follows from the chart of an initiator.

use nearfar_record::Roof;
use serde::Serialize;

use super::chart::{BandwidthRoof, Chart};
use super::programs::{Expected, ProgramExpectation};

/// What to do. Programs, placements, roofs, points and their roofs are named by their positions in
/// the chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum RooflineAdvice {
    /// Put the pages of a program of one initiator on the node of its first placement.
    PutPages { program: usize },
    /// Let them lie where they are: the placements differ by less than the model can tell apart.
    LeavePages { program: usize },
    /// Expect what its only placement gives.
    ExpectOnly {
        program: usize,
        /// Whether the machine has other nodes.
        has_others: bool,
    },
    /// Arrange the pages of a program of all initiators as its first placement has them.
    ArrangePages {
        program: usize,
        /// Placements between the best and the worst that are worth naming.
        between: Vec<usize>,
    },
    /// Arrange them in any way: the placements differ by less than the model can tell apart.
    ArrangeFreely { program: usize },
    /// Expect what the only placement of all initiators gives.
    ExpectOnlyTogether { program: usize },
    /// Compute better: above this intensity the initiator's own memory does not limit.
    ComputeBetter {
        roof: usize,
        ceiling: usize,
        #[serde(rename = "flops_per_byte")]
        intensity: f64,
    },
    /// Measure again: points refute these roofs.
    DistrustRoofs { validations: Vec<usize>, worst: usize },
    /// Rely on the roofs, whose points are off most below this one.
    TrustRoofs { worst: usize },
    /// Measure points: none tells how well the roofs predict.
    MeasurePoints,
    /// Measure a roof again that a point lies above.
    MeasureExceeded { validation: usize, point: usize },
}

/// Programs, where arithmetic begins to limit, and how far the roofs can be trusted.
pub(super) fn advice(chart: &Chart, nodes: usize) -> Vec<RooflineAdvice> {
    let programs = chart.programs.iter().enumerate();
    let of_programs = programs
        .flat_map(|(at, program)| [alone(chart, at, program, nodes), together(chart, at, program)]);
    let rest = [ridge(chart), Some(trust(chart)), exceeded(chart)];
    of_programs.chain(rest).flatten().collect()
}

/// Whether there are placements, and points refute the roof of none.
fn are_predicted(placements: &[Expected]) -> bool {
    !placements.is_empty() && placements.iter().all(|of| !of.is_refuted)
}

fn alone(
    chart: &Chart,
    at: usize,
    of: &ProgramExpectation,
    nodes: usize,
) -> Option<RooflineAdvice> {
    let advice = match of.alone_factor {
        None => RooflineAdvice::ExpectOnly { program: at, has_others: nodes > 1 },
        Some(factor) if factor - 1.0 <= chart.least_difference => {
            RooflineAdvice::LeavePages { program: at }
        }
        Some(_) => RooflineAdvice::PutPages { program: at },
    };
    are_predicted(&of.alone).then_some(advice)
}

fn together(chart: &Chart, at: usize, of: &ProgramExpectation) -> Option<RooflineAdvice> {
    let advice = match of.together_factor {
        None => RooflineAdvice::ExpectOnlyTogether { program: at },
        Some(factor) if factor - 1.0 <= chart.least_difference => {
            RooflineAdvice::ArrangeFreely { program: at }
        }
        Some(_) => {
            let last = of.together.len().saturating_sub(1);
            let is_told = |(at, of): &(usize, &Expected)| {
                (1..last).contains(at) && matches!(of.roof, Roof::Congested { .. })
            };
            let between = of.together.iter().enumerate().filter(is_told).map(|(at, _)| at);
            RooflineAdvice::ArrangePages { program: at, between: between.collect() }
        }
    };
    are_predicted(&of.together).then_some(advice)
}

/// Where arithmetic begins to limit.
fn ridge(chart: &Chart) -> Option<RooflineAdvice> {
    let is_near = |(_, roof): &(usize, &BandwidthRoof)| {
        let is_own = matches!(roof.roof, Roof::Memory { .. }) && roof.is_local == Some(true);
        is_own && roof.is_of_loads() && !roof.is_refuted
    };
    let bandwidth = |roof: &BandwidthRoof| roof.bandwidth.value.0;
    let near = chart.roofs.iter().enumerate().filter(is_near);
    let (at, roof) = near.max_by(|one, other| bandwidth(one.1).total_cmp(&bandwidth(other.1)))?;
    let name = chart.ceiling.as_ref()?;
    let ceiling = chart.ceilings.iter().position(|ceiling| ceiling.kernel == *name)?;
    Some(RooflineAdvice::ComputeBetter { roof: at, ceiling, intensity: roof.ridge(name)? })
}

/// How well the roofs predict points.
fn trust(chart: &Chart) -> RooflineAdvice {
    let known = chart.own_validations().filter_map(|(at, of)| Some((at, of.errors?)));
    let worst =
        known.clone().max_by(|one, other| one.1.relative_rms.total_cmp(&other.1.relative_rms));
    match worst {
        None => RooflineAdvice::MeasurePoints,
        Some((worst, errors)) if errors.refutes => {
            let refuted = known.filter(|(_, errors)| errors.refutes).map(|(at, _)| at);
            RooflineAdvice::DistrustRoofs { validations: refuted.collect(), worst }
        }
        Some((worst, _)) => RooflineAdvice::TrustRoofs { worst },
    }
}

/// Of points that lie above a roof which none refutes the highest.
fn exceeded(chart: &Chart) -> Option<RooflineAdvice> {
    let believed =
        chart.own_validations().filter(|(_, of)| of.errors.is_none_or(|errors| !errors.refutes));
    let points = believed.flat_map(|(at, of)| {
        let points = of.points.iter().enumerate();
        points.filter(|(_, point)| point.exceeds).map(move |(point, of)| (at, point, of.ratio))
    });
    let (validation, point, _) = points.max_by(|one, other| one.2.total_cmp(&other.2))?;
    Some(RooflineAdvice::MeasureExceeded { validation, point })
}
