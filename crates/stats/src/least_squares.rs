//! Least squares: linear by singular values, and nonlinear ones with a robust loss by
//! Levenberg and Marquardt's method.
//!
//! A prior on a parameter is a residual more: (parameter - expected) / its standard deviation.
//! Sources: Golub and Van Loan, Matrix Computations, 4th ed. (2013), section 5.5; Nocedal and
//! Wright, Numerical Optimization, 2nd ed. (2006), section 10.3; Huber, Robust Statistics (1981).

use nalgebra::{DMatrix, DVector};

/// Singular values below this fraction of the largest are rounding.
const RANK_TOLERANCE: f64 = 1e-10;

/// What a linear system's solution is.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearFit {
    /// The unknowns; of several solutions the shortest.
    pub solution: Vec<f64>,
    /// Independent columns: fewer than there are unknowns where these are not identified.
    pub rank: usize,
    /// Right side - left side, row by row.
    pub residuals: Vec<f64>,
}

/// The x that makes the sum of squares of b - A x least; `None` where A or b is empty, rows are
/// not of one length, or a number is not finite.
pub fn solve_least_squares(rows: &[Vec<f64>], right: &[f64]) -> Option<LinearFit> {
    let columns = rows.first()?.len();
    let is_sound = columns > 0
        && rows.len() == right.len()
        && rows.iter().all(|row| row.len() == columns)
        && rows.iter().flatten().chain(right).all(|value| value.is_finite());
    if !is_sound {
        return None;
    }
    let left = DMatrix::from_row_iterator(rows.len(), columns, rows.iter().flatten().copied());
    let right = DVector::from_column_slice(right);
    let factors = left.clone().svd(true, true);
    let tolerance = RANK_TOLERANCE * factors.singular_values.max();
    let solution = factors.solve(&right, tolerance).ok()?;
    let residuals = &right - &left * &solution;
    Some(LinearFit {
        rank: factors.singular_values.iter().filter(|it| **it > tolerance).count(),
        residuals: residuals.iter().copied().collect(),
        solution: solution.iter().copied().collect(),
    })
}

/// How residuals count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// r^2.
    Squares,
    /// r^2 up to this size, linear beyond (Huber).
    Huber(f64),
    /// 2 c^2 (sqrt(1 + r^2 / c^2) - 1): smooth, linear for large r.
    SoftL1(f64),
}

impl Loss {
    fn of(self, residual: f64) -> f64 {
        match self {
            Self::Squares => residual * residual,
            Self::Huber(limit) if residual.abs() > limit => limit * (2.0 * residual.abs() - limit),
            Self::Huber(_) => residual * residual,
            Self::SoftL1(scale) => {
                2.0 * scale * scale * ((1.0 + (residual / scale).powi(2)).sqrt() - 1.0)
            }
        }
    }

    /// Half the loss's derivative / the residual: what the residual weighs.
    fn weight(self, residual: f64) -> f64 {
        match self {
            Self::Squares => 1.0,
            Self::Huber(limit) => (limit / residual.abs()).min(1.0),
            Self::SoftL1(scale) => 1.0 / (1.0 + (residual / scale).powi(2)).sqrt(),
        }
    }

    /// Half the loss's second derivative: with it a step goes where the loss is least, and with
    /// the weight only some of the way. Huber's is 0 beyond its limit, where it leads nowhere.
    fn curvature(self, residual: f64) -> f64 {
        match self {
            Self::Squares | Self::Huber(_) => self.weight(residual),
            Self::SoftL1(_) => self.weight(residual).powi(3),
        }
    }
}

/// How a nonlinear fit goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitRule {
    /// How residuals count.
    pub loss: Loss,
    /// Steps after which it ends.
    pub most_steps: u32,
    /// A parameter moves at most so far in a step.
    pub longest_step: f64,
    /// It ends when a step lowers the loss by less than this fraction.
    pub tolerance: f64,
}

impl Default for FitRule {
    fn default() -> Self {
        Self { loss: Loss::Squares, most_steps: 100, longest_step: f64::INFINITY, tolerance: 1e-10 }
    }
}

/// Where a nonlinear fit came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub parameters: Vec<f64>,
    /// What is left there.
    pub residuals: Vec<f64>,
    /// Sum of the losses.
    pub loss: f64,
    /// (J^T W J)^-1, by rows: the parameters' covariance where residuals are in units of their
    /// standard deviation. `None` where the residuals leave a direction open.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Whether it ended because nothing was left to gain, not for lack of steps.
    pub has_converged: bool,
}

/// Step of the differences that derivatives are made of, relative to a parameter of size 1.
const DIFFERENCE: f64 = 1e-6;

