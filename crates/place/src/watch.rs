//! Waits for a program, looks where its memory and threads are, and hands signals on.
//!
//! A process is looked at 10 ms after it was found, then after 20 ms more, 40 ms, and so on up to
//! once a second. A look makes the kernel go over all page tables: none follows sooner than twenty
//! times as long as the last one took, or four times where it had to move pages. Where the kernel
//! allows it (ptrace(2)) threads and children are followed from their beginning, so that they are
//! pinned before they touch memory, and each process is looked at once more when it is about to end.
//! To follow a program costs as much as to start a short one: where threads and memory are left to
//! Linux, one that ends within 2 ms is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nearfar_machine::CpuSet;
use nearfar_sys::{
    AwaitedSignals, Change, Refusal, Task, descendants, leave_stopped, next_change,
    process_of_task, process_pages, resume, seize, send_signal, task, tasks,
};

use crate::loss::Loss;
use crate::peak_memory::{self, own_peak};
use crate::pinning::{PinnedThreads, Pinning};
use crate::program_pages::{CountMethod, ProcessPages, ProgramPages, own_bytes, sum_of, total};
use crate::seen_threads::{SeenThread, SeenThreads};
use crate::weights::DealtPages;

/// After which time a process is first looked at.
const FIRST_LOOK: Duration = Duration::from_millis(10);
/// After which time a program is followed that is placed as Linux does it by itself.
const UNFOLLOWED: Duration = Duration::from_millis(2);
/// The longest time between two looks at where pages are.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The longest time between two looks for new children and threads.
const LONGEST_BLINDNESS: Duration = Duration::from_millis(50);
/// A look may take one part in so many of the time.
const COST: u32 = 20;
/// The same while there are pages to move.
const MOVING_COST: u32 = 4;
/// Bits of a file's mode by which a program takes its owner's or group's rights.
const TAKES_RIGHTS: u32 = libc::S_ISUID | libc::S_ISGID;

/// The signals that a user sends to a program to end it or tell it something.
pub(crate) const HANDED_ON: [i32; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// What a program did.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// Where its memory was, and its children's; or why that is not known.
    pub pages: Result<ProgramPages, String>,
    /// Its threads, and its children's.
    pub threads: Vec<SeenThread>,
    /// How many more there were than are listed.
    pub threads_unlisted: u64,
    /// What of the placement was lost while it ran.
    pub losses: Vec<Loss>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
}

/// What is done to a program while it runs.
#[derive(Debug, Default)]
pub struct Steering {
    /// Its threads are pinned in this order; they are those that may use all of these CPUs.
    pub pinning: Option<(Pinning, CpuSet)>,
    /// Its pages are moved so that nodes have these weights.
    pub weights: Option<BTreeMap<u32, u32>>,
    /// Its memory is on certain nodes only, whatever room they have.
    pub is_bound: bool,
    /// Its threads and children are not followed, only looked for.
    pub is_untraced: bool,
    /// It is followed even if it ends at once, whatever that costs a short program.
    pub is_followed_at_once: bool,
}

/// Lets the signals wait that are handed on to a program, and those of its end: from before it is
/// started, so that none ends this process in between.
///
/// # Errors
/// When the kernel does not let them wait.
pub fn await_signals() -> Result<AwaitedSignals, Refusal> {
    let mut awaited = vec![libc::SIGCHLD];
    awaited.extend(HANDED_ON);
    AwaitedSignals::block(&awaited)
}

/// Waits until a program that this process has just started ends, and hands on what comes
/// meanwhile of [`await_signals`].
///
/// # Errors
/// When the kernel does not let us wait for it.
pub fn watch(
    program: u32,
    steering: Steering,
    awaited: &AwaitedSignals,
) -> Result<Outcome, Refusal> {
    let mut watch = Watch::begin(program, steering);
    loop {
        while let Some(change) = next_change()? {
            if let Some(status) = watch.follow(change) {
                return Ok(watch.outcome(status));
            }
        }
        watch.look_around();
        if let Some(came) = awaited.next(watch.pause())
            && came.signal != libc::SIGCHLD
            && came.is_sent
        {
            // It may have ended by itself; that is heard of next.
            send_signal(program, came.signal).ok();
        }
    }
}

