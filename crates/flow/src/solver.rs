//! The pressures of a [`System`]'s shared resources are found one by one, over and over (Gauss-Seidel).
//! About one random system in 200 comes to rest too slowly by that or goes round among a few states
//! for ever; from there [`crate::path`] goes on. Everything is in logarithms: x^-p of a rate
//! in bytes/s is out of the range of an f64 from p = 31 on, and of ratios much sooner.

use crate::error::FlowError;
use crate::path;
use crate::pressures::Pressures;
use crate::system::System;

/// What the streams of a system get.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Of each stream, bytes/s.
    pub rates: Vec<f64>,
    /// Times that all shared resources were gone through.
    pub sweeps: u32,
}

/// Rates are final when a sweep changes none by more than this fraction.
const TOLERANCE: f64 = 1e-11;
/// `benches/settling.rs` shows how many are needed.
const MOST_SWEEPS: u32 = 1000;
/// Sweeps that are given to halve the change, before the path is taken.
const PATIENCE: u32 = 20;

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
        let mut pressures = Pressures::of_lone_users(self);
        if let Some(start) = start.filter(|start| start.len() == self.capacities.len()) {
            let shared = pressures.shared().to_vec();
            let ln_h: Vec<f64> = shared.iter().map(|&it| start[it]).collect();
            pressures.put(&shared, &ln_h);
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
                let solution = Solution { rates, sweeps: sweep };
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
}
