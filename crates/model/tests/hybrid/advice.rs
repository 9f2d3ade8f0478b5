//! The best shares and what is claimed of them.

use nearfar_model::{
    Buffers, HybridAdvice, HybridPair, HybridShares, NoGain, OverlapBounds, PlacementName,
};

use crate::hybrid::pair;
use crate::hybrid::truth::{points, record, truth};

/// Without noise, so that the margins at jumps are nothing.
fn exact(machine: &str) -> HybridPair {
    let truth = truth(machine);
    pair(&record(&points(&truth, 3, |rate| vec![rate; 5])), OverlapBounds::NotNegative)
}

/// 2 % of noise.
fn noisy(rate: f64) -> Vec<f64> {
    [0.99, 1.01, 0.98, 1.0, 1.02, 1.0].map(|it| it * rate).to_vec()
}

const LOADS: [f64; 7] = [0.0, 0.1, 0.3, 0.5, 2.0 / 3.0, 0.9, 1.0];

#[test]
fn no_point_of_a_fine_grid_beats_the_best_share() {
    for machine in ["skylake", "knl"] {
        let pair = exact(machine);
        for loads in LOADS {
            let best = pair.best(loads, Buffers::Together, 1.0).unwrap();
            assert!(best.is_complete);
            let shares = best.chosen.shares;
            assert!((shares.load_fast_share - shares.store_fast_share).abs() < 1e-9);
            let grid = (0..=2000).map(|step| f64::from(step) / 2000.0);
            let highest = grid.filter_map(|fast| pair.bandwidth(loads, fast)).fold(0.0, f64::max);
            assert!(
                best.chosen.lowest.0 >= highest * (1.0 - 1e-5),
                "{machine} {loads}: {} and {highest}",
                best.chosen.lowest.0
            );
        }
    }
}

#[test]
fn no_point_of_a_grid_beats_the_best_separate_shares() {
    for machine in ["skylake", "knl"] {
        let pair = exact(machine);
        for loads in LOADS {
            for room in [1.0, 0.5, 0.2] {
                let best = pair.best(loads, Buffers::Separately, room).unwrap();
                assert!(best.chosen.shares.fast_share() <= room + 1e-6);
                for step in 0..31 * 31 {
                    let share = |step: i32| f64::from(step) / 30.0;
                    let shares = HybridShares {
                        load_share: loads,
                        load_fast_share: share(step % 31),
                        store_fast_share: share(step / 31),
                    };
                    if shares.fast_share() <= room {
                        let found = pair.predict(shares).unwrap().lowest.0;
                        assert!(
                            best.chosen.lowest.0 >= found * (1.0 - 0.02),
                            "{machine} {loads} {room}: {shares:?} {found}"
                        );
                    }
                }
            }
        }
    }
}

/// On KNL overlap theta of slow loads beside fast ones, 0.722, is above 38.1 / 92: no page that is
/// only read is to leave the fast memory.
#[test]
fn reads_of_knights_landing_stay_in_the_fast_memory() {
    let pair = exact("knl");
    let best = pair.best(1.0, Buffers::Together, 1.0).unwrap();
    assert!((best.chosen.shares.load_fast_share - 1.0).abs() < 1e-12);
    assert!((best.chosen.bandwidth.value.0 / 92e9 - 1.0).abs() < 1e-6);
    let answer = pair.answer(1.0, &[]).unwrap();
    assert_eq!(answer.recommended, Some(PlacementName::AllFast));
    // By itself data comes to lie in the fast memory here.
    let because = NoGain::WithinError;
    assert_eq!(answer.advice, [HybridAdvice::Leave { because }, HybridAdvice::FillHalf]);
    let half = answer.placement(PlacementName::HalfFast).unwrap();
    assert!((half.prediction.shares.load_fast_share - 0.5).abs() < 1e-6);
}

/// With 2 % of noise a share at a crossing is an interval, and the one to take lies beside it, its
/// weights too.
#[test]
fn at_a_jump_both_sides_are_told_and_none_is_claimed() {
    let truth = truth("skylake");
    let pair = pair(&record(&points(&truth, 3, noisy)), OverlapBounds::NotNegative);
    // Of loads lf and ls take equally long at 100 / (100 + 35).
    let at = pair.predict(HybridShares::together(1.0, 100.0 / 135.0)).unwrap();
    assert_eq!(at.may_dominate.len(), 1);
    // 135 / (1 + 0.294) and 135 / (1 + 0.6).
    assert!((at.highest.0 / (135e9 / 1.294) - 1.0).abs() < 0.02, "{}", at.highest.0);
    assert!((at.lowest.0 / (135e9 / 1.6) - 1.0).abs() < 0.02, "{}", at.lowest.0);
    let [low, high] = at.bandwidth.interval.unwrap();
    assert!(low <= at.lowest && at.highest <= high);

    let best = pair.best(1.0, Buffers::Together, 1.0).unwrap();
    assert!(best.chosen.may_dominate.is_empty(), "{:?}", best.chosen);
    let share = best.chosen.shares.load_fast_share;
    assert!(share < 100.0 / 135.0 && share > 0.68, "{share}");
    let unclaimed = best.unclaimed.unwrap();
    assert!(unclaimed.highest > best.chosen.lowest && !unclaimed.may_dominate.is_empty());
    let answer = pair.answer(1.0, &[]).unwrap();
    let placement = answer.placement(PlacementName::BestTogether).unwrap();
    let by_weights = placement.by_weights.unwrap();
    assert!(by_weights > placement.prediction.lowest * 0.97, "{placement:?}");
}

