//! How sensitive programs are, from runs that are written by hand: a program of a known share of
//! data on a machine of known classes, with noise.

mod choice;
mod counted;
mod runs;
mod strangers;

use nearfar_model::{BoundsStanding, RecordFigures, sensitivity};
use nearfar_record::Better;

use runs::{Machine4, Program};

/// Times follow 1 - s + s / d with 2 % noise: s is found, and every time is within the bounds.
#[test]
fn the_share_of_data_is_recovered_and_the_bounds_hold() {
    let machine = Machine4::new();
    let mut random = fastrand::Rng::with_seed(7);
    let mut worst = 0.0_f64;
    for _ in 0..40 {
        let share = random.f64();
        let program = Program { share, seconds: 2.0, noise: 0.02, better: Better::Lower };
        let record = machine.record(&[("solver", program)], false, &mut random);
        let found = machine.sensitivity(&record);
        let [solver] = &found.programs[..] else { panic!("{found:?}") };
        let fitted = solver.memory_share.found().unwrap();
        worst = worst.max((fitted.share - share).abs());
        assert!(fitted.interval.0 <= fitted.share && fitted.share <= fitted.interval.1);
        assert_eq!(fitted.placements, 2, "the two farther nodes");
        assert!(fitted.worst_error < 0.04, "{fitted:?}");
        assert_eq!(solver.placements.len(), 4);
        for runs in &solver.placements {
            assert_eq!(runs.standing, Some(BoundsStanding::Within), "{share} {runs:?}");
            let performance = runs.performance.unwrap().ratio;
            let [low, high] = runs.expected.unwrap();
            assert!(low * 0.95 < performance && performance < high * 1.05, "{share} {runs:?}");
        }
        assert!((solver.placements[0].performance.unwrap().ratio - 1.0).abs() < f64::EPSILON);
    }
    assert!(worst < 0.03, "off by {worst}");
}

/// Alphas 1, 1/2, 1/4 of nodes 0, 1 and 2, 3, which node 0 reaches: equation 4.6 by hand.
#[test]
fn bounds_are_those_of_the_classes() {
    let machine = Machine4::new();
    let mut random = fastrand::Rng::with_seed(1);
    let program = Program { share: 1.0, seconds: 1.0, noise: 0.0, better: Better::Lower };
    let record = machine.record(&[("copy", program)], false, &mut random);
    let found = machine.sensitivity(&record);
    let bounds: Vec<(f64, f64, f64)> = found.programs[0]
        .placements
        .iter()
        .map(|runs| runs.bounds.as_ref().unwrap())
        .map(|bounds| (bounds.d_serial, bounds.d, bounds.d_overlap))
        .collect();
    // Dealt out over four nodes: shares 1/4, 1/4 and 1/2 of the classes.
    let expected = [(1.0, 1.0, 1.0), (0.5, 0.5, 0.5), (0.25, 0.25, 0.25), (1.0 / 2.75, 0.5, 0.5)];
    for (found, expected) in bounds.iter().zip(expected) {
        let off = [found.0 - expected.0, found.1 - expected.1, found.2 - expected.2];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?} instead of {expected:?}");
    }
    let share = found.programs[0].memory_share.found().unwrap();
    assert!((share.share - 1.0).abs() < 1e-6 && share.worst_error < 1e-6, "{share:?}");
}

/// A rate is good when it is high, and says the same as the time that it is the inverse of.
#[test]
fn a_rate_says_what_its_time_says() {
    let machine = Machine4::new();
    let of = |better| {
        let mut random = fastrand::Rng::with_seed(3);
        let program = Program { share: 0.6, seconds: 2.0, noise: 0.0, better };
        let record = machine.record(&[("solver", program)], false, &mut random);
        machine.sensitivity(&record)
    };
    let (time, rate) = (of(Better::Lower), of(Better::Higher));
    assert_eq!(
        (time.programs[0].better(), rate.programs[0].better()),
        (Better::Lower, Better::Higher)
    );
    for (time, rate) in time.programs[0].placements.iter().zip(&rate.programs[0].placements) {
        let (one, other) = (time.performance.unwrap(), rate.performance.unwrap());
        assert!((one.ratio - other.ratio).abs() < 1e-6, "{one:?} {other:?}");
    }
}

/// A program that latency holds up is slower than its bandwidth explains, and one that more of
/// the machine serves is faster.
#[test]
fn what_bandwidth_does_not_explain_is_said() {
    let machine = Machine4::new();
    for (share, standing) in [(1.8, BoundsStanding::Below), (-0.3, BoundsStanding::Above)] {
        let mut random = fastrand::Rng::with_seed(5);
        let program = Program { share, seconds: 1.0, noise: 0.01, better: Better::Lower };
        let record = machine.record(&[("walk", program)], false, &mut random);
        let found = machine.sensitivity(&record);
        let far = &found.programs[0].placements[2];
        assert_eq!(far.standing, Some(standing), "{far:?}");
        assert!((found.programs[0].memory_share.found().unwrap().share - share).abs() < 0.05);
    }
}

/// Two programs on every pair: the better one of each pair is kept, and the machine's three
/// classes are found from it.
#[test]
fn the_best_program_of_each_pair_gives_the_classes() {
    let machine = Machine4::new();
    let mut random = fastrand::Rng::with_seed(11);
    let build = |seconds, share| Program { share, seconds, noise: 0.002, better: Better::Higher };
    // The second is better on its own node only: it minds the distance more.
    let programs = [("gcc", build(1.0, 0.9)), ("icc", build(0.97, 1.0))];
    let record = machine.record(&programs, true, &mut random);
    let found = sensitivity(&RecordFigures::new(&record), None).unwrap();
    assert_eq!(found.best.len(), 16);
    for pair in &found.best {
        let expected = if pair.initiator == pair.memory_node { "icc" } else { "gcc" };
        assert_eq!(pair.label, expected, "{pair:?}");
    }
    let sizes: Vec<usize> = found.classes.iter().map(|class| class.pairs.len()).collect();
    assert_eq!(sizes, [4, 4, 8], "{:?}", found.classes);
    // Rates: 1 / 0.97 at home, 1 / (0.1 + 0.9 x 2), 1 / (0.1 + 0.9 x 4) elsewhere.
    let alphas = [1.0, 0.97 / 1.9, 0.97 / 3.7];
    for (class, alpha) in found.classes.iter().zip(alphas) {
        assert!((class.alpha_relative / alpha - 1.0).abs() < 0.02, "{class:?}");
    }
    // Nobody gave the classes of bandwidth.
    assert!(found.programs.iter().all(|program| program.memory_share.found().is_none()));
}