/// Least squares from a start, with derivatives by differences. `residuals` gives `None`
/// where parameters make no sense; such steps are not taken. `None` where the start itself makes
/// none, or there are no residuals.
pub fn fit(
    start: &[f64],
    residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
    rule: &FitRule,
) -> Option<Fit> {
    let derivatives = |at: &[f64], here: &[f64]| {
        let columns = at.iter().enumerate().map(|(column, value)| {
            let step = DIFFERENCE * value.abs().max(1.0);
            let mut beside = at.to_vec();
            beside[column] += step;
            let there = residuals(&beside)?;
            Some(there.iter().zip(here).map(|(there, here)| (there - here) / step).collect())
        });
        columns.collect()
    };
    fit_with_derivatives(start, &residuals, derivatives, rule)
}

/// The same with derivatives from the caller: of the parameters and the residuals there the
/// columns of the Jacobian, one for each parameter.
pub fn fit_with_derivatives(
    start: &[f64],
    residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
    derivatives: impl Fn(&[f64], &[f64]) -> Option<Vec<Vec<f64>>>,
    rule: &FitRule,
) -> Option<Fit> {
    let total = |residuals: &[f64]| residuals.iter().map(|&it| rule.loss.of(it)).sum::<f64>();
    let sound = |residuals: Vec<f64>| {
        residuals.iter().all(|it| it.is_finite()).then_some(residuals).filter(|it| !it.is_empty())
    };
    let mut at = start.to_vec();
    let mut here = residuals(&at).and_then(sound)?;
    let mut loss = total(&here);
    let mut damping = 1e-3;
    let mut has_converged = false;
    for _ in 0..rule.most_steps {
        let Some(normal) = Normal::at(&here, &derivatives(&at, &here)?, rule.loss, Loss::curvature)
        else {
            break;
        };
        let mut better = None;
        while damping < 1e12 {
            let next = normal.step(damping, rule.longest_step).map(|step| moved(&at, &step));
            let found = next.and_then(|next| {
                let there = residuals(&next).and_then(sound)?;
                (total(&there) < loss).then_some((next, there))
            });
            if found.is_some() {
                better = found;
                damping = (damping / 9.0_f64).max(1e-12);
                break;
            }
            damping *= 11.0;
        }
        let Some((next, there)) = better else {
            has_converged = true;
            break;
        };
        let gained = loss - total(&there);
        (at, here) = (next, there);
        loss -= gained;
        if gained <= rule.tolerance * (loss + f64::MIN_POSITIVE) {
            has_converged = true;
            break;
        }
    }
    let covariance = derivatives(&at, &here)
        .and_then(|columns| Normal::at(&here, &columns, rule.loss, Loss::weight))
        .and_then(|normal| normal.inverse());
    Some(Fit { parameters: at, residuals: here, loss, covariance, has_converged })
}

fn moved(at: &[f64], step: &DVector<f64>) -> Vec<f64> {
    at.iter().zip(step.iter()).map(|(at, step)| at + step).collect()
}

/// The normal equations J^T C J step = - J^T W r of one place.
struct Normal {
    matrix: DMatrix<f64>,
    gradient: DVector<f64>,
}

impl Normal {
    /// `None` where a derivative is not finite. C is the loss's weight or its curvature.
    fn at(
        residuals: &[f64],
        columns: &[Vec<f64>],
        loss: Loss,
        curvature: fn(Loss, f64) -> f64,
    ) -> Option<Self> {
        let count = columns.len();
        let mut matrix = DMatrix::<f64>::zeros(count, count);
        let mut gradient = DVector::<f64>::zeros(count);
        let mut slopes: Vec<(usize, f64)> = Vec::with_capacity(count);
        for (row, &residual) in residuals.iter().enumerate() {
            let (weight, curvature) = (loss.weight(residual), curvature(loss, residual));
            // In large fits a residual answers to few parameters: the others are left out.
            slopes.clear();
            slopes.extend(columns.iter().enumerate().map(|(k, column)| (k, column[row])));
            slopes.retain(|&(_, slope)| slope != 0.0);
            for (position, &(k, slope)) in slopes.iter().enumerate() {
                gradient[k] += weight * slope * residual;
                for &(other, by) in &slopes[position..] {
                    matrix[(other, k)] += curvature * slope * by;
                }
            }
        }
        matrix.fill_upper_triangle_with_lower_triangle();
        let is_finite = matrix.iter().chain(gradient.iter()).all(|value| value.is_finite());
        is_finite.then_some(Self { matrix, gradient })
    }

    /// Marquardt's step: the diagonal grows by a fraction of itself, so that units do not matter.
    fn step(&self, damping: f64, longest: f64) -> Option<DVector<f64>> {
        let mut damped = self.matrix.clone();
        for k in 0..damped.nrows() {
            damped[(k, k)] += damping * damped[(k, k)].max(1e-12);
        }
        let step = damped.cholesky()?.solve(&self.gradient);
        Some(step.map(|value| (-value).clamp(-longest, longest)))
    }

