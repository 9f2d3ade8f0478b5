//! What one group of threads moves alone, by how many they are.
//! Units: useful bytes/s.
//!
//! Measured counts are taken as they are. Between two of them, (n1, x1) and (n2, x2), the curve
//! is x^-4 = (s n)^-4 + C^-4 with the s and C that go through both, or a straight line where none
//! do. On the paper's table that is off by at most 8 % between 1 and 4 threads; how far it is off
//! between counts further apart is not known. Beyond the measured counts the figure is
//! min(n b, most) (saad2022, equations 1 and 2), b what one thread moves and most the most that
//! was measured: a bound. n b is the other one, and nothing tells where between them the truth is.

use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

/// How far the curve can be off between measured counts of which one is at most
/// [`WIDEST_GAP`] times the other, a fraction: on the paper's table.
pub const INTERPOLATION_ERROR: f64 = 0.08;

/// The largest ratio of neighbouring measured counts over which the curve's error is known.
pub const WIDEST_GAP: u32 = 4;

/// How sharply the curve bends between two measured counts: between the paper's local side, which
/// bends softly, and its remote side, which bends hard.
const BEND: f64 = 4.0;

/// Where the figure of a lone group comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Support {
    Measured,
    /// It lies between measured ones.
    Interpolated,
    /// It lies beyond them.
    Extrapolated,
}

/// A group alone, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LonePoint {
    pub threads: u32,
    /// All threads together.
    #[serde(rename = "sum_gb_per_s")]
    pub sum: Estimate<BytesPerSecond>,
    /// Threads x the slowest.
    #[serde(rename = "paced_gb_per_s")]
    pub paced: Estimate<BytesPerSecond>,
    /// Whether `pairs` measured it and not `sharing`; the cases are alike.
    pub from_pairs: bool,
}

/// A group alone by its number of threads; at least one point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoneCurve {
    /// What was measured, by threads.
    pub points: Vec<LonePoint>,
    /// The most threads that were planned.
    pub most_threads: u32,
}

impl LoneCurve {
    /// The curve through these points, of a group that was planned with up to this many threads.
    /// A figure of 0 is none: nothing moved in its windows. `None` where none is left.
    pub(crate) fn new(points: impl IntoIterator<Item = LonePoint>, planned: u32) -> Option<Self> {
        let is_sound = |point: &LonePoint| {
            point.threads > 0 && point.sum.value.0 > 0.0 && point.sum.value.0.is_finite()
        };
        let mut points: Vec<LonePoint> = points.into_iter().filter(is_sound).collect();
        points.sort_by_key(|point| (point.threads, point.from_pairs));
        points.dedup_by_key(|point| point.threads);
        let most_threads = points.last()?.threads.max(planned);
        Some(Self { points, most_threads })
    }

    pub fn measured(&self, threads: u32) -> Option<&LonePoint> {
        self.points.iter().find(|point| point.threads == threads)
    }

    /// What one thread moves: of the fewest threads that were measured.
    pub fn of_one(&self) -> f64 {
        self.points.first().map_or(0.0, |point| point.sum.value.0 / f64::from(point.threads))
    }

    pub fn best(&self) -> f64 {
        self.points.iter().map(|point| point.sum.value.0).fold(0.0, f64::max)
    }

    /// What this many threads move.
    pub fn at(&self, threads: u32) -> (f64, Support) {
        if threads == 0 {
            return (0.0, Support::Measured);
        }
        match self.neighbours(threads) {
            (_, Some(point)) if point.threads == threads => (point.sum.value.0, Support::Measured),
            (Some(below), Some(above)) => (between(below, above, threads), Support::Interpolated),
            _ => ((self.of_one() * f64::from(threads)).min(self.best()), Support::Extrapolated),
        }
    }

    /// How far the figure of this many threads can be off, a fraction: 0 where it was measured;
    /// `None` between counts that lie too far apart, and beyond all of them.
    pub fn room(&self, threads: u32) -> Option<f64> {
        if threads == 0 {
            return Some(0.0);
        }
        if let Some(point) = self.measured(threads) {
            return (point.sum.value.0 > 0.0).then(|| point.sum.relative_reach());
        }
        let (Some(below), Some(above)) = self.neighbours(threads) else { return None };
        let is_near = above.threads <= below.threads.saturating_mul(WIDEST_GAP);
        is_near.then_some(INTERPOLATION_ERROR)
    }

    /// The last point with fewer threads, and the first with this many or more.
    fn neighbours(&self, threads: u32) -> (Option<&LonePoint>, Option<&LonePoint>) {
        let above = self.points.partition_point(|point| point.threads < threads);
        (above.checked_sub(1).and_then(|below| self.points.get(below)), self.points.get(above))
    }

    /// The paced figure / the sum, median over measured counts of several threads; 1 where there
    /// is none. Threads of one group are not served quite alike.
    pub fn evenness(&self) -> f64 {
        let several = self.points.iter().filter(|point| point.threads > 1);
        let ratios: Vec<f64> = several.map(|point| point.paced.value / point.sum.value).collect();
        nearfar_stats::median(&ratios).filter(|ratio| (0.0..=1.0).contains(ratio)).unwrap_or(1.0)
    }
}

