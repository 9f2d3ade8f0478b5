//! Random machines: what advice by their noisy records leaves of the best.

use fastrand::Rng;
use nearfar_advise::{
    Effort, KernelRatios, LEAST_GAIN, PageNode, Question, Shares, Workers, are_alike, is_claimed,
    least_effort, possible_machines,
};
use nearfar_machine::page_weights;
use nearfar_model::{FittedFlow, FlowCase, fit_flow};
use nearfar_record::Experiment;
use nearfar_units::BytesPerSecond;

use crate::machine::{Family, Machine};
use crate::sets::{measured, sets};
use crate::truth::{Outcome, Truth, equal};

/// Private data is looked at on every so manieth machine: its truth takes long.
const PRIVATE_EVERY: u64 = 5;
/// So many of the placements that were looked at are where the search on the truth begins too.
const BEGINNINGS: usize = 20;

/// A placement that was looked at, and what is predicted of it, bytes/s.
struct LookedAt {
    shares: Shares,
    predicted: f64,
    /// On each machine that the record leaves possible.
    possible: Vec<BytesPerSecond>,
}

/// One machine and one set of its initiators.
pub fn trial(seed: u64, noise: f64) -> Vec<Outcome> {
    let mut random = Rng::with_seed(1000 + seed);
    let family = match seed % 9 {
        2 => Family::Queueing,
        5 => Family::PerThread,
        8 => Family::Turnaround,
        _ => Family::Own,
    };
    let machine = Machine::random(family, &mut random);
    let workers = workers(&machine, &mut random);
    let wanted = 8;
    let cases = measured(&machine, sets(&machine, wanted, &mut random), noise, &mut random);
    let is_mix = |case: &FlowCase| case.experiment == Experiment::Mixes;
    let fitted = fit_flow(&machine.layout(), &cases, is_mix).unwrap();
    let nodes: Vec<u32> = (0..machine.nodes).collect();
    let count = nodes.len();
    let possible = possible_machines(&fitted, &machine.layout(), &cases);
    let question = Question {
        capacities: &fitted.capacities,
        kernel: KernelRatios { bytes: 1.0, demand: 1.0 },
        workers: workers.clone(),
        page_nodes: nodes.iter().map(|&node| PageNode { node, room_share: 1.0 }).collect(),
        possible: &possible,
    };
    let rates = |loads: &[nearfar_flow::Load]| machine.rates(loads);
    let truth = Truth { rates: &rates, workers: &workers, nodes: &nodes };
    let own: Vec<usize> = workers.iter().map(|it| it.initiator as usize).collect();
    let found = question.search_shared(std::slice::from_ref(&own));
    let largest = rounded(&found.best.unwrap()[0]);
    let mut starts = found.starts;
    starts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let others = starts.iter().take(BEGINNINGS).map(|(shares, _)| shares.clone());
    let best = truth.best_shared(&others.chain([largest.clone()]).collect::<Vec<Shares>>());
    let regret = |shares: &Shares| 1.0 - truth.paced(std::slice::from_ref(shares)) / best;
    let default = equal(count, &own[..1]);
    let predicted = |it: &Shares| question.throughput(std::slice::from_ref(it)).unwrap().paced;
    let looked_at = starts.iter().map(|(shares, _)| rounded(shares)).chain([largest.clone()]);
    let on_possible = |it: &Shares| -> Vec<BytesPerSecond> {
        let all = question.possible_throughputs(std::slice::from_ref(it)).unwrap();
        all.into_iter().map(|it| BytesPerSecond(it.paced)).collect()
    };
    let looked_at = looked_at.map(|it| LookedAt {
        predicted: predicted(&it),
        possible: on_possible(&it),
        shares: it,
    });
    let looked_at: Vec<LookedAt> = looked_at.collect();
    let effort = |LookedAt { shares, .. }: &LookedAt| {
        let used = nodes.iter().zip(shares).filter(|(_, share)| **share > 0.0);
        let is_alike = are_alike(&fitted.capacities, used.map(|(&node, _)| node));
        Effort { is_alike, ..Effort::of_shares(shares, own.len()) }
    };
    let reach = reach(&fitted);
    let place = least_effort(&looked_at, reach, |it| it.predicted, |it| &it.possible, effort);
    let LookedAt { shares: advised, predicted: of_advised, possible } = &looked_at[place.unwrap()];
    let floor = LEAST_GAIN.max(2.0 * model_error(&fitted));
    let before = on_possible(&default);
    let both = possible.iter().zip(&before);
    let possible_gains: Vec<f64> = both.map(|(own, before)| *own / *before - 1.0).collect();
    let gain = of_advised / predicted(&default) - 1.0;
    let is_worth = is_claimed(gain, &possible_gains, floor);
    let paced = |it: &Shares| truth.paced(std::slice::from_ref(it));
    let carried = |column: usize| {
        let path = machine.truth.path.iter().filter_map(|row| row[column]).fold(0.0, f64::max);
        machine.truth.controller[column].map_or(path, |it| it.min(path))
    };
    let carried: Vec<f64> = (0..count).map(carried).collect();
    let private = seed.is_multiple_of(PRIVATE_EVERY).then(|| {
        let local: Vec<Shares> = own.iter().map(|&it| equal(count, &[it])).collect();
        let uniform = vec![equal(count, &(0..count).collect::<Vec<_>>()); own.len()];
        let advised = question.search_private(vec![local.clone(), uniform.clone()]).unwrap();
        let advised: Vec<Shares> = advised.iter().map(rounded).collect();
        let best = truth.best_private(&[local.clone(), uniform, advised.clone()]);
        (1.0 - truth.paced(&advised) / best, 1.0 - truth.paced(&local) / best)
    });
    vec![Outcome {
        asked: format!("seed {seed}, {family:?}, {count} nodes, initiators {own:?}"),
        largest: regret(&largest),
        first: regret(advised),
        recommended: regret(if is_worth { advised } else { &default }),
        floor,
        gained: is_worth.then(|| paced(advised) / paced(&default) - 1.0),
        is_own_law: family == Family::Own,
        is_foreign_law: family != Family::Own,
        by_rule: truth.by_rule(best, &own, &carried),
        private,
    }]
}

