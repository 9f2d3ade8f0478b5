//! The common window: opened once every thread has warmed up and the pages are proven, the same
//! for all.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

use nearfar_record::{Actor, Case, Stream};
use nearfar_units::nanoseconds;

use super::instruments::Instruments;
use crate::executor::{Interrupt, WindowRequest};

/// Blocks are at most this fraction of the shortest window, so that the bytes of
/// a block that crosses the window's edge, counted pro rata, cannot matter.
pub(super) const BLOCKS_PER_WINDOW: u32 = 400;

/// From the last arrival to the opening: time for every thread to end the block that it is in.
const LEAD: Duration = Duration::from_micros(500);

/// Time to warm up by at least where the clock of the cores matters: a governor (cpufreq) looks at
/// a core's load every few milliseconds, and raises its clock then.
const LEAST_WARM_UP: Duration = Duration::from_millis(10);

/// When windows open and close, ns by CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Windows {
    pub open: u64,
    pub length: u64,
    pub count: u32,
    /// When the last one opens and closes, where that follows from what runs beside the threads;
    /// a close that is not known yet lies at the end of time.
    pub last: Option<[u64; 2]>,
}

impl Windows {
    /// The time at which window `index` opens; with `index == count` the end.
    pub fn edge(&self, index: u32) -> u64 {
        match self.last {
            Some([_, close]) if index == self.count => close,
            _ => self.open + u64::from(index) * self.length,
        }
    }

    /// When window `index` opens and closes. The last one that something else opens does so some time
    /// after its edge.
    pub fn span(&self, index: u32) -> [u64; 2] {
        match self.last {
            Some(last) if index + 1 == self.count => last,
            _ => [self.edge(index), self.edge(index + 1)],
        }
    }
}

/// Where the threads of a case meet, and the one that proves their pages.
#[derive(Debug)]
pub(super) struct Meeting<'a> {
    interrupt: &'a Interrupt,
    pub instruments: Instruments,
    pub request: WindowRequest,
    pub needs: Needs,
    touching: Touching,
    /// Threads that have warmed up, and the one that has proven the pages.
    arrived: AtomicU32,
    /// Streams' threads among those.
    streams: AtomicU32,
    /// Sum of the streams' rates while warming up, and the rate of the one that was ready last,
    /// bytes/s.
    rate: AtomicU64,
    last_rate: AtomicU64,
    open: AtomicU64,
    length: AtomicU64,
    /// Opening and close of a last window that follows from something else; both at the end of time
    /// until that has happened.
    last: Option<[AtomicU64; 2]>,
    given_up: AtomicBool,
}

/// What a case's windows need beside what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// Threads of all actors.
    pub threads: u32,
    /// Bytes that all streams together move in a window at least.
    pub least_bytes: u64,
    /// Whether each thread looks at the clock of its core, before and after the windows.
    pub core_clock: bool,
}

impl Needs {
    /// Windows on memory are long enough for twice the caches, or half the working set where these are not
    /// known. A chase moves next to nothing. What is not on memory depends on the clock of the cores.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of bytes below 2^52, which is not negative"
    )]
    pub fn of(case: &Case) -> Self {
        // Streams that pause would take long for what they can all the same not find in a cache.
        let streams = case.actors.iter().filter_map(Actor::as_stream);
        let streams = streams.filter(|stream| stream.pause_cycles == 0);
        let part =
            |stream: &Stream| stream.llc_multiple.map_or(0.5, |times| (2.0 / times).min(0.5));
        let needed: f64 =
            streams.map(|stream| part(stream) * stream.working_set_bytes as f64).sum();
        let on_memory = case.is_on_memory();
        Self {
            threads: case.threads(),
            least_bytes: if on_memory { needed as u64 } else { 0 },
            core_clock: case.depends_on_clock(),
        }
    }
}

impl<'a> Meeting<'a> {
    /// The thread that calls this proves the pages.
    pub fn new(
        needs: Needs,
        request: WindowRequest,
        interrupt: &'a Interrupt,
        instruments: Instruments,
    ) -> Self {
        Self {
            interrupt,
            instruments,
            request,
            needs,
            touching: Touching::new(needs.threads),
            arrived: AtomicU32::new(0),
            streams: AtomicU32::new(0),
            rate: AtomicU64::new(0),
            last_rate: AtomicU64::new(0),
            open: AtomicU64::new(0),
            length: AtomicU64::new(0),
            last: None,
            given_up: AtomicBool::new(false),
        }
    }

