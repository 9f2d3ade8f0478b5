//! How far rates and overlaps may be off: the rounds of corners and points are drawn again,
//! together.
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

use nearfar_stats::{drawn_estimates, mean_of_calm};

use super::overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint};

/// Fits to drawn rounds: the ends of an interval then move by about a seventh of its width from
/// seed to seed.
const DRAWS: usize = 200;

/// With fewer rounds of a case a drawn middle says too little of the true one.
pub(super) const FEWEST_ROUNDS: usize = 5;

/// Rounds of a pair of memories, useful bytes/s.
pub(super) struct Rounds {
    /// Those of the corners, by kind.
    pub corners: [Vec<f64>; 4],
    pub points: Vec<(OverlapPoint, Vec<f64>)>,
}

impl Rounds {
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
        if self.fewest() < FEWEST_ROUNDS {
            return Vec::new();
        }
        let draws = drawn_estimates(&self.samples(), DRAWS, 0, mean_of_calm);
        draws.iter().filter_map(|middles| self.fit_to(middles, bounds)).collect()
    }

    /// Rounds of the case that has the fewest.
    pub fn fewest(&self) -> usize {
        self.samples().iter().map(|rounds| rounds.len()).min().unwrap_or(0)
    }

    fn samples(&self) -> Vec<&[f64]> {
        let of_points = self.points.iter().map(|(_, rounds)| rounds);
        self.corners.iter().chain(of_points).map(Vec::as_slice).collect()
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
