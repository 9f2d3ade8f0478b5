//! Derivatives of rates against differences of rates.

use std::collections::BTreeSet;

use nearfar_flow::{Capacities, Load, Part, ScaledLoad, SharedLink};

fn capacities(random: &mut fastrand::Rng) -> Capacities {
    let mut rate = |from: f64, to: f64| 1e9 * (from + (to - from) * random.f64());
    let one_thread = (0..3).map(|_| (0..3).map(|_| rate(3.0, 9.0)).collect()).collect();
    let path = (0..3).map(|_| (0..3).map(|_| Some(rate(15.0, 30.0))).collect()).collect();
    let controller = (0..3).map(|_| Some(rate(20.0, 35.0))).collect();
    let issue = (0..3).map(|_| Some(rate(25.0, 50.0))).collect();
    let crosses: BTreeSet<(u32, u32)> = [(0, 2), (1, 2)].into();
    let links = vec![SharedLink { name: "far".into(), capacity: rate(15.0, 25.0), crosses }];
    Capacities {
        nodes: vec![0, 1, 2],
        one_thread,
        path,
        curves: Vec::new(),
        controller,
        interference: vec![0.0; 3],
        issue,
        links,
        pressure: Vec::new(),
        saturation: 3.0 + 4.0 * random.f64(),
        fairness: random.f64(),
    }
}

fn loads(random: &mut fastrand::Rng) -> Vec<ScaledLoad> {
    let mut load = |initiator| {
        let first = random.f64();
        let threads = random.u32(1..12);
        let load = Load { initiator, threads, shares: vec![(0, first), (2, 1.0 - first)] };
        ScaledLoad { load, demand_scale: 0.8 + 0.4 * random.f64() }
    };
    vec![load(0), load(1), load(2), load(1)]
}

/// ln rates of changed capacities and loads, a step up against a step down.
fn differences(
    capacities: &Capacities,
    loads: &[ScaledLoad],
    change: impl Fn(&mut Capacities, &mut Vec<ScaledLoad>, f64),
) -> Vec<f64> {
    let step = 1e-4;
    let at = |step: f64| {
        let (mut capacities, mut loads) = (capacities.clone(), loads.to_vec());
        change(&mut capacities, &mut loads, step);
        capacities.flows(&loads, None).unwrap().rates
    };
    at(step).iter().zip(at(-step)).map(|(up, down)| (up / down).ln() / (2.0 * step)).collect()
}

fn assert_near(ours: &[f64], differences: &[f64], what: &str) {
    for (ours, theirs) in ours.iter().zip(differences) {
        assert!((ours - theirs).abs() < 1e-5, "{what}: {ours} and {theirs}");
    }
}

#[test]
fn slopes_are_what_differences_give() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..12 {
        let (capacities, loads) = (capacities(&mut random), loads(&mut random));
        let flows = capacities.flows(&loads, None).unwrap();
        let slopes = flows.slopes().unwrap();
        for (used, ours) in flows.parts().iter().zip(&slopes.by_capacity) {
            let theirs = differences(&capacities, &loads, |capacities, _, step| {
                *capacity(capacities, used.part) *= step.exp();
            });
            assert_near(ours, &theirs, &format!("{:?}", used.part));
        }
        for (index, ours) in slopes.by_demand.iter().enumerate() {
            let theirs = differences(&capacities, &loads, |_, loads, step| {
                loads[index].demand_scale *= step.exp();
            });
            assert_near(ours, &theirs, "demand");
        }
        let theirs = differences(&capacities, &loads, |it, _, step| it.saturation *= step.exp());
        assert_near(&slopes.by_saturation, &theirs, "saturation");
        let theirs = differences(&capacities, &loads, |it, _, step| it.fairness += step);
        assert_near(&slopes.by_fairness, &theirs, "fairness");
    }
}

fn capacity(capacities: &mut Capacities, part: Part) -> &mut f64 {
    match part {
        Part::Path { initiator, column } => capacities.path[initiator][column].as_mut().unwrap(),
        Part::Controller { column } => capacities.controller[column].as_mut().unwrap(),
        Part::Issue { initiator } => capacities.issue[initiator].as_mut().unwrap(),
        Part::Link { index } => &mut capacities.links[index].capacity,
    }
}

#[test]
fn a_start_changes_nothing_but_the_time() {
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..12 {
        let (mut capacities, loads) = (capacities(&mut random), loads(&mut random));
        let start = capacities.flows(&loads, None).unwrap();
        capacities.saturation *= 1.2;
        capacities.controller[0] = capacities.controller[0].map(|capacity| capacity * 0.8);
        let cold = capacities.flows(&loads, None).unwrap();
        let warm = capacities.flows(&loads, Some(&start)).unwrap();
        for (one, other) in cold.rates.iter().zip(&warm.rates) {
            assert!((one / other - 1.0).abs() < 1e-6, "{one} and {other}");
        }
        for part in cold.parts() {
            assert!(part.filled > 0.0 && part.filled < 1.0, "{part:?}");
        }
    }
}

#[test]
fn what_parts_do_not_show_is_refused() {
    let mut random = fastrand::Rng::with_seed(7);
    let (plain, mut loads) = (capacities(&mut random), loads(&mut random));
    let mut crowded = plain.clone();
    crowded.interference[0] = 0.1;
    assert!(crowded.flows(&loads, None).is_err());
    assert!(plain.flows(&[], None).is_err());
    loads[0].demand_scale = f64::NAN;
    assert!(plain.flows(&loads, None).is_err());
    loads[0] = ScaledLoad { demand_scale: 1.0, ..loads[0].clone() };
    loads[0].load.threads = 0;
    assert!(plain.flows(&loads, None).is_err());
}
