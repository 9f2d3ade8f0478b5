//! Hartigan's dip: how far the values lie from the nearest distribution with a single mode.
//! Sources: J. A. Hartigan and P. M. Hartigan, The Dip Test of Unimodality, Annals of Statistics 13
//! (1985), 70-84; P. M. Hartigan, Algorithm AS 217, Applied Statistics 34 (1985), 320-325. The
//! quantiles are ours, by simulation: `crates/stats/tests/modes.rs` draws others.

/// The largest distance between the distribution function of these values, each larger than the
/// one before, and the nearest continuous one that has a single mode (convex up to it, concave
/// behind it): from 1/(2 n) to 1/4. `None` where there are no values, or where one is no number or
/// not larger than the one before: equal values are to be spread by the step that they are known
/// to.
pub fn dip(ascending: &[f64]) -> Option<f64> {
    let ascends = ascending.windows(2).all(|pair| pair[0] < pair[1]);
    let finite = ascending.iter().all(|value| value.is_finite());
    let last = ascending.len().checked_sub(1).filter(|_| ascends && finite)?;
    let mirrored: Vec<f64> = ascending.iter().rev().map(|value| -value).collect();
    let (left, right) = (Side::new(ascending), Side::new(&mirrored));
    // The function is i at value i from below, and i + 1 from above: heights are in steps of it.
    let mut steps = 1.0_f64;
    let (mut low, mut high) = (0, last);
    loop {
        // Between low and high lies the mode: there the two hulls are compared, which hold the
        // function between them. Where they part most, the mode is.
        let below = left.hull(low, high);
        let above: Vec<usize> =
            right.hull(last - high, last - low).iter().rev().map(|index| last - index).collect();
        let (apart, from, to) = widest(ascending, &below, &above);
        if apart <= steps {
            break;
        }
        // Left of the mode the function must be near its hull from below, right of it from above.
        let before = left.farthest(&left.hull(low, from));
        let behind = right.farthest(&right.hull(last - high, last - to));
        steps = steps.max(before).max(behind);
        if (from, to) == (low, high) {
            break;
        }
        (low, high) = (from, to);
    }
    Some(steps / (2.0 * (ascending.len() as f64)))
}

/// How often this many values drawn evenly have a larger dip: what a single mode does at most. From
/// [`LEAST_DIP_P`] on, which stands for so much and less; 1 below the smallest tabulated dip. `None` for
/// fewer values than 20.
pub(crate) fn dip_p(dip: f64, values: usize) -> Option<f64> {
    let quantiles = scaled_quantiles(values)?;
    let scaled = dip * (values as f64).sqrt();
    let above = quantiles.iter().position(|&quantile| scaled < quantile);
    Some(match above {
        None => LEAST_DIP_P,
        Some(0) => 1.0,
        Some(next) => {
            let (from, to) = (quantiles[next - 1], quantiles[next]);
            let part = (scaled - from) / (to - from);
            let [before, behind] = [next - 1, next].map(|at| TAIL[at].ln());
            (before + part * (behind - before)).exp()
        }
    })
}

/// The dip that a share of samples of this many values drawn evenly exceeds: the gate's 1 %.
pub(crate) fn dip_exceeded_by_one_percent(values: usize) -> Option<f64> {
    Some(scaled_quantiles(values)?[ONE_PERCENT] / (values as f64).sqrt())
}

/// Quantiles of dip x sqrt(n), linear in the logarithm of n between the tabulated ones.
fn scaled_quantiles(values: usize) -> Option<[f64; TAIL.len()]> {
    let behind = QUANTILES.iter().position(|(count, _)| values <= *count);
    let (high, to) = QUANTILES[behind.unwrap_or(QUANTILES.len() - 1)];
    if behind == Some(0) {
        return (values == high).then_some(to);
    }
    let (low, from) = QUANTILES[behind.map_or(QUANTILES.len() - 1, |behind| behind - 1)];
    let log = |count: usize| (count as f64).ln();
    let part = if high > low { (log(values) - log(low)) / (log(high) - log(low)) } else { 0.0 };
    Some(std::array::from_fn(|at| from[at] + part * (to[at] - from[at])))
}

/// The smallest p that is told.
pub const LEAST_DIP_P: f64 = 0.001;

/// How often the quantiles are exceeded.
const TAIL: [f64; 10] = [0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, LEAST_DIP_P];

/// Where 1 % stands in [`TAIL`].
const ONE_PERCENT: usize = 6;