    fn inverse(self) -> Option<Vec<Vec<f64>>> {
        let count = self.matrix.nrows();
        let inverse = self.matrix.cholesky()?.inverse();
        let rows = (0..count).map(|row| (0..count).map(|k| inverse[(row, k)]).collect()).collect();
        inverse.iter().all(|value| value.is_finite()).then_some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(one: f64, other: f64, room: f64) {
        assert!((one - other).abs() <= room, "{one} and {other}");
    }

    /// A line through three points, computed by hand: y = 1/6 + 3/2 x.
    #[test]
    fn a_line_through_three_points() {
        let rows = [vec![1.0, 0.0], vec![1.0, 1.0], vec![1.0, 2.0]];
        let fit = solve_least_squares(&rows, &[0.0, 2.0, 3.0]).unwrap();
        assert_eq!(fit.rank, 2);
        assert_near(fit.solution[0], 1.0 / 6.0, 1e-12);
        assert_near(fit.solution[1], 1.5, 1e-12);
        assert_near(fit.residuals.iter().sum(), 0.0, 1e-12);
    }

    #[test]
    fn what_is_not_identified_lowers_the_rank() {
        let rows = [vec![1.0, 2.0], vec![2.0, 4.0], vec![3.0, 6.0]];
        let fit = solve_least_squares(&rows, &[5.0, 10.0, 15.0]).unwrap();
        assert_eq!(fit.rank, 1);
        assert_near(fit.solution[0], 1.0, 1e-12);
        assert_near(fit.solution[1], 2.0, 1e-12);
    }

    #[test]
    fn nothing_and_no_numbers_have_no_fit() {
        assert_eq!(solve_least_squares(&[], &[]), None);
        assert_eq!(solve_least_squares(&[vec![]], &[1.0]), None);
        assert_eq!(solve_least_squares(&[vec![f64::NAN]], &[1.0]), None);
        assert_eq!(solve_least_squares(&[vec![1.0], vec![1.0, 2.0]], &[1.0, 2.0]), None);
        assert_eq!(fit(&[1.0], |_| None, &FitRule::default()), None);
        assert_eq!(fit(&[1.0], |_| Some(vec![]), &FitRule::default()), None);
    }

    /// An exponential with two parameters, from a poor start.
    #[test]
    fn a_curve_gives_back_its_parameters() {
        let x: Vec<f64> = (0..20).map(|k| 0.2 * f64::from(k)).collect();
        let y = |at: &[f64], x: f64| at[0] * (-at[1] * x).exp();
        let truth = [3.0, 0.7];
        let residuals =
            |at: &[f64]| Some(x.iter().map(|&x| y(at, x) - y(&truth, x)).collect::<Vec<_>>());
        let found = fit(&[1.0, 0.1], residuals, &FitRule::default()).unwrap();
        assert!(found.has_converged);
        assert_near(found.parameters[0], 3.0, 1e-6);
        assert_near(found.parameters[1], 0.7, 1e-6);
    }

    /// The standard error of a mean of n values of deviation 1 is 1 / sqrt(n).
    #[test]
    fn the_covariance_is_that_of_a_mean() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let residuals = |at: &[f64]| Some(values.iter().map(|v| at[0] - v).collect::<Vec<_>>());
        let found = fit(&[0.0], residuals, &FitRule::default()).unwrap();
        assert_near(found.parameters[0], 2.5, 1e-8);
        assert_near(found.covariance.unwrap()[0][0], 0.25, 1e-6);
    }

    #[test]
    fn robust_losses_do_not_follow_an_outlier() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95, 1e6];
        let residuals = |at: &[f64]| Some(values.iter().map(|v| at[0] - v).collect::<Vec<_>>());
        for loss in [Loss::Huber(0.1), Loss::SoftL1(0.1)] {
            let found = fit(&[0.5], residuals, &FitRule { loss, ..FitRule::default() }).unwrap();
            assert!((0.95..1.15).contains(&found.parameters[0]), "{loss:?} {found:?}");
        }
    }

    #[test]
    fn a_parameter_that_nothing_depends_on_stays_and_leaves_no_covariance() {
        let residuals = |at: &[f64]| Some(vec![at[0] - 2.0]);
        let found = fit(&[1.0, 7.0], residuals, &FitRule::default()).unwrap();
        assert_near(found.parameters[0], 2.0, 1e-6);
        assert_near(found.parameters[1], 7.0, 1e-12);
        assert_eq!(found.covariance, None);
    }

    #[test]
    fn steps_keep_to_their_length_and_to_places_that_make_sense() {
        // The square root of a negative number makes none.
        let residuals = |at: &[f64]| (at[0] >= 0.0).then(|| vec![at[0].sqrt() - 0.01]);
        let rule = FitRule { longest_step: 0.5, ..FitRule::default() };
        let found = fit(&[4.0], residuals, &rule).unwrap();
        assert_near(found.parameters[0], 1e-4, 1e-6);
    }
}