struct Watch {
    program: u32,
    /// The processes of threads that are traced.
    traced: BTreeMap<u32, u32>,
    is_bound: bool,
    /// When it is to be followed that is not yet.
    follow_from: Option<Instant>,
    untraced: Option<Refusal>,
    /// Programs that were started and did not get their owner's rights.
    without_rights: BTreeSet<String>,
    next_glance: Instant,
    glance_pause: Duration,
    processes: BTreeMap<u32, Process>,
    seen: SeenThreads,
    pinned: Option<PinnedThreads>,
    dealt: Option<DealtPages>,
    /// Why a look at pages failed, or at children.
    blocked: Option<Refusal>,
    childless: Option<Refusal>,
}

struct Process {
    next_look: Instant,
    pause: Duration,
    pages: ProcessPages,
    /// The most own memory that it had at once, bytes; 0 where that is not known.
    peak: u64,
    is_gone: bool,
}

impl Process {
    fn new() -> Self {
        Self {
            next_look: Instant::now() + FIRST_LOOK,
            pause: FIRST_LOOK,
            pages: ProcessPages::default(),
            peak: 0,
            is_gone: false,
        }
    }
}

impl Watch {
    fn begin(program: u32, steering: Steering) -> Self {
        let now = Instant::now();
        let unfollowed = if steering.is_followed_at_once { Duration::ZERO } else { UNFOLLOWED };
        let mut watch = Self {
            program,
            traced: BTreeMap::new(),
            is_bound: steering.is_bound,
            follow_from: (!steering.is_untraced).then(|| now + unfollowed),
            untraced: None,
            without_rights: BTreeSet::new(),
            next_glance: now + FIRST_LOOK,
            glance_pause: FIRST_LOOK,
            processes: [(program, Process::new())].into(),
            seen: SeenThreads::default(),
            pinned: steering.pinning.map(|(pinning, free)| PinnedThreads::new(pinning, free)),
            dealt: steering.weights.map(|weights| DealtPages::new(&weights)),
            blocked: None,
            childless: None,
        };
        watch.follow_when_due();
        watch
    }

    /// Begins to follow the program when it is time.
    fn follow_when_due(&mut self) {
        if self.follow_from.take_if(|from| *from <= Instant::now()).is_none() {
            return;
        }
        match seize(self.program) {
            Ok(()) => self.follow_first_threads(),
            // The kernel refuses to trace what has ended.
            Err(_) if has_ended(self.program) => {}
            Err(refusal) => self.untraced = Some(refusal),
        }
    }

    /// A program may have started threads and children before it was followed, and these others
    /// while they were looked for.
    fn follow_first_threads(&mut self) {
        self.traced.insert(self.program, self.program);
        let root = Path::new("/");
        let mut has_new = true;
        while has_new {
            has_new = false;
            let children = descendants(root, self.program).unwrap_or_default();
            let all = [self.program].into_iter().chain(children);
            for Task { tid, .. } in all.flat_map(|pid| tasks(root, pid).unwrap_or_default()) {
                if !self.traced.contains_key(&tid) && seize(tid).is_ok() {
                    self.welcome(tid);
                    has_new |= self.traced.contains_key(&tid);
                }
            }
        }
    }

    /// How long nothing is to be done.
    fn pause(&self) -> Duration {
        let looks = self.processes.values().filter(|it| !it.is_gone).map(|it| it.next_look);
        let next = looks.chain(self.follow_from).fold(self.next_glance, Instant::min);
        next.saturating_duration_since(Instant::now())
    }

