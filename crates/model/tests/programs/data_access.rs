//! D and its bounds by their definitions and as properties; the thesis's equations are rows of
//! `crates/reproduce`.

use nearfar_model::{DataAccessError, data_access};
use proptest::prelude::*;

fn assert_near(ours: f64, theirs: f64, within: f64) {
    assert!((ours - theirs).abs() <= within, "{ours} is not {theirs}");
}

const MEMORY: [f64; 3] = [0.5449, 0.3281, 0.1816];

/// Worked by hand: 0.5/0.5449 + 0.25/0.3281 + 0.25/0.1816 = 3.0562; the longest is the
/// last, 1.3767.
#[test]
fn bounds_by_time() {
    let found = data_access(&MEMORY, &[0.5, 0.25, 0.25]).unwrap();
    assert_near(found.d, 0.399_875, 1e-9);
    assert_near(found.d_serial, 0.3272, 5e-5);
    assert_near(found.d_overlap, 0.7264, 5e-5);
}

#[test]
fn shares_may_miss_one_by_what_rounding_takes() {
    let thirds = data_access(&MEMORY, &[0.333, 0.333, 0.333]).unwrap();
    let mean = (0.5449 + 0.3281 + 0.1816) / 3.0;
    assert_near(thirds.d, mean, 1e-12);
    // What is shown beside D are the shares that it was computed from.
    thirds.shares.iter().for_each(|&share| assert_near(share, 1.0 / 3.0, 1e-12));
    for share in [[0.3, 0.3, 0.3], [0.5, 0.5, 0.0011], [0.0, 0.0, 0.0]] {
        let error = data_access(&MEMORY, &share).unwrap_err();
        assert!(matches!(error, DataAccessError::Sum { .. }), "{error}");
    }
}

#[test]
fn what_is_no_ratio_or_share_is_refused_by_class() {
    for alpha in [0.0, -0.1, 9.9e-7, 1e-300, f64::NAN, f64::INFINITY, 9300.0] {
        let error = data_access(&[0.5, alpha], &[0.5, 0.5]).unwrap_err();
        assert!(matches!(error, DataAccessError::Alpha { class: 1, .. }), "{error}");
    }
    for share in [-0.1, 1.1, f64::NAN] {
        let error = data_access(&[0.5, 0.4], &[share, 1.0]).unwrap_err();
        assert!(matches!(error, DataAccessError::Share { class: 0, .. }), "{error}");
    }
    let lengths = data_access(&MEMORY, &[1.0]);
    assert_eq!(lengths, Err(DataAccessError::Lengths { alphas: 3, shares: 1 }));
    assert!(lengths.unwrap_err().to_string().starts_with("3 alphas and 1 share: "));
    assert!(data_access(&[], &[]).is_err());
    // All cores against one channel.
    assert!(data_access(&[8.0, 3.0], &[0.5, 0.5]).is_ok());
}

proptest! {
    #[test]
    fn means_are_ordered(classes in prop::collection::vec((1e-6..100.0_f64, 0.0..1.0_f64), 1..12)) {
        let sum: f64 = classes.iter().map(|class| class.1).sum();
        prop_assume!(sum > 1e-3);
        let alpha: Vec<f64> = classes.iter().map(|class| class.0).collect();
        let share: Vec<f64> = classes.iter().map(|class| class.1 / sum).collect();
        let found = data_access(&alpha, &share).unwrap();
        let most = alpha.iter().copied().fold(0.0, f64::max);
        let more = 1.0 + 1e-12;
        prop_assert!(found.d_serial <= found.d * more);
        prop_assert!(found.d <= most * more);
        prop_assert!(found.d_serial <= found.d_overlap * more);
    }

    /// The times of accesses one after the other: what d_serial means.
    #[test]
    fn serial_is_bytes_over_time(
        alpha in prop::collection::vec(0.01..2.0_f64, 3),
        bytes in prop::collection::vec(1_u32..1000, 3),
    ) {
        let total: u32 = bytes.iter().sum();
        let share: Vec<f64> = bytes.iter().map(|&b| f64::from(b) / f64::from(total)).collect();
        let seconds: f64 = bytes.iter().zip(&alpha).map(|(&b, rate)| f64::from(b) / rate).sum();
        let found = data_access(&alpha, &share).unwrap();
        prop_assert!((found.d_serial * seconds / f64::from(total) - 1.0).abs() < 1e-9);
    }
}
