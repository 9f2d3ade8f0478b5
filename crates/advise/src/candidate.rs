//! A way to place a program's threads and pages, and what is expected of it.

use nearfar_flow::Capacities;
use nearfar_machine::{Binding, Machine, MemoryPolicy, NodeSet};
use nearfar_model::MachinePart;
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::question::LEAST_SHARE;
use crate::room::{Room, takes_pages};
use crate::team::Team;

/// How pages are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CandidateKind {
    /// As the program does it by itself.
    FirstTouch,
    /// Each thread's data on its own node.
    Local,
    OneNode,
    /// Page by page in turn over nodes.
    Interleave,
    /// In turn, as many pages on each node as its weight.
    Weighted,
    /// Each initiator's data by weights of its own.
    ByInitiator,
}

/// What a candidate's figure is predicted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AdvisingModel {
    /// [`nearfar_model::Flow`].
    Flow,
    /// [`nearfar_model::Hybrid`]: loads and stores of one initiator over two memories.
    Hybrid,
    /// Lone pairs alone (`lone_pairs.rs`): bounds of what shared parts leave.
    Pairs,
}

/// What a placement asks of its user; the least stands first: local, then one node, interleave over
/// all nodes, over some, weights, and of a kind that on fewer initiators. How many nodes it names is
/// no matter: of interleaves that are predicted alike, the one over fewer lost up to 13 % (`benches/regret`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    pub kind: CandidateKind,
    /// Whether nodes are left out that pages could lie on.
    pub is_partial: bool,
    pub initiators: usize,
    /// Whether its nodes carry the same, as far as can be told.
    pub is_alike: bool,
}

impl Effort {
    /// Of data that all threads use alike, by the share of its pages on each node.
    pub fn of_shares(shares: &[f64], initiators: usize) -> Self {
        let used = || shares.iter().filter(|share| **share > 0.0);
        let most = used().fold(0.0_f64, |most, share| most.max(*share));
        let kind = match used().count() {
            1 => CandidateKind::OneNode,
            _ if used().all(|share| most - share < LEAST_SHARE) => CandidateKind::Interleave,
            _ => CandidateKind::Weighted,
        };
        let nodes = used().count();
        Self { kind, is_partial: nodes < shares.len(), initiators, is_alike: false }
    }
}

/// Placements whose predictions lie within this fraction of the best, or within the model's own reach where
/// that is smaller, cannot be told from it where nodes are alike: weights on these are made of noise.
/// `benches/regret` says what this limit and those below lose against the best placement.
pub const MOST_TOLERANCE: f64 = 0.025;

/// The same of weights on nodes that differ.
const MOST_OF_WEIGHTS: f64 = 0.01;

/// The same between placements without weights on nodes that differ: they are equally easy to type.
const MOST_OF_NODES: f64 = 0.005;

/// On the average of the machines that the record leaves possible, a placement that is asked for in place of the
/// best there may cost this.
const MOST_AVERAGE_LOSS: f64 = 0.005;

/// Whether what the controllers of these nodes carry differs by no more than can be told.
pub fn are_alike(capacities: &Capacities, nodes: impl IntoIterator<Item = u32>) -> bool {
    let carried = |node: u32| {
        let column = capacities.nodes.iter().position(|&known| known == node)?;
        capacities.controller.get(column).copied().flatten()
    };
    let carried: Option<Vec<f64>> = nodes.into_iter().map(carried).collect();
    carried.is_some_and(|carried| {
        let (least, most) = carried
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), &it| (least.min(it), most.max(it)));
        most <= least * (1.0 + MOST_TOLERANCE)
    })
}

