//! What programs of known intensity can expect of each placement.

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
            Roof::Compute | Roof::Cache { .. } | Roof::Memory { .. } | Roof::Interleaved { .. } => {
                false
            }
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
