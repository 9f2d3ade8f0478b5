//! Records that lack something, or hold what no machine gives.

use nearfar_model::{HybridAdvice, OverlapBounds};
use nearfar_record::{HybridPoint, TransferKind};
use proptest::prelude::*;

use crate::hybrid::truth::{Point, points, record, truth};
use crate::hybrid::{assert_overlaps, model, ordered_pairs, overlap, pair};

#[test]
fn a_record_without_points_has_no_model() {
    let why = model(&nearfar_specimen::record(), OverlapBounds::None).unwrap_err();
    assert!(why.why.contains("the machine has one memory node"), "{why:?}");
    assert_eq!(why.remedy, None, "no command adds a memory");
    let without_rounds = points(&truth("knl"), 2, |_| Vec::new());
    assert!(model(&record(&without_rounds), OverlapBounds::None).is_err());
}

#[test]
fn a_bandwidth_that_is_not_known_leaves_the_pair_out() {
    let mut all = points(&truth("knl"), 2, |rate| vec![rate; 5]);
    all.retain(|it| it.point != HybridPoint::Corner { of: TransferKind::SlowStore });
    let refused = model(&record(&all), OverlapBounds::None).unwrap_err();
    assert!(refused.why.contains("ss alone is not known"), "{}", refused.why);
    assert!(refused.remedy.unwrap().contains("--only hybrid"));
    let mut still = points(&truth("knl"), 2, |rate| vec![rate; 5]);
    still[0].rounds = vec![0.0; 5];
    let refused = model(&record(&still), OverlapBounds::None).unwrap_err();
    assert!(refused.why.contains("is 0"), "{}", refused.why);
}

#[test]
fn a_missing_point_leaves_its_overlap_unknown_and_what_needs_it() {
    let truth = truth("knl");
    let (dominating, beside) = (TransferKind::FastLoad, TransferKind::SlowLoad);
    let mut all = points(&truth, 3, |rate| vec![rate; 5]);
    all.retain(|it| it.point != HybridPoint::Pair { dominating, beside });
    let pair = pair(&record(&all), OverlapBounds::NotNegative);
    for (one, other) in ordered_pairs() {
        let found = overlap(&pair, one, other);
        if (one, other) == (0, 2) {
            assert!(found.unwrap_err().contains("not identified"));
        } else {
            assert!((found.unwrap() - truth.overlap_theta[one][other]).abs() < 1e-4);
        }
    }
    // Fast loads dominate at the first, slow ones at the second.
    assert_eq!(pair.bandwidth(1.0, 0.9), None);
    assert!(pair.bandwidth(1.0, 0.1).is_some());
    let answer = pair.answer(1.0, &[]).unwrap();
    assert!(!answer.is_complete && answer.recommended.is_some());
}

#[test]
fn an_overlap_that_scatters_is_not_identified() {
    let truth = truth("knl");
    let wild = |rate: f64| [0.6, 1.4, 0.7, 1.3, 0.8, 1.2].map(|it| it * rate).to_vec();
    let pair = pair(&record(&points(&truth, 0, wild)), OverlapBounds::NotNegative);
    let unknown: Vec<String> =
        pair.overlaps.iter().filter_map(|it| it.fit.as_result().err().map(String::from)).collect();
    assert!(unknown.len() > 6, "{unknown:?}");
    let says = |why: &String| {
        why.contains("standard error") && why.contains("--only hybrid --samples 12`")
    };
    assert!(unknown.iter().all(says), "{unknown:?}");
    assert_eq!(pair.errors.found(), None);
}

