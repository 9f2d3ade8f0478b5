//! One thread of a case: pinned, warmed up, then noting time and bytes per block
//! until the last window has closed.

use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_record::{Reason, ReasonCode};
use nearfar_sys::{ThreadUsage, current_cpu, pin_thread, thread_cpu_ns, thread_usage};
use nearfar_units::nanoseconds;

use super::stream::Stream;
use super::window::{BLOCKS_PER_WINDOW, BlockLog, Meeting, Windows};
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

    /// CPU time that the thread had beyond all the time that can have passed by the clock
    /// between its two readings, ns.
    pub fn clock_lag(&self) -> u64 {
        self.cpu_time().saturating_sub(self.close.end.saturating_sub(self.open.time))
    }
}

/// What a thread did.
#[derive(Debug)]
pub(super) struct Walk {
    pub log: BlockLog,
    /// At the opening of each window and at the end of the last.
    pub edges: Vec<Edge>,
}

impl Walk {
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
    fn look(&mut self, stream: &Stream<'_>) -> Result<Look, Failure> {
        let usage = thread_usage().map_err(denied)?;
        let cpu = current_cpu();
        let time = self.read()?;
        let cpu_time = thread_cpu_ns();
        let end = self.read()?;
        Ok(Look { cpu, time, cpu_time, end, usage, passes: stream.passes() })
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

/// Runs a stream on these CPUs over the windows of the meeting.
///
/// # Errors
/// When the thread cannot be pinned, its results are wrong, or another thread
/// failed; the meeting is given up then.
pub(super) fn walk(
    cpus: &CpuSet,
    stream: &mut Stream<'_>,
    meeting: &Meeting<'_>,
) -> Result<Walk, Failure> {
    let mut guard = GiveUpUnlessDone { meeting, done: false };
    let walked = pin_and_walk(cpus, stream, meeting);
    guard.done = walked.is_ok();
    walked
}

fn pin_and_walk(
    cpus: &CpuSet,
    stream: &mut Stream<'_>,
    meeting: &Meeting<'_>,
) -> Result<Walk, Failure> {
    pin_thread(cpus).map_err(denied)?;
    let count = meeting.window_count();
    let mut log = BlockLog::with_room(NOTES_PER_WINDOW * (count + 1));
    let mut edges = Vec::with_capacity(count + 1);
    let mut clock = Clock { meeting, last: 0 };
    // The first look sets up what later ones use.
    clock.look(stream)?;
    let ready = warm_up(stream, &mut clock)?;
    let mut before = wait_for_windows(stream, &mut clock, ready, &mut log)?;
    let Some(windows) = meeting.windows() else { return Err(Failure::Interrupted) };
    let apart = windows.length / u64::from(2 * BLOCKS_PER_WINDOW);
    let mut block_began = before.time;
    loop {
        stream.step().map_err(Failure::Refused)?;
        let time = clock.read()?;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        let next = next_edge(windows, &edges);
        // Two more blocks may pass before the edge: the looks cost too much for
        // every block, and a late one would miss what happens at the edge itself.
        let near = next.saturating_sub(2 * (time - block_began));
        block_began = time;
        if time >= next {
            log.note(time, stream.useful_bytes(), 0);
            let after = clock.look(stream)?;
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
            log.note(time, stream.useful_bytes(), apart);
            if time >= near {
                let look = clock.look(stream)?;
                // One that comes late, here or above, would not show what happened before it.
                if look.time < next {
                    before = look;
                }
            }
        }
    }
    stream.check_results().map_err(Failure::Refused)?;
    Ok(Walk { log, edges })
}

fn next_edge(windows: Windows, edges: &[Edge]) -> u64 {
    windows.edge(u32::try_from(edges.len()).unwrap_or(u32::MAX))
}

/// Goes on from `ready`, a look before this thread arrived, until every thread has made its
/// first pass and the windows are set; gives the last look before that, and so before the
/// first window opens, however late this thread gets its CPU again. Blocks that prove too
/// long among the other threads are shortened meanwhile.
fn wait_for_windows(
    stream: &mut Stream<'_>,
    clock: &mut Clock<'_>,
    ready: Look,
    log: &mut BlockLog,
) -> Result<Look, Failure> {
    let meeting = clock.meeting;
    let longest = nanoseconds(meeting.shortest() / LONGEST_BLOCK);
    let mut before = ready;
    let mut last = before.time;
    log.restart(last, stream.useful_bytes());
    let impatient = last + nanoseconds(PATIENCE);
    loop {
        stream.step().map_err(Failure::Refused)?;
        let look = clock.look(stream)?;
        let time = look.time;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        // Looked at after the look: one that comes before the windows are set is early enough.
        if meeting.windows().is_some() {
            // The note before this block stays: it may be the last one before the opening.
            log.note(time, stream.useful_bytes(), 0);
            return Ok(before);
        }
        if time > impatient {
            return Err(Failure::Refused(Reason {
                code: ReasonCode::Threads,
                text: "the other threads of the case did not get ready within two minutes".into(),
            }));
        }
        log.restart(time, stream.useful_bytes());
        if time - last > longest {
            stream.halve_block();
        }
        (before, last) = (look, time);
    }
}

/// One full pass: afterwards the caches hold what a long run would leave in them. Gives a
/// look from just before the thread arrived.
fn warm_up(stream: &mut Stream<'_>, clock: &mut Clock<'_>) -> Result<Look, Failure> {
    let meeting = clock.meeting;
    let start = clock.read()?;
    while stream.passes() == 0 {
        stream.step().map_err(Failure::Refused)?;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
    }
    let elapsed = Duration::from_nanos((clock.read()? - start).max(1)).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "bytes of a pass are far below 2^53")]
    let rate = stream.useful_bytes() as f64 / elapsed;
    stream.check_and_mark().map_err(Failure::Refused)?;
    let block_time = meeting.shortest().as_secs_f64() / f64::from(BLOCKS_PER_WINDOW);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and far below 2^53"
    )]
    stream.set_block((rate * block_time) as u64);
    // The last thread's arrival sets the windows: a look after it may come too late.
    let ready = clock.look(stream)?;
    meeting.arrive(rate);
    Ok(ready)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn denied(refusal: nearfar_sys::Refusal) -> Failure {
    Failure::Refused(Reason { code: ReasonCode::Denied, text: refusal.to_string() })
}
