//! Small whole numbers for shares of pages, as weighted interleaving takes them.

/// Weights add up to at most this: with small ones the pages of all nodes lie close to each other,
/// and none is above the kernel's limit of 255.
pub const MOST_PAGES_IN_TURN: u32 = 64;

/// Errors that differ by less are the same: sums of binary fractions round.
const SAME: f64 = 1e-12;

/// The pages in turn of each node that come nearest to shares of pages, which are made to add up to
/// 1; of equally near ones the fewest, so that they have no common divisor. The largest error of a
/// share is the least. Nodes with small shares get 0, and all do where no share is above 0.
pub fn page_weights(shares: &[f64]) -> Vec<u32> {
    let sound = |share: &f64| if share.is_finite() { share.max(0.0) } else { 0.0 };
    let sum: f64 = shares.iter().map(sound).sum();
    if sum <= 0.0 || !sum.is_finite() {
        return vec![0; shares.len()];
    }
    let shares: Vec<f64> = shares.iter().map(|share| sound(share) / sum).collect();
    let mut nearest = (f64::INFINITY, Vec::new());
    for pages in 1..=MOST_PAGES_IN_TURN {
        let weights = by_largest_remainder(&shares, pages);
        let off =
            |(share, &weight): (&f64, &u32)| (share - f64::from(weight) / f64::from(pages)).abs();
        let most = shares.iter().zip(&weights).map(off).fold(0.0, f64::max);
        if most < nearest.0 - SAME {
            nearest = (most, weights);
        }
    }
    nearest.1
}

/// So many pages by shares that add up to 1: whole parts first, what is left one by one to the
/// largest remainders.
fn by_largest_remainder(shares: &[f64], pages: u32) -> Vec<u32> {
    let exact: Vec<f64> = shares.iter().map(|share| share * f64::from(pages)).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares from 0 to 1 of at most 64 pages"
    )]
    let mut weights: Vec<u32> = exact.iter().map(|pages| (pages + SAME).floor() as u32).collect();
    let remainder = |index: usize| exact[index] - f64::from(weights[index]);
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let left = pages.saturating_sub(weights.iter().sum());
    for index in order.into_iter().take(left as usize) {
        weights[index] += 1;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_small_and_without_a_common_divisor() {
        for (shares, weights) in [
            (&[0.5, 0.5][..], &[1, 1][..]),
            (&[0.6, 0.4], &[3, 2]),
            (&[2.0, 1.0, 1.0], &[2, 1, 1]),
            (&[0.441, 0.265, 0.147, 0.147], &[15, 9, 5, 5]),
            (&[1.0, 0.0], &[1, 0]),
            (&[0.999, 0.001], &[1, 0]),
            (&[0.0, 0.0], &[0, 0]),
            (&[f64::NAN, 1.0, f64::INFINITY], &[0, 1, 0]),
            (&[], &[]),
        ] {
            assert_eq!(page_weights(shares), weights, "{shares:?}");
        }
    }

    /// Every sum up to 64 and every way to deal three weights out over it.
    #[test]
    fn no_other_weights_come_nearer() {
        for shares in [[0.37, 0.34, 0.29], [0.71, 0.21, 0.08], [0.05, 0.9, 0.05]] {
            let off = |weights: [u32; 3]| {
                let sum = f64::from(weights.iter().sum::<u32>());
                let of = shares.iter().zip(weights);
                of.map(|(share, it)| (share - f64::from(it) / sum).abs()).fold(0.0, f64::max)
            };
            let found = page_weights(&shares);
            let found = off([found[0], found[1], found[2]]);
            for sum in 1..=MOST_PAGES_IN_TURN {
                for first in 0..=sum {
                    for second in 0..=sum - first {
                        let other = off([first, second, sum - first - second]);
                        assert!(found <= other + 1e-9, "{shares:?}: {found} and {other}");
                    }
                }
            }
        }
    }
}
