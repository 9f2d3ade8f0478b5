//! Scores that hold for many cases at once.
//! Source: Wallace, Bounds on Normal Approximations to Student's and the Chi-Square Distributions
//! (Ann. Math. Stat. 30, 1959), for the normal score of a Student's t; Holm (1979).

use nearfar_stats::normal_quantile;

/// The normal score that is as rare as a t of this many degrees of freedom.
pub(super) fn score_of_t(t: f64, freedom: f64) -> f64 {
    let scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    // In logarithms where the square is beyond all numbers.
    let size = if t.abs() < 1e100 {
        (freedom * (t * t / freedom).ln_1p()).sqrt()
    } else {
        (freedom * (2.0 * t.abs().ln() - freedom.ln())).sqrt()
    };
    (scale * size).copysign(t)
}

/// The t of this many degrees of freedom that is as rare as a normal score above 0.
pub(super) fn t_of_score(score: f64, freedom: f64) -> f64 {
    let scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    (freedom * ((score / scale).powi(2) / freedom).exp_m1()).sqrt()
}

/// The score that one of this many cases must exceed, to either side, so that the chance that any
/// does is at most `error`; `None` of no cases.
pub(super) fn critical_score(cases: usize, error: f64) -> Option<f64> {
    let each = error / (2.0 * cases as f64);
    normal_quantile(each).map(|quantile| -quantile)
}

/// Which scores are beyond chance: the largest by the level for all, the next by that for all but
/// one, and so on until one is not.
pub(super) fn by_holm(scores: &[f64], error: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&one, &other| scores[other].abs().total_cmp(&scores[one].abs()));
    let mut significant = vec![false; scores.len()];
    for (rank, &index) in order.iter().enumerate() {
        let critical = critical_score(scores.len() - rank, error);
        if critical.is_none_or(|critical| scores[index].abs() <= critical) {
            break;
        }
        significant[index] = true;
    }
    significant
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided quantiles of Student's t as tables print them, at 5 % and at 0.1 %: with three degrees
    /// of freedom scores come out 2 % too low, with more they are nearer.
    #[test]
    fn scores_of_t_are_those_of_the_tables() {
        for (freedom, at_5, at_01) in
            [(3.0, 3.182, 12.924), (5.0, 2.571, 6.869), (10.0, 2.228, 4.587), (60.0, 2.000, 3.460)]
        {
            for (t, score) in [(at_5, 1.95996), (at_01, 3.29053)] {
                let found = score_of_t(t, freedom);
                assert!((found / score - 1.0).abs() < 0.025, "{freedom}: {t} gives {found}");
                let back = t_of_score(found, freedom);
                assert!((back / t - 1.0).abs() < 1e-9, "{back}");
                assert!((score_of_t(-t, freedom) + found).abs() < 1e-12);
            }
        }
        assert!(score_of_t(f64::MAX, 10.0).is_finite());
        assert!(score_of_t(1e120, 10.0) > score_of_t(1e90, 10.0));
    }

    #[test]
    fn each_score_is_judged_by_those_that_are_left() {
        // 0.05 over three, two and one: 2.394, 2.241, 1.960.
        assert_eq!(by_holm(&[2.0, -2.5, 2.3], 0.05), [true, true, true]);
        assert_eq!(by_holm(&[2.0, -2.5, 2.2], 0.05), [false, true, false]);
        assert_eq!(by_holm(&[2.3, 2.3, 2.3], 0.05), [false; 3]);
        assert!(by_holm(&[], 0.05).is_empty());
    }
}
