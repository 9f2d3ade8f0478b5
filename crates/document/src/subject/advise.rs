//! Where a program's threads and pages belong.

use nearfar_advise::{
    Advice, AdvisingModel, Basis, Candidate, Demand, Launcher, LauncherForm, Pattern, Ranking,
    Room, launcher_form, room,
};
use nearfar_machine::{Binding, Machine};
use nearfar_model::{FlowTrust, Inapplicable, ProfiledDemand};
use nearfar_place::Verification;
use nearfar_record::{Estimate, Profile, ProgramProfile, Record};
use nearfar_units::BytesPerSecond;
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
    /// Whether the data fits there; null where pages can lie on several nodes.
    pub only_node_room: Option<Room>,
    /// What is advised for each way in which threads may use the data: for the one that was asked
    /// for, else first where each keeps to its own part, then where any uses any part. Empty where
    /// there is nothing to choose.
    pub uses: Vec<AdvisedUse>,
    /// Whether a program was faster for what is recommended for the last use; null where that was not
    /// asked, or there was nothing to compare.
    pub verification: Option<Verification>,
    /// Why nothing was compared that was to be; else null.
    pub not_verified: Option<String>,
}

/// What is advised for one way to use the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedUse {
    /// How threads use the data.
    pub pattern: Pattern,
    pub basis: AdviceBasis,
    /// The candidates, the largest gain first, but for that which is as good as the best as far as can
    /// be told and asks least of its user: that stands before all.
    pub candidates: Vec<AdvisedCandidate>,
    /// How many candidates there are beyond those that are shown.
    pub not_shown: usize,
    /// The position in `candidates` of what is recommended, which can be the default; null where
    /// nothing finds room.
    pub recommended: Option<usize>,
    /// What the same threads get where each uses its own part of the data, on its own node; null where
    /// that is not known, or the parts find no room there.
    #[serde(rename = "own_parts_gb_per_s")]
    pub own_parts: Option<Estimate<BytesPerSecond>>,
    /// Whether what is recommended gives less than that.
    pub is_below_own_parts: bool,
    /// What is recommended in the words of other launchers; empty where nothing is, or the program
    /// would have to be changed.
    pub forms: Vec<LauncherForm>,
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
    LoadShare,
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
    /// What most candidates are predicted by.
    pub model: AdvisingModel,
    /// The kernel that predictions are of.
    pub kernel: String,
    /// Its share of loads; null where the catalog does not know it.
    pub kernel_load_share: Option<f64>,
    /// How far the flow model is off; null where it is not what predicts.
    pub trust: Option<FlowTrust>,
    /// Why the record has no flow model, and the command that would change that; null where it has one.
    pub without_flow: Option<Inapplicable>,
    /// Whether pages without advice are where the profile saw them, and not where the pattern says.
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

    /// What a program beside loads told.
    pub fn of_program(profile: &ProgramProfile, record: &Record, taken: Vec<TakenFigure>) -> Self {
        let elsewhere = (record.header.host != profile.host).then(|| {
            let host = &record.header.host;
            format!("It ran on {} and the record is of {host}.", profile.host)
        });
        let not_seen =
            "Where its accesses went and how much data it has was not looked at; threads are \
                        taken to be as many as the CPUs that it could use."
                .to_string();
        Self {
            program: profile.name.clone(),
            host: profile.host.clone(),
            started: profile.started.clone(),
            taken,
            accesses: Vec::new(),
            uneven_local_share: None,
            unknown: elsewhere.into_iter().chain([not_seen]).collect(),
        }
    }
}

