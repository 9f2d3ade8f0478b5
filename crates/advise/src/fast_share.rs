//! The candidates of one initiator with a fast and a slow memory, by the hybrid model: loads and
//! stores over two memories hinder each other in ways that no capacity shows.

use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_model::{Buffers, Hybrid, HybridPair, HybridPrediction, HybridShares, page_weights};
use nearfar_record::{Estimate, PageSplit};

use crate::candidate::{AdvisingModel, Candidate, CandidateKind, LEAST_GAIN};
use crate::demand::{Demand, Pattern};
use crate::room::{room, room_share};
use crate::team::Team;

/// The model's cases have all cores of an initiator at work; with a smaller part of them the memories
/// are not filled as they were there.
const LEAST_CORES: f64 = 0.75;

/// The share of loads where nobody says one: what the flow model's figures are of, beside which this stands.
const LOADS_ALONE: f64 = 1.0;

/// Memories that the model knows of an initiator.
pub(crate) const MEMORIES: usize = 2;

/// The pair of memories that the model knows of a team's only initiator, where its pages come to lie
/// on one of the two by themselves and find room there.
fn pair_of<'a>(
    hybrid: Option<&'a Hybrid>,
    machine: &Machine,
    demand: &Demand,
    team: &Team,
) -> Option<&'a HybridPair> {
    let [only] = team.workers.as_slice() else { return None };
    let fits = |node: u32| room_share(machine, node, demand.working_set_bytes) >= 1.0;
    hybrid?.of_initiator(only.initiator).find(|pair| {
        let cores = f64::from(only.threads) / f64::from(pair.threads.max(1));
        cores >= LEAST_CORES && pair.default_node.is_some_and(fits)
    })
}

/// The candidates on the two memories of the initiator that a team is of, the default first; `None`
/// where the model does not know them.
pub(crate) fn candidates(
    hybrid: Option<&Hybrid>,
    machine: &Machine,
    demand: &Demand,
    team: &Team,
) -> Option<Vec<Candidate>> {
    let load_share = demand.load_share.unwrap_or(LOADS_ALONE);
    let pair = pair_of(hybrid, machine, demand, team)?;
    let default_share = if pair.default_node == Some(pair.slow_node) { 0.0 } else { 1.0 };
    let default = pair.predict(HybridShares::together(load_share, default_share))?;
    let of = |prediction: &HybridPrediction, weights: PageSplit| {
        let nodes = (pair.fast_node, pair.slow_node);
        let (kind, policy) = match (weights.fast, weights.slow) {
            (_, 0) => (CandidateKind::OneNode, MemoryPolicy::Preferred(nodes.0)),
            (0, _) => (CandidateKind::OneNode, MemoryPolicy::Preferred(nodes.1)),
            (1, 1) => {
                let both = [nodes.0, nodes.1].into_iter().collect();
                (CandidateKind::Interleave, MemoryPolicy::Interleave(both))
            }
            (fast, slow) => {
                let both = [(nodes.0, fast), (nodes.1, slow)].into_iter().collect();
                (CandidateKind::Weighted, MemoryPolicy::Weighted(both))
            }
        };
        let on = [(nodes.0, weights.fast_share()), (nodes.1, 1.0 - weights.fast_share())];
        let gain = pair.gain(prediction, &default);
        let open = [prediction.lowest, prediction.highest];
        let ends = prediction.bandwidth.interval.unwrap_or(open);
        let bandwidth = &prediction.bandwidth;
        let (ends, cases) = ((ends[0].0, ends[1].0), bandwidth.cases.clone());
        let predicted = Estimate {
            confidence: bandwidth.confidence,
            ..Estimate::computed(bandwidth.value.0, ends, cases)
        };
        let room = room(machine, demand.working_set_bytes, &on);
        let made = Candidate::new(kind, team, vec![policy], AdvisingModel::Hybrid, predicted, room);
        Candidate {
            gain: Some(gain.gain),
            is_claimed: gain.is_claimed && gain.gain >= LEAST_GAIN,
            ..made.over_all_of(machine)
        }
    };
    let room = room_share(machine, pair.fast_node, demand.working_set_bytes);
    let best = |most: f64| {
        let best = pair.best(load_share, Buffers::Together, most)?;
        pair.weights_of_all(&best.chosen, most)
    };
    let mut splits = [1.0, 0.0, 0.5].map(page_weights).to_vec();
    splits.extend(best(1.0));
    splits.extend(best(room));
    let mut all = vec![Candidate {
        kind: match demand.pattern {
            Pattern::Private => CandidateKind::Local,
            _ => CandidateKind::FirstTouch,
        },
        is_default: true,
        is_over_all: false,
        policies: vec![MemoryPolicy::FirstTouch],
        gain: Some(0.0),
        ..of(&default, page_weights(default_share))
    }];
    if demand.pattern == Pattern::Private {
        // What the program does by itself is the local placement.
        splits.retain(|split| (split.fast_share() - default_share).abs() > 1e-9);
    }
    for split in splits {
        // Next to a jump the share that weights give counts.
        let given = HybridShares::together(load_share, split.fast_share());
        let Some(prediction) = pair.predict(given) else { continue };
        let candidate = of(&prediction, split);
        if !all.iter().any(|it| it.policies == candidate.policies) {
            all.push(candidate);
        }
    }
    Some(all)
}
