//! What this process was started with, so that a program that it starts begins the same.
//!
//! Before `main` Rust's runtime ignores SIGPIPE and opens /dev/null in place of standard streams
//! that are closed; how it was before that is noted by a function that the loader calls earlier.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::signals::AwaitedSignals;

/// Signals that are changed in this process: SIGPIPE by Rust's runtime, SIGHUP where it ends what is
/// measured in order, the others by [`stand_in_for_program`](crate::stand_in_for_program).
const SIGNALS: [i32; 4] = [libc::SIGPIPE, libc::SIGHUP, libc::SIGCHLD, libc::SIGXFSZ];

/// Bit n: the nth of [`SIGNALS`] was ignored.
static IGNORED: AtomicU32 = AtomicU32::new(0);
/// Bit n: the standard stream n was closed.
static CLOSED: AtomicU32 = AtomicU32::new(0);

#[used]
// SAFETY: the loader calls the functions of this section one after the other before `main`; this
// one takes no arguments and asks the kernel only.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = note;

extern "C" fn note() {
    for (bit, &signal) in SIGNALS.iter().enumerate() {
        // SAFETY: all zero is a valid sigaction.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one sigaction to live memory and changes nothing.
        let status = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
        if status == 0 && action.sa_sigaction == libc::SIG_IGN {
            IGNORED.fetch_or(1 << bit, Ordering::Relaxed);
        }
    }
    for stream in 0..3 {
        // SAFETY: no memory is involved.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << stream, Ordering::Relaxed);
        }
    }
}

/// Signals that ask a program to end: those by which a user or a terminal does, and of a terminal that
/// goes away none where this was started by nohup(1), which has that ignored.
pub fn ending_signals() -> Vec<i32> {
    let bit = SIGNALS.iter().position(|&signal| signal == libc::SIGHUP);
    let is_ignored = bit.is_some_and(|bit| IGNORED.load(Ordering::Relaxed) & 1 << bit != 0);
    let of_terminal = (!is_ignored).then_some(libc::SIGHUP);
    [libc::SIGINT, libc::SIGTERM].into_iter().chain(of_terminal).collect()
}

/// Whether standard output was closed when this process began: what is written to it is lost, and no
/// error tells of that.
pub fn began_without_output() -> bool {
    CLOSED.load(Ordering::Relaxed) & 1 << libc::STDOUT_FILENO != 0
}

/// Lets a program begin with the signals ignored, the standard streams closed, the signals blocked (those of
/// before `awaited`) and the signal at its parent's end (PR_SET_PDEATHSIG, which fork(2) clears) that this process
/// began with. All else it inherits anyhow.
pub fn start_as_this_was_started(command: &mut Command, awaited: Option<&AwaitedSignals>) {
    let mask = awaited.map(AwaitedSignals::before);
    let (ignored, closed) = (IGNORED.load(Ordering::Relaxed), CLOSED.load(Ordering::Relaxed));
    let at_parents_end = signal_at_parents_end();
    let prepare = move || -> io::Result<()> {
        if at_parents_end != 0 {
            // SAFETY: no memory is involved.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, at_parents_end, 0, 0, 0) };
        }
        for (bit, &signal) in SIGNALS.iter().enumerate() {
            let is_ignored = ignored & 1 << bit != 0;
            let action = if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
            // SAFETY: no handler is installed.
            unsafe { libc::signal(signal, action) };
        }
        for stream in (0..3).filter(|stream| closed & 1 << stream != 0) {
            // SAFETY: nothing of ours uses a standard stream between here and exec.
            unsafe { libc::close(stream) };
        }
        if let Some(mask) = &mask {
            // SAFETY: reads the live set.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, ptr::null_mut()) };
        }
        Ok(())
    };
    // SAFETY: the function makes system calls that are allowed between fork and exec
    // (signal-safety(7)) and allocates nothing.
    unsafe { command.pre_exec(prepare) };
}

/// The signal that this process gets when its parent ends; 0 is none.
fn signal_at_parents_end() -> libc::c_int {
    let mut signal: libc::c_int = 0;
    // SAFETY: the kernel writes one number to the live `signal`.
    unsafe { libc::prctl(libc::PR_GET_PDEATHSIG, &raw mut signal, 0, 0, 0) };
    signal
}