impl AdvisedPlacement {
    /// What is advised for each use, with at most `most` candidates beside the default and what is
    /// recommended; all of them where no number is given.
    pub fn new(record: &Record, demand: &Demand, each: &[Advice], most: Option<usize>) -> Self {
        let mut advised = Self {
            schema: "nearfar.advise/3",
            measured: Origin::new(record),
            demand: demand.clone(),
            profile: None,
            only_node: None,
            only_node_room: None,
            uses: Vec::new(),
            verification: None,
            not_verified: None,
        };
        for advice in each {
            match advice {
                Advice::OneNode(node) => {
                    let data = demand.working_set_bytes;
                    advised.only_node = Some(*node);
                    advised.only_node_room =
                        Some(room(&record.header.machine, data, &[(*node, 1.0)]));
                }
                Advice::Ranked(ranking) => {
                    let machine = &record.header.machine;
                    advised.uses.push(AdvisedUse::new(ranking, demand, machine, most));
                }
            }
        }
        advised
    }
}

impl AdvisedUse {
    fn new(ranking: &Ranking, demand: &Demand, machine: &Machine, most: Option<usize>) -> Self {
        let is_shown = |place: usize| {
            most.is_none_or(|most| place < most)
                || ranking.default == Some(place)
                || ranking.recommended == Some(place)
        };
        let shown: Vec<usize> = (0..ranking.candidates.len()).filter(|&it| is_shown(it)).collect();
        let told = |&place: &usize| {
            let candidate = ranking.candidates[place].clone();
            let (bindings, commands) = (candidate.bindings(), candidate.commands());
            AdvisedCandidate { candidate, bindings, commands }
        };
        let candidates: Vec<AdvisedCandidate> = shown.iter().map(told).collect();
        let recommended = shown.iter().position(|&it| Some(it) == ranking.recommended);
        let best = recommended.and_then(|it| candidates.get(it));
        let bindings = best.filter(|it| !it.commands.is_empty()).map(|it| it.bindings.as_slice());
        let form = |bindings| {
            let of =
                |launcher| launcher_form(launcher, bindings, machine, demand.working_set_bytes);
            Launcher::ALL.map(of)
        };
        Self {
            pattern: ranking.pattern,
            basis: AdviceBasis::new(ranking),
            not_shown: ranking.candidates.len() - shown.len(),
            recommended,
            own_parts: ranking.own_parts.clone(),
            is_below_own_parts: ranking.is_below_own_parts,
            forms: bindings.into_iter().flat_map(form).collect(),
            candidates,
        }
    }

    /// What is recommended.
    pub(crate) fn best(&self) -> Option<&AdvisedCandidate> {
        self.candidates.get(self.recommended?)
    }

    /// What the record measured of the default, where it did.
    pub(crate) fn measured_default(&self) -> Option<BytesPerSecond> {
        let candidates = self.candidates.iter().map(|it| &it.candidate);
        candidates.filter(|it| it.is_default).find_map(|it| it.measured)
    }
}

impl AdviceBasis {
    fn new(ranking: &Ranking) -> Self {
        let basis = Self::of(&ranking.basis, &ranking.unmeasured);
        let is_hybrid = ranking.candidates.iter().any(|it| it.model == AdvisingModel::Hybrid);
        let basis = Self { is_default_seen: ranking.is_default_seen, ..basis };
        if is_hybrid && basis.model == AdvisingModel::Flow {
            return Self { model: AdvisingModel::Hybrid, trust: None, ..basis };
        }
        basis
    }

    /// Where nothing was seen of a program.
    pub(crate) fn of(basis: &Basis, unmeasured: &[u32]) -> Self {
        let unmeasured_nodes = unmeasured.to_vec();
        match basis {
            Basis::Flow { flow, kernel, kernel_load_share } => Self {
                model: AdvisingModel::Flow,
                kernel: flow.layout.kernels.get(*kernel).cloned().unwrap_or_default(),
                kernel_load_share: *kernel_load_share,
                trust: Some(flow.trust()),
                without_flow: None,
                is_default_seen: false,
                unmeasured_nodes,
            },
            Basis::Pairs(pairs) => Self {
                model: AdvisingModel::Pairs,
                kernel: pairs.kernel.clone(),
                kernel_load_share: pairs.load_share,
                trust: None,
                without_flow: Some(pairs.without_flow.clone()),
                is_default_seen: false,
                unmeasured_nodes,
            },
        }
    }
}
