//! The fit with bounds against the conditions that only the true optimum meets.

use nearfar_model::{OverlapBounds, OverlapModel, OverlapPoint};
use nearfar_record::TransferKind;
use proptest::prelude::*;

fn point() -> impl Strategy<Value = OverlapPoint> {
    (prop::array::uniform4(0.01..1.0_f64), 0.2..5.0_f64).prop_map(|(shares, bandwidth)| {
        OverlapPoint { dominating: TransferKind::FastLoad, shares, bandwidth }
    })
}

proptest! {
    /// Karush, Kuhn and Tucker: the squares grow in no direction that is allowed.
    #[test]
    fn no_allowed_step_makes_the_squares_less(
        rates in prop::array::uniform4(0.5..2.0_f64),
        points in prop::collection::vec(point(), 3..8),
    ) {
        let model = OverlapModel::fit(rates, &points, OverlapBounds::NotNegative);
        let row = model.overlap_theta[0];
        prop_assert!(row[0].is_none());
        prop_assume!(row[1..].iter().all(Option::is_some));
        let row = row.map(Option::unwrap_or_default);
        // By the definition: (T - t_d - sum of theta t) / T.
        let residual = |point: &OverlapPoint, row: &[f64; 4]| {
            let times = model.times(point.shares);
            let beside: f64 = (1..4).map(|kind| row[kind] * times[kind]).sum();
            1.0 - (times[0] + beside) * point.bandwidth
        };
        let squares = |row: &[f64; 4]| -> f64 {
            points.iter().map(|point| residual(point, row).powi(2)).sum()
        };
        let here = squares(&row);
        for kind in 1..4 {
            prop_assert!(row[kind] >= 0.0);
            for step in [-1e-4, 1e-4] {
                let mut beside = row;
                beside[kind] += step;
                if beside[kind] >= 0.0 {
                    prop_assert!(squares(&beside) >= here - 1e-12 * here.max(1.0));
                }
            }
        }
    }
}

#[test]
fn points_that_are_all_alike_identify_nothing() {
    let alike = OverlapPoint {
        dominating: TransferKind::SlowLoad,
        shares: [0.2, 0.2, 0.4, 0.2],
        bandwidth: 1.0,
    };
    let model = OverlapModel::fit([1.0; 4], &[alike; 6], OverlapBounds::NotNegative);
    assert_eq!(model.overlap_theta, [[None; 4]; 4]);
}
