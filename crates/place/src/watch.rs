//! Waits for a program, looks where its memory and threads are, and hands signals on.
//!
//! A process is looked at 10 ms after it was found, then after 20 ms more, 40 ms, and so on up to
//! once a second, and when it is about to end, where the kernel allows that (ptrace(2)). A look
//! makes the kernel go over all page tables: none follows sooner than twenty times as long as the
//! last one took.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nearfar_machine::CpuSet;
use nearfar_sys::{
    AwaitedSignals, Change, Refusal, Task, descendants, leave_stopped, next_change, process_pages,
    resume, seize, send_signal, tasks,
};

use crate::program_pages::{CountMethod, ProcessPages, ProgramPages, own_bytes, sum_of};

/// After which time a process is first looked at.
const FIRST_LOOK: Duration = Duration::from_millis(10);
/// The longest time between two looks at where pages are.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The longest time between two looks for new children and threads.
const LONGEST_BLINDNESS: Duration = Duration::from_millis(50);
/// A look may take one part in so many of the time.
const COST: u32 = 20;
/// Threads that are listed.
const MOST_THREADS: usize = 4096;

/// The signals that a user sends to a program to end it or tell it something.
const HANDED_ON: [i32; 6] =
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
}

/// A thread that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenThread {
    /// Its process.
    pub process: u32,
    /// Its name when it was seen last.
    pub name: String,
    /// The CPUs that it could use when it was seen last.
    pub cpus_allowed: CpuSet,
    /// The CPUs that it was seen on.
    pub cpus_seen: CpuSet,
}

/// Waits until a program that this process has just started ends.
///
/// # Errors
/// When the kernel does not let us wait for it.
pub fn watch(program: u32) -> Result<Outcome, Refusal> {
    let mut awaited = vec![libc::SIGCHLD];
    awaited.extend(HANDED_ON);
    let awaited = AwaitedSignals::block(&awaited)?;
    let mut watch = Watch::begin(program);
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
    /// Whether the kernel lets us trace; no further process is tried where it does not.
    may_trace: bool,
    next_glance: Instant,
    glance_pause: Duration,
    processes: BTreeMap<u32, Process>,
    threads: BTreeMap<u32, SeenThread>,
    unlisted: BTreeSet<u32>,
    blocked: Option<Refusal>,
}

struct Process {
    next_look: Instant,
    pause: Duration,
    pages: ProcessPages,
    is_gone: bool,
}

impl Watch {
    fn begin(program: u32) -> Self {
        let mut watch = Self {
            program,
            may_trace: true,
            next_glance: Instant::now() + FIRST_LOOK,
            glance_pause: FIRST_LOOK,
            processes: BTreeMap::new(),
            threads: BTreeMap::new(),
            unlisted: BTreeSet::new(),
            blocked: None,
        };
        watch.may_trace = watch.add(program);
        watch
    }

    /// Begins to watch a process; tells whether it is traced.
    fn add(&mut self, pid: u32) -> bool {
        let pages = ProcessPages::default();
        let next_look = Instant::now() + FIRST_LOOK;
        let process = Process { next_look, pause: FIRST_LOOK, pages, is_gone: false };
        self.processes.insert(pid, process);
        self.may_trace && seize(pid).is_ok()
    }

    /// How long nothing is to be done.
    fn pause(&self) -> Duration {
        let looks = self.processes.values().filter(|it| !it.is_gone).map(|it| it.next_look);
        let next = looks.fold(self.next_glance, Instant::min);
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
                return (pid == self.program).then(|| ExitStatus::from_raw(status));
            }
            Change::Ending { pid } => {
                self.see_threads(pid);
                self.look(pid, CountMethod::ExitStop);
                resume(pid, 0).ok();
            }
            Change::Stopped { pid, signal } => _ = resume(pid, signal).ok(),
            Change::Halted { pid } => _ = leave_stopped(pid).ok(),
        }
        None
    }

    /// Looks for children and threads, and at pages, where it is time.
    fn look_around(&mut self) {
        let now = Instant::now();
        if now >= self.next_glance {
            let children = descendants(Path::new("/"), self.program).unwrap_or_default();
            for process in self.processes.iter_mut().filter(|(pid, _)| **pid != self.program) {
                process.1.is_gone |= !children.contains(process.0);
            }
            for &pid in &children {
                if self.processes.get(&pid).is_none_or(|process| process.is_gone) {
                    self.add(pid);
                }
            }
            let all: Vec<u32> = self.living().collect();
            all.into_iter().for_each(|pid| self.see_threads(pid));
            self.glance_pause = (2 * self.glance_pause).min(LONGEST_BLINDNESS);
            self.next_glance = Instant::now() + self.glance_pause.max(COST * now.elapsed());
        }
        let due: Vec<u32> =
            self.living().filter(|pid| self.processes[pid].next_look <= now).collect();
        for pid in due {
            let begun = Instant::now();
            self.look(pid, CountMethod::Sampled);
            if let Some(process) = self.processes.get_mut(&pid) {
                process.pause = (2 * process.pause).min(LONGEST_PAUSE);
                process.next_look = Instant::now() + process.pause.max(COST * begun.elapsed());
            }
        }
    }

    fn living(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.iter().filter(|(_, process)| !process.is_gone).map(|(&pid, _)| pid)
    }

    fn look(&mut self, pid: u32, method: CountMethod) {
        match process_pages(Path::new("/"), pid) {
            // What has no memory is not there any more.
            Ok(pages) if pages.is_empty() => {}
            Ok(pages) => {
                if let Some(process) = self.processes.get_mut(&pid) {
                    process.pages.note(method, own_bytes(&pages));
                }
            }
            Err(refusal) => self.blocked = Some(refusal),
        }
    }

    fn see_threads(&mut self, pid: u32) {
        for task in tasks(Path::new("/"), pid).unwrap_or_default() {
            let Task { tid, name, last_cpu, cpus, .. } = task;
            if let Some(seen) = self.threads.get_mut(&tid) {
                seen.name = name;
                seen.cpus_allowed = cpus;
                seen.cpus_seen.insert(last_cpu);
            } else if self.threads.len() >= MOST_THREADS {
                self.unlisted.insert(tid);
            } else {
                let cpus_seen = CpuSet::single(last_cpu);
                let seen = SeenThread { process: pid, name, cpus_allowed: cpus, cpus_seen };
                self.threads.insert(tid, seen);
            }
        }
    }

    fn outcome(self, status: ExitStatus) -> Outcome {
        let pages = sum_of(self.processes.values().filter_map(|process| process.pages.kept()));
        let pages = pages.ok_or_else(|| {
            self.blocked.map_or("it ended before it could be looked at".into(), |refusal| {
                refusal.to_string()
            })
        });
        Outcome {
            status,
            pages,
            threads: self.threads.into_values().collect(),
            threads_unlisted: self.unlisted.len() as u64,
        }
    }
}
