//! The view of where a program's threads and pages belong.

use nearfar_advise::{Advice, AdvisingModel, Candidate, Demand, Ranking, Room};
use nearfar_model::{MachinePart, ProfiledDemand};
use nearfar_place::Verification;
use nearfar_record::{Experiment, Profile, Record};
use serde::Serialize;

use super::flow::part_words;
use super::measured::MeasuredView;

/// Where a program's threads and pages belong, by ranked placements; `advise RECORD --json` prints
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviseView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    pub demand: DemandView,
    /// The profile that a part of it is from; null where none was given.
    pub profile: Option<AdviceProfileView>,
    /// The kernel whose figures are shown and how sure they are; null where there is nothing to
    /// choose.
    pub basis: Option<AdviceBasisView>,
    /// The candidates, the largest gain first; empty where there is nothing to choose.
    pub candidates: Vec<CandidateView>,
    /// How many candidates there are beyond those that are shown.
    pub not_shown: usize,
    /// The position in `candidates` of what is recommended, which can be the default; null where
    /// there is nothing to choose, or nothing finds room.
    pub recommended: Option<usize>,
    /// The same in sentences, and what to know of it.
    pub advice: Vec<String>,
    /// Whether a program was faster for it; null where that was not asked, or there was nothing to
    /// compare.
    pub verification: Option<Verification>,
}

/// What a profile told of the program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceProfileView {
    /// The program's name.
    pub program: String,
    /// Host that it was watched on.
    pub host: String,
    /// When watching it began, UTC, RFC 3339.
    pub started: String,
    /// What was taken from it: `threads`, `working_set_bytes`, `accesses`.
    pub taken: Vec<&'static str>,
    /// Where its accesses went, shares by memory node, the lowest first; empty where that is not known.
    pub accesses: Vec<NodeAccessView>,
    /// The share of its lines that came from near memory, where that differs from the share of its
    /// pages there; null where not counted, or alike.
    pub uneven_local_share: Option<f64>,
    /// What it does not tell, in sentences.
    pub unknown: Vec<String>,
}

/// The accesses to a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeAccessView {
    pub memory_node: u32,
    /// The share of all accesses.
    pub share: f64,
}

impl AdviceProfileView {
    /// What a profile told, of which what is named was taken.
    pub fn new(profile: &Profile, told: &ProfiledDemand, taken: Vec<&'static str>) -> Self {
        let access = told.access.as_ref();
        let nodes = access.into_iter().flat_map(|it| it.of_all());
        Self {
            program: profile.program.name.clone(),
            host: profile.host.clone(),
            started: profile.started.clone(),
            taken,
            accesses: nodes
                .map(|(&memory_node, &share)| NodeAccessView { memory_node, share })
                .collect(),
            uneven_local_share: access.and_then(|it| it.uneven).map(|(counted, _)| counted),
            unknown: told.unknown.clone(),
        }
    }
}

/// What a program asks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemandView {
    /// Threads; null for one on each core.
    pub threads: Option<u32>,
    /// Clusters that it runs on; null where they may be chosen.
    pub clusters: Option<Vec<u32>>,
    /// Bytes of its data; null where not given.
    pub working_set_bytes: Option<u64>,
    /// Share of loads in all bytes; null where not given.
    pub load_share: Option<f64>,
    /// `shared`, `private`, `regular` or `irregular`.
    pub pattern: &'static str,
    /// Where pages come to lie without advice, in words.
    pub default_is: String,
}

/// What the predictions rest on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceBasisView {
    /// The kernel that the flow model's predictions are of.
    pub kernel: String,
    /// Its share of loads; null where the catalog does not know it.
    pub kernel_load_share: Option<f64>,
    /// The flow model's error, a fraction.
    pub model_error: f64,
    pub judged_by: Experiment,
    /// The flow model's predictions are give or take this, a fraction.
    pub interval_error: f64,
    /// The smallest gain of it that is recommended, a fraction.
    pub least_gain: f64,
    /// Nodes that nothing can be said of, because the record lacks figures of them.
    pub unmeasured_nodes: Vec<u32>,
}

/// A way to place threads and pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CandidateView {
    /// How: `first_touch`, `local`, `one_node`, `interleave`, `weighted` or `by_cluster`.
    pub placement: &'static str,
    /// Whether it is what happens without advice.
    pub is_default: bool,
    /// Threads and pages; null where each cluster has its own.
    pub binding: Option<String>,
    /// Threads and pages of each cluster by itself, where they differ; else empty.
    pub cluster_bindings: Vec<String>,
    /// Clusters and threads.
    pub threads: Vec<AdvisedThreadsView>,
    /// `flow` or `hybrid`.
    pub model: &'static str,
    /// Threads x the slowest thread's rate.
    pub predicted_gb_per_s: f64,
    /// That, give or take the model's error.
    pub interval_gb_per_s: (f64, f64),
    /// Predicted / that of the default - 1; null where the default finds no room.
    pub gain: Option<f64>,
    /// Whether the gain is more than the model can be wrong.
    pub is_claimed: bool,
    /// Whether the data finds room; null where a size is not known.
    pub fits: Option<bool>,
    /// The part that slows the slowest threads most; null where they wait for themselves, and of
    /// the hybrid model.
    pub limit: Option<MachinePart>,
    /// Why it is as good as it is, in a sentence.
    pub reason: String,
    /// The command that applies it; null where there is none, or one for each cluster.
    pub command: Option<String>,
    /// One command for each cluster, where they differ; else empty.
    pub cluster_commands: Vec<String>,
}

