//! The common window: opened once every thread has warmed up, the same for all.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use nearfar_units::nanoseconds;

use super::instruments::Instruments;
use crate::executor::{Interrupt, WindowRequest};

/// Blocks are at most this fraction of the shortest window, so that the bytes of
/// a block that crosses the window's edge, counted pro rata, cannot matter.
pub(super) const BLOCKS_PER_WINDOW: u32 = 400;

/// From the last thread's arrival to the opening: time for every thread to end
/// the block that it is in.
const LEAD: Duration = Duration::from_micros(500);

/// When windows open and close, ns by CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Windows {
    pub open: u64,
    pub length: u64,
    pub count: u32,
}

impl Windows {
    /// The time at which window `index` opens; with `index == count` the end.
    pub fn edge(&self, index: u32) -> u64 {
        self.open + u64::from(index) * self.length
    }
}

/// Where the threads of a case meet.
#[derive(Debug)]
pub(super) struct Meeting<'a> {
    interrupt: &'a Interrupt,
    instruments: Instruments,
    request: WindowRequest,
    /// Bytes that all threads together move in a window at least: half the working
    /// set, which is twice the caches involved when the set is four times them.
    least_bytes: u64,
    threads: u32,
    arrived: AtomicU32,
    /// Sum of the threads' rates while warming up, bytes/s.
    rate: AtomicU64,
    open: AtomicU64,
    length: AtomicU64,
    given_up: AtomicBool,
}

impl<'a> Meeting<'a> {
    pub fn new(
        threads: u32,
        request: WindowRequest,
        least_bytes: u64,
        interrupt: &'a Interrupt,
        instruments: Instruments,
    ) -> Self {
        Self {
            interrupt,
            instruments,
            request,
            least_bytes,
            threads,
            arrived: AtomicU32::new(0),
            rate: AtomicU64::new(0),
            open: AtomicU64::new(0),
            length: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
        }
    }

    /// The time by the clock that windows are set by, ns.
    pub fn now(&self) -> u64 {
        (self.instruments.clock)()
    }

    pub fn shortest(&self) -> Duration {
        self.request.shortest
    }

    pub fn window_count(&self) -> usize {
        self.request.count as usize
    }

    /// A thread has made its first pass at this rate. The last one sets the windows.
    pub fn arrive(&self, bytes_per_s: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive rate far below 2^53; fractions do not matter"
        )]
        self.rate.fetch_add(bytes_per_s as u64, Ordering::Relaxed);
        // Release and acquire order the rates of all threads before the last arrival.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 < self.threads {
            return;
        }
        // The first threads may have made their pass alone, faster than all together:
        // the last one's rate bounds what all can have.
        #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
        let together = self.rate.load(Ordering::Relaxed) as f64;
        let together = together.min(bytes_per_s * f64::from(self.threads)).max(1.0);
        #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        let by_bytes = self.least_bytes as f64 / together;
        let length = self.request.shortest.max(Duration::from_secs_f64(by_bytes));
        self.length.store(nanoseconds(length), Ordering::Relaxed);
        let open = self.now() + nanoseconds(LEAD);
        self.open.store(open, Ordering::Release);
    }

    /// The windows, once they are set.
    pub fn windows(&self) -> Option<Windows> {
        let open = self.open.load(Ordering::Acquire);
        (open != 0).then(|| Windows {
            open,
            length: self.length.load(Ordering::Relaxed),
            count: self.request.count,
        })
    }

    /// Makes every thread end at its next block.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Whether to end now: a thread failed, or a signal came.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || self.interrupt.is_set()
    }
}

/// What a thread has moved by when: its notes at the ends of blocks.
#[derive(Debug, Default)]
pub(super) struct BlockLog {
    /// (time, bytes so far), ascending in both.
    notes: Vec<(u64, u64)>,
}

impl BlockLog {
    /// Room for so many notes, its pages present: growing or touching the log while
    /// the window is open would disturb what it notes.
    pub fn with_room(notes: usize) -> Self {
        let mut log = Self { notes: vec![(1, 1); notes] };
        log.notes.clear();
        log
    }

    /// Replaces all notes by this one: as long as no window is set, only the last matters.
    pub fn restart(&mut self, time: u64, bytes: u64) {
        self.notes.clear();
        self.notes.push((time, bytes));
    }

    /// Notes the end of a block, unless the last note is less than `apart` ago: a
    /// window that is longer than the shortest has more blocks than are needed.
    pub fn note(&mut self, time: u64, bytes: u64, apart: u64) {
        if self.notes.last().is_none_or(|&(last, _)| time >= last + apart) {
            self.notes.push((time, bytes));
        }
    }

    /// Bytes between two times; blocks that cross one count pro rata.
    pub fn bytes_between(&self, from: u64, to: u64) -> u64 {
        self.bytes_at(to).saturating_sub(self.bytes_at(from))
    }

    fn bytes_at(&self, time: u64) -> u64 {
        let next = self.notes.partition_point(|&(noted, _)| noted < time);
        match (next.checked_sub(1).map(|before| self.notes[before]), self.notes.get(next)) {
            (Some((t0, b0)), Some(&(t1, b1))) => {
                let within = u128::from(b1 - b0) * u128::from(time - t0) / u128::from(t1 - t0);
                b0 + u64::try_from(within).unwrap_or(b1 - b0)
            }
            (Some((_, last)), None) => last,
            (None, Some(&(_, first))) => first,
            (None, None) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_across_an_edge_count_pro_rata() {
        let mut log = BlockLog::default();
        log.restart(100, 1000);
        log.note(200, 2000, 0);
        log.note(210, 2010, 50);
        log.note(400, 2500, 50);
        assert_eq!(log.bytes_between(100, 400), 1500);
        assert_eq!(log.bytes_between(150, 200), 500);
        assert_eq!(log.bytes_between(150, 300), 500 + 250);
        // Outside the notes nothing is made up.
        assert_eq!(log.bytes_between(400, 500), 0);
        assert_eq!(log.bytes_between(0, 100), 0);
    }

    #[test]
    fn the_last_to_arrive_sets_a_window_that_is_long_enough() {
        let interrupt = Interrupt::default();
        let request =
            WindowRequest { round: 0, first: 0, count: 2, shortest: Duration::from_millis(50) };
        let meeting = Meeting::new(2, request, 1_000_000_000, &interrupt, Instruments::default());
        meeting.arrive(2e9);
        assert_eq!(meeting.windows(), None);
        // The last thread runs at 1 GB/s among others: all together at most 2 GB/s.
        meeting.arrive(1e9);
        let windows = meeting.windows().unwrap();
        assert_eq!(windows.length, 500_000_000);
        assert_eq!(windows.edge(2), windows.open + 1_000_000_000);
    }
}
