//! Machines that a fit leaves possible beside the most likely one.
//!
//! ```text
//! x' = x + L z        L L^T = C
//! ```
//!
//! with x what is fitted of the parameters, C its covariance by cases and priors, L its root
//! (Cholesky) and z independent standard normal values. What cases tell of several parameters
//! together, as of a path and the controller behind it, moves together; what no case tells moves as
//! far as its prior lets it. Source: ours, by the normal approximation of least squares.
//!
//! Fails when: the law does not fit the machine; that error is not among these.

use nearfar_flow::{Capacities, Part};

use super::fit::{FittedFlow, FlowEstimate};
use super::parameters::{FlowParameter, number_of};

/// No parameter moves further, of what is fitted of it: beyond that the approximation is none.
const FARTHEST: f64 = 0.6;

/// What is fitted of the parameters, and the root of its covariance by rows of rising length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Posterior {
    at: Vec<f64>,
    root: Vec<Vec<f64>>,
}

impl Posterior {
    /// A parameter of which rounding leaves no deviation of its own has none.
    pub fn new(at: &[f64], covariance: &[Vec<f64>]) -> Self {
        let mut root: Vec<Vec<f64>> = Vec::with_capacity(at.len());
        for (row, own) in covariance.iter().enumerate() {
            let mut line: Vec<f64> = Vec::with_capacity(row + 1);
            for (column, &value) in own.iter().take(row + 1).enumerate() {
                let above = root.get(column).unwrap_or(&line);
                let known: f64 = line.iter().zip(above).map(|(a, b)| a * b).sum();
                let left = value - known;
                let diagonal = root.get(column).and_then(|it| it.last());
                let entry = diagonal.map_or_else(|| left.max(0.0).sqrt(), |it| left / it);
                line.push(if entry.is_finite() { entry } else { 0.0 });
            }
            root.push(line);
        }
        Self { at: at.into(), root }
    }
}

impl FittedFlow {
    /// Whether any case tells what a part carries; else that is a lower bound.
    pub fn is_told(&self, part: Part) -> bool {
        let own = |it: &&FlowEstimate| it.parameter == FlowParameter::Capacity(part);
        self.parameters.iter().find(own).is_none_or(|it| it.is_bound)
    }

    /// How many numbers [`FittedFlow::possible`] asks for.
    pub fn freedoms(&self) -> usize {
        self.posterior.at.len()
    }

    /// A machine that the cases leave possible: off the fitted one by these standard normal values,
    /// of which missing ones count as 0.
    pub fn possible(&self, normal: &[f64]) -> Capacities {
        let mut capacities = self.capacities.clone();
        let estimates = self.parameters.iter().chain([&self.saturation, &self.fairness]);
        let places = self.posterior.at.iter().zip(&self.posterior.root);
        for (estimate, (at, row)) in estimates.zip(places) {
            let by: f64 = row.iter().zip(normal).map(|(root, value)| root * value).sum();
            if let Some(number) = number_of(&mut capacities, estimate.parameter) {
                *number = estimate.parameter.value(at + by.clamp(-FARTHEST, FARTHEST));
            }
        }
        capacities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_gives_the_covariance_back() {
        let covariance = vec![vec![4.0, 2.0, -2.0], vec![2.0, 5.0, 1.0], vec![-2.0, 1.0, 6.0]];
        let found = Posterior::new(&[0.0; 3], &covariance);
        for (row, own) in covariance.iter().enumerate() {
            for (column, value) in own.iter().enumerate() {
                let both = found.root[row].iter().zip(&found.root[column]);
                let product: f64 = both.map(|(a, b)| a * b).sum();
                assert!((product - value).abs() < 1e-12, "{row} {column}: {product}");
            }
        }
        assert!(found.root.iter().zip(1..).all(|(row, length)| row.len() == length));
        let flat = vec![vec![0.0, 0.0], vec![0.0, 9.0]];
        assert_eq!(Posterior::new(&[0.0; 2], &flat).root, [vec![0.0], vec![0.0, 3.0]]);
    }
}