/// Threads of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdvisedThreadsView {
    pub cluster: u32,
    pub threads: u32,
}

impl AdviseView {
    /// The view of what is advised, with at most so many candidates beside the default and what is
    /// recommended.
    pub fn new(record: &Record, demand: &Demand, advice: &Advice, most: usize) -> Self {
        let mut view = Self {
            schema: "nearfar.advise/1",
            measured: MeasuredView::new(record),
            demand: DemandView {
                threads: demand.threads,
                clusters: demand.clusters.clone(),
                working_set_bytes: demand.working_set_bytes,
                load_share: demand.load_share,
                pattern: demand.pattern.as_str(),
                default_is: demand.pattern.default_words().into(),
            },
            profile: None,
            basis: None,
            candidates: Vec::new(),
            not_shown: 0,
            recommended: None,
            advice: Vec::new(),
            verification: None,
        };
        match advice {
            Advice::OneNode(node) => view.advice.push(format!(
                "Pages can lie on one memory node, node {node}: there is nothing to choose."
            )),
            Advice::Ranked(ranking) => view.take(ranking, most),
        }
        view
    }

    /// The same with what the program's profile told.
    pub fn with_profile(mut self, profile: AdviceProfileView) -> Self {
        self.profile = Some(profile);
        self
    }

    /// The same with what comparing found.
    pub fn with_verification(mut self, found: Option<&Verification>) -> Self {
        self.verification = found.cloned();
        self
    }

    fn take(&mut self, ranking: &Ranking, most: usize) {
        if ranking.is_default_seen {
            self.demand.default_is = "pages where the profile saw them".into();
        }
        let model = &ranking.flow;
        self.basis = Some(AdviceBasisView {
            kernel: model.layout.kernels.get(ranking.kernel).cloned().unwrap_or_default(),
            kernel_load_share: ranking.kernel_load_share,
            model_error: model.judged_by().mean,
            judged_by: model.judged_by().experiment,
            interval_error: model.reach(),
            least_gain: model.least_difference(),
            unmeasured_nodes: ranking.unmeasured.clone(),
        });
        let is_shown = |place: usize| {
            place < most || ranking.default == Some(place) || ranking.recommended == Some(place)
        };
        let shown: Vec<usize> = (0..ranking.candidates.len()).filter(|&it| is_shown(it)).collect();
        self.recommended = shown.iter().position(|&it| Some(it) == ranking.recommended);
        self.not_shown = ranking.candidates.len() - shown.len();
        let view = |&place: &usize| candidate_view(&ranking.candidates[place]);
        self.candidates = shown.iter().map(view).collect();
        self.advice = self.sentences(ranking);
    }
}

fn candidate_view(candidate: &Candidate) -> CandidateView {
    let bindings: Vec<String> = candidate.bindings().iter().map(ToString::to_string).collect();
    let commands = candidate.commands();
    let (binding, cluster_bindings) = one_or_many(bindings);
    let (command, cluster_commands) = one_or_many(commands);
    let (low, high) = candidate.interval;
    let of = |it: &nearfar_advise::Workers| AdvisedThreadsView {
        cluster: it.cluster,
        threads: it.threads,
    };
    CandidateView {
        placement: candidate.kind.as_str(),
        is_default: candidate.is_default,
        binding,
        cluster_bindings,
        threads: candidate.team.workers.iter().map(of).collect(),
        model: candidate.model.as_str(),
        predicted_gb_per_s: candidate.predicted / 1e9,
        interval_gb_per_s: (low / 1e9, high / 1e9),
        gain: candidate.gain,
        is_claimed: candidate.is_claimed,
        fits: match candidate.room {
            Room::Fits => Some(true),
            Room::TooSmall { .. } => Some(false),
            Room::Unknown => None,
        },
        reason: reason(candidate),
        limit: candidate.limit,
        command,
        cluster_commands,
    }
}

/// One text by itself, or all of several.
fn one_or_many(texts: Vec<String>) -> (Option<String>, Vec<String>) {
    if texts.len() == 1 { (texts.into_iter().next(), Vec::new()) } else { (None, texts) }
}

fn reason(candidate: &Candidate) -> String {
    use nearfar_advise::CandidateKind::{
        ByCluster, FirstTouch, Interleave, Local, OneNode, Weighted,
    };
    let what = match candidate.kind {
        FirstTouch if candidate.is_default => "Pages lie where the program puts them by itself",
        FirstTouch | Local => "Each thread's pages are on its own node",
        OneNode => "All pages are on one node",
        Interleave => "Each of these nodes gives the same part",
        Weighted => "Each node gives as much as it can beside the others",
        ByCluster => "Each cluster takes from each node what is left for it there",
    };
    let slowed = match (&candidate.limit, candidate.model) {
        (Some(part), _) => format!("the slowest threads wait most for {}", part_words(part)),
        (None, AdvisingModel::Flow) => "the threads wait for themselves (latency)".into(),
        (None, AdvisingModel::Hybrid) => {
            "loads and stores overlap as they were measured on these two memories".into()
        }
    };
    let mut reason = format!("{what}; {slowed}.");
    if let Room::TooSmall { node, needed_bytes, usable_bytes } = candidate.room {
        reason += &format!(
            " It does not fit: {} for node {node}, which has {} for programs.",
            gib(needed_bytes),
            gib(usable_bytes)
        );
    }
    if candidate.needs_change {
        reason += " No policy gives it: in the program let each thread write its part first.";
    }
    reason
}

fn gib(bytes: f64) -> String {
    format!("{} GiB", super::figures::significant(bytes / f64::from(1 << 30), 3))
}