/// Gains are claimed from twice the error on the surface on.
#[test]
fn gains_within_the_error_are_not_claimed() {
    // With nothing of the negative overlap, which bounds would hold at 0.
    let mut truth = truth("skylake");
    truth.overlap_theta[0][3] = 0.0;
    let mut turn = 1.0;
    let all = points(&truth, 3, |rate| vec![rate; 5]);
    let off: Vec<_> = all
        .into_iter()
        .map(|mut point| {
            if point.point == nearfar_record::HybridPoint::Surface {
                turn = -turn;
                point.rounds.iter_mut().for_each(|rate| *rate *= 1.0 + 0.2 * turn);
            }
            point
        })
        .collect();
    let pair = pair(&record(&off), OverlapBounds::NotNegative);
    assert!((pair.relative_rms().unwrap() - 0.2).abs() < 0.01);
    let answer = pair.answer(1.0, &[]).unwrap();
    // 104 for 100 GB/s.
    let best = answer.placement(PlacementName::BestTogether).unwrap();
    assert!(
        best.gain_over(PlacementName::AllFast)
            .is_some_and(|gain| gain.gain > 0.03 && !gain.is_claimed)
    );
    assert_eq!(answer.recommended, Some(answer.default));
    let leave = HybridAdvice::Leave { because: NoGain::WithinError };
    assert_eq!(answer.advice[0], leave);
    let found = &best.prediction.bandwidth;
    let [low, high] = found.interval.unwrap();
    assert!(low < found.value * 0.61 && high > found.value * 1.39);
}

#[test]
fn shares_that_are_none_have_no_answer() {
    let pair = exact("knl");
    for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(pair.answer(wrong, &[]), None);
        assert_eq!(pair.answer(0.5, &[wrong]), None);
        assert_eq!(pair.bandwidth(0.5, wrong), None);
        assert_eq!(pair.best(0.5, Buffers::Together, wrong), None);
    }
}

/// Two memories of one controller each, whose loads and stores wait for each other, and reach the
/// slow one beside: equation 5 lets the fast one give more than it has where the slow one
/// dominates.
fn shared_controllers() -> nearfar_flow::Overlap {
    let mut truth = truth("knl");
    truth.rates = [251e9, 231e9, 24.5e9, 22.5e9];
    truth.overlap_theta = [
        [0.0, 0.99, 0.08, 0.06],
        [1.0, 0.0, 0.1, 0.08],
        [0.08, 0.15, 0.0, 1.0],
        [0.05, 0.08, 1.0, 0.0],
    ];
    truth
}

#[test]
fn separate_shares_give_no_more_than_the_slowest_kind_leaves_time_for() {
    let all = points(&shared_controllers(), 3, |rate| vec![rate; 5]);
    let pair = pair(&record(&all), OverlapBounds::NotNegative);
    let shares =
        HybridShares { load_share: 2.0 / 3.0, load_fast_share: 0.91, store_fast_share: 1.0 };
    let found = pair.predict(shares).unwrap();
    // Fast stores with fast loads and slow ones beside: t_sf + 1.0 t_lf + 0.1 t_ls.
    let loads = 2.0 / 3.0;
    let seconds = 1.0 / 3.0 / 231e9 + loads * 0.91 / 251e9 + 0.1 * loads * 0.09 / 24.5e9;
    assert!((found.bandwidth.value.0 * seconds - 1.0).abs() < 1e-3, "{found:?}");
    assert!(found.highest > found.bandwidth.value * 1.3, "{found:?}");
    let best = pair.best(2.0 / 3.0, Buffers::Separately, 1.0).unwrap();
    assert!(best.chosen.lowest.0 < 275e9, "{best:?}");
}

