//! Time of a run and of its phases.

use std::time::{Duration, Instant};

/// A part of a run by its name, summed over its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    pub name: &'static str,
    pub calls: u64,
    pub time: Duration,
}

/// Takes the time of what is timed of a run.
#[derive(Debug, Default)]
pub struct Clock {
    started: Option<Instant>,
    total: Duration,
    phases: Vec<Phase>,
}

impl Clock {
    /// What came before, a warm-up say, is forgotten.
    pub fn start(&mut self) {
        *self = Self { started: Some(Instant::now()), ..Self::default() };
    }

    pub fn stop(&mut self) {
        self.total += self.started.take().map_or(Duration::ZERO, |started| started.elapsed());
    }

    /// Does a phase's work.
    pub fn time<R>(&mut self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let before = Instant::now();
        let done = work();
        let time = before.elapsed();
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => {
                phase.calls += 1;
                phase.time += time;
            }
            None => self.phases.push(Phase { name, calls: 1, time }),
        }
        done
    }

    /// Time from start to stop.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// In the order of their first calls.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }
}
