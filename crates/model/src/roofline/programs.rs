//! What programs of known intensity can expect of each placement.

use nearfar_record::Roof;

use super::chart::{BandwidthRoof, Chart};

/// A program by what its cores request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Program {
    /// Its name in the paper.
    pub name: &'static str,
    /// FLOPs per byte.
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

/// What a program can expect of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramExpectation {
    pub program: Program,
    /// While the rest of the machine is idle: its pages on each node, the best first.
    pub alone: Vec<Expected>,
    /// While all clusters do the same: each on its own node, all on all nodes of a kind in turn,
    /// all on one node; the best first.
    pub together: Vec<Expected>,
}

/// What a program can expect of one placement.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The placement, by the roof that it meets.
    pub roof: Roof,
    /// Whether the node is the cluster's own; `None` for a placement that is not on one node.
    pub is_local: Option<bool>,
    /// Useful bytes/s of the roof.
    pub bandwidth: f64,
    /// FLOP/s attainable.
    pub flops: f64,
    pub interval: (f64, f64),
    /// Whether points refute the roof ([`Chart::is_refuted`]): then nothing can be expected.
    pub is_refuted: bool,
}

impl ProgramExpectation {
    /// How much better the best of some placements is than the worst; `None` where there is
    /// nothing to choose from.
    pub fn factor(placements: &[Expected]) -> Option<f64> {
        let [best, .., worst] = placements else { return None };
        let factor = best.flops / worst.flops;
        factor.is_finite().then_some(factor)
    }
}

impl Chart {
    /// What each of [`PROGRAMS`] can expect here; those without any roof are left out.
    pub fn expectations(&self) -> Vec<ProgramExpectation> {
        let of = |program: Program| {
            let expected = |is_wanted: &dyn Fn(&BandwidthRoof) -> bool| {
                let roofs = self.roofs.iter().filter(|roof| roof.kernel == program.kernel);
                let wanted = roofs.filter(|roof| is_wanted(roof));
                let mut all: Vec<Expected> =
                    wanted.map(|roof| self.expected(program, roof)).collect();
                all.sort_by(|one, other| other.flops.total_cmp(&one.flops));
                all
            };
            let alone = expected(&|roof| matches!(roof.roof, Roof::Memory { .. }));
            let together = expected(&|roof| self.is_of_all_clusters(roof));
            let found = ProgramExpectation { program, alone, together };
            (!found.alone.is_empty() || !found.together.is_empty()).then_some(found)
        };
        PROGRAMS.into_iter().filter_map(of).collect()
    }

    /// Whether a roof is what a cluster gets while all others are at work too.
    pub fn is_of_all_clusters(&self, roof: &BandwidthRoof) -> bool {
        match roof.roof {
            Roof::Contended { clusters, .. } => Some(clusters) == self.most_contending(),
            Roof::AllLocal { .. } | Roof::Congested { .. } => true,
            Roof::Compute | Roof::Cache { .. } | Roof::Memory { .. } | Roof::Interleaved { .. } => {
                false
            }
        }
    }

    fn expected(&self, program: Program, roof: &BandwidthRoof) -> Expected {
        let BandwidthRoof { roof, is_local, bandwidth, .. } = roof;
        let flops = |bandwidth: f64| self.attainable(program.intensity, bandwidth);
        Expected {
            roof: *roof,
            is_local: *is_local,
            bandwidth: bandwidth.median,
            flops: flops(bandwidth.median),
            interval: (flops(bandwidth.interval.0), flops(bandwidth.interval.1)),
            is_refuted: self.is_refuted(*roof),
        }
    }
}
