//! Points that were measured and never fitted, beside what the model gives for them.

use super::shares::HybridShares;

/// A point that was measured and never fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutPoint {
    /// Its shares, by the pages that were found.
    pub shares: HybridShares,
    /// Useful bytes/s.
    pub measured: f64,
    /// Useful bytes/s; `None` where an overlap that is needed is not known.
    pub predicted: Option<f64>,
}

/// How far the model is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutErrors {
    /// Points that could be predicted.
    pub points: usize,
    /// denoyelle2019's measure: 1/n sqrt(sum of ((measured - model) / model)^2). It falls with
    /// the number of points even where each is as far off.
    pub paper_measure: f64,
    /// sqrt(1/n sum of the same squares): the true relative root mean square.
    pub relative_rms: f64,
    /// The point that is farthest off, measured / model - 1.
    pub worst: f64,
}

/// Fewer points tell no error.
pub(super) const FEWEST_POINTS: usize = 4;

impl HeldOutPoint {
    /// measured / model - 1, as the paper counts it; `None` without a prediction.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        self.predicted.map(|predicted| self.measured / predicted - 1.0)
    }
}

/// The errors over points; `None` where fewer than four could be predicted.
pub(super) fn errors(points: &[HeldOutPoint]) -> Option<HeldOutErrors> {
    let deviations: Vec<f64> = points.iter().filter_map(HeldOutPoint::deviation).collect();
    if deviations.len() < FEWEST_POINTS {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of points")]
    let count = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|it| it * it).sum();
    Some(HeldOutErrors {
        points: deviations.len(),
        paper_measure: squares.sqrt() / count,
        relative_rms: (squares / count).sqrt(),
        worst: deviations.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs()))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: deviations 0.1, -0.1, 0.2, 0: squares sum to 0.06.
    #[test]
    fn both_measures_by_hand() {
        let point = |measured| HeldOutPoint {
            shares: HybridShares::together(0.5, 0.5),
            measured,
            predicted: Some(10.0),
        };
        let points = [point(11.0), point(9.0), point(12.0), point(10.0)];
        let found = errors(&points).unwrap();
        assert_eq!(found.points, 4);
        assert!((found.paper_measure - 0.06_f64.sqrt() / 4.0).abs() < 1e-12);
        assert!((found.relative_rms - 0.015_f64.sqrt()).abs() < 1e-12);
        assert!((found.worst - 0.2).abs() < 1e-12);
        assert_eq!(errors(&points[..3]), None);
    }

    #[test]
    fn what_cannot_be_predicted_does_not_count() {
        let point = HeldOutPoint {
            shares: HybridShares::together(0.5, 0.5),
            measured: 10.0,
            predicted: None,
        };
        assert_eq!(errors(&[point; 9]), None);
    }
}
