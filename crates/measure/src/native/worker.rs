//! One thread of a case: pinned, warmed up, then noting time and what it has done per block
//! until the last window has closed.

use std::time::Duration;

use nearfar_kernels::Pattern;
use nearfar_record::{Reason, ReasonCode, WithoutCopy};
use nearfar_sys::{ThreadUsage, current_cpu, pin_thread, thread_cpu_ns, thread_usage};
use nearfar_units::nanoseconds;

use super::core_clock::core_ghz;
use super::job::Job;
use super::loops::ActorLoop;
use super::pool::denied;
use super::window::{BLOCKS_PER_WINDOW, BlockLog, Meeting, Windows};
use super::work::{Work, begin};
use crate::executor::Failure;

/// Longest wait for the other threads of the case after this one is ready.
const PATIENCE: Duration = Duration::from_secs(120);

/// Room for notes: they are at least half a block's time apart.
const NOTES_PER_WINDOW: usize = 3 * BLOCKS_PER_WINDOW as usize;

/// A block that takes longer than this fraction of the shortest window is cut in two.
const LONGEST_BLOCK: u32 = 200;

/// What a thread saw when it looked around.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub cpu: Option<u32>,
    /// By CLOCK_MONOTONIC, ns, before the CPU time was read.
    pub time: u64,
    /// CPU time of the thread, ns.
    pub cpu_time: u64,
    /// By CLOCK_MONOTONIC, ns, after it was read.
    pub end: u64,
    pub usage: ThreadUsage,
    pub passes: u64,
    /// Time of a device's copies so far by its own clock, ns.
    pub device_ns: Option<u64>,
    /// What the kernel has said so far of sends without a copy.
    pub without_copy: Option<WithoutCopy>,
}

/// A window's edge, between two looks: what happens while it passes belongs to the
/// windows on both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub before: Look,
    pub after: Look,
}

/// What a thread saw from before a window's opening to after its close.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub open: Look,
    pub close: Look,
}

impl Span {
    fn time(&self) -> u64 {
        self.close.time.saturating_sub(self.open.time)
    }

    fn cpu_time(&self) -> u64 {
        self.close.cpu_time.saturating_sub(self.open.cpu_time)
    }

    /// Time for which the thread had no CPU, ns.
    pub fn off_cpu(&self) -> u64 {
        self.time().saturating_sub(self.cpu_time())
    }

    /// Copies that began and ended in it, and their time by the device's clock, ns.
    pub fn copies(&self) -> (u64, Option<u64>) {
        let (open, close) = (&self.open, &self.close);
        let device_ns = close.device_ns.zip(open.device_ns);
        (
            close.passes.saturating_sub(open.passes),
            device_ns.map(|(close, open)| close.saturating_sub(open)),
        )
    }

    /// Sends without a copy that the kernel told of in it, where any are made.
    pub fn without_copy(&self) -> Option<WithoutCopy> {
        let (open, close) = self.open.without_copy.zip(self.close.without_copy)?;
        Some(WithoutCopy {
            sends: close.sends.saturating_sub(open.sends),
            copied: close.copied.saturating_sub(open.copied),
        })
    }

    /// CPU time that the thread had beyond all the time that can have passed by the clock
    /// between its two readings, ns.
    fn clock_lag(&self) -> u64 {
        self.cpu_time().saturating_sub(self.close.end.saturating_sub(self.open.time))
    }
}

/// What a thread did.
#[derive(Debug)]
pub(super) struct Walk {
    pub log: BlockLog,
    /// At the opening of each window and at the end of the last.
    pub edges: Vec<Edge>,
    /// Clock of its core, mean of a look before the windows and one after them; `None` where it
    /// was not to look.
    pub core_ghz: Option<f64>,
}

impl Walk {
    /// By how much the clock contradicts the thread around window `index`, ns: by its CPU time, or
    /// by an opening that was set after a look and lies before it.
    pub fn clock_lag(&self, windows: Windows, index: u32) -> u64 {
        let span = self.span(index);
        span.clock_lag().max(span.open.time.saturating_sub(windows.edge(index)))
    }

    /// What was seen around window `index`.
    pub fn span(&self, index: u32) -> Span {
        let index = index as usize;
        Span { open: self.edges[index].before, close: self.edges[index + 1].after }
    }
}

/// The clock as one thread reads it.
struct Clock<'a> {
    meeting: &'a Meeting<'a>,
    last: u64,
}

