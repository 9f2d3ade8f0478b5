//! How often classes are right, on few machines; `benches/accuracy` has the whole table.

use fastrand::Rng;

use crate::classes::by_default;
use crate::classes::random_matrix::{FAMILY, Family};

/// Machines of 200 with the right number of classes, and with every pair in its own.
fn count_right(family: &Family, seed: u64) -> (usize, usize) {
    let mut random = Rng::with_seed(seed);
    let mut right = (0, 0);
    for _ in 0..200 {
        let machine = family.draw(&mut random);
        let found = by_default(&machine.record);
        let verdict = machine.judge_classes(&found);
        right.0 += usize::from(verdict.number);
        right.1 += usize::from(verdict.pairs);
    }
    right
}

#[test]
fn gaps_of_fifteen_percent_are_seen_through_noise() {
    let (number, pairs) = count_right(&FAMILY, 1);
    assert!(number >= 194 && pairs >= 194, "{number}, {pairs} of 200");
}

#[test]
fn runs_that_something_slowed_do_not_count() {
    let (number, _) = count_right(&Family { disturbed: 0.02, ..FAMILY }, 2);
    assert!(number >= 194, "{number} of 200");
}

/// As on real machines and simulated ones: the best of five is then nearer to the truth than
/// the rule believes.
#[test]
fn rounds_that_are_only_lowered_are_classed_as_well() {
    let lowered = Family { one_sided: true, ..FAMILY };
    for family in [lowered, Family { gap: (0.10, 0.12), ..lowered }] {
        let (number, pairs) = count_right(&family, 5);
        assert!(number >= 194 && pairs >= 194, "{number}, {pairs} of 200");
    }
}

/// What the classes of one run would be: the noise is not known then, so that classes
/// are cut in pieces. The test holds that five runs and their noise are what makes the rates.
#[test]
fn single_runs_go_wrong() {
    let (number, _) = count_right(&Family { runs: 1, nodes: (16, 16), ..FAMILY }, 3);
    assert!(number < 20, "{number} of 200");
}

#[test]
fn gaps_of_ten_percent_are_seen_mostly() {
    let (number, _) = count_right(&Family { gap: (0.10, 0.15), ..FAMILY }, 4);
    assert!(number >= 190, "{number} of 200");
}
