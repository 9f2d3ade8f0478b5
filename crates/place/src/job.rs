//! This process in the place of a program that it has started: whoever started it sees it stop, go on
//! and end as the program does, and signals for it reach the program.

use std::path::Path;
use std::time::Duration;

use nearfar_sys::{AwaitedSignals, ForeignForeground, Refusal, send_signal, stop_self, task_state};

/// The signals by which a terminal stops its programs.
pub(crate) const OF_TERMINAL: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The signals by which people and systems end programs.
const ENDING: [i32; 5] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGABRT, libc::SIGTERM];

/// All that one process can send another, but what cannot be caught and what children bring about. A fault of this
/// process itself ends it, whether its signal waits or not.
fn handed_on() -> impl Iterator<Item = i32> {
    let named = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGUSR1,
        libc::SIGSEGV,
        libc::SIGUSR2,
        libc::SIGPIPE,
        libc::SIGALRM,
        libc::SIGTERM,
        libc::SIGSTKFLT,
        libc::SIGXCPU,
        libc::SIGXFSZ,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGSYS,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
        libc::SIGIO,
        libc::SIGPWR,
    ];
    named.into_iter().chain(OF_TERMINAL).chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
}

/// Lets the signals wait that are handed on to a program, and those of its end: from before it is
/// started, so that none ends this process in between.
///
/// # Errors
/// When the kernel does not let them wait.
pub fn await_signals() -> Result<AwaitedSignals, Refusal> {
    let awaited: Vec<i32> = [libc::SIGCHLD].into_iter().chain(handed_on()).collect();
    AwaitedSignals::block(&awaited)
}

/// A program that this process stands for.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    program: u32,
    awaited: &'a AwaitedSignals,
    /// A terminal has told all of its foreground programs to stop.
    is_told_to_stop: bool,
    /// The last signal that asked for an end, whatever the program made of it.
    pub told_to_end: Option<i32>,
}

impl<'a> Job<'a> {
    pub fn new(program: u32, awaited: &'a AwaitedSignals) -> Self {
        Self { program, awaited, is_told_to_stop: false, told_to_end: None }
    }

    /// Waits until a signal comes, at most so long, and hands it on: those that the kernel sends, as
    /// a terminal makes it do, reach the program by themselves. To whom something happened, or where
    /// it was something else that came the program; `None` where nothing came.
    pub fn wait(&mut self, timeout: Duration) -> Option<u32> {
        let came = self.awaited.next(timeout)?;
        let signal = came.signal;
        if signal == libc::SIGCHLD {
            return Some(came.from);
        }
        if ENDING.contains(&signal) {
            self.told_to_end = Some(signal);
        }
        if OF_TERMINAL.contains(&signal) && !came.is_sent {
            self.is_told_to_stop = true;
        } else if signal == libc::SIGCONT {
            // Who wakes a process group has woken the program.
            let is_stopped = task_state(Path::new("/"), self.program)
                .is_some_and(|state| matches!(state, 'T' | 't'));
            if is_stopped {
                send_signal(self.program, signal).ok();
            }
        } else if came.is_sent {
            // It may have ended by itself; that is heard of next.
            send_signal(self.program, signal).ok();
        }
        Some(self.program)
    }

    /// Stops as the program has been stopped by this signal, where a terminal did it, or where the program had
    /// taken the terminal, as an interactive shell does before it suspends itself: a shell that waits for this
    /// process has to see that. Who stops another program alone wakes it alone.
    pub fn program_stopped(&mut self, signal: i32) {
        while self.wait(Duration::ZERO).is_some() {}
        if let Some(foreground) = ForeignForeground::of(self.program) {
            self.is_told_to_stop = false;
            stop_self();
            foreground.give_back();
        } else if OF_TERMINAL.contains(&signal) || self.is_told_to_stop {
            self.is_told_to_stop = false;
            stop_self();
        }
    }
}
