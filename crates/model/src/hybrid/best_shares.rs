//! The shares of the fast memory with which a program gets most.
//!
//! While one kind dominates, the time is linear in both shares, so that it is least where two of
//! these lines cross: a buffer wholly in one memory; two kinds that take equally long, or just so
//! differently that the errors of their rates cannot exchange them; both shares equal; the fast
//! memory full. All crossings are looked at.
//! Source: the vertices of linear programs; denoyelle2019, equation 5, for the time.

use super::answer::HybridPrediction;
use super::pair::HybridPair;
use super::shares::HybridShares;

/// Whether buffers that are read and written may be shared out differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// All alike, as by one policy for the whole program.
    Together,
    /// Each kind by its own policy.
    Separately,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BestShares {
    /// With the best of what is certain: its lowest bandwidth is the highest.
    pub chosen: HybridPrediction,
    /// Where equation 5 gives over half a percent more, on one side of a jump or by a kind that
    /// takes longest where another gives less: what cannot be promised.
    pub unclaimed: Option<HybridPrediction>,
    /// Whether all shares could be looked at; else overlaps are missing for some.
    pub is_complete: bool,
}

/// a x + b y = c, x the fast share of what is read, y of what is written.
#[derive(Debug, Clone, Copy)]
struct Line {
    a: f64,
    b: f64,
    c: f64,
}

/// Where shares may differ, the slowest of all kinds bends the time between the crossings; a grid
/// of this many steps a side finds what lies there.
const STEPS: u32 = 32;

/// Shares that differ by less are the same.
const SAME: f64 = 1e-9;

/// A share is given up for a simpler one where it gains less than this fraction.
const NO_GAIN: f64 = 1e-6;

/// An optimum at a jump is told where it promises more than this fraction.
const WORTH_TELLING: f64 = 0.005;

impl HybridPair {
    /// The best shares for a share of loads in all bytes, with at most this share of the bytes in
    /// the fast memory. `None` where these are not between 0 and 1, or nothing can be predicted.
    pub fn best(&self, load_share: f64, buffers: Buffers, most_fast: f64) -> Option<BestShares> {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        if !is_share(load_share) || !is_share(most_fast) {
            return None;
        }
        let lines = self.lines(load_share, most_fast);
        let (mut chosen, mut highest) = (None::<(HybridShares, f64)>, None::<(HybridShares, f64)>);
        let mut is_complete = true;
        let mut take = |shares: HybridShares| {
            let Some((low, high)) = self.range(&shares) else {
                is_complete = false;
                return;
            };
            for (best, value) in [(&mut chosen, low), (&mut highest, high)] {
                if best.is_none_or(|(_, so_far)| value > so_far * (1.0 + NO_GAIN)) {
                    *best = Some((shares, value));
                }
            }
        };
        let crossings = lines.iter().enumerate().flat_map(|(number, one)| {
            lines[number + 1..].iter().filter_map(|other| one.crossing(other))
        });
        let steps = || (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
        let grid = steps().flat_map(|x| steps().map(move |y| (x, y)));
        let grid = grid.filter(|_| buffers == Buffers::Separately);
        for (x, y) in crossings.chain(grid) {
            let shares = HybridShares { load_share, load_fast_share: x, store_fast_share: y };
            let is_alike = buffers == Buffers::Separately || (x - y).abs() < SAME;
            if is_alike && shares.fast_share() <= most_fast + SAME {
                take(shares);
            }
        }
        let chosen = self.predict(chosen?.0)?;
        let unclaimed = highest
            .filter(|(_, high)| *high > chosen.lowest.0 * (1.0 + WORTH_TELLING))
            .and_then(|(shares, _)| self.predict(shares));
        Some(BestShares { chosen, unclaimed, is_complete })
    }

    fn lines(&self, load_share: f64, most_fast: f64) -> Vec<Line> {
        let (loads, stores) = (load_share, 1.0 - load_share);
        let mut lines = vec![
            Line { a: 1.0, b: 0.0, c: 1.0 },
            Line { a: 0.0, b: 1.0, c: 1.0 },
            Line { a: 1.0, b: 0.0, c: 0.0 },
            Line { a: 0.0, b: 1.0, c: 0.0 },
            Line { a: loads, b: stores, c: most_fast },
            Line { a: 1.0, b: -1.0, c: 0.0 },
        ];
        let [lf, sf, ls, ss] = self.model.rates;
        // t of each kind as a x + b y - c.
        let times = [
            Line { a: loads / lf, b: 0.0, c: 0.0 },
            Line { a: 0.0, b: stores / sf, c: 0.0 },
            Line { a: -loads / ls, b: 0.0, c: -loads / ls },
            Line { a: 0.0, b: -stores / ss, c: -stores / ss },
        ];
        for one in 0..4 {
            for other in one + 1..4 {
                let apart = (1.0 - self.margins[one][other]) * (1.0 - SAME);
                for ratio in [1.0, apart, apart.recip()] {
                    let (left, right) = (times[one], times[other]);
                    lines.push(Line {
                        a: left.a - ratio * right.a,
                        b: left.b - ratio * right.b,
                        c: left.c - ratio * right.c,
                    });
                }
            }
        }
        lines
    }
}

impl Line {
    /// Where two lines cross, if that is in the unit square.
    fn crossing(&self, other: &Self) -> Option<(f64, f64)> {
        let size = |line: &Self| line.a.hypot(line.b);
        let determinant = self.a * other.b - self.b * other.a;
        if determinant.abs() <= SAME * size(self) * size(other) {
            return None;
        }
        let x = (self.c * other.b - self.b * other.c) / determinant;
        let y = (self.a * other.c - self.c * other.a) / determinant;
        let inside = |value: f64| (-SAME..=1.0 + SAME).contains(&value);
        // Plus 0 makes of a negative zero one that is printed as 0.
        let share = |value: f64| value.clamp(0.0, 1.0) + 0.0;
        (inside(x) && inside(y)).then(|| (share(x), share(y)))
    }
}
