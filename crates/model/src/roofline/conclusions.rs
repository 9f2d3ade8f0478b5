//! What follows from the chart of an initiator: what programs of known intensity can expect of each
//! placement, and what to do.

use nearfar_record::{Estimate, Roof};
use nearfar_units::{BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::chart::{BandwidthRoof, Chart};

/// A program by what its cores request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    /// Its name in the paper.
    #[serde(rename = "program")]
    pub name: &'static str,
    #[serde(rename = "flops_per_byte")]
    pub intensity: f64,
    /// The kernel or mix that accesses memory as it does.
    pub kernel: &'static str,
}

/// Arithmetic intensities that may be asked about, FLOPs per byte.
pub const INTENSITIES: (f64, f64) = (1e-4, 1e5);
/// Rates that a program may be said to reach, GFLOP/s.
pub const GFLOP_RATES: (f64, f64) = (1e-3, 1e9);

/// A program by its intensity and what it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramPoint {
    /// Which bytes its intensity is of.
    #[serde(rename = "intensity")]
    pub kind: IntensityKind,
    /// Its intensity, above 0.
    #[serde(rename = "flops_per_byte")]
    pub intensity: f64,
    /// What the threads of one initiator reach, above 0; null where that is not known.
    #[serde(rename = "gflop_per_s")]
    pub flops: Option<FlopsPerSecond>,
}

/// Which bytes an intensity is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IntensityKind {
    /// Those that the cores request.
    Arithmetic,
    /// Those that are read from memory.
    Operational,
}

/// The paper's programs whose accesses have roofs: ddot loads twice for two operations, triad
/// loads twice and stores once for them. (Source: denoyelle2019, section 4; STREAM.)
pub const PROGRAMS: [Program; 2] = [
    Program { name: "ddot", intensity: 2.0 / 16.0, kernel: "load" },
    Program { name: "triad", intensity: 2.0 / 24.0, kernel: "2l1s" },
];

/// What a program can expect of an initiator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramExpectation {
    #[serde(flatten)]
    pub program: Program,
    /// While the rest of the machine is idle: its pages on each node, the best first.
    pub alone: Vec<Expected>,
    /// Best / worst of these; null where there is nothing to choose from.
    pub alone_factor: Option<f64>,
    /// While all initiators do the same: each on its own node, all on all nodes of a kind in turn,
    /// all on one node; the best first.
    pub together: Vec<Expected>,
    /// Best / worst of these; null where there is nothing to choose from.
    pub together_factor: Option<f64>,
}

/// What a program can expect of one placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// The placement, by the roof that it meets.
    pub roof: Roof,
    /// Whether the node is the initiator's own; null for a placement that is not on one node.
    pub is_local: Option<bool>,
    /// Whether pages come to lie so where each thread first touches what it will use.
    pub is_first_touch: bool,
    /// Useful bytes of the roof.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: BytesPerSecond,
    /// What the program can attain there.
    #[serde(rename = "gflop_per_s")]
    pub flops: Estimate<FlopsPerSecond>,
    /// Whether points refute the roof, so that nothing can be expected.
    pub is_refuted: bool,
}

/// What each of [`PROGRAMS`] can expect of an initiator; those without any roof are left out.
pub(super) fn expectations(chart: &Chart) -> Vec<ProgramExpectation> {
    let of = |program: Program| {
        let expected = |is_wanted: &dyn Fn(&BandwidthRoof) -> bool| {
            let roofs = chart.roofs.iter().filter(|roof| roof.kernel == program.kernel);
            let wanted = roofs.filter(|roof| is_wanted(roof));
            let mut all: Vec<Expected> = wanted.map(|roof| chart.expected(program, roof)).collect();
            all.sort_by(|one, other| other.flops.value.0.total_cmp(&one.flops.value.0));
            all
        };
        let alone = expected(&|roof| matches!(roof.roof, Roof::Memory { .. }));
        let together = expected(&|roof| chart.is_of_all_initiators(roof.roof));
        let (alone_factor, together_factor) = (factor(&alone), factor(&together));
        let found = ProgramExpectation { program, alone, alone_factor, together, together_factor };
        (!found.alone.is_empty() || !found.together.is_empty()).then_some(found)
    };
    PROGRAMS.into_iter().filter_map(of).collect()
}

fn factor(placements: &[Expected]) -> Option<f64> {
    let [best, .., worst] = placements else { return None };
    let factor = best.flops.value / worst.flops.value;
    factor.is_finite().then_some(factor)
}

impl Chart {
    /// Whether a roof is what an initiator gets while all others are at work too.
    pub(super) fn is_of_all_initiators(&self, roof: Roof) -> bool {
        match roof {
            Roof::Contended { initiators, .. } => Some(initiators) == self.most_contending(),
            Roof::AllLocal { .. } | Roof::Congested { .. } => true,
            _ => false,
        }
    }

    /// Whether pages come to lie as a roof has it where each thread first touches what it will use.
    pub(super) fn is_first_touch(&self, roof: Roof) -> bool {
        matches!(roof, Roof::AllLocal { node } if self.cpu_node == Some(node))
    }

    fn expected(&self, program: Program, of: &BandwidthRoof) -> Expected {
        let flops = |bandwidth: BytesPerSecond| self.attainable(program.intensity, bandwidth.0);
        let [low, high] = of.bandwidth.ends().map(flops);
        let bandwidth = of.bandwidth.value;
        Expected {
            roof: of.roof,
            is_local: of.is_local,
            is_first_touch: self.is_first_touch(of.roof),
            bandwidth,
            flops: Estimate::computed(flops(bandwidth), (low, high), of.bandwidth.cases.clone()),
            is_refuted: of.is_refuted,
        }
    }
}

/// What to do. Programs, placements, roofs, points and their roofs are named by their positions in
/// the chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum RooflineAdvice {
    /// Put the pages of a program of one initiator on the node of its first placement.
    PutPages {
        program: usize,
        /// Memory nodes of the machine, measured or not.
        of_nodes: usize,
    },
    /// Let them lie where they are: the placements differ by less than the model can tell apart.
    LeavePages {
        program: usize,
        /// Memory nodes of the machine, measured or not.
        of_nodes: usize,
    },
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
            RooflineAdvice::LeavePages { program: at, of_nodes: nodes }
        }
        Some(_) => RooflineAdvice::PutPages { program: at, of_nodes: nodes },
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
