//! Counts what threads of this process do between begins and ends.

use nearfar_record::ProfileCounter;

use super::counting::{Counting, ProgramCounters};

/// Counters of all threads that this process has at each begin; what was counted adds up.
pub struct OwnThreads {
    counters: ProgramCounters,
    running: Option<Counting>,
    counted: Vec<ProfileCounter>,
}

impl OwnThreads {
    pub fn new(counters: ProgramCounters) -> Self {
        Self { counters, running: None, counted: Vec::new() }
    }

    pub fn begin(&mut self) {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let threads: Vec<u32> =
            tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
        self.running = Some(self.counters.count_threads(&threads));
    }

    pub fn end(&mut self) {
        let Some(running) = self.running.take() else { return };
        let counted = running.read();
        if self.counted.is_empty() {
            self.counted = counted;
            return;
        }
        for (sum, more) in self.counted.iter_mut().zip(counted) {
            sum.count = sum.count.zip(more.count).map(|(sum, more)| sum + more);
            let shares = sum.counted_share.zip(more.counted_share);
            sum.counted_share = shares.map(|(one, other)| f64::min(one, other));
            sum.unavailable = sum.unavailable.take().or(more.unavailable);
        }
    }

    /// Of each quantity that was tried out.
    pub fn counted(&self) -> &[ProfileCounter] {
        &self.counted
    }
}
