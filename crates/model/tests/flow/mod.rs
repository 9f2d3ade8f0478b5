//! The flow fit from cases: recovery, what left-out cases show, what is not bound, and what cannot
//! be fitted.

use std::collections::BTreeSet;

use nearfar_flow::{Capacities, Load, SharedLink};
use nearfar_model::{
    FlowCase, FlowLayout, FlowLink, FlowParameter, FlowPart, FlowStream, MachinePart, fit_flow,
};
use nearfar_record::Experiment;
use proptest::prelude::*;

const NODES: u32 = 3;
const THREADS: u32 = 12;

fn crosses() -> BTreeSet<(u32, u32)> {
    [(0, 2), (1, 2)].into()
}

fn layout() -> FlowLayout {
    let part = MachinePart::Link { from_package: 0, to_package: 1 };
    FlowLayout {
        initiators: 3,
        nodes: (0..NODES).collect(),
        links: vec![FlowLink { part, crosses: crosses() }],
        kernels: vec!["load".into()],
    }
}

/// Three nodes, of which the third is in a package of its own.
fn machine() -> Capacities {
    let row = |near: f64, far: f64| vec![near * 1e9, near * 0.8e9, far * 1e9];
    Capacities {
        nodes: (0..NODES).collect(),
        one_thread: vec![row(4.0, 2.0), row(4.2, 2.1), row(3.9, 2.2)],
        path: vec![row(30.0, 16.0), row(31.0, 15.0), row(29.0, 18.0)]
            .into_iter()
            .map(|row| row.into_iter().map(Some).collect())
            .collect(),
        curves: Vec::new(),
        controller: vec![Some(34e9), Some(33e9), Some(20e9)],
        interference: vec![0.0; 3],
        issue: vec![Some(38e9), Some(37e9), Some(39e9)],
        links: vec![SharedLink { name: "far".into(), capacity: 18e9, crosses: crosses() }],
        pressure: Vec::new(),
        saturation: 5.5,
        fairness: 0.3,
    }
}

fn load(initiator: u32, threads: u32, nodes: &[u32]) -> Load {
    let share = 1.0 / nodes.len() as f64;
    Load { initiator, threads, shares: nodes.iter().map(|&node| (node, share)).collect() }
}

fn case(machine: &Capacities, experiment: Experiment, loads: &[Load], noise: f64) -> FlowCase {
    let rates = machine.rates(loads).unwrap();
    let stream =
        |(load, rate): (&Load, f64)| FlowStream { load: load.clone(), kernel: 0, rate, noise };
    FlowCase { experiment, streams: loads.iter().zip(rates).map(stream).collect() }
}

/// Pairs, all initiators on each node and on their own, the link, and random sets.
fn cases(machine: &Capacities, mixes: usize, random: &mut fastrand::Rng) -> Vec<FlowCase> {
    let mut cases = Vec::new();
    let all: Vec<u32> = (0..NODES).collect();
    for initiator in 0..3 {
        for node in 0..NODES {
            for threads in [1, THREADS] {
                let alone = [load(initiator, threads, &[node])];
                cases.push(case(machine, Experiment::Pairs, &alone, 0.01));
            }
        }
        cases.push(case(machine, Experiment::Roofs, &[load(initiator, THREADS, &all)], 0.01));
        let contended: Vec<Load> = (0..3).map(|other| load(other, THREADS, &[initiator])).collect();
        cases.push(case(machine, Experiment::Roofs, &contended, 0.01));
    }
    let across = [load(0, THREADS, &[2]), load(1, THREADS, &[2])];
    cases.push(case(machine, Experiment::Links, &across, 0.01));
    for _ in 0..mixes {
        cases.push(case(machine, Experiment::Mixes, &set(random), 0.01));
    }
    cases
}

fn set(random: &mut fastrand::Rng) -> Vec<Load> {
    (0..3)
        .map(|initiator| {
            let first = random.u32(..NODES);
            let nodes = [first, (first + 1) % NODES];
            load(initiator, random.u32(1..=THREADS), &nodes[..random.usize(1..=2)])
        })
        .collect()
}

fn is_mix(case: &FlowCase) -> bool {
    case.experiment == Experiment::Mixes
}

fn spoil(cases: &mut [FlowCase], noise: f64, random: &mut fastrand::Rng) {
    for stream in cases.iter_mut().flat_map(|case| &mut case.streams) {
        stream.rate *= 1.0 + noise * (random.f64() + random.f64() + random.f64() - 1.5) * 2.0;
        stream.noise = noise;
    }
}

fn mean_error(fitted: &nearfar_model::FittedFlow, sets: &[FlowCase]) -> f64 {
    let mut sizes = Vec::new();
    for case in sets {
        let rates = fitted.rates(case).unwrap();
        let pairs = rates.iter().zip(&case.streams);
        sizes.extend(pairs.map(|(rate, stream)| (rate / stream.rate - 1.0).abs()));
    }
    sizes.iter().sum::<f64>() / sizes.len() as f64
}

