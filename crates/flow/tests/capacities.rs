//! What loads on a machine's parts get.

use std::collections::BTreeSet;

use nearfar_flow::{Capacities, FlowError, Load, SharedLink};

/// Two initiators with a node each and a memory-only node 7; no two numbers are alike.
fn capacities() -> Capacities {
    Capacities {
        nodes: vec![0, 1, 7],
        one_thread: vec![vec![12e9, 8e9, 5e9], vec![7e9, 11e9, 3e9]],
        path: vec![vec![Some(60e9), Some(33e9), Some(21e9)], vec![Some(31e9), Some(58e9), None]],
        controller: vec![Some(65e9), Some(66e9), Some(20e9)],
        issue: vec![Some(70e9), None],
        links: vec![SharedLink {
            name: "1-to-0".into(),
            capacity: 35e9,
            crosses: BTreeSet::from([(1, 0), (1, 7)]),
        }],
        curves: Vec::new(),
        interference: vec![0.0; 3],
        pressure: Vec::new(),
        saturation: 5.0,
        fairness: 0.5,
    }
}

fn load(initiator: u32, threads: u32, shares: &[(u32, f64)]) -> Load {
    Load { initiator, threads, shares: shares.to_vec() }
}

fn assert_close(ours: f64, expected: f64, tolerance: f64) {
    assert!((ours / expected - 1.0).abs() <= tolerance, "{ours}, expected {expected}");
}

#[test]
fn a_lone_load_passes_every_part_on_its_way() {
    let capacities = capacities();
    let smooth = |demand: f64, limits: &[f64]| {
        let terms: f64 = limits.iter().map(|limit| (demand / limit).powf(5.0)).sum();
        demand * (1.0 + terms).powf(-0.2)
    };
    for threads in [1, 4, 20] {
        let n = f64::from(threads);
        let one = |initiator, node| {
            capacities.rates(&[load(initiator, threads, &[(node, 1.0)])]).unwrap()[0]
        };
        assert_close(one(0, 0), smooth(n * 12e9, &[60e9, 65e9, 70e9]), 1e-9);
        assert_close(one(1, 0), smooth(n * 7e9, &[31e9, 65e9, 35e9]), 1e-9);
        // No path of its own and no issue limit: what is None limits nothing.
        assert_close(one(1, 7), smooth(n * 3e9, &[20e9, 35e9]), 1e-9);
        // Three quarters on node 0 and one on node 7: a thread's time adds up, a part's
        // capacity counts for what it carries, the link carries both.
        let both = capacities.rates(&[load(1, threads, &[(0, 0.75), (7, 0.25)])]).unwrap()[0];
        let demand = n / (0.75 / 7e9 + 0.25 / 3e9);
        let limits = [31e9 / 0.75, 65e9 / 0.75, 20e9 / 0.25, 35e9];
        assert_close(both, smooth(demand, &limits), 1e-9);
    }
}

#[test]
fn a_load_in_parts_gets_what_it_gets_as_one() {
    let mut capacities = capacities();
    for fairness in [0.0, 0.5, 1.0] {
        capacities.fairness = fairness;
        let other = load(1, 6, &[(0, 0.5), (1, 0.5)]);
        let whole = capacities.rates(&[load(0, 12, &[(0, 1.0)]), other.clone()]).unwrap();
        let parts = [load(0, 9, &[(0, 1.0)]), other, load(0, 3, &[(0, 1.0)])];
        let parts = capacities.rates(&parts).unwrap();
        assert_close(parts[0] + parts[2], whole[0], 1e-9);
        assert_close(parts[0] / parts[2], 3.0, 1e-9);
        assert_close(parts[1], whole[1], 1e-9);
    }
}

#[test]
fn fairness_divides_by_thread_or_by_demand() {
    // Only the controller of node 0 is narrow, and hard.
    let mut capacities = capacities();
    capacities.path = vec![vec![None; 3]; 2];
    capacities.links.clear();
    capacities.issue = vec![None; 2];
    capacities.controller[0] = Some(10e9);
    capacities.saturation = 60.0;
    let loads = [load(0, 4, &[(0, 1.0)]), load(1, 8, &[(0, 1.0)])];
    let mut ratio = |fairness: f64| {
        capacities.fairness = fairness;
        let rates = capacities.rates(&loads).unwrap();
        assert_close(rates.iter().sum(), 10e9, 1e-3);
        rates[0] / rates[1]
    };
    assert_close(ratio(0.0), 4.0 / 8.0, 1e-2);
    assert_close(ratio(1.0), 4.0 * 12.0 / (8.0 * 7.0), 1e-2);
    let between = ratio(0.5);
    assert!(between > 0.5 && between < 48.0 / 56.0, "{between}");
}

#[test]
fn a_link_is_shared_by_what_crosses_it_only() {
    let capacities = capacities();
    let crossing = [load(1, 10, &[(0, 1.0)]), load(1, 10, &[(7, 1.0)])];
    let rates = capacities.rates(&crossing).unwrap();
    assert!(rates.iter().sum::<f64>() < 35e9);
    let [alone] = capacities.rates(&crossing[..1]).unwrap()[..] else { panic!() };
    assert!(rates[0] < 0.9 * alone, "{rates:?} {alone}");
    let apart = [load(1, 10, &[(0, 1.0)]), load(0, 1, &[(1, 1.0)])];
    let apart = capacities.rates(&apart).unwrap();
    assert_close(apart[0], alone, 1e-9);
}

#[test]
fn loads_without_threads_move_nothing_and_do_not_count() {
    let capacities = capacities();
    let rates = capacities
        .rates(&[load(0, 0, &[(0, 1.0)]), load(0, 3, &[(0, 1.0)]), load(1, 0, &[])])
        .unwrap();
    let alone = capacities.rates(&[load(0, 3, &[(0, 1.0)])]).unwrap();
    assert_eq!(rates, [0.0, alone[0], 0.0]);
    assert!(capacities.rates(&[]).unwrap().is_empty());
}

#[test]
fn loads_and_capacities_that_mean_nothing_are_refused() {
    for (what, word) in [
        (load(2, 1, &[(0, 1.0)]), "initiator 2"),
        (load(0, 1, &[(3, 1.0)]), "memory node 3"),
        (load(0, 1, &[(0, 0.5)]), "add up to 0.5"),
        (load(0, 1, &[(0, 1.5), (1, -0.5)]), "from 0 to 1"),
        (load(0, 1, &[(0, f64::NAN)]), "from 0 to 1"),
        (load(0, 1, &[]), "add up to 0"),
    ] {
        let error = capacities().rates(&[what]).unwrap_err();
        assert!(matches!(error, FlowError::Load(_)) && error.to_string().contains(word), "{error}");
    }
    type Spoil = fn(&mut Capacities);
    let spoil: [(&str, Spoil); 7] = [
        ("2 initiators and 3 nodes", |it| it.path[1].clear()),
        ("2 initiators and 3 nodes", |it| it.controller.push(None)),
        ("a thread's rate", |it| it.one_thread[1][2] = 0.0),
        ("a path", |it| it.path[0][0] = Some(f64::NAN)),
        ("a link", |it| it.links[0].capacity = -1.0),
        ("saturation", |it| it.saturation = 0.0),
        ("fairness", |it| it.fairness = f64::INFINITY),
    ];
    for (word, spoil) in spoil {
        let mut spoiled = capacities();
        spoil(&mut spoiled);
        let error = spoiled.rates(&[load(0, 1, &[(0, 1.0)])]).unwrap_err();
        assert!(
            matches!(error, FlowError::System(_)) && error.to_string().contains(word),
            "{error}"
        );
    }
}
