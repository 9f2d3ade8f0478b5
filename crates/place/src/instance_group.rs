//! Several programs at the same time, for which this process stands as it does for one.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use nearfar_sys::{AwaitedSignals, send_signal, stop_self};

use crate::job::OF_TERMINAL;

/// How one of them ended.
#[derive(Debug, Clone, Copy)]
pub struct InstanceEnd {
    /// Which, by its position.
    pub index: usize,
    pub status: ExitStatus,
    /// From the start of waiting.
    pub took: Duration,
}

/// How long nobody needs to look whether one has ended without a signal that says so.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Waits until all have ended, the first first, and hands on signals to those that live; where `is_over` says
/// so of one that has ended, the others are told to end (SIGTERM). A signal of a terminal reaches all by
/// itself.
pub fn await_instances(
    children: Vec<Child>,
    awaited: &AwaitedSignals,
    mut is_over: impl FnMut(&InstanceEnd) -> bool,
) -> Vec<InstanceEnd> {
    let begun = Instant::now();
    let mut living: Vec<(usize, Child)> = children.into_iter().enumerate().collect();
    let mut ended: Vec<InstanceEnd> = Vec::new();
    loop {
        let mut is_to_end = false;
        living.retain_mut(|(index, child)| {
            let Ok(Some(status)) = child.try_wait() else { return true };
            let end = InstanceEnd { index: *index, status, took: begun.elapsed() };
            is_to_end |= is_over(&end);
            ended.push(end);
            false
        });
        let tell = |signal| {
            for (_, child) in &living {
                // It may have ended by itself; that is heard of next.
                send_signal(child.id(), signal).ok();
            }
        };
        if is_to_end {
            tell(libc::SIGTERM);
        }
        if living.is_empty() {
            return ended;
        }
        match awaited.next(LONGEST_WAIT) {
            Some(came) if came.signal == libc::SIGCHLD => {}
            Some(came) if came.is_sent => tell(came.signal),
            Some(came) if OF_TERMINAL.contains(&came.signal) => stop_self(),
            _ => {}
        }
    }
}

/// Tells all of them to end (SIGTERM).
pub fn end_instances<'c>(children: impl IntoIterator<Item = &'c Child>) {
    for child in children {
        send_signal(child.id(), libc::SIGTERM).ok();
    }
}
