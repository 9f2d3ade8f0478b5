//! Machines that a fit leaves possible beside the most likely one.
//!
//! ```text
//! x' = argmin  sum over residuals of Huber(r(x) + s z)
//! ```
//!
//! with r what cases and priors are off, each in units of its standard deviation, z independent
//! standard normal values, and s by how much more than their noise the cases of an experiment scatter, at
//! least 1 (of priors 1): the machine that is most likely where every figure and every prior had been as
//! much beside what it is as it can be (randomised maximum a posteriori; Bardsley and others, SIAM Journal on
//! Scientific Computing 36, 2014). What cases tell of several parameters together moves together; what no
//! case fills moves up as far as its prior lets it and down no further than what was moved over it, which
//! a normal approximation about the fit does not know: by that the best placement lost up to 12 %
//! (`nearfar-advise`, `benches/regret`).
//!
//! Fails when: the law does not fit the machine; that error is not among these.

use nearfar_flow::{Capacities, Part};

use super::case::{FlowCase, FlowLayout};
use super::fit::{FittedFlow, FlowEstimate, Problem};
use super::parameters::FlowParameter;

/// From the fit it is not far; with twice as many advice is the same.
const MOST_STEPS: u32 = 4;
/// It ends when a step lowers the loss by less than this fraction: a draw need not be the least to the last
/// digit.
const TOLERANCE: f64 = 0.01;

impl FittedFlow {
    /// Whether any case tells what a part carries; else that is a lower bound.
    pub fn is_told(&self, part: Part) -> bool {
        let own = |it: &&FlowEstimate| it.parameter == FlowParameter::Capacity(part);
        self.parameters.iter().find(own).is_none_or(|it| it.is_bound)
    }

    /// A machine that the cases leave possible, of the layout and cases that were fitted: with every
    /// residual moved by the next standard normal value. `None` where it has no solution.
    pub fn possible(
        &self,
        layout: &FlowLayout,
        cases: &[FlowCase],
        mut normal: impl FnMut() -> f64,
    ) -> Option<Capacities> {
        let mut problem = Problem::new(layout, cases)?;
        problem.offsets = self.widths.iter().map(|width| width * normal()).collect();
        let fit = problem.fit(&self.at, MOST_STEPS, TOLERANCE)?;
        Some(problem.parameters.capacities(&fit.parameters))
    }
}