    /// The same with a last window that lasts until [`Self::close`].
    pub fn until_closed(self) -> Self {
        Self { last: Some([const { AtomicU64::new(u64::MAX) }; 2]), ..self }
    }

    /// Waits until the windows before the last one have passed; whether they have, and the threads are
    /// not rather to end.
    pub fn wait_for_last(&self) -> bool {
        loop {
            if self.is_given_up() {
                return false;
            }
            let edge = self.windows().map(|it| it.edge(it.count.saturating_sub(1)));
            if edge.is_some_and(|edge| self.now() >= edge) {
                return true;
            }
            std::thread::sleep(LEAD);
        }
    }

    /// Says when the last window opened, and closes it.
    pub fn close(&self, [opened, closed]: [u64; 2]) {
        if let Some([open, close]) = &self.last {
            open.store(opened, Ordering::Relaxed);
            // Who sees the close sees the opening.
            close.store(closed, Ordering::Release);
        }
    }

    /// The time by the clock that windows are set by, ns.
    pub fn now(&self) -> u64 {
        (self.instruments.clock)()
    }

    /// Time to warm up by at least.
    pub fn least_warm_up(&self) -> Duration {
        if self.needs.core_clock { LEAST_WARM_UP } else { Duration::ZERO }
    }

    /// A thread has touched its memory.
    pub fn touched(&self) {
        self.touching.touched();
    }

    /// Waits until all threads have touched their memory; whether they have, and not rather are
    /// to end.
    pub fn wait_for_touch(&self) -> bool {
        self.touching.wait(|| self.is_given_up())
    }

    /// The pages are where they should be.
    pub fn proven(&self) {
        self.meet();
    }

