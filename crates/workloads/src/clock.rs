//! Time of a run and of its phases.

use std::time::{Duration, Instant};

/// A part of a run by its name, summed over its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    pub name: &'static str,
    pub calls: u64,
    pub time: Duration,
}

/// One of the searches that a run is made of, timed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    pub time: Duration,
    /// Edges of the graph that it reached, those from a vertex to itself left out.
    pub edges: u64,
    /// Edges that it reached from a vertex to itself.
    pub loops: u64,
}

/// Takes the time of what is timed of a run.
#[derive(Debug, Default)]
pub struct Clock {
    started: Option<Instant>,
    total: Duration,
    phases: Vec<Phase>,
    searches: Vec<Search>,
}

impl Clock {
    /// What came before, a warm-up say, is forgotten.
    pub fn start(&mut self) {
        *self = Self { started: Some(Instant::now()), ..Self::default() };
    }

    /// Goes on after a stop.
    pub fn resume(&mut self) {
        self.started = Some(Instant::now());
    }

    /// What passed since the start, or the last resumption.
    pub fn stop(&mut self) -> Duration {
        let passed = self.started.take().map_or(Duration::ZERO, |started| started.elapsed());
        self.total += passed;
        passed
    }

    /// Keeps a search that was timed.
    pub fn searched(&mut self, search: Search) {
        self.searches.push(search);
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

    /// Time from start to stop, and from each resumption to the next.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// In the order of their first calls.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// In their order; none where a run is not made of searches.
    pub fn searches(&self) -> &[Search] {
        &self.searches
    }
}