impl Clock<'_> {
    /// The time, which cannot be before any that was read earlier.
    fn read(&mut self) -> Result<u64, Failure> {
        let (last, now) = (self.last, self.meeting.now());
        if now < last {
            return Err(Failure::Refused(Reason {
                code: ReasonCode::Contradiction,
                text: format!(
                    "the clock went back by {} ns while threads were timed; choose another clock \
                     source (/sys/devices/system/clocksource)",
                    last - now
                ),
            }));
        }
        self.last = now;
        Ok(now)
    }

    /// Looks around.
    fn look(&mut self, work: &dyn Work) -> Result<Look, Failure> {
        let usage = thread_usage().map_err(denied)?;
        let cpu = current_cpu();
        let time = self.read()?;
        let cpu_time = thread_cpu_ns();
        let end = self.read()?;
        let (passes, device_ns) = (work.passes(), work.device_ns());
        let without_copy = work.without_copy();
        Ok(Look { cpu, time, cpu_time, end, usage, passes, device_ns, without_copy })
    }

    /// The clock of the core, where threads are to look at it.
    fn core_ghz(&mut self) -> Result<Option<f64>, Failure> {
        if self.meeting.needs.core_clock { core_ghz(|| self.read()) } else { Ok(None) }
    }
}

/// Makes the other threads end when this one fails, by an error or by a panic.
struct GiveUpUnlessDone<'a> {
    meeting: &'a Meeting<'a>,
    done: bool,
}

impl Drop for GiveUpUnlessDone<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.meeting.give_up();
        }
    }
}

/// Runs an actor's loop on a thread's slices over the windows of the meeting.
///
/// # Errors
/// When the thread cannot be pinned, its results are wrong, or another thread
/// failed; the meeting is given up then.
pub(super) fn walk(
    job: Job<'_>,
    actor_loop: ActorLoop<'_>,
    pattern: &Pattern,
    meeting: &Meeting<'_>,
) -> Result<Walk, Failure> {
    let mut guard = GiveUpUnlessDone { meeting, done: false };
    let walked = pin_and_touch(job, actor_loop, pattern, meeting)
        .and_then(|mut work| walk_over_windows(work.as_mut(), meeting));
    guard.done = walked.is_ok();
    walked
}

/// Pins the thread and lets it touch the memory that is to be its own. It goes on at once: the
/// pages are proven while it warms up.
fn pin_and_touch<'a>(
    mut job: Job<'a>,
    actor_loop: ActorLoop<'_>,
    pattern: &'a Pattern,
    meeting: &Meeting<'_>,
) -> Result<Box<dyn Work + 'a>, Failure> {
    pin_thread(&job.cpus).map_err(denied)?;
    if job.fills {
        job.slices.fill(pattern);
    }
    meeting.touched();
    let work = begin(actor_loop, job.slices, pattern, meeting.instruments)?;
    work.ok_or_else(|| {
        Failure::Refused(Reason {
            code: ReasonCode::NoVariant,
            text: "the case has a loop that does not run over the arrays laid out for it; please \
                   report this"
                .into(),
        })
    })
}

fn walk_over_windows(work: &mut dyn Work, meeting: &Meeting<'_>) -> Result<Walk, Failure> {
    let count = meeting.request.count as usize;
    let mut log = BlockLog::with_room(NOTES_PER_WINDOW * (count + 1));
    let mut edges = Vec::with_capacity(count + 1);
    let mut clock = Clock { meeting, last: 0 };
    // The first look sets up what later ones use.
    clock.look(work)?;
    let (ready, ghz_before) = warm_up(work, &mut clock)?;
    let mut before = wait_for_windows(work, &mut clock, ready, &mut log)?;
    let Some(windows) = meeting.windows() else { return Err(Failure::Interrupted) };
    let apart = windows.length / u64::from(2 * BLOCKS_PER_WINDOW);
    let mut block_began = before.time;
    loop {
        work.step()?;
        let time = clock.read()?;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        let windows = meeting.windows().unwrap_or(windows);
        let next = next_edge(windows, &edges);
        // Two more blocks may pass before the edge: the looks cost too much for
        // every block, and a late one would miss what happens at the edge itself.
        let near = next.saturating_sub(2 * (time - block_began));
        block_began = time;
        if time >= next {
            log.note(time, work.done(), 0);
            let after = clock.look(work)?;
            // A thread that had no CPU for long may pass several edges in one block.
            while edges.len() <= count && time >= next_edge(windows, &edges) {
                edges.push(Edge { before, after });
            }
            if edges.len() > count {
                break;
            }
            if after.time < next_edge(windows, &edges) {
                before = after;
            }
        } else {
            // Where a look was, what was done is not made up from notes around it: a thread that then
            // has no CPU would have done less by the edge than the look saw.
            let looks = time >= near;
            log.note(time, work.done(), if looks { 0 } else { apart });
            if looks {
                let look = clock.look(work)?;
                // One that comes late, here or above, would not show what happened before it.
                if look.time < next {
                    before = look;
                }
            }
        }
    }
    let ghz_after = clock.core_ghz()?;
    work.check()?;
    let core_ghz = ghz_before.zip(ghz_after).map(|(before, after)| f64::midpoint(before, after));
    Ok(Walk { log, edges, core_ghz })
}

fn next_edge(windows: Windows, edges: &[Edge]) -> u64 {
    windows.edge(u32::try_from(edges.len()).unwrap_or(u32::MAX))
}

