//! One thread of a case: pinned, warmed up, then noting time and bytes per block
//! until the last window has closed.

use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_record::{Reason, ReasonCode};
use nearfar_sys::{
    ThreadUsage, current_cpu, monotonic_ns, pin_thread, thread_cpu_ns, thread_usage,
};

use super::stream::Stream;
use super::window::{BLOCKS_PER_WINDOW, BlockLog, Meeting};
use crate::executor::Failure;

/// Longest wait for the other threads of the case after this one is ready.
const PATIENCE: Duration = Duration::from_secs(120);

/// Room for notes: a window that is longer than the shortest has more blocks.
const NOTES_PER_WINDOW: usize = 16 * BLOCKS_PER_WINDOW as usize;

/// What a thread saw at a window's edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub cpu: Option<u32>,
    /// By CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// CPU time of the thread, ns.
    pub cpu_time: u64,
    pub usage: ThreadUsage,
    pub passes: u64,
}

/// What a thread did.
#[derive(Debug)]
pub(super) struct Walk {
    pub log: BlockLog,
    /// At the opening of each window and at the end of the last.
    pub edges: Vec<Edge>,
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
    let walked = pin_and_walk(cpus, stream, meeting);
    if walked.is_err() {
        meeting.give_up();
    }
    walked
}

fn pin_and_walk(
    cpus: &CpuSet,
    stream: &mut Stream<'_>,
    meeting: &Meeting<'_>,
) -> Result<Walk, Failure> {
    pin_thread(cpus).map_err(|refusal| {
        Failure::Refused(Reason { code: ReasonCode::Denied, text: refusal.to_string() })
    })?;
    let windows = meeting.window_count();
    let mut log = BlockLog::with_room(NOTES_PER_WINDOW * windows);
    let mut edges = Vec::with_capacity(windows + 1);
    // The first call sets up what later calls use.
    look_around(stream)?;
    warm_up(stream, meeting)?;
    log.restart(monotonic_ns(), stream.useful_bytes());
    let impatient = monotonic_ns() + super::window::nanoseconds(PATIENCE);
    loop {
        stream.step().map_err(Failure::Refused)?;
        let time = monotonic_ns();
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
        let Some(windows) = meeting.windows() else {
            log.restart(time, stream.useful_bytes());
            if time > impatient {
                return Err(Failure::Refused(Reason {
                    code: ReasonCode::Threads,
                    text: "the other threads of the case did not get ready within two minutes"
                        .into(),
                }));
            }
            continue;
        };
        log.note(time, stream.useful_bytes());
        while edges.len() <= windows.count as usize
            && time >= windows.edge(u32::try_from(edges.len()).unwrap_or(u32::MAX))
        {
            edges.push(look_around(stream)?);
        }
        if time >= windows.edge(windows.count) {
            break;
        }
    }
    stream.check_destination().map_err(Failure::Refused)?;
    Ok(Walk { log, edges })
}

/// One full pass: afterwards the caches hold what a long run would leave in them.
fn warm_up(stream: &mut Stream<'_>, meeting: &Meeting<'_>) -> Result<(), Failure> {
    let start = monotonic_ns();
    while stream.passes() == 0 {
        stream.step().map_err(Failure::Refused)?;
        if meeting.is_given_up() {
            return Err(Failure::Interrupted);
        }
    }
    let elapsed = Duration::from_nanos((monotonic_ns() - start).max(1)).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "bytes of a pass are far below 2^53")]
    let rate = stream.useful_bytes() as f64 / elapsed;
    let block_time = meeting.shortest().as_secs_f64() / f64::from(BLOCKS_PER_WINDOW);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and far below 2^53"
    )]
    stream.set_block((rate * block_time) as u64);
    meeting.arrive(rate);
    Ok(())
}

fn look_around(stream: &Stream<'_>) -> Result<Edge, Failure> {
    let usage = thread_usage().map_err(|refusal| {
        Failure::Refused(Reason { code: ReasonCode::Denied, text: refusal.to_string() })
    })?;
    Ok(Edge {
        cpu: current_cpu(),
        time: monotonic_ns(),
        cpu_time: thread_cpu_ns(),
        usage,
        passes: stream.passes(),
    })
}
