//! How far rates and overlaps may be off: the rounds of corners and points are drawn again,
//! together.
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

use nearfar_record::TransferKind;
use nearfar_stats::{drawn_estimates, mean_of_calm, median, percentile_error};

use super::overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint};
use crate::hybrid_points::HybridFigures;

/// Fits to drawn rounds: the ends of an interval then move by about a seventh of its width from
/// seed to seed.
const DRAWS: usize = 200;

/// With fewer rounds of a case a drawn middle says too little of the true one.
pub const FEWEST_DRAWN_ROUNDS: usize = 5;

/// So many of the drawn fits an interval holds.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Two kinds whose times are within this many standard errors of each other may dominate either
/// way.
const STANDARD_ERRORS: f64 = 3.0;

/// How far apart two times may be and still be exchanged by the errors of the rates, where those
/// are not known, as a fraction.
pub const UNKNOWN_MARGIN: f64 = 0.05;

/// The least margin: what the rounding of binary fractions makes of equal times.
const LEAST_MARGIN: f64 = 1e-9;

/// Corners, by kind, and points of pairs, all with rounds.
pub(super) struct Rounds<'a> {
    pub corners: [&'a HybridFigures; 4],
    pub points: Vec<(OverlapPoint, &'a HybridFigures)>,
}

impl Rounds<'_> {
    /// The model by the mean of the calm rounds; `None` where one is no rate. (Medians
    /// would need half as many rounds more for overlaps as near.)
    pub fn fit(&self, bounds: OverlapBounds) -> Option<OverlapModel> {
        let middles: Vec<Option<f64>> =
            self.samples().iter().map(|rounds| mean_of_calm(rounds)).collect();
        self.fit_to(&middles, bounds)
    }

    /// The models by drawn rounds; none where a case has too few. The seed is fixed: a record
    /// always gives the same.
    pub fn refit(&self, bounds: OverlapBounds) -> Vec<OverlapModel> {
        if self.fewest() < FEWEST_DRAWN_ROUNDS {
            return Vec::new();
        }
        let draws = drawn_estimates(&self.samples(), DRAWS, 0, mean_of_calm);
        draws.iter().filter_map(|middles| self.fit_to(middles, bounds)).collect()
    }

    pub fn fewest(&self) -> usize {
        self.samples().iter().map(|rounds| rounds.len()).min().unwrap_or(0)
    }

    /// The cases that overlaps of this kind with others rest on: its points, and the corners.
    pub fn cases_of(&self, dominating: TransferKind) -> Vec<String> {
        let own = self.points.iter().filter(|(point, _)| point.dominating == dominating);
        own.map(|(_, case)| case).chain(&self.corners).map(|it| it.case.id.clone()).collect()
    }

    fn samples(&self) -> Vec<&[f64]> {
        let of_points = self.points.iter().map(|(_, case)| case);
        self.corners.iter().chain(of_points).map(|it| it.rounds.as_slice()).collect()
    }

    fn fit_to(&self, middles: &[Option<f64>], bounds: OverlapBounds) -> Option<OverlapModel> {
        let is_rate = |rate: &f64| *rate > 0.0 && rate.is_finite();
        let middles: Option<Vec<f64>> =
            middles.iter().map(|middle| middle.filter(is_rate)).collect();
        let middles = middles?;
        let (corners, of_points) = middles.split_at_checked(4)?;
        let points = self.points.iter().zip(of_points);
        let points: Vec<OverlapPoint> =
            points.map(|((point, _), &bandwidth)| OverlapPoint { bandwidth, ..*point }).collect();
        Some(OverlapModel::fit(corners.try_into().ok()?, &points, bounds))
    }
}

/// How near two times must be to be exchanged by the errors of the rates: a fraction of the
/// longer, by kinds.
pub(super) fn margins(drawn: &[OverlapModel]) -> [[f64; 4]; 4] {
    let relative: [Option<f64>; 4] = std::array::from_fn(|kind| {
        let rates: Vec<f64> = drawn.iter().map(|model| model.rates[kind]).collect();
        Some(percentile_error(&rates)? / median(&rates)?)
    });
    std::array::from_fn(|one| {
        std::array::from_fn(|other| match (relative[one], relative[other]) {
            (Some(one), Some(other)) => {
                // At half of a time and more nothing is left to tell apart.
                (STANDARD_ERRORS * one.hypot(other)).clamp(LEAST_MARGIN, 0.5)
            }
            _ => UNKNOWN_MARGIN,
        })
    })
}