/// Goes on from `ready`, a look before this thread arrived, until every thread has made its
/// first pass, the pages are proven and the windows are set; gives the last look before that, and so before the
/// first window opens, however late this thread gets its CPU again. Blocks that prove too
/// long among the other threads are shortened meanwhile.
fn wait_for_windows(
    work: &mut dyn Work,
    clock: &mut Clock<'_>,
    ready: Look,
    log: &mut BlockLog,
) -> Result<Look, Failure> {
    let meeting = clock.meeting;
    let longest = nanoseconds(meeting.request.shortest / LONGEST_BLOCK);
    let mut before = ready;
    let mut last = before.time;
    log.restart(last, work.done());
    let impatient = last + nanoseconds(PATIENCE);
    loop {
        work.step()?;
        let look = clock.look(work)?;
        let time = look.time;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        // Looked at after the look: one that comes before the windows are set is early enough.
        if meeting.windows().is_some() {
            // The note before this block stays: it may be the last one before the opening.
            log.note(time, work.done(), 0);
            return Ok(before);
        }
        if time > impatient {
            return Err(Failure::Refused(Reason {
                code: ReasonCode::Threads,
                text: "the other threads of the case did not get ready within two minutes".into(),
            }));
        }
        log.restart(time, work.done());
        if time - last > longest {
            work.halve_block();
        }
        (before, last) = (look, time);
    }
}

/// Blocks with pauses by whose time further ones are cut.
const PAUSED_BLOCKS: u32 = 3;

/// Until the caches hold what a long run would leave in them, and where the clock of the core matters for
/// a time. Gives a look from just before the thread arrived, and the clock of its core.
fn warm_up(work: &mut dyn Work, clock: &mut Clock<'_>) -> Result<(Look, Option<f64>), Failure> {
    let meeting = clock.meeting;
    let start = clock.read()?;
    let least = start + nanoseconds(meeting.least_warm_up());
    let warm = loop {
        work.step()?;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        if work.is_warm() {
            let now = clock.read()?;
            if now >= least {
                break now;
            }
        }
    };
    let rate_since = |start: u64, end: u64, amount: u64| {
        amount as f64 / Duration::from_nanos((end - start).max(1)).as_secs_f64()
    };
    let mut rate = rate_since(start, warm, work.done());
    work.check_warm_up()?;
    if work.begin_pauses() {
        let (start, done) = (clock.read()?, work.done());
        for _ in 0..PAUSED_BLOCKS {
            work.step()?;
        }
        rate = rate_since(start, clock.read()?, work.done() - done);
    }
    let block_time = meeting.request.shortest.as_secs_f64() / f64::from(BLOCKS_PER_WINDOW);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and far below 2^53"
    )]
    work.set_block((rate * block_time) as u64);
    let ghz = clock.core_ghz()?;
    // The last thread's arrival sets the windows: a look after it may come too late.
    let ready = clock.look(work)?;
    meeting.arrive(work.is_stream().then_some(rate));
    Ok((ready, ghz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    use super::super::instruments::Instruments;
    use super::super::memory_loop::MemoryLoop;
    use super::super::stream::{Source, Stream};
    use super::super::window::Needs;
    use crate::executor::{Interrupt, WindowRequest};
    use crate::kernel_name::MemoryKernel;

    /// Between two readings of the clock, ns.
    const STEP: u64 = 10_000;

    /// A time that passes by being looked at.
    fn clock() -> u64 {
        thread_local! {
            static READINGS: Cell<u64> = const { Cell::new(0) };
        }
        READINGS.set(READINGS.get() + 1);
        READINGS.get() * STEP
    }

    /// Passes in a warm-up, of a block each.
    fn warm_up_passes(core_clock: bool) -> u64 {
        let interrupt = Interrupt::default();
        let needs = Needs { threads: 1, least_bytes: 0, core_clock };
        let request =
            WindowRequest { round: 0, first: 0, count: 1, shortest: Duration::from_millis(50) };
        let instruments = Instruments { clock, ..Instruments::default() };
        let meeting = Meeting::new(needs, request, &interrupt, instruments);
        let pattern = Pattern::new(5);
        let mut elements = vec![0.0; 64 * 1024];
        pattern.fill(&mut elements, 0);
        let load = MemoryKernel::named("load").unwrap();
        let load = MemoryLoop::of(load, "portable").unwrap();
        let sources = vec![Source { elements: &elements, first_index: 0 }];
        let mut work = Stream::new(load, &pattern, None, sources);
        warm_up(&mut work, &mut Clock { meeting: &meeting, last: 0 }).unwrap();
        work.passes()
    }

    #[test]
    fn what_depends_on_the_clock_of_the_core_warms_up_for_a_time() {
        let passes = warm_up_passes(false);
        assert!(passes < 100, "{passes} passes without a need");
        // As soon as the caches are warm the clock is read after each pass.
        assert_eq!(warm_up_passes(true), passes + 10_000_000 / STEP - 1);
    }
}
