//! How far rates and overlaps may be off: the rounds of corners and points are drawn again,
//! together.
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

use nearfar_stats::{drawn_medians, median};

use super::overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint};

/// Fits to drawn rounds: the ends of an interval then move by about a seventh of its width from
/// seed to seed.
const DRAWS: usize = 200;

/// With fewer rounds of a case a drawn median says too little of the true one.
pub(super) const FEWEST_ROUNDS: usize = 5;

/// Rounds of a pair of memories, useful bytes/s.
pub(super) struct Rounds {
    /// Those of the corners, by kind.
    pub corners: [Vec<f64>; 4],
    /// The points, and the rounds of each.
    pub points: Vec<(OverlapPoint, Vec<f64>)>,
}

impl Rounds {
    /// The model by the medians of all rounds; `None` where one is no rate.
    pub fn fit(&self, bounds: OverlapBounds) -> Option<OverlapModel> {
        let medians: Vec<Option<f64>> =
            self.samples().iter().map(|rounds| median(rounds)).collect();
        self.fit_to(&medians, bounds)
    }

    /// The models by drawn rounds; none where a case has too few. The seed is fixed: a record
    /// always gives the same.
    pub fn refit(&self, bounds: OverlapBounds) -> Vec<OverlapModel> {
        if self.fewest() < FEWEST_ROUNDS {
            return Vec::new();
        }
        let draws = drawn_medians(&self.samples(), DRAWS, 0);
        draws.iter().filter_map(|medians| self.fit_to(medians, bounds)).collect()
    }

    /// Rounds of the case that has the fewest.
    pub fn fewest(&self) -> usize {
        self.samples().iter().map(|rounds| rounds.len()).min().unwrap_or(0)
    }

    fn samples(&self) -> Vec<&[f64]> {
        let of_points = self.points.iter().map(|(_, rounds)| rounds);
        self.corners.iter().chain(of_points).map(Vec::as_slice).collect()
    }

    fn fit_to(&self, medians: &[Option<f64>], bounds: OverlapBounds) -> Option<OverlapModel> {
        let is_rate = |rate: &f64| *rate > 0.0 && rate.is_finite();
        let medians: Option<Vec<f64>> =
            medians.iter().map(|median| median.filter(is_rate)).collect();
        let medians = medians?;
        let (corners, of_points) = medians.split_at_checked(4)?;
        let points = self.points.iter().zip(of_points);
        let points: Vec<OverlapPoint> =
            points.map(|((point, _), &bandwidth)| OverlapPoint { bandwidth, ..*point }).collect();
        Some(OverlapModel::fit(corners.try_into().ok()?, &points, bounds))
    }
}