/// What weights make of shares.
fn rounded(shares: &Shares) -> Shares {
    let weights = page_weights(shares);
    let sum = f64::from(weights.iter().sum::<u32>());
    weights.into_iter().map(|it| f64::from(it) / sum).collect()
}

/// What most streams of left-out cases are off by, at least twice the model's error.
fn reach(fitted: &FittedFlow) -> f64 {
    let errors = fitted.left_out.iter().flat_map(|(_, errors)| errors);
    let mut sizes: Vec<f64> = errors.map(|it| it.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get((sizes.len() * 95).div_ceil(100).saturating_sub(1)).copied();
    let least = 2.0 * model_error(fitted);
    most.map_or(least, |most| most.max(least))
}

fn model_error(fitted: &FittedFlow) -> f64 {
    let mean = |all: &[(usize, Vec<f64>)]| {
        let sizes: Vec<f64> =
            all.iter().flat_map(|(_, errors)| errors.iter().map(|it| it.abs())).collect();
        sizes.iter().sum::<f64>() / sizes.len() as f64
    };
    mean(&fitted.left_out).max(mean(&fitted.errors))
}

/// All threads of a random set of initiators.
fn workers(machine: &Machine, random: &mut Rng) -> Vec<Workers> {
    let mut initiators: Vec<u32> = (0..machine.nodes).collect();
    random.shuffle(&mut initiators);
    initiators.truncate(random.usize(1..=machine.nodes as usize));
    initiators.sort_unstable();
    let threads = machine.threads;
    initiators.into_iter().map(|initiator| Workers { initiator, threads }).collect()
}
