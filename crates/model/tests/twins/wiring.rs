//! Machines that are wired unevenly: what is built so is told from what is broken.

use nearfar_model::{Against, Between, Place};

use crate::twins::drawn_record::{PLAN, Plan, machine, record};
use crate::twins::twins;

/// Two by two nodes in each package: the diagonal is further, and the firmware's
/// distances do not say so.
fn diagonal(a: u32, b: u32) -> bool {
    a / 4 == b / 4 && (a % 4) + (b % 4) == 3
}

#[test]
fn a_level_that_the_firmware_hides_is_a_note() {
    let machine = machine(2, 4);
    for (share, seed) in [(0.94, 1), (0.94, 2), (0.96, 3), (0.9, 4), (0.7, 5)] {
        let plan = Plan { seed, ..PLAN };
        let far = |a: u32, b: u32, _: u32| if diagonal(a, b) { share } else { 1.0 };
        let found = twins(&record(&machine, &plan, far));
        assert_eq!(found.findings, [], "{share}");
        let [level] = &found.hidden_levels[..] else {
            panic!("{share}: {:?}", found.hidden_levels);
        };
        assert_eq!((level.between, level.pairs.len()), (Between::Nodes, 8));
        assert!(level.pairs.iter().all(|&(a, b)| diagonal(a, b)));
        assert!((level.ratio - share).abs() < 0.01, "{level:?}");
    }
}

/// What is broken within a level is seen all the same, and beside it.
#[test]
fn faults_in_and_beside_a_hidden_level_are_named() {
    let machine = machine(2, 4);
    let found = twins(&record(&machine, &PLAN, |a, b, _| {
        let wired = if diagonal(a, b) { 0.9 } else { 1.0 };
        let broken = if (a, b) == (5, 6) || b == 1 { 0.8 } else { 1.0 };
        wired * broken
    }));
    let mut places: Vec<Place> = found.findings.iter().map(|finding| finding.place).collect();
    places.sort();
    assert_eq!(places, [Place::Memory { node: 1 }, Place::Path { initiator: 5, node: 6 }]);
    assert_eq!(found.hidden_levels.len(), 1);
}

/// A ring of four packages: the two that face each other are two links apart. One link
/// that is low both ways is none that is built so.
#[test]
fn packages_that_face_each_other_are_a_level_and_one_link_is_not() {
    let machine = machine(4, 2);
    let ring = |a: u32, b: u32, _: u32| if (a / 2).abs_diff(b / 2) == 2 { 0.7 } else { 1.0 };
    let found = twins(&record(&machine, &PLAN, ring));
    assert_eq!(found.findings, []);
    assert_eq!(found.hidden_levels[0].between, Between::Packages);
    assert_eq!(found.hidden_levels[0].pairs, [(0, 2), (1, 3), (2, 0), (3, 1)].into());

    let one =
        |a: u32, b: u32, _: u32| if matches!((a / 2, b / 2), (0, 3) | (3, 0)) { 0.7 } else { 1.0 };
    let found = twins(&record(&machine, &PLAN, one));
    assert_eq!(found.findings[0].place, Place::PackageLink { first: 0, second: 3 });
    assert_eq!((found.findings.len(), found.hidden_levels.len()), (1, 0));
    // Two links of one package: nothing is built so that only one package is far.
    let two = |a: u32, b: u32, _: u32| {
        if matches!((a / 2, b / 2), (0, 1 | 2) | (1 | 2, 0)) { 0.7 } else { 1.0 }
    };
    let found = twins(&record(&machine, &PLAN, two));
    assert_eq!((found.findings.len(), found.hidden_levels.len()), (2, 0));
}

/// Pairs between packages of which every one differs, by up to 40 %, and both ways
/// alike: nothing but the other direction can tell that one is at fault.
fn spread(a: u32, b: u32) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    if a / 4 == b / 4 { 1.0 } else { 1.0 - 0.1 * f64::from((low + high) % 5) }
}

#[test]
fn one_way_that_its_twins_hide_is_seen_by_the_other_way() {
    let machine = machine(2, 4);
    let sound = twins(&record(&machine, &PLAN, |a, b, _| spread(a, b)));
    assert_eq!((sound.findings, sound.hidden_levels), (vec![], vec![]));
    // From 1 to 7, where (1 + 7) % 5 = 3 gives 0.7 and the median is 0.8.
    let found = twins(&record(&machine, &PLAN, |a, b, _| {
        spread(a, b) * if (a, b) == (1, 7) { 0.8 } else { 1.0 }
    }));
    assert_eq!(found.findings.len(), 1, "{:?}", found.findings);
    let finding = &found.findings[0];
    assert_eq!(
        (finding.place, finding.against),
        (Place::Path { initiator: 1, node: 7 }, Against::OtherDirection)
    );
    assert!((finding.ratio - 0.8).abs() < 0.02, "{finding:?}");
    // The fastest pairs keep, with as much less, what their twins reach.
    let better = twins(&record(&machine, &PLAN, |a, b, _| {
        spread(a, b) * if (a, b) == (0, 5) { 0.9 } else { 1.0 }
    }));
    assert_eq!(better.findings, []);
}

/// Many nodes and many faults, which grow with the square of the nodes: found one by
/// one, each once.
#[test]
fn many_nodes_with_many_faults() {
    let machine = machine(8, 6);
    let plan = Plan { kernels: &["load", "triad"], threads: &[1, 8], rounds: 4, ..PLAN };
    let slow = [3, 9, 14, 20, 27, 33, 40, 46];
    let found =
        twins(&record(&machine, &plan, |_, node, _| if slow.contains(&node) { 0.8 } else { 1.0 }));
    assert_eq!(found.compared, 48 * 48 * 4);
    let mut nodes: Vec<u32> = found
        .findings
        .iter()
        .map(|finding| match finding.place {
            Place::Memory { node } => node,
            other => panic!("{other:?}"),
        })
        .collect();
    nodes.sort_unstable();
    assert_eq!(nodes, slow);
}
