//! What streams get when they share resources that saturate smoothly.
//!
//! ```text
//! x_s = d_s (1 + (d_s / w_s)^p sum over r used by s of h_r)^(-1/p)
//! h_r >= 0 such that  sum_s a_sr x_s = T_r = (O_r^-p + C_r^-p)^(-1/p)
//! O_r = sum_s a_sr x_s with h_r = 0 and the other pressures as they are
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | x_s, d_s | rate and demand of a stream | bytes/s |
//! | w_s | its fair weight; a common factor of all weights drops out | any |
//! | a_sr | what resource r carries for each byte of stream s | 1, or 1/C_r |
//! | C_r | capacity of the resource | of a_sr x_s |
//! | p | saturation exponent; the larger, the harder the limit | 1 |
//! | h_r | pressure of the resource on its streams | of w_s^-p |
//!
//! One resource alone carries (D^-p + C^-p)^(-1/p) of the summed demand D. A lone
//! stream gets x^-p = d^-p + sum_r (C_r / a_r)^-p. For large p the law is weighted
//! progressive filling (max-min fairness with weights w_s). Source: ours. A lone stream
//! and a lone resource have one solution. Of many together about one random system in 300
//! (`benches/settling.rs`) has several, and the order of resources decides which is found.
//!
//! The pressures are found resource by resource, over and over (Gauss-Seidel). About one
//! random system in 200 comes to rest too slowly by that or goes round among a few states
//! for ever; from there [`crate::path`] goes on. Everything is in logarithms: x^-p of a rate
//! in bytes/s is out of the range of an f64 from p = 31 on, and of ratios much sooner.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::error::FlowError;
use crate::path;
use crate::pressures::Pressures;

/// A stream of data through resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// What it moves when nothing is in its way, bytes/s.
    pub demand: f64,
    /// Its claim on a resource that is short, relative to the other streams'.
    pub weight: f64,
    /// Resources it uses, each once, and what each carries for a byte of it.
    pub usage: Vec<(usize, f64)>,
}

/// Resources and the streams that share them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Capacity of each resource, in the unit of usage x bytes/s.
    pub capacities: Vec<f64>,
    pub streams: Vec<Stream>,
    /// How hard resources saturate: the exponent p.
    pub saturation: f64,
}

/// What the streams of a system get.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Rate of each stream, bytes/s.
    pub rates: Vec<f64>,
    /// Times that all resources were gone through.
    pub sweeps: u32,
    /// Largest relative change of a rate in the last sweep.
    pub last_change: f64,
}

/// Rates are final when a sweep changes none by more than this fraction.
const TOLERANCE: f64 = 1e-11;
/// `benches/settling.rs` shows how many are needed.
const MOST_SWEEPS: u32 = 1000;
/// Sweeps that are given to halve the change, before the path is taken.
const PATIENCE: u32 = 20;
/// Of these sums and ratios stay far within an f64.
const NUMBERS: RangeInclusive<f64> = 1e-100..=1e100;
const EXPONENTS: RangeInclusive<f64> = 0.1..=1000.0;
impl System {
    /// What each stream gets.
    ///
    /// # Errors
    /// [`FlowError::System`] where a number is not from 1e-100 to 1e100 (the exponent: 0.1
    /// to 1000), or a resource does not exist; [`FlowError::NotSettled`] where the rates
    /// still move after 1000 sweeps, which numbers many decades apart can cause.
    pub fn solve(&self) -> Result<Solution, FlowError> {
        self.settle(None, TOLERANCE).map(|(solution, _)| solution)
    }

    /// The same from a start, logarithms of pressures, to another tolerance; with the pressures
    /// there.
    pub(crate) fn settle(
        &self,
        start: Option<&[f64]>,
        tolerance: f64,
    ) -> Result<(Solution, Vec<f64>), FlowError> {
        self.check()?;
        let mut pressures = Pressures::none(self);
        let used = pressures.used();
        if let Some(start) = start.filter(|start| start.len() == self.capacities.len()) {
            used.iter().for_each(|&resource| pressures.put(&[resource], &[start[resource]]));
        }
        let mut rates = pressures.rates();
        let mut earlier_change = f64::INFINITY;
        for sweep in 1..=MOST_SWEEPS {
            pressures.sweep();
            let before = std::mem::replace(&mut rates, pressures.rates());
            let changes = before.iter().zip(&rates).map(|(before, after)| (after / before).ln());
            let last_change = changes.map(f64::abs).fold(0.0, f64::max);
            if last_change < tolerance {
                let all: Vec<usize> = (0..self.capacities.len()).collect();
                let solution = Solution { rates, sweeps: sweep, last_change };
                return Ok((solution, pressures.at(&all)));
            }
            if sweep % PATIENCE == 0 {
                if last_change > earlier_change / 2.0 && path::go_to_balance(&mut pressures) {
                    rates = pressures.rates();
                }
                earlier_change = last_change;
            }
        }
        Err(FlowError::NotSettled { sweeps: MOST_SWEEPS })
    }

    fn check(&self) -> Result<(), FlowError> {
        if !EXPONENTS.contains(&self.saturation) {
            let p = self.saturation;
            return Err(FlowError::System(format!("the saturation exponent is {p}")));
        }
        let positive = |value: f64, of: &dyn Fn() -> String| {
            if NUMBERS.contains(&value) {
                Ok(())
            } else {
                Err(FlowError::System(format!("{} is {value}", of())))
            }
        };
        for (index, &capacity) in self.capacities.iter().enumerate() {
            positive(capacity, &|| format!("the capacity of resource {index}"))?;
        }
        for (index, stream) in self.streams.iter().enumerate() {
            positive(stream.demand, &|| format!("the demand of stream {index}"))?;
            positive(stream.weight, &|| format!("the weight of stream {index}"))?;
            for (position, &(resource, usage)) in stream.usage.iter().enumerate() {
                positive(usage, &|| format!("what stream {index} uses of resource {resource}"))?;
                if resource >= self.capacities.len() {
                    return Err(FlowError::System(format!(
                        "stream {index} uses resource {resource}; there are {}",
                        self.capacities.len()
                    )));
                }
                if stream.usage[..position].iter().any(|&(earlier, _)| earlier == resource) {
                    return Err(FlowError::System(format!(
                        "stream {index} names resource {resource} twice"
                    )));
                }
            }
        }
        Ok(())
    }
}