fn between(below: &LonePoint, above: &LonePoint, threads: u32) -> f64 {
    let (low, high) = (below.sum.value.0, above.sum.value.0);
    let [first, last, here] = [below.threads, above.threads, threads].map(f64::from);
    let bent = |value: f64| value.powf(-BEND);
    // Relative to the upper point: (x / high)^-4 = slope (n^-4 - last^-4) + 1.
    let slope = (bent(low / high) - 1.0) / (bent(first) - bent(last));
    let at_infinity = 1.0 - slope * bent(last);
    if slope > 0.0 && at_infinity >= 0.0 {
        return high * (slope * bent(here) + at_infinity).powf(-BEND.recip());
    }
    low + (here - first) / (last - first) * (high - low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(threads: u32, sum: f64) -> LonePoint {
        let estimate = Estimate::computed(sum, (sum, sum), Vec::new());
        LonePoint { threads, sum: estimate.clone(), paced: estimate, from_pairs: false }
    }

    fn curve(points: &[(u32, f64)]) -> LoneCurve {
        LoneCurve::new(points.iter().map(|&(threads, sum)| point(threads, sum)), 0).unwrap()
    }

    const LOCAL: [(u32, f64); 4] = [(1, 7656.0), (2, 11024.0), (3, 12607.0), (4, 12925.0)];
    const REMOTE: [(u32, f64); 4] = [(1, 4844.0), (2, 6998.0), (3, 6938.0), (4, 6807.0)];

    /// Every lone figure of saad2022 from some of the others.
    #[test]
    fn the_papers_lone_figures_are_within_the_errors_that_are_said() {
        for side in [LOCAL, REMOTE] {
            for left_out in [&[2][..], &[3], &[2, 3]] {
                let kept: Vec<_> =
                    side.into_iter().filter(|(threads, _)| !left_out.contains(threads)).collect();
                for &threads in left_out {
                    let (found, support) = curve(&kept).at(threads);
                    let truth = side[threads as usize - 1].1;
                    assert_eq!(support, Support::Interpolated);
                    let error = (found / truth - 1.0).abs();
                    assert!(error <= INTERPOLATION_ERROR, "{threads}: {found} for {truth}");
                    assert_eq!(curve(&kept).room(threads), Some(INTERPOLATION_ERROR));
                }
            }
        }
    }

    /// Four of the paper's local processes move 69 % more than one: the bound says nothing of how
    /// far off it is.
    #[test]
    fn beyond_the_measured_counts_the_figure_is_a_bound_of_unknown_error() {
        for side in [LOCAL, REMOTE] {
            for known in 1..4 {
                let limit = curve(&side[..known]);
                let (found, support) = limit.at(4);
                assert_eq!((support, limit.room(4)), (Support::Extrapolated, None));
                // The remote side falls by 3 % from its most.
                let truth = side[3].1;
                assert!(found <= truth * 1.03 && truth <= 4.0 * limit.of_one(), "{found} {truth}");
            }
        }
        assert!(LOCAL[3].1 / curve(&LOCAL[..1]).at(4).0 > 1.6);
        // Fewer than were measured: what each of the fewest gets is no more than one alone gets.
        let fewer = curve(&LOCAL[1..]);
        assert_eq!((fewer.at(1), fewer.room(1)), ((5512.0, Support::Extrapolated), None));
    }

    #[test]
    fn the_error_is_known_over_a_factor_of_four_and_no_further() {
        let apart = curve(&[(1, 3.0), (4, 9.0), (17, 20.0)]);
        let rooms = [0, 1, 2, 4, 5, 16, 17].map(|threads| apart.room(threads));
        let (known, between) = (Some(0.0), Some(INTERPOLATION_ERROR));
        assert_eq!(rooms, [known, known, between, known, None, None, known]);
        assert_eq!(apart.at(5).1, Support::Interpolated);
    }

    #[test]
    fn figures_of_pairs_stand_in_only_where_sharing_has_none_and_zero_is_none() {
        let mut other = point(2, 9.0);
        other.from_pairs = true;
        let curve = LoneCurve::new([point(3, 0.0), other.clone(), point(2, 5.0), point(1, 3.0)], 8);
        let curve = curve.unwrap();
        assert_eq!(curve.at(2), (5.0, Support::Measured));
        assert_eq!((curve.points.len(), curve.most_threads), (2, 8));
        assert_eq!(curve.at(0), (0.0, Support::Measured));
        assert_eq!(LoneCurve::new([point(1, 0.0), point(2, f64::NAN)], 4), None);
    }

    proptest! {
        /// Between two measured counts the figure lies between their figures, whatever they are.
        #[test]
        fn it_is_finite_and_between_its_neighbours(
            low in 1.0..1e12_f64, high in 1.0..1e12_f64, first in 1..50_u32, more in 1..50_u32,
        ) {
            let curve = curve(&[(first, low), (first + more, high)]);
            for threads in 1..=first + more + 3 {
                let (found, support) = curve.at(threads);
                prop_assert!(found.is_finite() && found > 0.0);
                if support == Support::Interpolated {
                    let (least, most) = (low.min(high), low.max(high));
                    prop_assert!((least * 0.999_999..=most * 1.000_001).contains(&found));
                }
            }
        }
    }
}
