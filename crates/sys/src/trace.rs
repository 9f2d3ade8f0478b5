//! Follows a program, its threads and its children from their first instruction to their end
//! (ptrace(2)): a thread that begins can be pinned before it touches memory, and a process that is
//! about to end still has its memory.
//!
//! Programs are seized and not attached to: nothing stops them otherwise, and signals are passed
//! on. All calls must come from one thread, the tracer. When it ends, whatever it follows goes on.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;

use crate::refusal::{Errno, Refusal};

/// Bits of the number of an event in the status of a stop.
const EVENT_SHIFT: u32 = 16;

/// What happened to a child of this process, or to a thread that is followed: its number is that of
/// the thread, which for the first one is its process's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It ended; the status is that of wait(2).
    Ended {
        /// Its number.
        pid: u32,
        /// As wait(2) gives it.
        status: i32,
    },
    /// It has become another program, and stands still until [`resume`].
    Executed {
        /// Its number.
        pid: u32,
    },
    /// It is about to end and stands still until [`resume`]: its memory can be looked at.
    Ending {
        /// Its number.
        pid: u32,
    },
    /// It stands still and is to get this signal by [`resume`]; 0 is none.
    Stopped {
        /// Its number.
        pid: u32,
        /// The signal.
        signal: i32,
    },
    /// A signal such as SIGTSTP has stopped it: [`leave_stopped`] lets it be until SIGCONT.
    Halted {
        /// Its number.
        pid: u32,
    },
}

/// Begins to follow a program's first thread, and what it starts from now on: threads and children
/// stand still once at their beginning ([`Change::Stopped`]). The program goes on meanwhile.
///
/// # Errors
/// When the kernel does not let this user trace it (ptrace(2), Yama, a filter), or when there is
/// no such process any more.
pub fn seize(pid: u32) -> Result<(), Refusal> {
    let followed = libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK;
    let told = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT;
    request("PTRACE_SEIZE", libc::PTRACE_SEIZE, pid, (followed | told).into())
}

/// Lets a program go on that [`next_change`] found standing still, with this signal; 0 is none.
///
/// # Errors
/// When it is gone.
pub fn resume(pid: u32, signal: i32) -> Result<(), Refusal> {
    request("PTRACE_CONT", libc::PTRACE_CONT, pid, signal.into())
}

/// Lets a program stay stopped as whoever stopped it wishes.
///
/// # Errors
/// When it is gone.
pub fn leave_stopped(pid: u32) -> Result<(), Refusal> {
    request("PTRACE_LISTEN", libc::PTRACE_LISTEN, pid, 0)
}

fn request(
    name: &'static str,
    request: libc::c_uint,
    pid: u32,
    data: c_long,
) -> Result<(), Refusal> {
    let refuse = |errno| Refusal::call("ptrace", format_args!("{name} {pid}"), errno);
    let pid = libc::pid_t::try_from(pid).map_err(|_| refuse(Errno(libc::ESRCH)))?;
    let data = ptr::without_provenance_mut::<c_void>(usize::from_ne_bytes(data.to_ne_bytes()));
    // SAFETY: the requests used here take numbers and neither read nor write memory of ours.
    let status = unsafe { libc::ptrace(request, pid, ptr::null_mut::<c_void>(), data) };
    match status {
        0 => Ok(()),
        _ => Err(refuse(Errno::last())),
    }
}

/// What happened next to a child of this process or a program that this thread has seized; `None`
/// when nothing has. Reaps those that ended.
///
/// # Errors
/// When there is neither (`ECHILD`).
pub fn next_change() -> Result<Option<Change>, Refusal> {
    let mut status: c_int = 0;
    // SAFETY: the kernel writes one number to the live `status`.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::WNOHANG) };
    match u32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid) => Ok(Some(change(pid, status))),
        Err(_) => Err(Refusal::call("waitpid", "any child", Errno::last())),
    }
}

fn change(pid: u32, status: c_int) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended { pid, status };
    }
    let signal = libc::WSTOPSIG(status);
    match status >> EVENT_SHIFT {
        0 => Change::Stopped { pid, signal },
        libc::PTRACE_EVENT_EXEC => Change::Executed { pid },
        libc::PTRACE_EVENT_EXIT => Change::Ending { pid },
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Change::Halted { pid },
        _ => Change::Stopped { pid, signal: 0 },
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn stop(event: c_int, signal: c_int) -> c_int {
        event << EVENT_SHIFT | signal << 8 | 0x7f
    }

    #[test]
    fn statuses_are_told_apart() {
        let pid = 7;
        for (status, expected) in [
            (3 << 8, Change::Ended { pid, status: 3 << 8 }),
            (libc::SIGKILL, Change::Ended { pid, status: libc::SIGKILL }),
            (stop(0, libc::SIGINT), Change::Stopped { pid, signal: libc::SIGINT }),
            (stop(libc::PTRACE_EVENT_EXIT, libc::SIGTRAP), Change::Ending { pid }),
            (stop(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP), Change::Executed { pid }),
            (stop(libc::PTRACE_EVENT_CLONE, libc::SIGTRAP), Change::Stopped { pid, signal: 0 }),
            (stop(libc::PTRACE_EVENT_STOP, libc::SIGTSTP), Change::Halted { pid }),
            (stop(libc::PTRACE_EVENT_STOP, libc::SIGTRAP), Change::Stopped { pid, signal: 0 }),
        ] {
            assert_eq!(change(pid, status), expected);
        }
    }

    #[test]
    fn a_process_that_is_not_there_is_not_seized() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        for pid in [pid, u32::MAX] {
            assert_eq!(seize(pid).unwrap_err().errno(), Some(Errno(libc::ESRCH)));
        }
    }
}