/// The position of the one that asks least of its user among those that cannot be told from the best, by
/// a model of this reach; of equals the better. `possible` is what each gives on the machines that the
/// record leaves possible, empty where none is known: a simple placement can be as good by the fit and
/// far behind on most of these. It may be [`MOST_TOLERANCE`] behind the one that is best on their average on
/// none of them, or [`MOST_AVERAGE_LOSS`] on that average; where none is so near, that best one is taken.
pub fn least_effort<'a, T>(
    all: &'a [T],
    reach: f64,
    worth: impl Fn(&T) -> f64,
    possible: impl Fn(&'a T) -> &'a [BytesPerSecond],
    effort: impl Fn(&T) -> Effort,
) -> Option<usize> {
    let largest = |of: &[usize]| of.iter().map(|&it| worth(&all[it])).fold(0.0, f64::max);
    let mut looked_at: Vec<usize> = (0..all.len()).collect();
    // A policy for each initiator is for processes, and a command for each: it has to be told from one for all.
    let is_for_all = |it: &usize| effort(&all[*it]).kind < CandidateKind::ByInitiator;
    let for_all: Vec<usize> = looked_at.iter().copied().filter(is_for_all).collect();
    if largest(&for_all) >= largest(&looked_at) * (1.0 - reach.min(MOST_TOLERANCE)) {
        looked_at = for_all;
    }
    let best = largest(&looked_at);
    let is_known = all.iter().all(|it| !possible(it).is_empty());
    // Of as many machines each, so that sums are compared.
    let on_average = |it: &'a T| match is_known {
        true => possible(it).iter().map(|it| it.0).sum(),
        false => worth(it),
    };
    let by_average =
        |a: &&usize, b: &&usize| on_average(&all[**a]).total_cmp(&on_average(&all[**b]));
    let ahead = *looked_at.iter().max_by(by_average)?;
    let average_of_best = on_average(&all[ahead]);
    let holds = |it: &'a T| {
        let mut both = possible(it).iter().zip(possible(&all[ahead]));
        let is_near_on_each = both.all(|(own, of_best)| *own / *of_best >= 1.0 - MOST_TOLERANCE);
        is_near_on_each || on_average(it) >= average_of_best * (1.0 - MOST_AVERAGE_LOSS)
    };
    let is_plain = |it: &T| effort(it).kind < CandidateKind::Weighted;
    let near = |is_wanted: &dyn Fn(&T) -> bool, of: f64, most: f64| -> Vec<usize> {
        let least = of * (1.0 - reach.min(most));
        let is_near = |&place: &usize| {
            let it = &all[place];
            is_wanted(it) && worth(it) >= least && holds(it)
        };
        looked_at.iter().copied().filter(is_near).collect()
    };
    let mut asked = near(&|it| is_plain(it) && effort(it).is_alike, best, MOST_TOLERANCE);
    let plain = near(&is_plain, best, MOST_OF_WEIGHTS);
    let best_plain = largest(&plain);
    asked.extend(
        plain
            .into_iter()
            .filter(|&it| worth(&all[it]) >= best_plain * (1.0 - reach.min(MOST_OF_NODES))),
    );
    if asked.is_empty() {
        asked = near(&|_| true, best, MOST_OF_NODES);
    }
    let least = asked.into_iter().min_by(|&a, &b| {
        let (a, b) = (&all[a], &all[b]);
        let asked = |it: &T| {
            let Effort { kind, is_partial, initiators, .. } = effort(it);
            (kind, is_partial, initiators)
        };
        asked(a).cmp(&asked(b)).then(worth(b).total_cmp(&worth(a)))
    });
    least.or(Some(ahead))
}

/// No smaller gain is claimed.
pub const LEAST_GAIN: f64 = 0.05;

/// On average of the machines that the record leaves possible, where not one of them loses anything by it.
pub const LEAST_GAIN_WITHOUT_LOSS: f64 = 0.02;

/// These machines are fits that end before the last digit: a smaller loss is none.
const LEAST_LOSS: f64 = 0.001;

/// Whether a gain is claimed: the model can tell it (`least_difference`, at least [`LEAST_GAIN`]), or the
/// machines that the record leaves possible have [`LEAST_GAIN`] on average and none of them loses
/// [`MOST_TOLERANCE`], or [`LEAST_GAIN_WITHOUT_LOSS`] and none loses anything. The mean error of a model
/// that is far off on some placements says little of two that it is sure of.
pub fn is_claimed(gain: f64, on_possible: &[f64], least_difference: f64) -> bool {
    let most_loss = on_possible.iter().fold(0.0_f64, |most, gain| most.max(-gain));
    let is_enough = mean(on_possible).is_some_and(|mean| {
        mean >= LEAST_GAIN && most_loss < MOST_TOLERANCE
            || mean >= LEAST_GAIN_WITHOUT_LOSS && most_loss < LEAST_LOSS
    });
    gain >= least_difference || gain > 0.0 && is_enough
}

