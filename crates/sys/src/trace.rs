//! Follows a program, its threads and its children from their first instruction to their end
//! (ptrace(2)): a thread that begins can be pinned before it touches memory, and a process that is
//! about to end still has its memory.
//!
//! Programs are seized and not attached to: nothing stops them otherwise, and signals are passed
//! on. All calls must come from one thread, the tracer. When it ends, whatever it follows goes on.

use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use crate::refusal::{Errno, Refusal};
use crate::signals::{AwaitedSignals, send_signal, unblock};
use crate::startup::start_as_this_was_started;

/// Bits of the number of an event in the status of a stop.
const EVENT_SHIFT: u32 = 16;

/// What happened to a child of this process, or to a thread that is followed: its number is that of
/// the thread, which for the first one is its process's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It ended; the status is that of wait(2).
    Ended { pid: u32, status: i32 },
    /// It has become another program, and stands still until [`resume`].
    Executed {
        pid: u32,
        /// The number of the thread that did it, before.
        before: u32,
    },
    /// It is about to end and stands still until [`resume`]: its memory can be looked at.
    Ending { pid: u32 },
    /// It has started a thread or a child, which is followed, and stands still until [`resume`].
    Started {
        pid: u32,
        started: u32,
        /// Whether that is a process for sure: clone(2) starts threads and, seldom, processes.
        is_process: bool,
    },
    /// It stands still and is to get this signal by [`resume`]; 0 is none. What is not followed was
    /// stopped by the signal and goes on by SIGCONT.
    Stopped { pid: u32, signal: i32 },
    /// A signal such as SIGTSTP has stopped it: [`leave_stopped`] lets it be until SIGCONT.
    Halted { pid: u32, signal: i32 },
}

