//! Signals that are waited for and not handled (sigtimedwait(2)).

use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use crate::refusal::{Errno, Refusal};

/// Signals that this process takes one by one, as long as this value lives; what they do otherwise
/// does not happen then.
#[derive(Debug)]
pub struct AwaitedSignals {
    set: libc::sigset_t,
    before: libc::sigset_t,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedSignal {
    /// Its number.
    pub signal: i32,
    /// Whether a process sent it (kill(2)), and not the kernel, as a terminal makes it do to all of
    /// the foreground process group.
    pub is_sent: bool,
}

impl AwaitedSignals {
    /// Blocks these signals in the calling thread and those that it starts from now on, so that
    /// they wait. Programs started afterwards would inherit that.
    ///
    /// # Errors
    /// When one of them is no signal.
    pub fn block(signals: &[i32]) -> Result<Self, Refusal> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: writes the whole set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: sigemptyset has written it.
        let mut set = unsafe { set.assume_init() };
        for &signal in signals {
            // SAFETY: the set is live and initialised.
            if unsafe { libc::sigaddset(&raw mut set, signal) } != 0 {
                return Err(Refusal::call("sigaddset", signal, Errno::last()));
            }
        }
        let mut before = set;
        // SAFETY: reads one live set and writes the other.
        let errno =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) };
        match errno {
            0 => Ok(Self { set, before }),
            errno => Err(Refusal::call("pthread_sigmask", "SIG_BLOCK", Errno(errno))),
        }
    }

    /// Does something for which they are not to wait, as starting a program, which would inherit
    /// that.
    pub fn let_through<T>(&self, run: impl FnOnce() -> T) -> T {
        set_mask(libc::SIG_SETMASK, &self.before);
        let done = run();
        set_mask(libc::SIG_BLOCK, &self.set);
        done
    }

    /// The next of them; `None` when none came for so long.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<ArrivedSignal> {
        let timeout = libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut about = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the kernel reads the live set and time, and writes one siginfo to live memory.
        let signal = unsafe {
            libc::sigtimedwait(&raw const self.set, about.as_mut_ptr(), &raw const timeout)
        };
        if signal <= 0 {
            return None;
        }
        // SAFETY: zeroed memory is a valid siginfo, and the kernel has written one.
        let about = unsafe { about.assume_init() };
        // Of those that processes send SI_USER is 0 and the others are negative.
        Some(ArrivedSignal { signal, is_sent: about.si_code <= 0 })
    }
}

/// Changes the mask of the calling thread.
fn set_mask(how: libc::c_int, set: &libc::sigset_t) {
    // SAFETY: reads the live set; the old mask is not asked for.
    unsafe { libc::pthread_sigmask(how, ptr::from_ref(set), ptr::null_mut()) };
}

impl Drop for AwaitedSignals {
    fn drop(&mut self) {
        set_mask(libc::SIG_SETMASK, &self.before);
    }
}

/// Undoes that this process was started with SIGCHLD ignored: the kernel would never tell how its
/// children ended.
pub fn hear_of_children() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Sends a signal to a process.
///
/// # Errors
/// When it is gone or belongs to somebody else.
pub fn send_signal(pid: u32, signal: i32) -> Result<(), Refusal> {
    let refuse = |errno| Refusal::call("kill", format_args!("{pid}, {signal}"), errno);
    let number = libc::pid_t::try_from(pid).map_err(|_| refuse(Errno(libc::ESRCH)))?;
    // SAFETY: no memory is involved.
    match unsafe { libc::kill(number, signal) } {
        0 => Ok(()),
        _ => Err(refuse(Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_awaited_waits() {
        std::thread::spawn(|| {
            let awaited = AwaitedSignals::block(&[libc::SIGURG]).unwrap();
            assert_eq!(awaited.next(Duration::ZERO), None);
            // SAFETY: no memory is involved.
            let this = unsafe { libc::pthread_self() };
            // SAFETY: the thread is this one, which lives, and in which the signal is blocked.
            let sent = unsafe { libc::pthread_kill(this, libc::SIGURG) };
            assert_eq!(sent, 0);
            let came = awaited.next(Duration::from_secs(10));
            assert_eq!(came, Some(ArrivedSignal { signal: libc::SIGURG, is_sent: true }));
            assert_eq!(awaited.next(Duration::ZERO), None);
        })
        .join()
        .unwrap();
        assert!(AwaitedSignals::block(&[1000]).is_err());
        assert!(send_signal(u32::MAX, 0).is_err());
    }
}
