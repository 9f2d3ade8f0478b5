//! Rates of the four kinds of transfer and what of their times does not overlap: the equation and
//! its fit.
//! Source: denoyelle2019, section 6, equation 5, and "linear regression on the time".

use nearfar_record::TransferKind;
use nearfar_stats::solve_least_squares;
use serde::Serialize;

/// Between which limits overlaps are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OverlapBounds {
    /// From 0 on: work beside other work does not make that faster.
    NotNegative,
    /// None, as the paper fits them.
    None,
}

/// Times of transfers, by equation 5. Arrays are in the order of [`TransferKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapModel {
    /// b: what each kind moves when nothing else does, useful bytes/s.
    pub rates: [f64; 4],
    /// Row: the kind that takes longest; column: the share of the other's time that does not
    /// overlap with it. `None` where the points do not tell it, and on the diagonal.
    pub overlap_theta: [[Option<f64>; 4]; 4],
}

/// A case whose dominating kind is known by its design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapPoint {
    pub dominating: TransferKind,
    /// Share of each kind in all bytes, by the pages that were found.
    pub shares: [f64; 4],
    /// All bytes, useful bytes/s.
    pub bandwidth: f64,
}

/// Where a kind takes less of a case's time in every point, those say nothing of its overlap.
const LEAST_TIME: f64 = 0.05;

impl OverlapModel {
    /// Fits the overlaps to points by least squares on the relative residual of the time,
    /// each dominating kind by itself.
    pub fn fit(rates: [f64; 4], points: &[OverlapPoint], bounds: OverlapBounds) -> Self {
        let of = |dominating| {
            let own = points.iter().filter(|point| point.dominating as usize == dominating);
            fit_row(&rates, dominating, &own.copied().collect::<Vec<_>>(), bounds)
        };
        Self { rates, overlap_theta: [of(0), of(1), of(2), of(3)] }
    }

    /// t of each kind, s for one byte of the whole, of which it has these shares.
    pub fn times(&self, shares: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|kind| shares[kind] / self.rates[kind])
    }

    /// Equation 5 with this kind as the one that dominates, s; `None` where an overlap that it
    /// needs is not known, or no time is left.
    pub(crate) fn seconds(&self, times: &[f64; 4], dominating: usize) -> Option<f64> {
        let mut seconds = times[dominating];
        for beside in (0..4).filter(|&kind| kind != dominating && times[kind] > 0.0) {
            seconds += self.overlap_theta[dominating][beside]? * times[beside];
        }
        (seconds > 0.0 && seconds.is_finite()).then_some(seconds)
    }

    /// The longest that equation 5 gives with any kind that carries traffic as the one that
    /// dominates, s; `None` as [`OverlapModel::seconds`].
    pub(crate) fn longest_seconds(&self, times: &[f64; 4]) -> Option<f64> {
        let mut longest = None::<f64>;
        for kind in (0..4).filter(|&kind| times[kind] > 0.0) {
            let seconds = self.seconds(times, kind)?;
            longest = Some(longest.map_or(seconds, |so_far| so_far.max(seconds)));
        }
        longest
    }

    /// Useful bytes/s of all kinds together; `None` as [`OverlapModel::seconds`].
    pub fn bandwidth(&self, shares: [f64; 4]) -> Option<f64> {
        let times = self.times(shares);
        self.seconds(&times, longest(&times)).map(f64::recip)
    }
}

/// The kind that takes longest; of several the first.
pub(crate) fn longest(times: &[f64; 4]) -> usize {
    (1..4).fold(0, |longest, kind| if times[kind] > times[longest] { kind } else { longest })
}

fn fit_row(
    rates: &[f64; 4],
    dominating: usize,
    points: &[OverlapPoint],
    bounds: OverlapBounds,
) -> [Option<f64>; 4] {
    // Relative to the case's time, t_dominating + sum of theta t is 1.
    let relative = |point: &OverlapPoint| -> [f64; 4] {
        std::array::from_fn(|kind| point.shares[kind] / rates[kind] * point.bandwidth)
    };
    let relative: Vec<[f64; 4]> = points.iter().map(relative).collect();
    let shows = |&kind: &usize| {
        kind != dominating && relative.iter().any(|times| times[kind] >= LEAST_TIME)
    };
    let columns: Vec<usize> = (0..4).filter(shows).collect();
    let right: Vec<f64> = relative.iter().map(|times| 1.0 - times[dominating]).collect();
    let solve = |columns: &[usize]| {
        let of = |times: &[f64; 4]| columns.iter().map(|&kind| times[kind]).collect();
        let rows: Vec<Vec<f64>> = relative.iter().map(of).collect();
        solve_least_squares(&rows, &right).filter(|fit| fit.rank == columns.len())
    };
    let mut row = [None; 4];
    let Some(free) = solve(&columns) else { return row };
    let mut solution = free.solution;
    if bounds == OverlapBounds::NotNegative && solution.iter().any(|&theta| theta < 0.0) {
        solution = not_negative(&columns, &right, solve);
    }
    for (&kind, theta) in columns.iter().zip(solution) {
        row[kind] = Some(theta);
    }
    row
}

/// The solution without negative unknowns: of all ways to hold some of them at 0 the one with the
/// least squares of those that leave the others positive.
fn not_negative(
    columns: &[usize],
    right: &[f64],
    solve: impl Fn(&[usize]) -> Option<nearfar_stats::LinearFit>,
) -> Vec<f64> {
    let squares = |residuals: &[f64]| residuals.iter().map(|it| it * it).sum::<f64>();
    let mut best = (vec![0.0; columns.len()], squares(right));
    for free in 1..1_usize << columns.len() {
        let is_free = |place: &usize| free >> place & 1 == 1;
        let places: Vec<usize> = (0..columns.len()).filter(is_free).collect();
        let kept: Vec<usize> = places.iter().map(|&place| columns[place]).collect();
        let Some(fit) = solve(&kept) else { continue };
        let left = squares(&fit.residuals);
        if left < best.1 && fit.solution.iter().all(|&theta| theta >= 0.0) {
            let mut all = vec![0.0; columns.len()];
            for (&place, &theta) in places.iter().zip(&fit.solution) {
                all[place] = theta;
            }
            best = (all, left);
        }
    }
    best.0
}
