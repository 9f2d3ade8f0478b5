//! Points that were measured and never fitted, beside what the model gives for them.

use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::shares::HybridShares;

/// A point that was measured and never fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldOutPoint {
    /// The case, by its id.
    pub case: String,
    /// Its shares, by the pages that were found.
    #[serde(flatten)]
    pub shares: HybridShares,
    /// Mean of the rounds without outliers.
    #[serde(rename = "measured_gb_per_s")]
    pub measured: BytesPerSecond,
    /// By the model; null where an overlap that is needed is not known.
    #[serde(rename = "predicted_gb_per_s")]
    pub predicted: Option<BytesPerSecond>,
    /// Predicted / measured - 1; null as that.
    pub error: Option<f64>,
    /// Whether what is read and what is written were asked to lie alike, or only one is there.
    pub has_one_share: bool,
}

/// How far the model is off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldOutErrors {
    /// Points that could be predicted.
    pub points: usize,
    /// denoyelle2019's measure: 1/n sqrt(sum of ((measured - model) / model)^2). It falls with
    /// the number of points even where each is as far off.
    pub paper_measure: f64,
    /// sqrt(1/n sum of the same squares): the true relative root mean square.
    pub relative_rms: f64,
    /// The point that is farthest off, predicted / measured - 1.
    pub worst: f64,
    /// How far off a prediction may be, a fraction, and what a gain must be above to be claimed:
    /// twice the relative root mean square; of fewer than ten points at least as far as the worst
    /// of them.
    pub room: f64,
}

/// Fewer points tell no error.
const FEWEST_POINTS: usize = 4;

/// Fewer points tell how far off the model is by their worst rather than by their mean square.
const FEW_POINTS: usize = 10;

/// [`HeldOutErrors::room`].
fn room(points: usize, relative_rms: f64, worst: f64) -> f64 {
    let twice = 2.0 * relative_rms;
    if points >= FEW_POINTS {
        return twice;
    }
    // What was measured beside the model, and the other way round.
    twice.max(worst.abs()).max(((1.0 + worst).recip() - 1.0).abs())
}

impl HeldOutPoint {
    /// measured / model - 1, as the paper counts it; `None` without a prediction.
    fn deviation(&self) -> Option<f64> {
        self.predicted.map(|predicted| self.measured / predicted - 1.0)
    }
}

/// The errors over the points with one share for all buffers, or over those with different ones;
/// `None` where fewer than four of them could be predicted.
pub(super) fn errors(points: &[HeldOutPoint], has_one_share: bool) -> Option<HeldOutErrors> {
    let own = || points.iter().filter(|point| point.has_one_share == has_one_share);
    let deviations: Vec<f64> = own().filter_map(HeldOutPoint::deviation).collect();
    if deviations.len() < FEWEST_POINTS {
        return None;
    }
    let count = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|it| it * it).sum();
    let (points, relative_rms) = (deviations.len(), (squares / count).sqrt());
    let worst = own().filter_map(|point| point.error).max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    Some(HeldOutErrors {
        points,
        paper_measure: squares.sqrt() / count,
        relative_rms,
        worst,
        room: room(points, relative_rms, worst),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(measured: f64, predicted: Option<f64>) -> HeldOutPoint {
        HeldOutPoint {
            case: String::new(),
            shares: HybridShares::together(0.5, 0.5),
            measured: BytesPerSecond(measured),
            predicted: predicted.map(BytesPerSecond),
            error: predicted.map(|predicted| predicted / measured - 1.0),
            has_one_share: true,
        }
    }

    /// By hand: deviations 0.1, -0.1, 0.2, 0: squares sum to 0.06.
    #[test]
    fn both_measures_by_hand() {
        let points = [11.0, 9.0, 12.0, 10.0].map(|measured| point(measured, Some(10.0)));
        let found = errors(&points, true).unwrap();
        assert_eq!(found.points, 4);
        assert!((found.paper_measure - 0.06_f64.sqrt() / 4.0).abs() < 1e-12);
        assert!((found.relative_rms - 0.015_f64.sqrt()).abs() < 1e-12);
        // 10 / 12 - 1.
        assert!((found.worst + 1.0 / 6.0).abs() < 1e-12);
        assert!((found.room - 2.0 * found.relative_rms).abs() < 1e-12);
        assert_eq!(errors(&points[..3], true), None);
        assert_eq!(errors(&points, false), None);
    }

    /// 1 / (1 - 0.2) - 1 is a quarter.
    #[test]
    fn of_few_points_the_worst_counts() {
        assert!((room(9, 0.05, -0.2) - 0.25).abs() < 1e-12);
        assert!((room(10, 0.05, -0.2) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_predicted_does_not_count() {
        assert_eq!(errors(&vec![point(10.0, None); 9], true), None);
    }
}
