//! Which part of a machine falls short of its twins, by a record of it.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{
    Against, Between, HiddenLevel, NotCompared, Place, Shortfall, Twins, Unmeasured, Unsteadiness,
    WhyUnmeasured, twins, unmeasured,
};
use nearfar_record::{Check, Record, Standing};
use serde::Serialize;

use super::measured::MeasuredView;
use super::record_doctor_checks::checks;

/// Which part of a machine falls short of its twins (docs/models/twins.md); `doctor RECORD --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordDoctorView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Cells of the pairs matrix that were compared with their twins.
    pub cells_compared: usize,
    /// Cells that were not, by the reason.
    pub cells_not_compared: NotComparedView,
    /// Groups of twins.
    pub groups: usize,
    /// Relative standard deviation of a cell's rounds, or null.
    pub noise: Option<f64>,
    /// Loss of any memory node or cluster that half of its cells would show, a
    /// fraction, or null.
    pub resolution: Option<f64>,
    /// Cells that fall short alone, too few for a finding.
    pub cells_alone: usize,
    /// Parts that fall short, the one that explains most cells first.
    pub findings: Vec<ShortfallView>,
    /// Parts whose rounds scatter more than their twins'.
    pub unsteady: Vec<UnsteadinessView>,
    /// Pairs that are further apart than the firmware says.
    pub hidden_levels: Vec<HiddenLevelView>,
    /// Cells without a figure, by memory node and reason.
    pub unmeasured: Vec<UnmeasuredView>,
    /// The findings and what else was looked at, in words.
    pub checks: Vec<Check>,
}

/// Cells that were not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotComparedView {
    /// No other cell should be equal.
    pub no_twin: usize,
    /// Too few undisturbed rounds.
    pub few_rounds: usize,
    /// No figure, or no bytes.
    pub no_figure: usize,
}

/// A part whose rounds scatter more than its twins'.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnsteadinessView {
    pub part: PartView,
    /// Relative standard deviation between rounds, median over its unsteady cells.
    pub scatter: f64,
    /// The same of their twins.
    pub twins_scatter: f64,
    /// Unsteady cells.
    pub cells: usize,
    /// Cells of the part that were compared.
    pub cells_of_part: usize,
    /// Kernels with which it shows.
    pub kernels: Vec<String>,
    /// Numbers of threads with which it shows.
    pub threads: Vec<u32>,
}

/// Pairs that form a level of their own below their twins by the firmware.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenLevelView {
    /// `nodes` (a cluster and a memory node) or `packages`.
    pub between: &'static str,
    /// The pairs, both directions of each.
    pub pairs: Vec<[u32; 2]>,
    /// Pair / twins by the firmware, median over the pairs.
    pub ratio: f64,
}

/// Cells of a memory node that have no figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnmeasuredView {
    pub memory_node: u32,
    /// Cells without a figure; 0 where none was planned.
    pub cells: usize,
    pub cells_of_node: usize,
    /// A code of a refusal, or `no_sample`, `no_bytes`, `not_planned`.
    pub reason: &'static str,
    /// For people, of the first cell; or null.
    pub text: Option<String>,
}

/// A part of the machine that falls short of its twins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortfallView {
    /// The part; two where the figures cannot tell which.
    pub parts: Vec<PartView>,
    /// `twins` or `other_direction`.
    pub against: &'static str,
    /// Cell / median of its twins (or other direction), median over the cells that fall
    /// short.
    pub ratio: f64,
    pub ratio_interval: [f64; 2],
    /// Cells that fall short.
    pub cells: usize,
    /// Cells of the part that were compared.
    pub cells_of_part: usize,
    /// Twins of the cells that fall short, the fewest that one has.
    pub fewest_twins: usize,
    /// Of a memory node: its size / median of the other nodes of its kind, or null.
    pub memory_share: Option<f64>,
    /// Kernels with which it shows.
    pub kernels: Vec<String>,
    /// Numbers of threads with which it shows.
    pub threads: Vec<u32>,
}

/// A part of a machine. What does not say which part it is is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartView {
    /// `memory`, `cluster`, `initiator`, `package_link`, `package_to_package`,
    /// `cluster_to_package` or `path`.
    pub part: &'static str,
    /// The cluster, or null.
    pub cluster: Option<u32>,
    /// The initiator, or null.
    pub initiator: Option<u32>,
    /// The memory node, or null.
    pub memory_node: Option<u32>,
    /// The package of the cores, or null.
    pub from_package: Option<u32>,
    /// The package of the memory, or null.
    pub to_package: Option<u32>,
}