/// `None` of nothing.
pub(crate) fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// A way to place threads and pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// How pages are placed.
    #[serde(rename = "placement")]
    pub kind: CandidateKind,
    /// Whether this is what happens without advice.
    pub is_default: bool,
    /// Where threads run.
    #[serde(flatten)]
    pub team: Team,
    /// The policy of all pages, or one for each initiator of the team, in its order.
    #[serde(skip)]
    pub policies: Vec<MemoryPolicy>,
    /// The model that predicts it.
    pub model: AdvisingModel,
    /// Threads x the slowest thread's rate, useful bytes, within the model's error.
    #[serde(rename = "predicted_gb_per_s")]
    pub predicted: Estimate<BytesPerSecond>,
    /// What the record's own case of these threads and pages moved, threads x the slowest thread's rate,
    /// useful bytes; null where it has none.
    #[serde(rename = "measured_gb_per_s")]
    pub measured: Option<BytesPerSecond>,
    /// Predicted / that of the default by the same model - 1; null where the default finds no
    /// room.
    pub gain: Option<f64>,
    /// The mean gain on the machines that the record leaves possible; null where none are known.
    pub mean_gain: Option<f64>,
    /// Whether there is a gain that can be told: more than the model can be wrong, or on average where
    /// no machine that the record leaves possible loses 2.5 %.
    pub is_claimed: bool,
    /// Whether the data finds room.
    pub room: Room,
    /// What slows the slowest threads most; null where they are latency-bound, or the model
    /// does not say.
    pub limit: Option<MachinePart>,
    /// Whether no policy gives it: the program itself would have to be changed.
    pub needs_change: bool,
    /// Placements of the same kind, on as many initiators and nodes, whose predictions cannot be told
    /// from this one's.
    pub ties: Vec<Vec<Binding>>,
    /// Whether pages lie on every node that they can lie on.
    #[serde(skip)]
    pub is_over_all: bool,
    /// Whether no case fills what limits it: its interval then goes up to what the record leaves possible.
    #[serde(skip)]
    pub is_open: bool,
    /// Whether its nodes carry the same, as far as can be told.
    #[serde(skip)]
    pub is_alike: bool,
    /// What is predicted for each machine that the record leaves possible; empty where none is known.
    #[serde(skip)]
    pub possible: Vec<BytesPerSecond>,
}

impl Candidate {
    pub(crate) fn new(
        kind: CandidateKind,
        team: &Team,
        policies: Vec<MemoryPolicy>,
        model: AdvisingModel,
        predicted: Estimate<BytesPerSecond>,
        room: Room,
    ) -> Self {
        Self {
            kind,
            is_default: false,
            team: team.clone(),
            policies,
            model,
            predicted,
            measured: None,
            gain: None,
            mean_gain: None,
            is_claimed: false,
            room,
            limit: None,
            needs_change: false,
            ties: Vec::new(),
            is_over_all: false,
            is_open: false,
            is_alike: false,
            possible: Vec::new(),
        }
    }

    /// Its gains over another on each machine that the record leaves possible.
    pub(crate) fn possible_gains(&self, default: &Self) -> Vec<f64> {
        self.possible
            .iter()
            .zip(&default.possible)
            .map(|(own, before)| *own / *before - 1.0)
            .collect()
    }

    /// The same, looked at whether its pages lie on all nodes.
    pub(crate) fn over_all_of(mut self, machine: &Machine) -> Self {
        let all = machine.nodes.iter().map(|node| node.os_index);
        let all: NodeSet = all.filter(|&node| takes_pages(machine, node)).collect();
        self.is_over_all = self.policies.iter().all(|it| it.nodes().as_ref() == Some(&all));
        self
    }

    /// Threads and pages of the whole program, or of each initiator by itself.
    pub fn bindings(&self) -> Vec<Binding> {
        let each = || self.team.cpus.iter().zip(&self.policies);
        match self.policies.as_slice() {
            [memory] => vec![Binding { cpus: self.team.all_cpus(), memory: memory.clone() }],
            _ => each()
                .map(|(cpus, memory)| Binding { cpus: cpus.clone(), memory: memory.clone() })
                .collect(),
        }
    }

    /// The command that applies it, or one for each initiator, to whose processes it belongs; empty
    /// where the program would have to be changed. Threads on all cores and pages on all nodes need
    /// no numbers.
    pub fn commands(&self) -> Vec<String> {
        if self.needs_change {
            return Vec::new();
        }
        // Of several commands each is for its own CPUs.
        let is_whole = self.team.is_whole && self.policies.len() == 1;
        let command = |binding: &Binding| {
            let placement = match (&binding.memory, self.kind) {
                (MemoryPolicy::FirstTouch, CandidateKind::Local) if is_whole => {
                    // Without a number OpenMP starts a thread for each CPU, of which a core may have two.
                    let threads = binding.cpus.len();
                    return format!(
                        "OMP_NUM_THREADS={threads} OMP_PLACES=cores OMP_PROC_BIND=close CMD"
                    );
                }
                (MemoryPolicy::FirstTouch, _) if is_whole => return "CMD".into(),
                (MemoryPolicy::FirstTouch, CandidateKind::Local) => "local".into(),
                (MemoryPolicy::Interleave(_), _) if self.is_over_all => "interleave".into(),
                (memory, _) => memory.to_string(),
            };
            let cpus = if is_whole { String::new() } else { format!(" --cpus {}", binding.cpus) };
            format!("nearfar run{cpus} --placement {placement} -- CMD")
        };
        self.bindings().iter().map(command).collect()
    }

