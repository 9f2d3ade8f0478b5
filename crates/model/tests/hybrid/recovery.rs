//! What the model gives back of a truth.

use fastrand::Rng;
use nearfar_model::{HybridShares, OverlapBounds};
use nearfar_stats::normal_quantile;
use proptest::prelude::*;

use crate::hybrid::truth::{bandwidth, points, record, truth};
use crate::hybrid::{assert_overlaps, ordered_pairs, overlap, pair};

/// Table 6, from rounds without noise.
#[test]
fn all_overlaps_of_the_paper_come_back() {
    for machine in ["skylake", "knl"] {
        let truth = truth(machine);
        // None of these shares is at a jump, as two thirds of stores on KNL would be.
        let record = record(&points(&truth, 4, |rate| vec![rate; 5]));
        let pair = pair(&record, OverlapBounds::None);
        assert_overlaps(&pair, &truth);
        for (corner, expected) in pair.corners.iter().zip(truth.rates) {
            assert!((corner.bandwidth.value.0 / expected - 1.0).abs() < 1e-9);
        }
        let errors = pair.errors.found().unwrap();
        assert_eq!(errors.points, 16);
        assert!(errors.relative_rms < 1e-4 && errors.worst.abs() < 1e-3, "{errors:?}");
        assert!((errors.paper_measure - errors.relative_rms / 4.0).abs() < 1e-12);
    }
}

#[test]
fn bounds_hold_the_negative_one_at_0_and_leave_the_others() {
    let mut truth = truth("skylake");
    let record = record(&points(&truth, 0, |rate| vec![rate; 5]));
    let pair = pair(&record, OverlapBounds::NotNegative);
    truth.overlap_theta[0][3] = 0.0;
    assert_overlaps(&pair, &truth);
    let held = pair.overlaps.iter().filter_map(|it| it.fit.found()).filter(|it| it.is_held);
    let held: Vec<f64> = held.map(|it| it.unbounded).collect();
    assert!(held.len() == 1 && (held[0] + 0.102).abs() < 1e-4, "{held:?}");
}

fn noisy(random: &mut Rng, rate: f64, rounds: usize) -> Vec<f64> {
    let normal = |random: &mut Rng| loop {
        if let Some(value) = normal_quantile(random.f64()) {
            break value;
        }
    };
    (0..rounds).map(|_| rate * (1.0 + 0.02 * normal(random))).collect()
}

/// A few of the bench's seeds: 2 % noise, 8 rounds.
#[test]
fn overlaps_come_back_from_noise_within_their_errors() {
    for machine in ["skylake", "knl"] {
        let truth = truth(machine);
        let (mut near, mut inside) = (0, 0);
        for seed in 0..20 {
            let mut random = Rng::with_seed(seed);
            let record = record(&points(&truth, 5, |rate| noisy(&mut random, rate, 8)));
            let pair = pair(&record, OverlapBounds::None);
            let off = |one, other| {
                (overlap(&pair, one, other).unwrap() - truth.overlap_theta[one][other]).abs()
            };
            near += u32::from(ordered_pairs().all(|(one, other)| off(one, other) < 0.05));
            inside += ordered_pairs()
                .zip(&pair.overlaps)
                .filter(|((one, other), it)| {
                    let theta = &it.fit.found().unwrap().overlap_theta;
                    let [low, high] = theta.interval.unwrap();
                    (low.0..=high.0).contains(&truth.overlap_theta[*one][*other])
                })
                .count();
            assert!(pair.relative_rms().unwrap() < 0.03);
        }
        assert!(near >= 17, "{machine}: {near} of 20");
        // 240 intervals of 95 % from 8 rounds each.
        assert!(inside >= 205, "{machine}: {inside} of 240");
    }
}

/// The shares of pages that were found count, not those that were asked for.
#[test]
fn overlaps_follow_the_pages_that_were_found() {
    let truth = truth("knl");
    let mut all = points(&truth, 0, |rate| vec![rate; 5]);
    for point in &mut all {
        // Mixed pages came out otherwise than they were asked for.
        let moved = |share: f64| if share > 0.0 && share < 1.0 { share - 0.01 } else { share };
        point.fast = (moved(point.fast.0), moved(point.fast.1));
        point.rounds = vec![bandwidth(&truth, point.shares()); 5];
    }
    let mut record = record(&all);
    for case in &mut record.cases {
        let nearfar_record::Coordinates::Hybrid(place) = &mut case.coordinates[0] else { panic!() };
        for pages in [&mut place.load_pages, &mut place.store_pages].into_iter().flatten() {
            *pages = nearfar_record::PageSplit { fast: 1, slow: 1 };
        }
    }
    let pair = pair(&record, OverlapBounds::None);
    assert_overlaps(&pair, &truth);
}

proptest! {
    /// The simulator's equation is the other opinion.
    #[test]
    fn predictions_are_those_of_the_equation(
        load_share in 0.0..=1.0_f64,
        read in 0.0..=1.0_f64,
        written in 0.0..=1.0_f64,
    ) {
        let truth = truth("knl");
        let record = record(&points(&truth, 0, |rate| vec![rate; 5]));
        let pair = pair(&record, OverlapBounds::None);
        let shares = HybridShares { load_share, load_fast_share: read, store_fast_share: written };
        let found = pair.predict(shares).unwrap();
        let expected = bandwidth(&truth, shares.by_kind());
        let [bandwidth, lowest, highest] =
            [found.bandwidth.value, found.lowest, found.highest].map(|it| it.0);
        let is_near = |value: f64| (value / expected - 1.0).abs() < 1e-3;
        prop_assert!(is_near(bandwidth) || is_near(lowest) || is_near(highest));
        prop_assert!(lowest <= bandwidth && bandwidth <= highest);
    }
}
