//! What came of a reader's inputs.

use std::time::Duration;

/// Counts of inputs, and the slowest of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub accepted: u64,
    pub rejected: u64,
    /// Inputs at which a C library took the process down, which the program stands.
    pub crashed: u64,
    pub longest: Duration,
    /// The number of the input that took longest.
    pub slowest: u64,
}

impl Tally {
    pub fn inputs(&self) -> u64 {
        self.accepted + self.rejected + self.crashed
    }

    pub fn note_time(&mut self, index: u64, took: Duration) {
        if took > self.longest {
            (self.longest, self.slowest) = (took, index);
        }
    }

    pub fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.crashed += other.crashed;
        self.note_time(other.slowest, other.longest);
    }
}