/// Cases of the same nodes by other threads are another model.
#[test]
fn threads_and_variants_are_not_mixed() {
    let truth = truth("knl");
    let mut record = record(&points(&truth, 3, |rate| vec![rate; 5]));
    for mut case in record.cases.clone() {
        case.id += "/narrow";
        for coordinates in &mut case.coordinates {
            let nearfar_record::Coordinates::Hybrid(place) = coordinates else { panic!() };
            (place.threads, place.variant) = (place.threads + 1, "sse2".into());
        }
        record.cases.push(case);
    }
    for mut sample in record.samples.clone() {
        sample.case += "/narrow";
        for actor in &mut sample.actors {
            actor.useful_bytes /= 2;
            actor.threads.iter_mut().for_each(|thread| thread.useful_bytes /= 2);
        }
        record.samples.push(sample);
    }
    let model = model(&record, OverlapBounds::NotNegative).unwrap();
    let found: Vec<(&str, f64)> = model
        .pairs
        .iter()
        .map(|pair| (pair.variant.as_str(), (pair.corners[0].bandwidth.value.0 / 1e9).round()))
        .collect();
    assert_eq!(found, [("avx512", 92.0), ("sse2", 46.0)]);
    for pair in &model.pairs {
        assert!(pair.relative_rms().unwrap() < 1e-3, "{:?}", pair.errors);
        assert_overlaps(pair, &truth);
    }
}

/// What is needed and missing is named, the dominating kind first.
#[test]
fn overlaps_that_a_prediction_needs_are_named() {
    let (dominating, beside) = (TransferKind::FastLoad, TransferKind::FastStore);
    let mut all = points(&truth("knl"), 3, |rate| vec![rate; 5]);
    all.retain(|it| it.point != HybridPoint::Pair { dominating, beside });
    let pair = pair(&record(&all), OverlapBounds::NotNegative);
    let shares = nearfar_model::HybridShares::together(0.8, 1.0);
    assert_eq!(pair.missing_overlaps(shares), [(dominating, beside)]);
    let answer = pair.answer(0.8, &[]).unwrap();
    assert_eq!(answer.recommended, None);
    let missing = vec![(dominating, beside)];
    assert!(
        matches!(&answer.advice[0], HybridAdvice::MeasureOverlaps { missing: found, .. }
            if *found == missing),
        "{:?}",
        answer.advice
    );
    let reads = nearfar_model::HybridShares::together(1.0, 0.5);
    assert!(pair.missing_overlaps(reads).is_empty());
}

fn kind() -> impl Strategy<Value = TransferKind> {
    prop::sample::select(TransferKind::ALL.to_vec())
}

fn any_point() -> impl Strategy<Value = HybridPoint> {
    prop_oneof![
        kind().prop_map(|of| HybridPoint::Corner { of }),
        (kind(), kind()).prop_map(|(dominating, beside)| HybridPoint::Pair { dominating, beside }),
        Just(HybridPoint::Surface),
    ]
}

fn odd_point() -> impl Strategy<Value = Point> {
    let share = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    let rate = prop_oneof![Just(0.0), Just(1.0), 1e3..1e12_f64];
    (any_point(), share.clone(), (share.clone(), share), prop::collection::vec(rate, 0..7))
        .prop_map(|(point, load_share, fast, rounds)| Point { point, load_share, fast, rounds })
}

proptest! {
    /// Whatever a record holds: no panic, and no figure that is not a number.
    #[test]
    fn nothing_but_numbers_comes_out(
        odd in prop::collection::vec(odd_point(), 0..12),
        kept in prop::collection::vec(any::<bool>(), 20),
        bounded in any::<bool>(),
        loads in 0.0..=1.0_f64,
    ) {
        let sound = points(&truth("skylake"), 2, |rate| vec![rate; 5]);
        let kept = sound.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| point);
        let all: Vec<Point> = odd.into_iter().chain(kept).collect();
        let bounds = if bounded { OverlapBounds::NotNegative } else { OverlapBounds::None };
        if let Ok(model) = model(&record(&all), bounds) {
            for pair in &model.pairs {
                for fit in pair.overlaps.iter().filter_map(|it| it.fit.found()) {
                    let theta = fit.overlap_theta.value.0;
                    prop_assert!(theta.is_finite() && fit.unbounded.is_finite());
                }
                let answer = pair.answer(loads, &[0.25]).unwrap();
                for placement in &answer.placements {
                    let found = &placement.prediction;
                    prop_assert!(found.lowest.0 > 0.0 && found.highest.0.is_finite());
                    prop_assert!(placement.gains.iter().all(|it| it.gain.gain.is_finite()));
                    let [low, high] = found.bandwidth.ends();
                    prop_assert!(low.0.is_finite() && high.0.is_finite() && low <= high);
                }
                prop_assert!(pair.relative_rms().is_none_or(f64::is_finite));
            }
        }
    }
}
