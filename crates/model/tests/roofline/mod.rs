//! Charts of records that the tests make: errors, ridges and verdicts by hand.

mod phases;
mod points;
mod roof_record;
mod strange;

use nearfar_model::{RecordFigures, Roofline, roof_errors, roofline};
use nearfar_record::Roof;
use roof_record::{Made, compute, point, record, roof};

fn model(made: &[Made]) -> Roofline {
    roofline(&RecordFigures::new(&record(made))).unwrap()
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
}

/// denoyelle2019, table 2, for the initiator alone.
pub fn joe0() -> Vec<Made> {
    vec![
        compute("fma_dp", "avx2", 189.4e9),
        compute("fma_sp", "avx2", 378.8e9),
        compute("add_dp", "avx2", 47.1e9),
        roof(Roof::Cache { level: 1 }, "load", &[760.1e9]),
        roof(Roof::Memory { node: 0 }, "load", &[36.1e9]),
        roof(Roof::Memory { node: 3 }, "load", &[14.3e9]),
        roof(Roof::Contended { node: 3, initiators: 4 }, "load", &[6.2e9]),
        roof(Roof::AllLocal { node: 0 }, "load", &[36.0e9]),
        roof(Roof::Memory { node: 0 }, "2l1s", &[27.0e9]),
    ]
}

#[test]
fn a_ridge_is_where_a_roof_meets_a_ceiling() {
    let model = model(&joe0());
    let [chart] = model.charts.as_slice() else { panic!("{model:?}") };
    let names: Vec<&str> = chart.ceilings.iter().map(|it| it.kernel.as_str()).collect();
    assert_eq!(names, ["fma_sp", "fma_dp", "add_dp"], "the highest first");
    assert_eq!(chart.ceiling.as_deref(), Some("fma_dp"), "points are of double precision");
    let local = chart.roofs.iter().find(|roof| roof.roof == Roof::Memory { node: 0 }).unwrap();
    near(local.ridges[0].intensity, 378.8 / 36.1);
    near(local.ridges[1].intensity, 189.4 / 36.1);
    near(chart.attainable(0.125, 36.1e9), 36.1e9 / 8.0);
    near(chart.attainable(64.0, 36.1e9), 189.4e9);
}

/// A line through the corners is the roof: up to its ridge, then level.
#[test]
fn corners_draw_the_roof() {
    let model = model(&joe0());
    let chart = &model.charts[0];
    let (from, to) = chart.intensities().unwrap();
    // Ridges from 0.249 to 30.5: a quarter of 1/8, four times 32.
    assert_eq!((from, to), (1.0 / 32.0, 128.0));
    for roof in &chart.roofs {
        assert_eq!(roof.corners.len(), 3);
        for corner in &roof.corners {
            near(corner.flops.0, chart.attainable(corner.intensity, roof.bandwidth.value.0));
        }
    }
}

#[test]
fn of_several_variants_the_best_is_the_roof() {
    let mut made = joe0();
    made.push(compute("fma_dp", "sse2", 95e9));
    made.push(compute("fma_dp", "avx512", 200e9));
    let model = model(&made);
    let fma: Vec<_> = model.charts[0].ceilings.iter().filter(|it| it.kernel == "fma_dp").collect();
    assert_eq!(fma.len(), 1);
    assert_eq!(fma[0].variant, "avx512");
}

/// Footnotes 5 and 10 of the paper divide by n; the true relative RMS is larger by sqrt(n).
#[test]
fn both_errors_are_named() {
    let errors = roof_errors(&[0.97, 1.04, 1.0, 1.0]).unwrap();
    near(errors.paper, 0.05 / 4.0);
    near(errors.relative_rms, 0.05 / 2.0);
    near(errors.mean, 0.0025);
    assert_eq!(errors.worst, 1);
    near(errors.relative_rms / errors.paper, 2.0);
    assert_eq!(roof_errors(&[]), None);
    assert_eq!(roof_errors(&[1.0, f64::NAN]), None);
    let one = roof_errors(&[0.9]).unwrap();
    near(one.paper, one.relative_rms);
}