#[test]
fn unseen_sets_of_its_own_family_are_foretold() {
    let truth = machine();
    let mut random = fastrand::Rng::with_seed(1);
    let mut cases = cases(&truth, 12, &mut random);
    let unseen: Vec<FlowCase> =
        (0..40).map(|_| case(&truth, Experiment::Mixes, &set(&mut random), 0.01)).collect();
    let exact = fit_flow(&layout(), &cases, is_mix).unwrap();
    assert!(mean_error(&exact, &unseen) < 0.005, "{}", mean_error(&exact, &unseen));
    spoil(&mut cases, 0.03, &mut random);
    let noisy = fit_flow(&layout(), &cases, is_mix).unwrap();
    assert!(mean_error(&noisy, &unseen) < 0.025, "{}", mean_error(&noisy, &unseen));
    // What fills up was seen to; the truth lies in its interval.
    let link = FlowParameter::Capacity(FlowPart::Link { index: 0 });
    let of_link = noisy.parameters.iter().find(|it| it.parameter == link).unwrap();
    assert!(of_link.is_bound, "{of_link:?}");
    let (low, high) = of_link.interval;
    assert!(low < 18e9 && 18e9 < high, "{of_link:?}");
}

/// The quick formula against fits without the case.
#[test]
fn left_out_cases_are_foretold_as_a_fit_without_them_would() {
    let truth = machine();
    let mut random = fastrand::Rng::with_seed(2);
    let mut cases = cases(&truth, 6, &mut random);
    spoil(&mut cases, 0.03, &mut random);
    let all = fit_flow(&layout(), &cases, is_mix).unwrap();
    assert_eq!(all.left_out.len(), 6);
    for (position, errors) in &all.left_out {
        let mut others = cases.clone();
        let case = others.remove(*position);
        let without = fit_flow(&layout(), &others, |_| false).unwrap();
        let rates = without.rates(&case).unwrap();
        for ((error, rate), stream) in errors.iter().zip(&rates).zip(&case.streams) {
            let refitted = rate / stream.rate - 1.0;
            assert!((error - refitted).abs() < 0.01, "{position}: {error} and {refitted}");
        }
        // A case that helped is predicted better than one that did not.
        let fitted = &all.errors.iter().find(|(it, _)| it == position).unwrap().1;
        let size = |errors: &[f64]| errors.iter().map(|it| it * it).sum::<f64>();
        assert!(size(errors) > size(fitted) * 0.99, "{position}: {errors:?} and {fitted:?}");
    }
}

#[test]
fn what_no_case_fills_is_not_bound() {
    let mut truth = machine();
    truth.issue = vec![Some(1e12); 3];
    truth.controller = vec![Some(1e12); 3];
    let mut random = fastrand::Rng::with_seed(3);
    // One thread each: nothing is full.
    let mut cases: Vec<FlowCase> = Vec::new();
    for initiator in 0..3 {
        for node in 0..NODES {
            cases.push(case(&truth, Experiment::Pairs, &[load(initiator, 1, &[node])], 0.02));
        }
    }
    let two = [load(0, 1, &[0]), load(1, 1, &[1])];
    cases.extend((0..3).map(|_| case(&truth, Experiment::Mixes, &two, 0.02)));
    spoil(&mut cases, 0.02, &mut random);
    let fitted = fit_flow(&layout(), &cases, is_mix).unwrap();
    for estimate in &fitted.parameters {
        if let FlowParameter::Capacity(FlowPart::Controller { .. } | FlowPart::Issue { .. }) =
            estimate.parameter
        {
            assert!(!estimate.is_bound, "{estimate:?}");
        }
        assert!(estimate.value.is_finite() && estimate.interval.1.is_finite());
    }
    assert!(!fitted.fairness.is_bound);
}

/// The fitted machine lies among those that are possible, which scatter by what cases leave open: what
/// nothing fills, up and not below what was moved over it.
#[test]
fn possible_machines_scatter_as_the_numbers_are_sure() {
    let mut truth = machine();
    // Nothing fills an issue limit; paths are filled by their own cases.
    truth.issue = vec![Some(1e12); 3];
    let mut random = fastrand::Rng::with_seed(7);
    let cases = cases(&truth, 8, &mut random);
    let fitted = fit_flow(&layout(), &cases, is_mix).unwrap();
    let same = fitted.possible(&layout(), &cases, || 0.0).unwrap();
    let moved = |machine: &Capacities, pick: &dyn Fn(&Capacities) -> f64| {
        (pick(machine) / pick(&fitted.capacities)).ln()
    };
    let path = |it: &Capacities| it.path[0][0].unwrap();
    let issue = |it: &Capacities| it.issue[0].unwrap();
    assert!(moved(&same, &path).abs() < 0.01 && moved(&same, &issue).abs() < 0.01, "{same:?}");
    let issued = |case: &FlowCase| -> f64 {
        let own = case.streams.iter().filter(|it| it.load.initiator == 0);
        own.map(|it| it.rate).sum()
    };
    let most = cases.iter().map(issued).fold(0.0, f64::max);
    let (mut of_path, mut of_issue) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let normal = || if random.bool() { 1.0 } else { -1.0 };
        let machine = fitted.possible(&layout(), &cases, normal).unwrap();
        assert!((1.0..=25.0).contains(&machine.saturation), "{machine:?}");
        assert!(issue(&machine) > 0.95 * most, "{machine:?}");
        of_path.push(moved(&machine, &path));
        of_issue.push(moved(&machine, &issue));
    }
    let ends = |all: &[f64]| {
        all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &it| (a.min(it), b.max(it)))
    };
    let (path, issue) = (ends(&of_path), ends(&of_issue));
    assert!(path.0 < 0.0 && path.1 > 0.0, "{path:?}");
    assert!(path.0 > -0.1 && path.1 < 0.1, "{path:?}");
    assert!(issue.1 > 0.2 && -issue.0 < issue.1, "{issue:?}");
}

