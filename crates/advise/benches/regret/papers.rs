//! The machines of papers, simulated with noise and asked through a record as a user asks.

use std::collections::BTreeMap;

use nearfar_advise::{Advice, Basis, Candidate, Demand, Pattern, Shares, Workers, advise};
use nearfar_flow::{KernelLoad, Load, Noise, read_machine};
use nearfar_machine::MemoryPolicy;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::RecordFigures;
use nearfar_record::{Experiment, Inputs, Suite};

use crate::truth::{Outcome, Truth};

const NAMES: [&str; 7] =
    ["amd-2p", "amd-4p", "intel-2p", "joe0", "e7-4870", "opteron-8", "itanium2"];

/// How many there are.
pub const COUNT: u64 = NAMES.len() as u64;

const EXPERIMENTS: [Experiment; 4] =
    [Experiment::Pairs, Experiment::Links, Experiment::Roofs, Experiment::Mixes];

/// Shared data of the threads of one initiator, of half of them, and of all.
pub fn trials(place: u64, noise: f64) -> Vec<Outcome> {
    let name = NAMES[usize::try_from(place).unwrap()];
    let mut machine = read_machine(name).unwrap();
    machine.noise = Noise { between_rounds: noise, ..Noise::default() };
    let inputs = Inputs {
        seed: place + 1,
        experiments: EXPERIMENTS.into(),
        kernels: Some(vec!["load".into(), "triad".into()]),
        ..suite_inputs(Suite::Standard)
    };
    let record = simulate(&machine, inputs, true).unwrap();
    let figures = RecordFigures::new(&record);
    let initiators: Vec<u32> = machine.machine.initiators().iter().map(|it| it.index).collect();
    let mut sizes = vec![1, initiators.len() / 2, initiators.len()];
    sizes.dedup();
    let mut outcomes = Vec::new();
    for size in sizes.into_iter().filter(|size| *size > 0) {
        let demand = Demand {
            threads: None,
            initiators: Some(initiators[..size].into()),
            working_set_bytes: None,
            load_share: None,
            pattern: Pattern::Shared,
            seen: None,
        };
        let Advice::Ranked(ranking) = advise(&figures, &demand).unwrap() else { continue };
        let Basis::Flow { flow, .. } = &ranking.basis else { panic!("no flow model") };
        let (kernel, variant) = (&flow.layout.kernels[0], &flow.variants[0]);
        let rates = |loads: &[Load]| {
            let of = |load: &Load| KernelLoad::new(kernel, variant, load.clone());
            machine.rates(&loads.iter().map(of).collect::<Vec<_>>()).unwrap()
        };
        let nodes = &flow.layout.nodes;
        let first = ranking.candidates.iter().find(|it| it.is_eligible()).unwrap();
        let workers: Vec<Workers> = first.team.workers.clone();
        let truth = Truth { rates: &rates, workers: &workers, nodes };
        let home = |initiator: u32| {
            let own = machine.machine.initiators();
            own.iter().find(|it| it.index == initiator).unwrap().cpu_node.unwrap()
        };
        let position = |node: u32| nodes.iter().position(|&it| it == node).unwrap();
        let own: Vec<usize> = workers.iter().map(|it| position(home(it.initiator))).collect();
        let shares = |it: &Candidate| -> Shares { shares(it, nodes, nodes[own[0]]) };
        let looked_at: Vec<Shares> = ranking.candidates.iter().map(shares).collect();
        let best = truth.best_shared(&looked_at);
        let regret = |it: &Candidate| 1.0 - truth.paced(&[shares(it)]) / best;
        let recommended = &ranking.candidates[ranking.recommended.unwrap()];
        let gained = |default: &Candidate| {
            let of = |it: &Candidate| truth.paced(&[shares(it)]);
            (!recommended.is_default).then(|| of(recommended) / of(default) - 1.0)
        };
        let full = |initiator: u32, node: u32| {
            let cores = u32::try_from(machine.machine.cores.len() / initiators.len()).unwrap();
            let load = Load { initiator, threads: cores, shares: vec![(node, 1.0)] };
            rates(&[load])[0]
        };
        let carried = |&node: &u32| initiators.iter().map(|&it| full(it, node)).fold(0.0, f64::max);
        let carried: Vec<f64> = nodes.iter().map(carried).collect();
        let by_prediction =
            |a: &&Candidate, b: &&Candidate| a.predicted.value.0.total_cmp(&b.predicted.value.0);
        let eligible = ranking.candidates.iter().filter(|it| it.is_eligible());
        let largest = eligible.max_by(by_prediction).unwrap();
        outcomes.push(Outcome {
            asked: format!("{name}, initiators {:?}", &initiators[..size]),
            largest: regret(largest),
            first: regret(first),
            recommended: regret(recommended),
            floor: flow.least_difference(),
            gained: gained(&ranking.candidates[ranking.default.unwrap()]),
            is_own_law: false,
            is_foreign_law: false,
            by_rule: truth.by_rule(best, &own, &carried),
            private: None,
        });
    }
    outcomes
}

/// The shares of pages that a candidate's policy gives.
fn shares(candidate: &Candidate, nodes: &[u32], home: u32) -> Shares {
    let weights: BTreeMap<u32, u32> = match &candidate.policies[0] {
        MemoryPolicy::FirstTouch => [(home, 1)].into(),
        MemoryPolicy::Preferred(node) => [(*node, 1)].into(),
        MemoryPolicy::Bind(on) | MemoryPolicy::Interleave(on) => {
            on.iter().map(|node| (node, 1)).collect()
        }
        MemoryPolicy::Weighted(weights) => weights.clone(),
    };
    let sum: u32 = weights.values().sum();
    let of = |node: &u32| f64::from(weights.get(node).copied().unwrap_or(0)) / f64::from(sum);
    nodes.iter().map(of).collect()
}
