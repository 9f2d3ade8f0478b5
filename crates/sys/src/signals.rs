//! Signals that are waited for and not handled (sigtimedwait(2)), and those that are sent.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::child::forbid_core_dump;
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
    /// Whether another process sent it (kill(2)), and not the kernel, as a terminal makes it do to all of
    /// the foreground process group, or a closed pipe and a limit, which seem sent by this process itself.
    pub is_sent: bool,
    /// Who sent it; of SIGCHLD the child or the followed thread to which something happened.
    pub from: u32,
}

impl AwaitedSignals {
    /// Blocks these signals in the calling thread and those that it starts from now on, so that
    /// they wait. Programs started afterwards would inherit that.
    ///
    /// # Errors
    /// When one of them is no signal.
    pub fn block(signals: &[i32]) -> Result<Self, Refusal> {
        let set = set_of(signals)?;
        Ok(Self { set, before: change_mask(libc::SIG_BLOCK, &set)? })
    }

    pub(crate) fn before(&self) -> libc::sigset_t {
        self.before
    }

    /// The next of them; `None` when none came for so long.
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
        // SAFETY: the field lies within the live siginfo, and any bits are a number.
        let from = u32::try_from(unsafe { about.si_pid() }).unwrap_or(0);
        // Of those that processes send SI_USER is 0 and the others are negative.
        let is_sent = about.si_code <= 0 && from != std::process::id();
        Some(ArrivedSignal { signal, is_sent, from })
    }
}

impl Drop for AwaitedSignals {
    fn drop(&mut self) {
        // It was the mask before.
        change_mask(libc::SIG_SETMASK, &self.before).ok();
    }
}

fn set_of(signals: &[i32]) -> Result<libc::sigset_t, Refusal> {
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
    Ok(set)
}

/// Changes the calling thread's mask; the one before.
fn change_mask(how: i32, set: &libc::sigset_t) -> Result<libc::sigset_t, Refusal> {
    let mut before = *set;
    // SAFETY: reads one live set and writes the other.
    match unsafe { libc::pthread_sigmask(how, set, &raw mut before) } {
        0 => Ok(before),
        errno => Err(Refusal::call("pthread_sigmask", how, Errno(errno))),
    }
}

/// Lets this process wait for a program and outlive it: SIGCHLD is not ignored, or the kernel would not
/// tell how children end; a limit on the size of files is an error when one is written, and no
/// signal.
pub fn stand_in_for_program() {
    for (signal, action) in [(libc::SIGCHLD, libc::SIG_DFL), (libc::SIGXFSZ, libc::SIG_IGN)] {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(signal, action) };
    }
}

/// Makes this process the parent of what descends from it and has lost its own, as daemons do that start twice
/// (PR_SET_CHILD_SUBREAPER of prctl(2), Linux 3.4); otherwise such a process would belong to nobody who knows it.
pub fn take_in_orphans() {
    // SAFETY: no memory is involved. An older kernel leaves it out.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Lets a signal come in the calling thread. Makes system calls only: allowed between fork and exec.
pub(crate) fn unblock(signal: i32) {
    if let Ok(set) = set_of(&[signal]) {
        change_mask(libc::SIG_UNBLOCK, &set).ok();
    }
}

/// A terminal whose foreground belongs to a program's process group and not to this process's.
#[derive(Debug)]
pub struct ForeignForeground {
    terminal: File,
    group: libc::pid_t,
}

impl ForeignForeground {
    /// The controlling terminal, where this program leads the group in its foreground, as an interactive shell
    /// does; `None` where it does not, or there is none.
    pub fn of(program: u32) -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let program = libc::pid_t::try_from(program).ok()?;
        // SAFETY: no memory is involved.
        let foreground = unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) };
        // SAFETY: no memory is involved.
        let group = unsafe { libc::getpgid(program) };
        // SAFETY: no memory is involved.
        let own = unsafe { libc::getpgrp() };
        let is_foreign = group > 0 && foreground == group && group != own;
        is_foreign.then_some(Self { terminal, group })
    }

    /// Gives the foreground back to the program's group, and lets that go on. SIGTTOU must be blocked.
    pub fn give_back(self) {
        // SAFETY: no memory is involved. Where the group is gone, so is the program.
        unsafe { libc::tcsetpgrp(self.terminal.as_raw_fd(), self.group) };
        // SAFETY: no memory is involved.
        unsafe { libc::kill(-self.group, libc::SIGCONT) };
    }
}