/// Lets the program that a command starts wait for [`follow`] before its first instruction. That begins with a
/// SIGTRAP, which must not be blocked; [`follow`] gives the program the
/// mask that this process began with.
pub fn wait_to_be_followed(command: &mut Command, awaited: &AwaitedSignals) {
    start_as_this_was_started(command, Some(awaited));
    let ask = || {
        unblock(libc::SIGTRAP);
        // SAFETY: the request takes no memory.
        match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, ptr::null_mut::<c_void>(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: the function makes system calls that are allowed between fork and exec and allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// Begins to follow a program that waits for it, and what it starts from now on: threads and
/// children stand still once at their beginning. The program goes on.
///
/// # Errors
/// When the kernel does not let this user trace it (ptrace(2), Yama, a filter), or when it was
/// killed.
pub fn follow(pid: u32, awaited: &AwaitedSignals) -> Result<(), Refusal> {
    let number =
        libc::pid_t::try_from(pid).map_err(|_| Refusal::call("ptrace", pid, Errno(libc::ESRCH)))?;
    // By PTRACE_TRACEME it could not be left stopped by Ctrl-Z: it is let go, stopped, and seized.
    wait_for_stop(number)?;
    set_mask(number, &awaited.before())?;
    request("PTRACE_DETACH", libc::PTRACE_DETACH, pid, libc::SIGSTOP.into())?;
    wait_for_stop(number)?;
    request("PTRACE_SEIZE", libc::PTRACE_SEIZE, pid, (FOLLOWED | libc::PTRACE_O_TRACEEXIT).into())?;
    send_signal(pid, libc::SIGCONT)
}

/// Gives a program that stands still the signals that are blocked in it.
fn set_mask(pid: libc::pid_t, mask: &libc::sigset_t) -> Result<(), Refusal> {
    // The kernel's set has 64 signals and is the beginning of the library's.
    let bytes = ptr::without_provenance_mut::<c_void>(size_of::<u64>());
    // SAFETY: the kernel reads as many bytes of the live mask.
    let status = unsafe {
        libc::ptrace(PTRACE_SETSIGMASK, pid, bytes, ptr::from_ref(mask).cast_mut().cast::<c_void>())
    };
    match status {
        0 => Ok(()),
        _ => Err(Refusal::call("ptrace", format_args!("PTRACE_SETSIGMASK {pid}"), Errno::last())),
    }
}

/// Linux 3.11; not every C library names it.
const PTRACE_SETSIGMASK: libc::c_uint = 0x420b;

/// What is followed of every thread.
const FOLLOWED: c_int = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC;

/// Whether a thread that stands still will do so once more when it is about to end. What it starts
/// will as it does.
///
/// # Errors
/// When it is gone.
pub fn stop_at_end(tid: u32, does_stop: bool) -> Result<(), Refusal> {
    let options = if does_stop { FOLLOWED | libc::PTRACE_O_TRACEEXIT } else { FOLLOWED };
    request("PTRACE_SETOPTIONS", libc::PTRACE_SETOPTIONS, tid, options.into())
}

/// Lets a followed thread that runs stand still ([`Change::Stopped`] without a signal).
///
/// # Errors
/// When it is gone.
pub fn interrupt(tid: u32) -> Result<(), Refusal> {
    request("PTRACE_INTERRUPT", libc::PTRACE_INTERRUPT, tid, 0)
}

/// Waits until a child stands still; what has ended stays to be waited for.
fn wait_for_stop(pid: libc::pid_t) -> Result<(), Refusal> {
    // SAFETY: all zero is a valid siginfo.
    let mut about: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT | libc::__WALL;
    loop {
        // SAFETY: the kernel writes one siginfo to live memory.
        let status = unsafe { libc::waitid(libc::P_PID, pid.unsigned_abs(), &raw mut about, how) };
        match status {
            0 if matches!(about.si_code, libc::CLD_STOPPED | libc::CLD_TRAPPED) => break,
            0 => return Err(Refusal::call("waitid", pid, Errno(libc::ESRCH))),
            _ if Errno::last() == Errno(libc::EINTR) => {}
            _ => return Err(Refusal::call("waitid", pid, Errno::last())),
        }
    }
    let mut status: c_int = 0;
    // SAFETY: the kernel writes one number to the live `status`.
    unsafe { libc::waitpid(pid, &raw mut status, libc::WUNTRACED | libc::__WALL) };
    Ok(())
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

/// What happened next to a child of this process or to what this thread follows; `None` when
/// nothing has. Reaps those that ended.
///
/// # Errors
/// When there is neither (`ECHILD`).
pub fn next_change() -> Result<Option<Change>, Refusal> {
    wait_for_change(-1, libc::WNOHANG)
}

/// What happened next to this child; `None` when nothing has. Reaps it when it has ended.
///
/// # Errors
/// When it is no child of this process.
pub fn next_change_of(pid: u32) -> Result<Option<Change>, Refusal> {
    wait_for_change(libc::pid_t::try_from(pid).unwrap_or(libc::pid_t::MAX), libc::WNOHANG)
}

/// Waits for the first stop of what [`Change::Started`] names; what happened instead.
///
/// # Errors
/// When there is no such thread any more.
pub fn first_change_of(started: u32) -> Result<Option<Change>, Refusal> {
    wait_for_change(libc::pid_t::try_from(started).unwrap_or(libc::pid_t::MAX), 0)
}

fn wait_for_change(pid: libc::pid_t, how: c_int) -> Result<Option<Change>, Refusal> {
    let mut status: c_int = 0;
    let how = how | libc::__WALL | libc::WUNTRACED;
    // SAFETY: the kernel writes one number to the live `status`.
    let found = unsafe { libc::waitpid(pid, &raw mut status, how) };
    match u32::try_from(found) {
        Ok(0) => Ok(None),
        Ok(pid) => Ok(Some(change(pid, status))),
        Err(_) => Err(Refusal::call("waitpid", pid, Errno::last())),
    }
}

/// The number that the kernel has for a thread that has just started another.
fn event_message(pid: u32) -> u32 {
    let mut message: c_ulong = 0;
    let number = libc::pid_t::try_from(pid).unwrap_or(libc::pid_t::MAX);
    let (none, to) = (ptr::null_mut::<c_void>(), &raw mut message);
    // SAFETY: the kernel writes one number to the live `message`.
    unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, number, none, to) };
    u32::try_from(message).unwrap_or(0)
}

fn change(pid: u32, status: c_int) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended { pid, status };
    }
    let signal = libc::WSTOPSIG(status);
    match status >> EVENT_SHIFT {
        0 => Change::Stopped { pid, signal },
        libc::PTRACE_EVENT_EXEC => Change::Executed { pid, before: event_message(pid) },
        libc::PTRACE_EVENT_EXIT => Change::Ending { pid },
        event @ (libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE) => {
            let is_process = event != libc::PTRACE_EVENT_CLONE;
            Change::Started { pid, started: event_message(pid), is_process }
        }
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Change::Halted { pid, signal },
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
            (stop(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP), Change::Executed { pid, before: 0 }),
            (
                stop(libc::PTRACE_EVENT_STOP, libc::SIGTSTP),
                Change::Halted { pid, signal: libc::SIGTSTP },
            ),
            (stop(libc::PTRACE_EVENT_STOP, libc::SIGTRAP), Change::Stopped { pid, signal: 0 }),
        ] {
            assert_eq!(change(pid, status), expected);
        }
    }

    #[test]
    fn a_program_is_followed_from_its_first_instruction() {
        let mut command = Command::new("sh");
        command.args(["-c", "true & wait; exit 7"]);
        let awaited = AwaitedSignals::block(&[]).unwrap();
        wait_to_be_followed(&mut command, &awaited);
        let mut child = match command.spawn() {
            Ok(child) => child,
            // A sandbox without ptrace(2).
            Err(error) => return assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        };
        let pid = child.id();
        follow(pid, &awaited).unwrap();
        let (mut started, mut endings) = (Vec::new(), 0);
        let status = loop {
            // Other tests have children of their own.
            let known = [&[pid][..], &started].concat();
            let Some(change) = known.iter().find_map(|it| next_change_of(*it).ok().flatten())
            else {
                std::thread::yield_now();
                continue;
            };
            match change {
                Change::Ended { pid: ended, status } if ended == pid => break status,
                Change::Started { pid, started: child, is_process } => {
                    assert!(is_process);
                    started.push(child);
                    resume(pid, 0).unwrap();
                }
                Change::Ending { pid } => {
                    endings += 1;
                    resume(pid, 0).unwrap();
                }
                Change::Stopped { pid, signal } => resume(pid, signal).unwrap(),
                Change::Halted { pid, .. } | Change::Executed { pid, .. } => {
                    resume(pid, 0).unwrap()
                }
                Change::Ended { .. } => {}
            }
        };
        assert_eq!((libc::WEXITSTATUS(status), started.len(), endings), (7, 1, 2));
        // Reaped above.
        assert!(child.wait().is_err());
        assert!(follow(u32::MAX, &awaited).is_err() && follow(pid, &awaited).is_err());
    }
}
