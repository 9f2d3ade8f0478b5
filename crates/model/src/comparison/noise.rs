//! How far the ratio of two medians can be from 1 by chance.
//! The noise of a round is pooled over the cases of a group, of each record by itself, and a case
//! that scatters more by itself has its own: few rounds can agree by chance, and then look surer
//! than they are.

use nearfar_stats::{
    OF_MAD, estimate_median, median, normal_quantile, pooled_deviation, quantile,
    relative_deviation,
};

use super::figure::Figure;
use super::matching::Matched;
use super::significance::{score_of_t, t_of_score};
use super::{Cell, FEWEST_OF_GROUP};

/// Standard deviation of a median / that of a mean, for many normal values.
pub(super) const OF_MEDIAN: f64 = 1.2533;

/// Cases without any noise (a simulation's) differ by what rounding leaves.
const LEAST_ERROR: f64 = 1e-9;

/// From this many rounds on a median's 95 % interval leaves the lowest and the highest out, so that
/// one outlier does not widen it.
const ROUNDS_FOR_INTERVAL: usize = 9;

/// Pooled noise counts as known from at most this many rounds: groups are not quite uniform.
const MOST_FREEDOM: f64 = 100.0;

/// What the cases of a group have in common.
pub(super) struct GroupNoise {
    /// Relative standard deviation of a round, of each record.
    pub deviations: [f64; 2],
    freedom: f64,
}

/// What chance does to the gain of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CellNoise {
    /// Standard deviation of ln(ratio).
    pub error: f64,
    /// How many rounds that is known from, less one for each of the two medians.
    pub freedom: f64,
}

impl GroupNoise {
    pub fn of(members: &[Matched<'_>]) -> Self {
        let pooled = |record: usize| {
            let values = members.iter().map(|matched| matched.figures()[record].values());
            let deviations: Vec<(f64, usize)> = values
                .filter_map(|values| Some((relative_deviation(&values)?, values.len())))
                .collect();
            // Compared cases have several rounds; a group without any has no cell to judge.
            pooled_deviation(&deviations).unwrap_or(0.0)
        };
        let freedom: f64 = members.iter().map(freedom).sum();
        Self { deviations: [pooled(0), pooled(1)], freedom: freedom.min(MOST_FREEDOM) }
    }

    pub fn of_cell(&self, matched: &Matched<'_>) -> CellNoise {
        let figures = matched.figures().into_iter().zip(self.deviations);
        let (mut square, mut common_square) = (LEAST_ERROR.powi(2), LEAST_ERROR.powi(2));
        for (figure, deviation) in figures {
            let common = OF_MEDIAN * deviation / (figure.rounds.len() as f64).sqrt();
            common_square += common.powi(2);
            square += own_error(figure).max(common).powi(2);
        }
        // Where a case's own scatter is what counts, its own rounds are all that is known of it.
        let freedom = freedom(matched) + self.freedom * common_square / square;
        CellNoise { error: square.sqrt(), freedom }
    }
}

fn freedom(matched: &Matched<'_>) -> f64 {
    (matched.a.rounds.len() + matched.b.rounds.len()) as f64 - 2.0
}

/// Relative standard deviation of a median by its own rounds, of which few may be far off.
fn own_error(figure: &Figure) -> f64 {
    let values = figure.values();
    let distances: Vec<f64> = values.iter().map(|value| (value - figure.median).abs()).collect();
    // Without rounds there is no figure; with few of them no interval is wider than the spread.
    let spread = OF_MAD * median(&distances).unwrap_or(0.0);
    let by_spread = OF_MEDIAN * spread / (values.len() as f64).sqrt();
    let by_interval = estimate_median(&values)
        .filter(|estimate| estimate.count >= ROUNDS_FOR_INTERVAL)
        .and_then(|estimate| {
            let to_each_side = normal_quantile(f64::midpoint(1.0, estimate.confidence))?;
            let (low, high) = estimate.interval;
            Some((high - low) / 2.0 / to_each_side)
        });
    by_spread.max(by_interval.unwrap_or(0.0)) / figure.median
}

impl CellNoise {
    /// How far a gain is from 0, as standard deviations of a normal number.
    pub fn score(self, gain: f64) -> f64 {
        score_of_t(gain / self.error, self.freedom)
    }

    pub fn gain_at(self, score: f64) -> f64 {
        t_of_score(score, self.freedom) * self.error
    }

    /// Half of the 95 % interval of a gain.
    pub fn half_interval(self) -> f64 {
        self.gain_at(1.96)
    }
}

/// How much more the gains of a group scatter around `middle` than the rounds' noise explains, at
/// least 1: two records of one machine can differ in what no round shows, the memory that they got
/// for instance. By the quarter of the cases that differs least, so that those that changed do
/// not count; and no more than makes half of the errors `most`, since machines that differ
/// everywhere by much are not noisy, but different.
pub(super) fn excess(cells: &[Cell<'_>], middle: f64, most: f64) -> f64 {
    /// A quarter of normal numbers are nearer to 0.
    const QUARTER: f64 = 0.3186;
    if cells.len() < FEWEST_OF_GROUP {
        return 1.0;
    }
    let mut sizes: Vec<f64> =
        cells.iter().map(|cell| ((cell.gain - middle) / cell.noise.error).abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let errors: Vec<f64> = cells.iter().map(|cell| cell.noise.error).collect();
    let bound = median(&errors).map_or(1.0, |error| most / error);
    quantile(&sizes, 0.25).map_or(1.0, |quarter| (quarter / QUARTER).min(bound).max(1.0))
}