    /// A thread has warmed up, one of a stream at this rate in bytes/s.
    pub fn arrive(&self, stream_rate: Option<f64>) {
        if let Some(rate) = stream_rate {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive rate far below 2^53; fractions do not matter"
            )]
            let rate = rate as u64;
            self.streams.fetch_add(1, Ordering::Relaxed);
            self.rate.fetch_add(rate, Ordering::Relaxed);
            self.last_rate.store(rate, Ordering::Relaxed);
        }
        self.meet();
    }

    /// Whoever comes last sets the windows.
    fn meet(&self) {
        // Release and acquire order the rates of all threads before the last arrival.
        if self.arrived.fetch_add(1, Ordering::AcqRel) < self.needs.threads {
            return;
        }
        let length = self.request.shortest.max(self.time_for_bytes());
        self.length.store(nanoseconds(length), Ordering::Relaxed);
        let open = self.now() + nanoseconds(LEAD);
        self.open.store(open, Ordering::Release);
    }

    /// Time in which the streams move the bytes that they have to.
    fn time_for_bytes(&self) -> Duration {
        // The first threads may have made their pass alone, faster than all together:
        // the last one's rate bounds what all can have.
        let streams = u64::from(self.streams.load(Ordering::Relaxed));
        let bound = self.last_rate.load(Ordering::Relaxed).saturating_mul(streams);
        let together = self.rate.load(Ordering::Relaxed).min(bound).max(1);
        let seconds = self.needs.least_bytes as f64 / together as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// The windows, once they are set.
    pub fn windows(&self) -> Option<Windows> {
        let open = self.open.load(Ordering::Acquire);
        (open != 0).then(|| Windows {
            open,
            length: self.length.load(Ordering::Relaxed),
            count: self.request.count,
            last: self.last.as_ref().map(|[opening, close]| {
                let close = close.load(Ordering::Acquire);
                [opening.load(Ordering::Relaxed), close]
            }),
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

/// How often the one that waits looks whether to give up.
const TOUCH_LOOK: Duration = Duration::from_millis(10);

/// The threads of a case that have not touched their memory yet, and the thread that waits for
/// them. They themselves go on and never sleep: Linux places a thread anew when it wakes, and one
/// that is bound to no CPU could come to run far from what it has just touched.
#[derive(Debug)]
struct Touching {
    missing: AtomicU32,
    waiting: Thread,
}

impl Touching {
    /// So many threads are to touch their memory; the one that calls this waits for them.
    fn new(threads: u32) -> Self {
        Self { missing: AtomicU32::new(threads), waiting: std::thread::current() }
    }

    /// A thread has touched its memory. It does so once.
    fn touched(&self) {
        // Release and acquire order what all threads wrote before the last one's wake.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiting.unpark();
        }
    }

    /// Waits until all threads have touched their memory; whether they have, and not rather
    /// are to end.
    fn wait(&self, is_given_up: impl Fn() -> bool) -> bool {
        while self.missing.load(Ordering::Acquire) > 0 {
            if is_given_up() {
                return false;
            }
            std::thread::park_timeout(TOUCH_LOOK);
        }
        true
    }
}

/// What a thread has done by when: its notes at the ends of blocks, in bytes moved or in
/// operations.
#[derive(Debug)]
pub(super) struct BlockLog {
    /// (time, amount so far), ascending in both.
    notes: Vec<(u64, u64)>,
    room: usize,
    /// How often every second note was given up.
    thinned: u32,
}

impl BlockLog {
    /// Room for this many notes, its pages present: growing or touching the log while
    /// the window is open would disturb what it notes.
    pub fn with_room(notes: usize) -> Self {
        let mut log = Self { notes: vec![(1, 1); notes], room: notes, thinned: 0 };
        log.notes.clear();
        log
    }

    /// Replaces all notes by this one: as long as no window is set, only the last matters.
    pub fn restart(&mut self, time: u64, done: u64) {
        self.notes.clear();
        self.notes.push((time, done));
    }

    /// Notes the end of a block, unless the last note is less than `apart` ago: a
    /// window that is longer than the shortest has more blocks than are needed.
    pub fn note(&mut self, time: u64, done: u64, apart: u64) {
        let apart = apart.saturating_mul(1 << self.thinned.min(32));
        if self.notes.last().is_none_or(|&(last, _)| time >= last.saturating_add(apart)) {
            if self.notes.len() >= self.room {
                self.thin();
            }
            self.notes.push((time, done));
        }
    }

    /// Gives up every second note of the later half: a window that a program closes may last for hours,
    /// and of those only what lies around its edges counts. The earlier half has the opening one.
    fn thin(&mut self) {
        let (kept, mut position) = (self.room / 2, 0);
        self.notes.retain(|_| {
            position += 1;
            position <= kept || position % 2 == 1
        });
        self.thinned += 1;
    }

    /// What was done between two times; blocks that cross one count pro rata.
    pub fn done_between(&self, from: u64, to: u64) -> u64 {
        self.done_by(to).saturating_sub(self.done_by(from))
    }

    fn done_by(&self, time: u64) -> u64 {
        let next = self.notes.partition_point(|&(noted, _)| noted < time);
        match (next.checked_sub(1).map(|before| self.notes[before]), self.notes.get(next)) {
            (Some((t0, d0)), Some(&(t1, d1))) => {
                let within = u128::from(d1 - d0) * u128::from(time - t0) / u128::from(t1 - t0);
                d0 + u64::try_from(within).unwrap_or(d1 - d0)
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
    use nearfar_record::{Coordinates, MixCoordinates, Roof, RoofCoordinates, RoofPurpose};

    use super::super::layout::tests::{chase, stream};

    #[test]
    fn blocks_across_an_edge_count_pro_rata() {
        let mut log = BlockLog::with_room(8);
        log.restart(100, 1000);
        log.note(200, 2000, 0);
        log.note(210, 2010, 50);
        log.note(400, 2500, 50);
        assert_eq!(log.done_between(100, 400), 1500);
        assert_eq!(log.done_between(150, 200), 500);
        assert_eq!(log.done_between(150, 300), 500 + 250);
        // Outside the notes nothing is made up.
        assert_eq!(log.done_between(400, 500), 0);
        assert_eq!(log.done_between(0, 100), 0);
    }

    /// However long a program runs, its generators' notes take no more memory than they began with.
    #[test]
    fn a_log_of_a_window_without_end_keeps_its_room() {
        let mut log = BlockLog::with_room(64);
        log.restart(0, 0);
        let blocks = 1_000_000;
        for block in 1..=blocks {
            // Slower after the opening edge, at 20.
            log.note(block * 10, 7 * block + block.min(2) * 100, 10);
        }
        log.note(blocks * 10 + 1, 7 * blocks + 201, 0);
        assert_eq!(log.notes.capacity(), 64);
        assert_eq!(log.done_between(20, blocks * 10 + 1), 7 * (blocks - 2) + 1);
        assert_eq!(log.done_between(0, 20), 214);
    }

    /// Half of what the streams of a case on memory walk through has to be moved, of others
    /// nothing. Those look at the clock, and so does who waits for a chase.
    #[test]
    fn only_streams_on_memory_need_bytes() {
        let on_memory = Coordinates::Mixes(MixCoordinates { index: 0 });
        let in_cache = Coordinates::Roofs(RoofCoordinates {
            initiator: 0,
            actor: 0,
            roof: Roof::Cache { level: 1 },
            kernel: "load".into(),
            variant: "portable".into(),
            threads: 1,
            purpose: RoofPurpose::Roof,
        });
        let streams =
            [600, 400].map(|bytes| Actor::Stream(stream("load", "preferred:0", 1, bytes)));
        let streams = streams.to_vec();
        let with_chase = [vec![chase("preferred:0", 1 << 30)], streams.clone()].concat();
        for (place, actors, least_bytes, core_clock) in [
            (&on_memory, &streams, (600 + 400) / 2, false),
            (&on_memory, &with_chase, (600 + 400) / 2, true),
            (&in_cache, &streams, 0, true),
        ] {
            let coordinates = vec![place.clone()];
            let case = Case { id: "needs".into(), coordinates, actors: actors.clone() };
            let threads = u32::try_from(actors.len()).unwrap();
            assert_eq!(Needs::of(&case), Needs { threads, least_bytes, core_clock });
        }
    }

    fn meeting(interrupt: &Interrupt, needs: Needs) -> Meeting<'_> {
        let request =
            WindowRequest { round: 0, first: 0, count: 2, shortest: Duration::from_millis(50) };
        Meeting::new(needs, request, interrupt, Instruments::default())
    }

    #[test]
    fn the_last_to_arrive_sets_a_window_that_is_long_enough() {
        let interrupt = Interrupt::default();
        let needs = Needs { threads: 2, least_bytes: 1_000_000_000, core_clock: false };
        let meeting = meeting(&interrupt, needs);
        meeting.proven();
        meeting.arrive(Some(2e9));
        assert_eq!(meeting.windows(), None);
        // The last thread runs at 1 GB/s among others: all together at most 2 GB/s.
        meeting.arrive(Some(1e9));
        let windows = meeting.windows().unwrap();
        assert_eq!(windows.length, 500_000_000);
        assert_eq!(windows.edge(2), windows.open + 1_000_000_000);
    }

    /// What moves no bytes of streams, whether it comes first or last, changes nothing.
    #[test]
    fn only_streams_lengthen_a_window() {
        for order in [[Some(1e9), Some(2e9), None], [None, Some(1e9), Some(2e9)]] {
            let interrupt = Interrupt::default();
            let needs = Needs { threads: 3, least_bytes: 600_000_000, core_clock: false };
            let meeting = meeting(&interrupt, needs);
            order.into_iter().for_each(|rate| meeting.arrive(rate));
            assert_eq!(meeting.windows(), None, "the pages are not proven");
            meeting.proven();
            assert_eq!(meeting.windows().unwrap().length, 200_000_000);
        }
        let interrupt = Interrupt::default();
        let needs = Needs { threads: 1, least_bytes: 0, core_clock: true };
        let meeting = meeting(&interrupt, needs);
        meeting.proven();
        meeting.arrive(None);
        assert_eq!(meeting.windows().unwrap().length, 50_000_000);
    }

    #[test]
    fn the_wait_ends_when_all_have_touched() {
        const THREADS: u32 = 4;
        let touching = Touching::new(THREADS);
        let touched = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    touched.fetch_add(1, Ordering::SeqCst);
                    touching.touched();
                });
            }
            assert!(touching.wait(|| false));
            assert_eq!(touched.load(Ordering::SeqCst), THREADS);
        });
    }

    #[test]
    fn who_is_to_end_does_not_wait() {
        let touching = Touching::new(2);
        touching.touched();
        assert!(!touching.wait(|| true));
        touching.touched();
        assert!(touching.wait(|| true));
    }
}