impl RecordDoctorView {
    /// Looks a record over. `gamma` is what a memory node can carry at most, or why it
    /// is not known.
    pub fn new(record: &Record, gamma: Result<TheoreticalMaximum, String>) -> Self {
        let twins = twins(record);
        let unmeasured = unmeasured(record);
        Self {
            schema: "nearfar.record-doctor/1",
            measured: MeasuredView::new(record),
            cells_compared: twins.compared,
            cells_not_compared: NotComparedView::new(&twins),
            groups: twins.groups,
            noise: twins.noise,
            resolution: twins.resolution,
            cells_alone: twins.alone,
            findings: twins.findings.iter().map(ShortfallView::new).collect(),
            unsteady: twins.unsteady.iter().map(UnsteadinessView::new).collect(),
            hidden_levels: twins.hidden_levels.iter().map(HiddenLevelView::new).collect(),
            unmeasured: unmeasured.iter().map(UnmeasuredView::new).collect(),
            checks: checks(record, &twins, &unmeasured, gamma),
        }
    }

    /// Whether the record was changed, a part falls short or is unsteady, or a figure is
    /// above its maximum.
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.standing == Standing::Failed)
    }
}

impl NotComparedView {
    fn new(twins: &Twins) -> Self {
        let cells = |why| twins.not_compared.get(&why).copied().unwrap_or(0);
        Self {
            no_twin: cells(NotCompared::NoTwin),
            few_rounds: cells(NotCompared::FewRounds),
            no_figure: cells(NotCompared::NoFigure),
        }
    }
}

impl UnsteadinessView {
    fn new(unsteady: &Unsteadiness) -> Self {
        Self {
            part: PartView::new(unsteady.place),
            scatter: unsteady.scatter,
            twins_scatter: unsteady.twins_scatter,
            cells: unsteady.cells,
            cells_of_part: unsteady.of,
            kernels: unsteady.kernels.iter().cloned().collect(),
            threads: unsteady.threads.iter().copied().collect(),
        }
    }
}

impl HiddenLevelView {
    fn new(level: &HiddenLevel) -> Self {
        Self {
            between: match level.between {
                Between::Nodes => "nodes",
                Between::Packages => "packages",
            },
            pairs: level.pairs.iter().map(|&(from, to)| [from, to]).collect(),
            ratio: level.ratio,
        }
    }
}

impl UnmeasuredView {
    fn new(unmeasured: &Unmeasured) -> Self {
        let (reason, text) = match &unmeasured.why {
            WhyUnmeasured::Refused { code, text } => (code.as_str(), Some(text.clone())),
            WhyUnmeasured::NoSample => ("no_sample", None),
            WhyUnmeasured::NoBytes => ("no_bytes", None),
            WhyUnmeasured::NotPlanned => ("not_planned", None),
        };
        Self {
            memory_node: unmeasured.node,
            cells: unmeasured.cells,
            cells_of_node: unmeasured.of,
            reason,
            text,
        }
    }
}

impl ShortfallView {
    fn new(finding: &Shortfall) -> Self {
        let parts = [Some(finding.place), finding.or_place];
        Self {
            parts: parts.into_iter().flatten().map(PartView::new).collect(),
            against: match finding.against {
                Against::Twins => "twins",
                Against::OtherDirection => "other_direction",
            },
            ratio: finding.ratio,
            ratio_interval: [finding.interval.0, finding.interval.1],
            cells: finding.cells,
            cells_of_part: finding.of,
            fewest_twins: finding.fewest_twins,
            memory_share: finding.memory_share,
            kernels: finding.kernels.iter().cloned().collect(),
            threads: finding.threads.iter().copied().collect(),
        }
    }
}

impl PartView {
    pub(crate) fn new(place: Place) -> Self {
        let none = Self {
            part: "",
            cluster: None,
            initiator: None,
            memory_node: None,
            from_package: None,
            to_package: None,
        };
        match place {
            Place::Memory { node } => Self { part: "memory", memory_node: Some(node), ..none },
            Place::Cluster { cluster } => Self { part: "cluster", cluster: Some(cluster), ..none },
            Place::Initiator { index, cluster } => {
                Self { part: "initiator", cluster: Some(cluster), initiator: Some(index), ..none }
            }
            Place::PackageLink { first, second } => Self {
                part: "package_link",
                from_package: Some(first),
                to_package: Some(second),
                ..none
            },
            Place::PackageToPackage { from, to } => Self {
                part: "package_to_package",
                from_package: Some(from),
                to_package: Some(to),
                ..none
            },
            Place::ClusterToPackage { cluster, to } => Self {
                part: "cluster_to_package",
                cluster: Some(cluster),
                to_package: Some(to),
                ..none
            },
            Place::Path { cluster, node } => {
                Self { part: "path", cluster: Some(cluster), memory_node: Some(node), ..none }
            }
        }
    }
}
