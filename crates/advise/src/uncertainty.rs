//! Machines that the record could as well be of: the fitted law with its numbers moved within
//! their uncertainty. A placement that is good on all of them on average loses less to noise than
//! the best one of the fit.

use fastrand::Rng;
use nearfar_flow::{Capacities, Part};
use nearfar_model::{FittedFlow, FlowParameter};
use nearfar_stats::normal_quantile;

/// Machines are drawn in pairs, one moved one way, the other the other.
const PAIRS: u64 = 2;
/// A number that no case binds is moved by no more than this, of its logarithm.
const MOST_DEVIATION: f64 = 0.2;
/// 95 % of a normal distribution is so many standard deviations wide.
const WIDTH_OF_INTERVAL: f64 = 3.92;

/// Four such machines, always the same of the same fit.
#[must_use]
pub fn possible_machines(fitted: &FittedFlow) -> Vec<Capacities> {
    let mut all = Vec::new();
    for seed in 0..PAIRS {
        let mut random = Rng::with_seed(seed);
        let moves: Vec<f64> = fitted
            .parameters
            .iter()
            .map(|it| {
                let (low, high) = it.interval;
                let deviation = (high / low).ln() / WIDTH_OF_INTERVAL;
                // Within 0.001 to 0.999 there is a quantile.
                let drawn = normal_quantile(0.001 + 0.998 * random.f64()).unwrap_or(0.0);
                let size = if deviation.is_finite() { deviation } else { MOST_DEVIATION };
                drawn * size.clamp(0.0, MOST_DEVIATION)
            })
            .collect();
        for sign in [1.0, -1.0] {
            let mut capacities = fitted.capacities.clone();
            for (estimate, by) in fitted.parameters.iter().zip(&moves) {
                if let Some(value) = number_of(&mut capacities, estimate.parameter) {
                    *value *= (sign * by).exp();
                }
            }
            all.push(capacities);
        }
    }
    all
}

/// The number that a parameter stands for; `None` where it is no capacity.
fn number_of(capacities: &mut Capacities, parameter: FlowParameter) -> Option<&mut f64> {
    match parameter {
        FlowParameter::OneThread { cluster, column } => {
            capacities.one_thread.get_mut(cluster)?.get_mut(column)
        }
        FlowParameter::Capacity(part) => match part {
            Part::Path { cluster, column } => {
                capacities.path.get_mut(cluster)?.get_mut(column)?.as_mut()
            }
            Part::Controller { column } => capacities.controller.get_mut(column)?.as_mut(),
            Part::Issue { cluster } => capacities.issue.get_mut(cluster)?.as_mut(),
            Part::Link { index } => capacities.links.get_mut(index).map(|it| &mut it.capacity),
        },
        _ => None,
    }
}
