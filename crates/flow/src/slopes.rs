//! How the rates of loads answer to small changes of what they share, for fits.
//!
//! The pressures y solve y = B(y), B what balances each resource with the others as they are.
//! Where something else changes by dt, dy = (I - dB/dy)^-1 (dB/dt) dt; so the derivative of a
//! rate is what it changes by at fixed pressures and lambda . dB/dt, lambda solving
//! (I - dB/dy)^T lambda = d ln rate / dy.

use crate::flows::Flows;
use crate::linear_system;
use crate::pressures::Pressures;
use crate::system::System;

/// Derivatives of the logarithms of the loads' rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Slopes {
    /// By ln of the capacity of each part of [`Flows::parts`]: for each part of each load.
    pub by_capacity: Vec<Vec<f64>>,
    /// By ln of the demand of a thread of each load: for each of these of each load.
    pub by_demand: Vec<Vec<f64>>,
    /// By ln of the saturation exponent, of each load.
    pub by_saturation: Vec<f64>,
    /// By the fairness exponent, of each load.
    pub by_fairness: Vec<f64>,
}

/// Step of the differences by which single balances are derived.
const STEP: f64 = 1e-5;

impl Flows {
    /// How the rates answer to changes; `None` where the pressures have no one answer.
    pub fn slopes(&self) -> Option<Slopes> {
        let system = &self.shared.system;
        let pressures = self.pressures();
        let lambdas = lambdas(&pressures, system)?;
        let count = system.streams.len();
        let by_capacity = (0..self.ln_h.len()).map(|resource| {
            let moved = pressures.slope_by_capacity(resource)?;
            Some(lambdas.iter().map(|lambda| lambda[resource] * moved).collect())
        });
        let by_demand = (0..count).map(|asking| {
            // Only where it passes a balance moves.
            let own: Vec<usize> =
                system.streams[asking].usage.iter().map(|&(resource, _)| resource).collect();
            self.by(&lambdas, &own, &|system, step| {
                let stream = &mut system.streams[asking];
                stream.demand *= step.exp();
                stream.weight *= (self.fairness * step).exp();
            })
        });
        let all: Vec<usize> = (0..self.ln_h.len()).collect();
        let by_saturation =
            self.by(&lambdas, &all, &|system, step| system.saturation *= step.exp());
        let of_one = &self.shared.of_one;
        let by_fairness = self.by(&lambdas, &all, &|system, step| {
            for (stream, one) in system.streams.iter_mut().zip(of_one) {
                // A common factor of all weights drops out.
                stream.weight *= (one / of_one[0]).powf(step);
            }
        });
        Some(Slopes {
            by_capacity: by_capacity.collect::<Option<_>>()?,
            by_demand: by_demand.collect::<Option<_>>()?,
            by_saturation: by_saturation?,
            by_fairness: by_fairness?,
        })
    }

    /// The derivatives by something that changes the system, and in it the balance of these
    /// resources.
    fn by(
        &self,
        lambdas: &[Vec<f64>],
        resources: &[usize],
        change: &dyn Fn(&mut System, f64),
    ) -> Option<Vec<f64>> {
        let beside = |step: f64| {
            let mut system = self.shared.system.clone();
            change(&mut system, step);
            let mut pressures = Pressures::of_lone_users(&system);
            let used: Vec<usize> = (0..self.ln_h.len()).collect();
            pressures.put(&used, &self.ln_h);
            let ln_rates: Vec<f64> = pressures.rates().into_iter().map(f64::ln).collect();
            let balanced: Option<Vec<f64>> =
                resources.iter().map(|&resource| pressures.balanced(resource)).collect();
            Some((ln_rates, balanced?))
        };
        let (up, up_balanced) = beside(STEP)?;
        let (down, down_balanced) = beside(-STEP)?;
        let slope = |(up, down): (&f64, &f64)| (up - down) / (2.0 * STEP);
        let moved: Vec<f64> = up_balanced.iter().zip(&down_balanced).map(slope).collect();
        let direct = up.iter().zip(&down).map(slope);
        let through = |lambda: &Vec<f64>| {
            resources.iter().zip(&moved).map(|(&it, moved)| lambda[it] * moved).sum::<f64>()
        };
        Some(direct.zip(lambdas).map(|(direct, lambda)| direct + through(lambda)).collect())
    }
}

/// By how much each stream's ln rate moves where the balance of each resource does.
fn lambdas(pressures: &Pressures<'_>, system: &System) -> Option<Vec<Vec<f64>>> {
    let count = system.capacities.len();
    let all: Vec<usize> = (0..count).collect();
    // Transposed: the slopes of a resource's balance stand in its column.
    let balances: Vec<Vec<f64>> =
        all.iter().map(|&resource| pressures.slopes(resource, &all)).collect();
    let entry = |row: usize, column: usize| f64::from(row == column) - balances[column][row];
    let rows: Vec<Vec<f64>> =
        all.iter().map(|&row| all.iter().map(|&column| entry(row, column)).collect()).collect();
    let of_stream = |stream: usize| {
        let mut push = vec![0.0; count];
        pressures.push_on(stream).for_each(|(resource, slope)| push[resource] = slope);
        push
    };
    linear_system::solve_all(rows, (0..system.streams.len()).map(of_stream).collect())
}