    /// Deals with a change; the program's status when it has ended.
    fn follow(&mut self, change: Change) -> Option<ExitStatus> {
        // Of what fails here the process is gone, which is heard of next.
        match change {
            Change::Ended { pid, status } => {
                if let Some(process) = self.processes.get_mut(&pid) {
                    process.is_gone = true;
                }
                self.traced.remove(&pid);
                if let Some(pinned) = &mut self.pinned {
                    pinned.forget(pid);
                }
                return (pid == self.program).then(|| ExitStatus::from_raw(status));
            }
            Change::Ending { pid } => {
                self.see(pid);
                if self.traced.get(&pid).is_none_or(|&process| process == pid) {
                    self.look(pid, CountMethod::ExitStop);
                }
                resume(pid, 0).ok();
            }
            Change::Executed { pid } => {
                self.look_for_rights(pid);
                resume(pid, 0).ok();
            }
            Change::Stopped { pid, signal } => {
                if !self.traced.contains_key(&pid) {
                    self.welcome(pid);
                }
                resume(pid, signal).ok();
            }
            Change::Halted { pid } => _ = leave_stopped(pid).ok(),
        }
        None
    }

    /// Takes in a thread that stands still at its beginning, or the first one of a child.
    fn welcome(&mut self, tid: u32) {
        let root = Path::new("/");
        let Some(process) = process_of_task(root, tid) else {
            return;
        };
        self.traced.insert(tid, process);
        if tid == process {
            self.adopt(process);
        }
        if let Some(pinned) = &mut self.pinned
            && let Some(thread) = task(root, process, tid)
        {
            pinned.pin(process, &thread);
        }
    }

    fn adopt(&mut self, pid: u32) {
        let known = self.processes.entry(pid).or_insert_with(Process::new);
        if known.is_gone {
            // Its number was given again.
            let pages = std::mem::take(&mut known.pages);
            *known = Process { pages, peak: known.peak, ..Process::new() };
        }
    }

    /// Notes where a traced thread ran.
    fn see(&mut self, tid: u32) {
        let process = self.traced.get(&tid).copied().unwrap_or(tid);
        if let Some(thread) = task(Path::new("/"), process, tid) {
            self.seen.note(process, &[thread]);
        }
    }