/// A kernel that moves fewer bytes through the same parts.
#[test]
fn a_further_kernel_has_ratios_of_its_own() {
    let truth = machine();
    let mut random = fastrand::Rng::with_seed(4);
    let mut cases = cases(&truth, 10, &mut random);
    let mut layout = layout();
    layout.kernels.push("triad".into());
    let mut of_triad: Vec<FlowCase> =
        cases.iter().filter(|it| it.streams.len() == 1).cloned().collect();
    of_triad.truncate(8);
    for stream in of_triad.iter_mut().flat_map(|case| &mut case.streams) {
        stream.kernel = 1;
        stream.rate *= 0.7;
    }
    for (index, case) in cases.iter_mut().filter(|case| is_mix(case)).enumerate() {
        let stream = &mut case.streams[index % 3];
        stream.kernel = 1;
        stream.rate *= 0.7;
    }
    cases.extend(of_triad);
    let fitted = fit_flow(&layout, &cases, is_mix).unwrap();
    let (bytes, demand) = fitted.kernels[1];
    assert!((bytes - 0.7).abs() < 0.01 && (demand - 1.0).abs() < 0.02, "{bytes} {demand}");
}

/// A hard limit lies beyond what p may be: the estimate stays inside with an interval on both
/// sides, and so does a fairness of 0.
#[test]
fn exponents_at_their_ends_have_intervals_inside() {
    let mut truth = machine();
    truth.saturation = 200.0;
    truth.fairness = 0.0;
    let mut random = fastrand::Rng::with_seed(6);
    let fitted = fit_flow(&layout(), &cases(&truth, 12, &mut random), is_mix).unwrap();
    for (estimate, (least, most)) in
        [(fitted.saturation, (1.0, 25.0)), (fitted.fairness, (0.0, 2.0))]
    {
        let (low, high) = estimate.interval;
        assert!(least < low && low < estimate.value, "{estimate:?}");
        assert!(estimate.value < high && high < most, "{estimate:?}");
    }
    assert!(fitted.saturation.value > 12.0 && fitted.fairness.value < 0.2, "{fitted:?}");
}

#[test]
fn cases_without_lone_figures_are_left_aside_and_nothing_is_no_fit() {
    let truth = machine();
    assert_eq!(fit_flow(&layout(), &[], |_| true), None);
    let two = case(&truth, Experiment::Mixes, &[load(0, 2, &[0]), load(1, 2, &[1])], 0.02);
    assert_eq!(fit_flow(&layout(), std::slice::from_ref(&two), |_| true), None);
    let alone = |threads| case(&truth, Experiment::Pairs, &[load(0, threads, &[0])], 0.02);
    let fitted = fit_flow(&layout(), &[alone(1), two, alone(8)], |_| true).unwrap();
    let positions: Vec<usize> = fitted.errors.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [0, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was measured, there is a finite answer or none.
    #[test]
    fn strange_figures_give_finite_numbers_or_none(
        rates in prop::collection::vec(1e3_f64..1e13, 22),
        threads in prop::collection::vec(1_u32..400, 4),
    ) {
        let stream = |initiator, node, threads, rate| FlowStream {
            load: load(initiator, threads, &[node]), kernel: 0, rate, noise: 0.02,
        };
        let mut cases = Vec::new();
        let mut rates = rates.into_iter();
        for initiator in 0..3 {
            for node in 0..3 {
                for threads in [1, threads[0]] {
                    let rate = rates.next().unwrap();
                    let streams = vec![stream(initiator, node, threads, rate)];
                    cases.push(FlowCase { experiment: Experiment::Pairs, streams });
                }
            }
        }
        let streams = vec![
            stream(0, 0, threads[1], rates.next().unwrap()),
            stream(1, 0, threads[2], rates.next().unwrap()),
            stream(2, 2, threads[3], rates.next().unwrap()),
        ];
        cases.push(FlowCase { experiment: Experiment::Mixes, streams });
        if let Some(fitted) = fit_flow(&layout(), &cases, is_mix) {
            for estimate in fitted.parameters.iter().chain([&fitted.saturation, &fitted.fairness]) {
                prop_assert!(estimate.value.is_finite(), "{estimate:?}");
                prop_assert!(!estimate.interval.0.is_nan() && !estimate.interval.1.is_nan());
            }
            for errors in fitted.errors.iter().chain(&fitted.left_out) {
                prop_assert!(errors.1.iter().all(|error| error.is_finite()));
            }
        }
    }
}
