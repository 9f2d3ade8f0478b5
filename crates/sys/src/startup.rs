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

/// Signals that are changed in this process: SIGPIPE by Rust's runtime, the others by
/// [`stand_in_for_program`](crate::stand_in_for_program).
const SIGNALS: [i32; 3] = [libc::SIGPIPE, libc::SIGCHLD, libc::SIGXFSZ];

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

/// Lets a program begin with the signals ignored, the standard streams closed and the signals
/// blocked (those of before `awaited`) that this process began with. All else it inherits anyhow.
pub fn start_as_this_was_started(command: &mut Command, awaited: Option<&AwaitedSignals>) {
    let mask = awaited.map(AwaitedSignals::before);
    let (ignored, closed) = (IGNORED.load(Ordering::Relaxed), CLOSED.load(Ordering::Relaxed));
    let prepare = move || -> io::Result<()> {
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