    /// A traced program does not get the rights of its file's owner, unless root traces it.
    fn look_for_rights(&mut self, pid: u32) {
        let Ok(file) = fs::metadata(format!("/proc/{pid}/exe")) else {
            return;
        };
        let is_ours =
            fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0 || own.uid() == file.uid());
        if file.mode() & TAKES_RIGHTS != 0 && !is_ours {
            let name = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            self.without_rights.insert(name.display().to_string());
        }
    }

    /// Begins to follow, looks for children and threads, and at pages, where it is time.
    fn look_around(&mut self) {
        self.follow_when_due();
        if Instant::now() >= self.next_glance {
            let begun = Instant::now();
            self.glance();
            self.glance_pause = (2 * self.glance_pause).min(LONGEST_BLINDNESS);
            self.next_glance = Instant::now() + self.glance_pause.max(COST * begun.elapsed());
        }
        let now = Instant::now();
        let due = self.processes.iter().filter(|(_, it)| !it.is_gone && it.next_look <= now);
        let due: Vec<u32> = due.map(|(&pid, _)| pid).collect();
        for pid in due {
            let begun = Instant::now();
            let moved = self.look(pid, CountMethod::Sampled);
            if let Some(process) = self.processes.get_mut(&pid) {
                // Where new pages had to be moved there will be more.
                let (next, cost) =
                    if moved > 0 { (FIRST_LOOK, MOVING_COST) } else { (2 * process.pause, COST) };
                process.pause = next.min(LONGEST_PAUSE);
                process.next_look = Instant::now() + process.pause.max(cost * begun.elapsed());
            }
        }
    }

    /// Which processes and threads there are.
    fn glance(&mut self) {
        let root = Path::new("/");
        let children = descendants(root, self.program).unwrap_or_else(|refusal| {
            self.childless = Some(refusal);
            Vec::new()
        });
        for (pid, process) in &mut self.processes {
            let is_there = *pid == self.program || self.traced.contains_key(pid);
            process.is_gone |= !is_there && !children.contains(pid);
        }
        children.into_iter().for_each(|pid| self.adopt(pid));
        let living = self.processes.iter().filter(|(_, process)| !process.is_gone);
        let found: Vec<(u32, Vec<Task>)> =
            living.map(|(&pid, _)| (pid, tasks(root, pid).unwrap_or_default())).collect();
        if let Some(pinned) = &mut self.pinned {
            let threads = found.iter().flat_map(|(_, threads)| threads);
            pinned.keep(&threads.map(|thread| thread.tid).collect());
        }
        for (process, threads) in &found {
            if let Some(pinned) = &mut self.pinned {
                threads.iter().for_each(|thread| pinned.pin(*process, thread));
            }
            self.seen.note(*process, threads);
        }
    }

    /// Looks where a process's pages are, and moves them where that is asked for: tells how many.
    fn look(&mut self, pid: u32, method: CountMethod) -> u64 {
        let root = Path::new("/");
        let mut pages = match process_pages(root, pid) {
            // What has no memory is not there any more.
            Ok(pages) if pages.is_empty() => return 0,
            Ok(pages) => pages,
            Err(refusal) => {
                self.blocked = Some(refusal);
                return 0;
            }
        };
        let mut moved = 0;
        // At its end moving would serve nobody.
        if let Some(dealt) = self.dealt.as_mut().filter(|_| method == CountMethod::Sampled) {
            moved = dealt.deal(pid, &pages);
            if moved > 0 {
                pages = process_pages(root, pid).unwrap_or(pages);
            }
        }
        if let Some(process) = self.processes.get_mut(&pid) {
            process.pages.note(method, own_bytes(&pages));
            process.peak = process.peak.max(own_peak(pid).unwrap_or(0));
        }
        moved
    }

    fn outcome(self, status: ExitStatus) -> Outcome {
        let pages = sum_of(self.processes.values().filter_map(|process| process.pages.kept()));
        let pages = pages.ok_or_else(|| match &self.blocked {
            Some(refusal) => refusal.to_string(),
            None => "it ended before it could be looked at".into(),
        });
        let mut notes = Vec::new();
        let counted = self.processes.values().filter_map(|it| Some((it.peak, it.pages.kept()?)));
        notes.extend(peak_memory::sentence(counted.map(|(peak, kept)| (peak, total(&kept.bytes)))));
        if let Some(refusal) = self.childless.filter(|_| pages.is_ok()) {
            notes.push(format!("children were not looked at: {refusal}"));
        }
        if let Some(refusal) = self.untraced {
            notes.push(format!(
                "threads and children were not followed, only looked for now and then: {}",
                refusal.cause()
            ));
        }
        for program in self.without_rights {
            notes.push(format!(
                "{program} did not get its owner's rights, because it was followed: --no-trace \
                 leaves that out"
            ));
        }
        if self.is_bound && status.signal() == Some(libc::SIGKILL) {
            notes.push(
                "SIGKILL has ended it, as the kernel does where the nodes of bind:NODES are full: \
                 preferred:NODE goes on elsewhere"
                    .into(),
            );
        }
        let mut losses = Vec::new();
        let unpinned = self.pinned.and_then(|pinned| pinned.refusal);
        losses.extend(unpinned.map(|refusal| Loss::refused("pinning threads", &refusal)));
        if let Some(dealt) = self.dealt {
            notes.extend(dealt.notes());
            let lost = |refusal| Loss::refused("moving pages to their nodes", &refusal);
            losses.extend(dealt.refusal.map(lost));
        }
        let (threads, threads_unlisted) = self.seen.listed();
        Outcome { status, pages, threads, threads_unlisted, losses, notes }
    }
}

/// Whether a child of ours has ended and was not waited for yet (proc(5): state Z).
fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;

    /// Whoever traces is a thread, and what it traces goes on by itself when it ends.
    #[test]
    fn a_child_from_before_the_program_was_followed_is_followed() {
        let mut program = Command::new("sh").args(["-c", "sleep 0.5 & wait"]).spawn().unwrap();
        let pid = program.id();
        while descendants(Path::new("/"), pid).unwrap().is_empty() {
            thread::yield_now();
        }
        let begin = move || {
            let mut watch = Watch::begin(pid, Steering::default());
            while watch.follow_from.is_some() {
                watch.follow_when_due();
            }
            (watch.untraced, watch.traced.len())
        };
        let (untraced, traced) = thread::spawn(begin).join().unwrap();
        assert!(untraced.is_some() || traced == 2, "{traced} followed");
        assert!(program.wait().unwrap().success());
    }
}
