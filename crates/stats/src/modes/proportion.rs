//! What a count says of a share.
//! Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
//! Journal of the American Statistical Association 22 (1927), 209-212.

/// 95 % of standard normal values are nearer to 0.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// 95 % interval of a share by so many successes of so many trials (Wilson); from 0 to 1 without
/// trials.
pub fn proportion_interval(successes: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (count, share) = (trials as f64, successes.min(trials) as f64 / trials as f64);
    let square = TWO_SIDED_95.powi(2);
    let middle = share + square / (2.0 * count);
    let half = (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let all = 1.0 + square / count;
    let (low, high) = ((middle - TWO_SIDED_95 * half) / all, (middle + TWO_SIDED_95 * half) / all);
    (low.max(0.0), high.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the equation that the interval's ends solve: (p - share)^2 = z^2 p (1 - p) / n.
    #[test]
    fn ends_solve_wilson_s_equation() {
        for (successes, trials) in [(1, 20), (10, 20), (20, 1000), (999, 1000), (7, 15)] {
            let share = f64::from(successes) / f64::from(trials);
            let (low, high) = proportion_interval(
                usize::try_from(successes).unwrap(),
                usize::try_from(trials).unwrap(),
            );
            for end in [low, high] {
                let error = TWO_SIDED_95 * (end * (1.0 - end) / f64::from(trials)).sqrt();
                assert!(((end - share).abs() - error).abs() < 1e-12, "{successes} of {trials}");
            }
            assert!(low < share && share < high);
        }
    }

    #[test]
    fn no_trials_say_nothing_and_ends_stay_shares() {
        assert_eq!(proportion_interval(0, 0), (0.0, 1.0));
        assert!(proportion_interval(0, 20).0.abs() < 1e-12);
        assert!((proportion_interval(20, 20).1 - 1.0).abs() < 1e-12);
    }
}
