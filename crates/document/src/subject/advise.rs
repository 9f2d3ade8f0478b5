//! Where a program's threads and pages belong.

use nearfar_advise::{Advice, Candidate, Demand, Ranking};
use nearfar_machine::Binding;
use nearfar_model::{FlowTrust, ProfiledDemand};
use nearfar_place::Verification;
use nearfar_record::{Profile, Record};
use serde::Serialize;

use super::origin::Origin;

/// Where a program's threads and pages belong, by ranked placements; `advise RECORD --json` prints
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedPlacement {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    pub demand: Demand,
    /// The profile that a part of it is from; null where none was given.
    pub profile: Option<AdviceProfile>,
    /// The only memory node that pages can lie on, so that there is nothing to choose; else null.
    pub only_node: Option<u32>,
    /// What is shown and how sure it is; null where there is nothing to choose.
    pub basis: Option<AdviceBasis>,
    /// The candidates, the largest gain first; empty where there is nothing to choose.
    pub candidates: Vec<AdvisedCandidate>,
    /// How many candidates there are beyond those that are shown.
    pub not_shown: usize,
    /// The position in `candidates` of what is recommended, which can be the default; null where
    /// there is nothing to choose, or nothing finds room.
    pub recommended: Option<usize>,
    /// Whether a program was faster for it; null where that was not asked, or there was nothing to
    /// compare.
    pub verification: Option<Verification>,
    /// Why nothing was compared that was to be; else null.
    pub not_verified: Option<String>,
}

/// What a profile told of the program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceProfile {
    /// The program's name.
    pub program: String,
    /// Host that it was watched on.
    pub host: String,
    /// When watching it began, UTC, RFC 3339.
    pub started: String,
    /// What was taken from it.
    pub taken: Vec<TakenFigure>,
    /// Where its accesses went, shares by memory node, the lowest first; empty where that is not known.
    pub accesses: Vec<NodeAccess>,
    /// The share of its lines that came from near memory, where that differs from the share of its
    /// pages there; null where not counted, or alike.
    pub uneven_local_share: Option<f64>,
    /// What it does not tell, in sentences.
    pub unknown: Vec<String>,
}

/// A part of the demand that a profile can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TakenFigure {
    Threads,
    WorkingSetBytes,
    /// Where they go without advice.
    Accesses,
}

/// The accesses to a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeAccess {
    pub memory_node: u32,
    /// The share of all accesses.
    pub share: f64,
}

/// What the predictions rest on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceBasis {
    /// The kernel that the flow model's predictions are of.
    pub kernel: String,
    /// Its share of loads; null where the catalog does not know it.
    pub kernel_load_share: Option<f64>,
    #[serde(flatten)]
    pub trust: FlowTrust,
    /// Whether pages without advice are where the profile saw them, and not where the demand's pattern
    /// says.
    pub is_default_seen: bool,
    /// Nodes that nothing can be said of, because the record lacks figures of them.
    pub unmeasured_nodes: Vec<u32>,
}

/// A way to place threads and pages, and how to do it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedCandidate {
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Threads and pages of the whole program, or of each initiator by itself where they differ.
    pub bindings: Vec<Binding>,
    /// The command that applies each; empty where the program would have to be changed.
    pub commands: Vec<String>,
}

impl AdviceProfile {
    /// What a profile told, of which what is named was taken.
    pub fn new(profile: &Profile, told: &ProfiledDemand, taken: Vec<TakenFigure>) -> Self {
        let access = told.access.as_ref();
        let nodes = access.into_iter().flat_map(|it| it.of_all());
        Self {
            program: profile.program.name.clone(),
            host: profile.host.clone(),
            started: profile.started.clone(),
            taken,
            accesses: nodes
                .map(|(&memory_node, &share)| NodeAccess { memory_node, share })
                .collect(),
            uneven_local_share: access.and_then(|it| it.uneven).map(|(counted, _)| counted),
            unknown: told.unknown.clone(),
        }
    }
}

impl AdvisedPlacement {
    /// What is advised, with at most so many candidates beside the default and what is recommended.
    pub fn new(record: &Record, demand: &Demand, advice: &Advice, most: usize) -> Self {
        let mut advised = Self {
            schema: "nearfar.advise/2",
            measured: Origin::new(record),
            demand: demand.clone(),
            profile: None,
            only_node: None,
            basis: None,
            candidates: Vec::new(),
            not_shown: 0,
            recommended: None,
            verification: None,
            not_verified: None,
        };
        match advice {
            Advice::OneNode(node) => advised.only_node = Some(*node),
            Advice::Ranked(ranking) => advised.take(ranking, most),
        }
        advised
    }

    fn take(&mut self, ranking: &Ranking, most: usize) {
        let model = &ranking.flow;
        self.basis = Some(AdviceBasis {
            kernel: model.layout.kernels.get(ranking.kernel).cloned().unwrap_or_default(),
            kernel_load_share: ranking.kernel_load_share,
            trust: model.trust(),
            is_default_seen: ranking.is_default_seen,
            unmeasured_nodes: ranking.unmeasured.clone(),
        });
        let is_shown = |place: usize| {
            place < most || ranking.default == Some(place) || ranking.recommended == Some(place)
        };
        let shown: Vec<usize> = (0..ranking.candidates.len()).filter(|&it| is_shown(it)).collect();
        self.recommended = shown.iter().position(|&it| Some(it) == ranking.recommended);
        self.not_shown = ranking.candidates.len() - shown.len();
        let told = |&place: &usize| {
            let candidate = ranking.candidates[place].clone();
            let (bindings, commands) = (candidate.bindings(), candidate.commands());
            AdvisedCandidate { candidate, bindings, commands }
        };
        self.candidates = shown.iter().map(told).collect();
    }
}
