//! Time of a run and of its phases.

use std::time::{Duration, Instant};

use nearfar_sys::write_simulated_counts;

use crate::simulated_cache::{RESUMED, STARTED, STOPPED};

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

/// What is told of the timed part: that it begins or goes on (`true`), and that it stops.
type Watch = Box<dyn FnMut(bool) + Send>;

/// Takes the time of what is timed of a run.
#[derive(Default)]
pub struct Clock {
    watch: Option<Watch>,
    started: Option<Instant>,
    total: Duration,
    phases: Vec<Phase>,
    searches: Vec<Search>,
}

impl Clock {
    /// One that tells of each begin and end of what it takes.
    pub fn watched(watch: impl FnMut(bool) + Send + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..Self::default() }
    }

    /// What came before, a warm-up say, is forgotten.
    pub fn start(&mut self) {
        *self = Self { watch: self.watch.take(), ..Self::default() };
        write_simulated_counts(STARTED);
        self.begin();
    }

    /// Goes on after a stop.
    pub fn resume(&mut self) {
        write_simulated_counts(RESUMED);
        self.begin();
    }

    fn begin(&mut self) {
        self.tell(true);
        self.started = Some(Instant::now());
    }

    fn tell(&mut self, is_timed: bool) {
        self.watch.iter_mut().for_each(|watch| watch(is_timed));
    }

    /// What passed since the start, or the last resumption.
    pub fn stop(&mut self) -> Duration {
        let passed = self.started.take().map_or(Duration::ZERO, |started| started.elapsed());
        self.total += passed;
        self.tell(false);
        write_simulated_counts(STOPPED);
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
        write_simulated_counts(name);
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
