//! Placements on machines made by hand and drawn at random, against a search over a grid.

use fastrand::Rng;
use nearfar_advise::{KernelRatios, PageNode, Question, Shares, Workers};
use nearfar_flow::Capacities;

/// Two initiators and this many nodes; nothing shared but the controllers and issue limits.
fn machine(path: [Vec<f64>; 2], controller: Vec<f64>, one_thread: f64, issue: f64) -> Capacities {
    let nodes = controller.len();
    Capacities {
        nodes: (0..).take(nodes).collect(),
        one_thread: path.iter().map(|row| vec![one_thread; row.len()]).collect(),
        path: path.map(|row| row.into_iter().map(Some).collect()).into(),
        curves: Vec::new(),
        controller: controller.into_iter().map(Some).collect(),
        interference: vec![0.0; nodes],
        issue: vec![Some(issue); 2],
        links: Vec::new(),
        pressure: Vec::new(),
        saturation: 6.0,
        fairness: 0.5,
    }
}

fn question<'a>(capacities: &'a Capacities, threads: &[u32], rooms: &[f64]) -> Question<'a> {
    let workers = (0..).zip(threads).filter(|(_, threads)| **threads > 0);
    let rooms = (0..).zip(rooms);
    Question {
        capacities,
        kernel: KernelRatios { bytes: 1.0, demand: 1.0 },
        workers: workers.map(|(initiator, &threads)| Workers { initiator, threads }).collect(),
        page_nodes: rooms.map(|(node, &room_share)| PageNode { node, room_share }).collect(),
        possible: &[],
    }
}

fn paced(question: &Question<'_>, pages: &[Shares]) -> f64 {
    question.throughput(pages).unwrap().paced
}

/// All shares of three nodes that are multiples of a thirtieth.
fn grid() -> impl Iterator<Item = Shares> {
    let of = |a: u32| {
        (0..=30 - a).map(move |b| [a, b, 30 - a - b].map(|it| f64::from(it) / 30.0).to_vec())
    };
    (0..=30).flat_map(of)
}

#[test]
fn no_point_of_a_grid_beats_what_is_found() {
    let mut random = Rng::with_seed(5);
    for _ in 0..12 {
        let mut between = |from: f64, to: f64| 1e9 * (from + (to - from) * random.f64());
        let mut row = || vec![between(10.0, 40.0), between(10.0, 40.0), between(10.0, 40.0)];
        let path = [row(), row()];
        let controller = row();
        let (one_thread, issue) = (between(2.0, 8.0), between(30.0, 80.0));
        let capacities = machine(path, controller, one_thread, issue);
        let threads = [random.u32(1..=12), random.u32(0..=12)];
        let rooms = [1.0, if random.bool() { 0.3 } else { 1.0 }, 1.0];
        let question = question(&capacities, &threads, &rooms);
        let found = question.search_shared(&[]).best.unwrap();
        assert!(question.fits(&found), "{found:?}");
        let fitting = grid().map(|shares| vec![shares]).filter(|pages| question.fits(pages));
        let best = fitting.map(|pages| paced(&question, &pages)).fold(0.0, f64::max);
        let ours = paced(&question, &found);
        assert!(ours >= best * 0.999, "{ours} and {best} with {threads:?}, {rooms:?}");
    }
}

#[test]
fn equal_nodes_share_equally_and_a_lone_thread_stays_where_it_is_fastest() {
    let alike = machine([vec![20e9; 3], vec![20e9; 3]], vec![15e9; 3], 6e9, 90e9);
    let found = question(&alike, &[12, 12], &[1.0; 3]).search_shared(&[]).best.unwrap();
    for share in &found[0] {
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{found:?}");
    }
    let mut near = alike.clone();
    near.one_thread[0] = vec![6e9, 3e9, 3e9];
    let found = question(&near, &[1, 0], &[1.0; 3]).search_shared(&[]).best.unwrap();
    assert!(found[0][0] > 0.98, "{found:?}");
}

/// Each initiator on a node of its own is best where paths to others are narrow; and a full node's
/// rest goes elsewhere.
#[test]
fn private_pages_stay_near_as_far_as_they_find_room() {
    let narrow = machine([vec![30e9, 5e9, 5e9], vec![5e9, 30e9, 5e9]], vec![40e9; 3], 6e9, 90e9);
    let uniform = vec![vec![1.0 / 3.0; 3]; 2];
    let wide = question(&narrow, &[8, 8], &[1.0; 3]);
    let found = wide.search_private(vec![uniform.clone()]).unwrap();
    assert!(found[0][0] > 0.7 && found[1][1] > 0.7, "{found:?}");
    assert!(paced(&wide, &found) > 1.5 * paced(&wide, &uniform));
    let tight = question(&narrow, &[8, 8], &[0.2, 1.0, 1.0]);
    assert_eq!(tight.search_private(vec![uniform.clone()]), None, "it holds a third of node 0");
    let start = vec![vec![0.4, 0.3, 0.3], vec![0.0, 1.0, 0.0]];
    let found = tight.search_private(vec![start]).unwrap();
    assert!(tight.fits(&found) && (tight.share_of_all(&found)[0] - 0.2).abs() < 0.05, "{found:?}");
}

#[test]
fn what_finds_no_room_is_shared_out_over_the_other_nodes() {
    let alike = machine([vec![20e9; 3], vec![20e9; 3]], vec![15e9; 3], 6e9, 90e9);
    for (rooms, shares, fitted) in [
        ([0.5, 1.0, 1.0], [1.0, 0.0, 0.0], Some([0.5, 0.25, 0.25])),
        ([0.25, 1.0, 1.0], [0.5, 0.5, 0.0], Some([0.25, 0.75, 0.0])),
        ([0.25, 0.25, 0.5], [0.5, 0.5, 0.0], Some([0.25, 0.25, 0.5])),
        ([1.0, 1.0, 1.0], [0.2, 0.3, 0.5], Some([0.2, 0.3, 0.5])),
        ([0.2, 0.2, 0.2], [1.0, 0.0, 0.0], None),
    ] {
        let ours = question(&alike, &[4, 4], &rooms).fitted(&shares);
        let off = ours.iter().flatten().zip(fitted.iter().flatten()).map(|(a, b)| (a - b).abs());
        assert_eq!(ours.is_some(), fitted.is_some(), "{rooms:?} {shares:?}: {ours:?}");
        assert!(off.fold(0.0, f64::max) < 1e-6, "{rooms:?} {shares:?}: {ours:?}");
    }
}