/// Points with different shares that the model meets make it claim what it did not.
#[test]
fn different_shares_are_claimed_where_points_validate_them() {
    let mut truth = truth("knl");
    // Reads and writes that share no memory hide each other; others wait.
    truth.rates = [60e9; 4];
    truth.overlap_theta = std::array::from_fn(|one| {
        std::array::from_fn(|other| match one.abs_diff(other) {
            0 => 0.0,
            _ if one + other == 3 => 0.05,
            _ => 1.0,
        })
    });
    let alike = points(&truth, 3, |rate| vec![rate; 5]);
    let mut different = alike.clone();
    for (step, load_share) in [0.4, 0.45, 0.5, 0.55, 0.6].into_iter().enumerate() {
        let written = [0.0, 0.1, 0.0, 0.1, 0.0][step];
        let mut new = alike[0].clone();
        (new.point, new.load_share) = (nearfar_record::HybridPoint::Surface, load_share);
        new.fast = (1.0 - written, written);
        let [lf, sf, ls, ss] = new.shares();
        let [lf, sf, ls, ss] = [lf, sf, ls, ss].map(|share| share / 60e9);
        let longest = [
            lf + sf + ls + 0.05 * ss,
            lf + sf + 0.05 * ls + ss,
            lf + 0.05 * sf + ls + ss,
            0.05 * lf + sf + ls + ss,
        ];
        let times = [lf, sf, ls, ss].into_iter().zip(longest).filter(|(own, _)| *own > 0.0);
        let seconds = times.map(|(_, seconds)| seconds).fold(0.0, f64::max);
        new.rounds = vec![seconds.recip(); 5];
        different.push(new);
    }
    for (all, is_validated) in [(alike, false), (different, true)] {
        let pair = pair(&record(&all), OverlapBounds::NotNegative);
        assert_eq!(pair.separate_errors.is_some(), is_validated);
        let answer = pair.answer(0.5, &[]).unwrap();
        let apart = answer.placement(PlacementName::BestSeparately).unwrap();
        assert_eq!(apart.prediction.is_validated, is_validated);
        assert_eq!(apart.prediction.bandwidth.interval.is_some(), is_validated);
        let gain = apart.gains[0].gain;
        assert!(gain.gain > 0.5 && gain.is_claimed == is_validated, "{apart:?}");
        assert_eq!(answer.recommended == Some(apart.name), is_validated);
    }
}

/// Two rounds give the same points, without intervals: nothing is claimed of them, and nothing is
/// said to hinder.
#[test]
fn fewer_rounds_claim_less() {
    let mut truth = truth("knl");
    truth.overlap_theta[0][2] = 1.3;
    for (rounds, is_known) in [(2, false), (6, true)] {
        let all = points(&truth, 4, |rate| vec![rate; rounds]);
        let pair = pair(&record(&all), OverlapBounds::NotNegative);
        assert_eq!(pair.fewest_rounds, rounds);
        assert!(pair.corners.iter().all(|it| it.bandwidth.interval.is_some() == is_known));
        let mut hindering = Vec::new();
        for overlap in &pair.overlaps {
            let fit = overlap.fit.found().unwrap();
            let known = (fit.overlap_theta.interval.is_some(), fit.standard_error.is_some());
            assert_eq!(known, (is_known, is_known));
            if fit.is_interference {
                hindering.push((overlap.dominating.as_str(), overlap.beside.as_str()));
            }
        }
        assert_eq!(hindering, if is_known { vec![("lf", "ls")] } else { vec![] });
        let answer = pair.answer(1.0, &[]).unwrap();
        let fast = answer.placement(PlacementName::AllFast).unwrap();
        let gain = fast.gains[0].gain;
        assert_eq!(fast.gains[0].over, PlacementName::AllSlow);
        assert!(gain.gain > 1.0 && gain.is_claimed == is_known, "{gain:?}");
    }
}

/// One share for all buffers is one policy for the whole program, be its weights rounded.
#[test]
fn one_share_has_one_policy() {
    for machine in ["skylake", "knl"] {
        let pair = pair(&record(&points(&truth(machine), 3, noisy)), OverlapBounds::NotNegative);
        for step in 1..40 {
            let loads = f64::from(step) / 40.0;
            let answer = pair.answer(loads, &[0.317, 0.7073]).unwrap();
            for placement in &answer.placements {
                let shares = placement.prediction.shares;
                assert!(shares.load_fast_share.is_sign_positive(), "{shares:?}");
                assert!(shares.store_fast_share.is_sign_positive(), "{shares:?}");
                if (shares.load_fast_share - shares.store_fast_share).abs() < 1e-9 {
                    assert_eq!(placement.load_policy, placement.store_policy, "{placement:?}");
                }
            }
        }
    }
}

#[test]
fn a_drop_beside_the_recommended_share_is_told_and_is_there() {
    let mut told = 0;
    for machine in ["skylake", "knl"] {
        let pair = exact(machine);
        for loads in LOADS {
            let answer = pair.answer(loads, &[]).unwrap();
            let put = answer.advice.iter().find_map(|advice| match advice {
                HybridAdvice::Put { drop, .. } => Some(drop),
                _ => None,
            });
            let Some(drop) = put else { continue };
            let best = &answer.placement(answer.recommended.unwrap()).unwrap().prediction;
            let least = 0.9 * best.lowest.0;
            let beside = [0.05, -0.05].map(|off| {
                pair.bandwidth(loads, best.fast_share + off).is_some_and(|gives| gives < least)
            });
            assert_eq!(drop.is_some(), beside.contains(&true), "{machine} {loads}: {beside:?}");
            if let Some(drop) = drop {
                told += 1;
                assert!((drop.fast_share - best.fast_share).abs() <= 0.05 + 1e-9);
                assert!(drop.bandwidth.value.0 < least);
            }
        }
    }
    assert!(told > 0);
}