#[test]
fn points_are_held_against_the_lower_roof() {
    let mut made = joe0();
    let below =
        |kernel, bytes: f64, flops: f64| point(Roof::Memory { node: 0 }, kernel, bytes, flops);
    // At the roof, 2 % below it, and 4 % above the ceiling.
    made.push(below("1l_1fma", 36.1e9, 36.1e9 / 4.0));
    made.push(below("1l_4fma", 36.1e9 * 0.98, 36.1e9 * 0.98));
    made.push(below("1l_256fma", 189.4e9 * 1.04 / 64.0, 189.4e9 * 1.04));
    let model = model(&made);
    let [validation] = model.charts[0].validations.as_slice() else { panic!("{model:?}") };
    assert_eq!((validation.roof, validation.planned), (Roof::Memory { node: 0 }, 3));
    let ratios: Vec<f64> = validation.points.iter().map(|point| point.ratio).collect();
    let expected = [1.0, 0.98, 1.04];
    ratios.iter().zip(expected).for_each(|(ratio, expected)| {
        assert!((ratio - expected).abs() < 1e-6, "{ratios:?}");
    });
    let exceeding: Vec<bool> = validation.points.iter().map(|point| point.exceeds).collect();
    assert_eq!(exceeding, [false, false, true]);
    let errors = validation.errors.unwrap();
    let rms = (f64::midpoint(0.0, 0.02 * 0.02 + 0.04 * 0.04) * 2.0 / 3.0).sqrt();
    assert!((errors.relative_rms - rms).abs() < 1e-6, "{errors:?}");
    assert_eq!(errors.worst, 2);
    // Twice the error is what the model tells apart.
    let chart = &model.charts[0];
    near(chart.resolution(Roof::Memory { node: 0 }), 0.05_f64.max(2.0 * errors.relative_rms));
}

/// A roof whose rounds differ is not exceeded by a point within them.
#[test]
fn a_point_within_the_rounds_of_its_roof_does_not_exceed_it() {
    let of_rounds = |rounds: &[f64]| {
        let point = point(Roof::Memory { node: 0 }, "1l_1fma", 38e9, 38e9 / 4.0);
        model(&[
            compute("fma_dp", "avx2", 189.4e9),
            roof(Roof::Memory { node: 0 }, "load", rounds),
            point,
        ])
    };
    let exceeds = |model: &Roofline| model.charts[0].validations[0].points[0].exceeds;
    assert!(exceeds(&of_rounds(&[36e9, 36e9, 36e9, 36e9, 36e9, 36e9])));
    assert!(!exceeds(&of_rounds(&[34e9, 35e9, 36e9, 36e9, 37e9, 39e9])));
}

/// Plans measure what is within initiators that are alike once.
#[test]
fn initiators_that_are_alike_share_what_is_within_them() {
    let mut made = joe0();
    made.push(point(Roof::Memory { node: 0 }, "1l_1fma", 36e9, 9e9));
    for (initiator, threads) in [(1, 7), (2, 4)] {
        let mut more = roof(Roof::Memory { node: initiator }, "load", &[36e9]);
        (more.place.initiator, more.place.threads) = (initiator, threads);
        made.push(more);
    }
    let model = model(&made);
    let [own, alike, other] = model.charts.as_slice() else { panic!("{model:?}") };
    assert_eq!((own.within_of, alike.within_of, other.within_of), (None, Some(0), None));
    assert_eq!(alike.ceilings, own.ceilings);
    assert!(alike.roofs.iter().any(|roof| roof.roof == Roof::Cache { level: 1 }));
    assert!(other.ceilings.is_empty() && other.intensities().is_none());
    assert!(other.roofs[0].corners.is_empty());
    // Another initiator's points say how well its roofs are known as well.
    assert!(alike.error_of(Roof::Memory { node: 1 }).is_some());
    assert!(other.error_of(Roof::Memory { node: 2 }).is_none());
}

#[test]
fn a_record_without_roofs_says_what_would_add_them() {
    let none = Made { rounds: vec![], ..point(Roof::Memory { node: 0 }, "1l_1fma", 0.0, 0.0) };
    let record = record(&[none]);
    let why = roofline(&RecordFigures::new(&record)).unwrap_err();
    assert!(why.remedy.unwrap().contains("--only roofs"), "{}", why.why);
}