/// Quantiles of dip x sqrt(n) for n values drawn evenly, from 60 000 to 400 000 samples each.
const QUANTILES: [(usize, [f64; TAIL.len()]); 9] = [
    (20, [0.2540, 0.3281, 0.3953, 0.4350, 0.4705, 0.5124, 0.5406, 0.5668, 0.5984, 0.6194]),
    (30, [0.2596, 0.3366, 0.4047, 0.4462, 0.4832, 0.5261, 0.5560, 0.5827, 0.6154, 0.6416]),
    (50, [0.2666, 0.3454, 0.4159, 0.4585, 0.4965, 0.5415, 0.5732, 0.6029, 0.6383, 0.6647]),
    (100, [0.2743, 0.3551, 0.4273, 0.4716, 0.5113, 0.5576, 0.5903, 0.6207, 0.6580, 0.6831]),
    (200, [0.2796, 0.3617, 0.4354, 0.4806, 0.5211, 0.5689, 0.6031, 0.6343, 0.6717, 0.7009]),
    (500, [0.2851, 0.3680, 0.4427, 0.4884, 0.5296, 0.5784, 0.6130, 0.6459, 0.6848, 0.7135]),
    (1000, [0.2875, 0.3711, 0.4467, 0.4935, 0.5357, 0.5860, 0.6209, 0.6549, 0.6932, 0.7201]),
    (2000, [0.2893, 0.3736, 0.4491, 0.4958, 0.5380, 0.5867, 0.6219, 0.6561, 0.6993, 0.7319]),
    (5000, [0.2910, 0.3758, 0.4518, 0.4981, 0.5415, 0.5915, 0.6271, 0.6588, 0.7003, 0.7319]),
];

/// The convex hull from below of the distribution function; from above it is that of the mirrored
/// values.
struct Side<'v> {
    values: &'v [f64],
    /// The corner of the hull of all values up to here that stands before the last one.
    before: Vec<usize>,
}

impl<'v> Side<'v> {
    fn new(values: &'v [f64]) -> Self {
        let mut before: Vec<usize> = Vec::with_capacity(values.len());
        for end in 0..values.len() {
            let mut corner = end.saturating_sub(1);
            // A corner goes where the line to it is not less steep than the one from it.
            while corner > 0 {
                let earlier = before[corner];
                let to = (values[corner] - values[earlier]) * ((end - corner) as f64);
                let from = (values[end] - values[corner]) * ((corner - earlier) as f64);
                if from < to {
                    break;
                }
                corner = earlier;
            }
            before.push(corner);
        }
        Self { values, before }
    }

    /// The corners between two that are corners of one hull, ascending, with both.
    fn hull(&self, low: usize, high: usize) -> Vec<usize> {
        let mut corners = vec![high];
        let mut corner = high;
        while corner > low {
            corner = self.before[corner].max(low);
            corners.push(corner);
        }
        corners.reverse();
        corners
    }

    /// How far the function is above these corners at most; a step where it is not farther.
    fn farthest(&self, corners: &[usize]) -> f64 {
        let mut farthest = 1.0_f64;
        for line in corners.windows(2) {
            for index in line[0]..=line[1] {
                let height = height(self.values, line[0], line[1], index);
                farthest = farthest.max((index as f64) + 1.0 - height);
            }
        }
        farthest
    }
}

/// Where the hull from above is farthest from the one from below: how far, and between which
/// corners the mode lies then.
fn widest(values: &[f64], below: &[usize], above: &[usize]) -> (f64, usize, usize) {
    let mut widest = (0.0, below[0], above[above.len() - 1]);
    let (mut lower, mut upper) = (1, 1);
    while lower < below.len() && upper < above.len() {
        let (next, high) = (below[lower], above[upper]);
        let found = if next > high {
            let from = below[lower - 1];
            upper += 1;
            ((high as f64) + 1.0 - height(values, from, next, high), from, high)
        } else {
            let from = above[upper - 1];
            lower += 1;
            (height(values, from, high, next) + 1.0 - (next as f64), next, high)
        };
        if found.0 >= widest.0 {
            widest = found;
        }
    }
    widest
}

/// Height at a value of the line between two others, on which the function is from below.
fn height(values: &[f64], from: usize, to: usize, at: usize) -> f64 {
    let part = (values[at] - values[from]) / (values[to] - values[from]);
    (from as f64) + part * ((to - from) as f64)
}