/// Stops this process as Ctrl-Z does, until SIGCONT. Where nobody could wake its process group (an
/// orphaned one), or SIGTSTP is ignored, Linux leaves the stop out.
pub fn stop_self() {
    // SAFETY: no memory is involved.
    unsafe { libc::raise(libc::SIGTSTP) };
    // Where it was blocked, it is taken here.
    let unblocked = set_of(&[libc::SIGTSTP]).and_then(|set| change_mask(libc::SIG_UNBLOCK, &set));
    if let Ok(before) = unblocked {
        change_mask(libc::SIG_SETMASK, &before).ok();
    }
}

/// Ends this process by a signal, without a core of its own, so that whoever waits for it sees what
/// its program has ended by. Returns where the signal does not end it.
pub fn end_by_signal(signal: i32) {
    // Best effort: a core of this program in the place of the other's would mislead.
    forbid_core_dump().ok();
    // SAFETY: no handler is installed.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: no memory is involved.
    unsafe { libc::raise(signal) };
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

/// Ends a process group at once (SIGKILL): the program that leads it and the children that did
/// not leave it. One that is gone is no error.
///
/// # Errors
/// When the number is no group's, or the kernel refuses.
pub fn kill_process_group(leader: u32) -> Result<(), Refusal> {
    let group = match i32::try_from(leader) {
        // 0 would be this process's own group, and 1 everything.
        Ok(group) if group > 1 => group,
        _ => {
            return Err(Refusal::Argument {
                what: format!("the process group {leader}"),
                reason: "it is no group of a program that was started",
            });
        }
    };
    // SAFETY: kill(2) touches no memory of this process.
    if unsafe { libc::kill(-group, libc::SIGKILL) } == 0 {
        return Ok(());
    }
    match Errno::last() {
        gone if gone.0 == libc::ESRCH => Ok(()),
        refused => Err(Refusal::call("kill", format_args!("-{group}"), refused)),
    }
}

/// Whether a thread is one of this process. A signal that is none asks the kernel, which has no need to
/// make entries below /proc for it.
pub fn is_thread_of(process: u32, tid: u32) -> bool {
    // SAFETY: no memory is involved.
    let asked = unsafe { libc::syscall(libc::SYS_tgkill, process, tid, 0) };
    asked == 0 || Errno::last() == Errno(libc::EPERM)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use super::*;

    #[test]
    fn threads_are_those_of_their_process() {
        let own = std::process::id();
        let thread = std::thread::spawn(|| {
            // SAFETY: the call takes nothing and cannot fail.
            let tid = unsafe { libc::gettid() };
            is_thread_of(std::process::id(), tid.unsigned_abs())
        });
        assert!(is_thread_of(own, own) && thread.join().unwrap());
        assert!(!is_thread_of(own, 1) && !is_thread_of(1, own) && !is_thread_of(own, u32::MAX));
    }

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
            let from = std::process::id();
            let expected = ArrivedSignal { signal: libc::SIGURG, is_sent: false, from };
            assert_eq!(came, Some(expected));
            assert_eq!(awaited.next(Duration::ZERO), None);
        })
        .join()
        .unwrap();
        assert!(AwaitedSignals::block(&[1000]).is_err());
        assert!(send_signal(u32::MAX, 0).is_err());
    }

    #[test]
    fn a_program_and_its_child_end_and_neither_is_waited_for() {
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", "sleep 600 & wait"]).process_group(0).spawn().unwrap();
        kill_process_group(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        // It is gone; its number is of no group any more.
        kill_process_group(child.id()).unwrap();
    }

    #[test]
    fn this_process_and_everything_are_refused() {
        for absurd in [0, 1, u32::MAX] {
            assert!(kill_process_group(absurd).is_err(), "{absurd}");
        }
    }
}