    /// What it asks of its user.
    pub(crate) fn effort(&self) -> Effort {
        Effort {
            kind: self.kind,
            is_partial: self.kind >= CandidateKind::Interleave && !self.is_over_all,
            initiators: self.team.workers.len(),
            is_alike: self.is_alike,
        }
    }

    /// What it is ranked by: predicted / that of the default, or where there is no default what is
    /// predicted.
    pub(crate) fn worth(&self) -> f64 {
        self.gain.map_or(self.predicted.value.0, |gain| 1.0 + gain)
    }

    /// Whether it may be recommended: it is not known not to fit, and a command applies it.
    pub fn is_eligible(&self) -> bool {
        !self.needs_change && !matches!(self.room, Room::TooSmall { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind, worth and likeness of placements, and what they give on possible machines.
    type Placed = (CandidateKind, f64, bool, Vec<BytesPerSecond>);

    fn least_of(all: &[Placed]) -> usize {
        let effort =
            |it: &Placed| Effort { kind: it.0, is_partial: false, initiators: 1, is_alike: it.2 };
        least_effort(all, 0.044, |it| it.1, |it| &it.3, effort).unwrap()
    }

    /// Which is taken where nothing is known of other machines.
    fn taken(all: &[(CandidateKind, f64, bool)]) -> usize {
        let placed = all.iter().map(|&(kind, worth, alike)| (kind, worth, alike, Vec::new()));
        least_of(&placed.collect::<Vec<_>>())
    }

    #[test]
    fn a_gain_below_the_error_is_claimed_where_possible_machines_have_it() {
        assert!(is_claimed(0.12, &[-0.1, 0.3], 0.12));
        assert!(is_claimed(0.06, &[0.01, 0.2], 0.12));
        // By the fit it is less than they have on average.
        assert!(is_claimed(0.04, &[-0.02, 0.2], 0.12));
        assert!(!is_claimed(0.06, &[-0.03, 0.2], 0.12));
        // Less is claimed where none loses anything.
        assert!(is_claimed(0.03, &[0.0, 0.05], 0.12));
        assert!(is_claimed(0.03, &[-0.0009, 0.06], 0.12));
        assert!(!is_claimed(0.03, &[-0.001, 0.06], 0.12));
        assert!(!is_claimed(0.03, &[0.0, 0.039], 0.12));
        assert!(!is_claimed(-0.01, &[0.2, 0.2], 0.12));
        // Nothing is known of other machines.
        assert!(!is_claimed(0.06, &[], 0.12));
    }

    #[test]
    fn a_simple_placement_that_falls_behind_where_the_record_allows_it_is_not_taken() {
        use CandidateKind::{OneNode, Weighted};
        let on = |gb_per_s: [f64; 2]| gb_per_s.map(BytesPerSecond).to_vec();
        let all = |worth, of_node| {
            [(Weighted, 141.0, false, on([150.0, 130.0])), (OneNode, worth, true, on(of_node))]
        };
        assert_eq!(least_of(&all(139.0, [150.0, 127.0])), 1);
        assert_eq!(least_of(&all(139.0, [150.0, 125.0])), 0);
        // Ahead by the fit and not on average.
        assert_eq!(least_of(&all(142.0, [150.0, 125.0])), 0);
        // Behind on one machine, and ahead on the other.
        assert_eq!(least_of(&all(142.0, [160.0, 119.0])), 1);
    }

    #[test]
    fn what_cannot_be_told_from_the_best_and_asks_least_is_taken_and_nothing_worse() {
        use CandidateKind::{Interleave, OneNode, Weighted};
        // Weights on equal nodes, 2.1 % ahead of interleaving; then 4 %.
        assert_eq!(taken(&[(Weighted, 141.0, false), (Interleave, 138.0, true)]), 1);
        assert_eq!(taken(&[(Weighted, 141.0, false), (Interleave, 135.0, true)]), 0);
        // On nodes that differ they count from 1 % on.
        assert_eq!(taken(&[(Weighted, 141.0, false), (Interleave, 138.0, false)]), 0);
        assert_eq!(taken(&[(Weighted, 141.0, false), (Interleave, 139.7, false)]), 1);
        // A policy for each initiator has to be told from one for all.
        let by_initiator = CandidateKind::ByInitiator;
        assert_eq!(taken(&[(by_initiator, 142.0, false), (Weighted, 139.0, false)]), 1);
        assert_eq!(taken(&[(by_initiator, 144.0, false), (Weighted, 139.0, false)]), 0);
        // One node is alike to itself, and far behind.
        assert_eq!(taken(&[(Weighted, 141.0, false), (OneNode, 40.0, true)]), 0);
        assert_eq!(taken(&[(Interleave, 141.0, false), (OneNode, 40.0, true)]), 0);
    }
}
