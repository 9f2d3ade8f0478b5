//! What every workload says of itself, and how it is run.

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::team::Team;
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// A workload of one size.
pub trait Program: Send + Sync {
    /// Its arrays, in the order in which [`run`](Self::run) takes them.
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan>;

    /// Work of a run, in [`unit`](Self::unit)s.
    fn work(&self) -> f64;

    /// What its work is counted in: a rate is work / second.
    fn unit(&self) -> &'static str;

    /// What the timed part of a run moves between memory and a last-level cache of this many bytes that all
    /// its threads share: an array, or what of it one pass comes back to, that stays in the cache moves
    /// once.
    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic>;

    /// Runs it from start to end on arrays that are zero and whose pages are there, and compares its
    /// result with what is known. Initialisation and verification are outside of what the clock
    /// takes, a warm-up too; nothing of the size of an array is allocated.
    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::team::Team;

    /// What a run by this many threads finds.
    pub fn checks_of(program: &dyn Program, threads: usize) -> Vec<Check> {
        let team = Team::of_threads(threads).unwrap();
        let plans = program.arrays(threads);
        let mut arrays: Vec<Array> =
            plans.into_iter().map(|plan| Array::map(plan).unwrap()).collect();
        team.lead(|| program.run(&mut arrays, &team, &mut Clock::default()))
    }
}
