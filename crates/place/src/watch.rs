//! Stays with a program until it ends, looks where its memory and threads are, and does to it what its
//! placement needs.
//!
//! A look makes the kernel go over all page tables of a process. What takes far less time is to count what the
//! processes have by the kernel's counters: while these stay the same, a look would find what the last one
//! found. So processes are counted often, looked at when they have changed, and counts and looks together take at
//! most one part in a hundred of a CPU's time. What that leaves without a look is known as a total. Only where pages
//! are moved (weights that the kernel does not have) looks may take a quarter.

mod look;

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use nearfar_machine::{Binding, CpuSet};
use nearfar_sys::{
    AwaitedSignals, Change, Refusal, children_peak_bytes, descendants, follow, has_memory_nodes,
    next_change_of, take_in_orphans, tasks, thread_cpu_ns, tracer_of, wait_to_be_followed,
};

use crate::changes::Changes;
use crate::family_sizes::{Family, FamilySizes, SizeMark};
use crate::follow::Follower;
use crate::job::Job;
use crate::launch::{NotLaunched, launch};
use crate::loss::Loss;
use crate::pinning::{PinnedThreads, Pinning};
use crate::program_memory::{Census, CountMethod, FileKinds, ProgramMemory};
use crate::report::ReportedProcess;
use crate::seen_threads::{SeenThread, SeenThreads};
use crate::weights::MovedWeights;

/// A program is counted after this part of its time so far, but no sooner and no later than this.
const PAUSES: u32 = 16;
const MIN_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(250);
/// What has not changed is looked at again after so long: the kernel may have moved its pages.
const OLD: Duration = Duration::from_secs(1);
/// All counts and looks together may take 1 / COST of the time, and of a program that ends before, of this one. With
/// what else this process does it is a hundredth.
const COST: u32 = 120;
const SHORT: Duration = Duration::from_secs(2);
/// A look takes no longer than this for each MiB in pages of 4 KiB: a look that takes longer was disturbed.
const MAX_LOOK_NS_PER_MIB: u128 = 20_000;
/// What may wait for a better moment costs this part of what is left.
const SAVED: u32 = 8;
/// The same while there are pages to move, and until the first were.
const MOVING_COST: u32 = 4;

/// What a program did.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// The signal that asked for its end while it ran, if one did.
    pub told_to_end: Option<i32>,
    /// From its start to its end.
    pub took: Duration,
    /// Where its memory was, and its children's; or why that is not known.
    pub(crate) memory: Result<ProgramMemory, String>,
    /// Its processes as they were when they ended, and how many more there were: of a program that was
    /// followed.
    pub(crate) counted: Vec<ReportedProcess>,
    pub(crate) uncounted: usize,
    /// Its threads, and its children's, and how many more there were than are listed.
    pub(crate) threads: Vec<SeenThread>,
    pub(crate) threads_unlisted: usize,
    /// What of the placement was lost.
    pub(crate) losses: Vec<Loss>,
    /// What else is to be known, in sentences.
    pub(crate) notes: Vec<String>,
}

/// What is done to a program while it runs.
#[derive(Debug, Clone, Default)]
pub struct Steering {
    /// Its pages are moved so that nodes have these weights.
    pub weights: Option<BTreeMap<u32, u32>>,
    /// Its memory is on certain nodes only, whatever room they have.
    pub is_bound: bool,
    /// Its pages go to several nodes in turn, which whole huge pages do only about.
    pub is_interleaved: bool,
    pub is_followed: bool,
    /// The order in which its threads are pinned where it is followed, and the CPUs of those that nobody
    /// has pinned.
    pub pinning: Option<(Pinning, CpuSet)>,
}

/// A program that was started to be watched.
#[derive(Debug)]
pub struct Watched {
    child: Child,
    family: Family,
    begun: Instant,
    steering: Steering,
    /// What of the binding the program runs without.
    pub losses: Vec<Loss>,
}

/// Starts a program under a binding, as [`launch`] does, with what it needs to be followed from its
/// first instruction where that is asked for.
///
/// # Errors
/// When it cannot be started, or not under all of the binding, or cannot be followed.
pub fn start_watched(
    command: &mut Command,
    binding: Option<&Binding>,
    steering: Steering,
    may_lose: bool,
    awaited: &AwaitedSignals,
) -> Result<Watched, NotLaunched> {
    if steering.is_followed {
        wait_to_be_followed(command, awaited);
    }
    take_in_orphans();
    let keeper = std::process::id();
    let family = Family::new(keeper, descendants(Path::new("/"), keeper).unwrap_or_default());
    let begun = Instant::now();
    // The mask of one that is followed is given to it later.
    let mask = (!steering.is_followed).then_some(awaited);
    let started = launch(command, binding, may_lose, mask);
    let (mut child, losses) = match started {
        Err(NotLaunched::Program(error)) if steering.is_followed && is_untraceable(&error) => {
            return Err(NotLaunched::Lost(vec![not_followed(&error)]));
        }
        started => started?,
    };
    if steering.is_followed
        && let Err(refusal) = follow(child.id(), awaited)
    {
        // It stands still before its first instruction.
        child.kill().ok();
        child.wait().ok();
        let what = "following the program (--follow)";
        return Err(NotLaunched::Lost(vec![Loss::refused(what, &refusal)]));
    }
    Ok(Watched { child, family, begun, steering, losses })
}

fn not_followed(error: &io::Error) -> Loss {
    let (reason, remedy) = match tracer_of(Path::new("/"), std::process::id()) {
        // A tracer follows what this process starts, and a process has one tracer.
        Some(tracer) => (
            format!(
                "process {tracer} traces it already, as a debugger, strace or another --follow"
            ),
            "leave --follow out",
        ),
        None => (
            format!("ptrace(2): {error}"),
            "leave --follow out, or let the container trace (SYS_PTRACE)",
        ),
    };
    Loss { what: "following the program (--follow)".into(), reason, remedy: Some(remedy.into()) }
}

/// What ptrace(2) and a filter say, and exec(2) of a program does not.
fn is_untraceable(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}

/// Waits until a program ends, and hands on what comes meanwhile of
/// [`await_signals`](crate::await_signals).
///
/// # Errors
/// When the kernel does not let us wait for it.
pub fn watch(watched: Watched, awaited: &AwaitedSignals) -> Result<Outcome, Refusal> {
    let mut job = Job::new(watched.child.id(), awaited);
    let mut watch = Watch::new(watched);
    let mut changes = Changes::of(watch.program);
    let mut told_of = None;
    loop {
        let mut stopped_by = None;
        while let Some(change) = changes.next(told_of.take(), watch.follower.as_ref())? {
            match change {
                Change::Ended { pid, status } if pid == watch.program => {
                    let outcome = watch.outcome(ExitStatus::from_raw(status));
                    return Ok(Outcome { told_to_end: job.told_to_end, ..outcome });
                }
                change => stopped_by = stopped_by.or(watch.take(change)),
            }
        }
        if let Some(signal) = stopped_by {
            job.program_stopped(signal);
        }
        watch.look_when_due();
        told_of = job.wait(watch.pause().min(changes.pause(watch.follower.as_ref())));
        // What came while the program stood still may have told of several.
        changes.is_search_due |= told_of.is_none() || stopped_by.is_some();
    }
}

/// A process as it was when it was looked at.
struct Looked {
    mark: SizeMark,
    own_bytes: u64,
    at: Duration,
}

struct Watch {
    program: u32,
    begun: Instant,
    family: Family,
    /// When to count next, and what CPU time this process took so far, or all counts and looks.
    next_count: Duration,
    spent: Duration,
    /// Of that, before the program began.
    start: Duration,
    /// The sizes of the last count, and what was known at the last look at each.
    sizes: FamilySizes,
    looked: BTreeMap<u32, Looked>,
    /// What all looks took, and what they went over.
    looks: (Duration, u64),
    file_kinds: FileKinds,
    is_bound: bool,
    is_interleaved: bool,
    follower: Option<Follower>,
    moved: Option<MovedWeights>,
    /// The last look moved pages: there will be more.
    is_moving: bool,
    census: Census,
    seen: SeenThreads,
    losses: Vec<Loss>,
    /// Why a look at a process's memory failed.
    blocked: Option<Refusal>,
    childless: Option<Refusal>,
}

impl Watch {
    fn new(watched: Watched) -> Self {
        let Watched { child, family, begun, steering, losses } = watched;
        let program = child.id();
        let mut seen = SeenThreads::default();
        if steering.is_followed {
            seen.welcome(program, program, None);
        }
        let pinned = steering.pinning.map(|(pinning, free)| PinnedThreads::new(pinning, free));
        Self {
            program,
            begun,
            family,
            next_count: MIN_PAUSE,
            start: Duration::from_nanos(thread_cpu_ns()),
            spent: Duration::from_nanos(thread_cpu_ns()),
            sizes: FamilySizes::default(),
            looked: BTreeMap::new(),
            looks: (Duration::ZERO, 0),
            file_kinds: FileKinds::default(),
            is_bound: steering.is_bound,
            is_interleaved: steering.is_interleaved,
            follower: steering
                .is_followed
                .then(|| Follower::new(program, pinned, steering.is_interleaved)),
            moved: steering.weights.map(|weights| MovedWeights::new(&weights)),
            is_moving: false,
            census: Census::default(),
            seen,
            losses,
            blocked: None,
            childless: None,
        }
    }

    /// How long nothing is to be done.
    fn pause(&self) -> Duration {
        self.next_count.saturating_sub(self.begun.elapsed())
    }

    /// Deals with a change other than the program's end; the signal that has stopped the program.
    fn take(&mut self, change: Change) -> Option<i32> {
        let at = self.begun.elapsed();
        let stopped_by = match (change, &mut self.follower) {
            (Change::Halted { pid, signal }, _) | (Change::Stopped { pid, signal }, None) => {
                (pid == self.program).then_some(signal)
            }
            _ => None,
        };
        if let Some(follower) = &mut self.follower {
            follower.take(change, &mut self.census, &mut self.seen, at);
        }
        stopped_by
    }

    /// Counts what the processes have by the kernel's counters, and looks where their pages are as far as that is
    /// not known and looks may still cost something.
    fn look_when_due(&mut self) {
        let begun = self.begun.elapsed();
        if begun < self.next_count {
            return;
        }
        let cpu_before = thread_cpu_ns();
        // What it costs others: on a busy machine a look waits longer for a CPU than it has one.
        let cost = || Duration::from_nanos(thread_cpu_ns().saturating_sub(cpu_before));
        let sizes = self.count();
        let counting = cost();
        let (moved, has_looked) = self.look(&sizes, &cost);
        let unseen = |pid: u32| {
            let known = self.looked.get(&pid).map_or(0, |looked| looked.own_bytes);
            sizes.own_bytes(pid).cast_signed().saturating_sub(known.cast_signed())
        };
        self.census.note_unseen(sizes.processes().map(unseen).sum(), sizes.processes().len());
        if has_looked {
            self.census.remember(CountMethod::Seen, begun);
        }
        // Counts take half of what all may, and where nothing comes or goes a quarter.
        let part = if sizes.is_about(&self.sizes) { 4 * COST } else { 2 * COST };
        (self.sizes, self.is_moving) = (sizes, moved > 0);
        self.spent += cost();
        let now = self.begun.elapsed();
        self.next_count = now
            + match moved > 0 {
                // Where new pages had to be moved there will be more.
                true => MIN_PAUSE.max(MOVING_COST * (now - begun)),
                false => (now / PAUSES).clamp(MIN_PAUSE, MAX_PAUSE).max(part * counting),
            };
    }

    /// Finds the processes and counts what they have.
    fn count(&mut self) -> FamilySizes {
        let root = Path::new("/");
        if let Err(refusal) = self.family.find(root, self.program) {
            self.childless = Some(refusal);
        }
        let family = self.family.members().clone();
        let sizes = FamilySizes::read(root, &family, &self.sizes);
        // One that has ended is still there to be waited for: without any trace of it nothing is told here.
        if !sizes.has(self.program)
            && let Err(refusal) = tasks(root, self.program)
        {
            self.blocked = Some(refusal);
        }
        for &pid in family.iter().filter(|&&pid| !sizes.has(pid)) {
            self.census.forget(pid);
            self.looked.remove(&pid);
            // Nobody else waits for one that was taken in; those that are followed are heard of all the same.
            if self.follower.is_none() && pid != self.program {
                next_change_of(pid).ok();
            }
        }
        self.census.keep_living(&family);
        self.looked.retain(|pid, _| family.contains(pid));
        sizes
    }

    fn forget(&mut self, pid: u32) {
        self.census.forget(pid);
        if let Some(looked) = self.looked.get_mut(&pid) {
            looked.own_bytes = 0;
        }
    }

    fn outcome(mut self, status: ExitStatus) -> Outcome {
        let took = self.begun.elapsed();
        let memory = self.census.kept().ok_or_else(|| match &self.blocked {
            Some(_) if !has_memory_nodes(Path::new("/")) => {
                "this kernel has no memory nodes, all memory is in one place".into()
            }
            Some(refusal) => refusal.to_string(),
            None => {
                "it ended before it could be looked at (--follow counts every process when it ends)"
                    .into()
            }
        });
        // Between two looks, and after the last, a program can have had more.
        let peak = children_peak_bytes(Path::new("/"));
        let memory = memory.map(|seen| ProgramMemory {
            peak_bytes: seen.peak_bytes.max(peak.unwrap_or(0)),
            ..seen
        });
        let mut notes = Vec::new();
        if let Some(refusal) = self.childless.filter(|_| memory.is_ok()) {
            notes.push(format!("children were not looked at: {refusal}"));
        }
        if let (Some(refusal), Ok(_)) = (&self.blocked, &memory) {
            notes.push(format!(
                "a process could not be looked at, and its memory is not counted: {refusal}"
            ));
        }
        let (mut counted, mut uncounted) = (Vec::new(), 0);
        if let Some(follower) = self.follower {
            for program in follower.without_rights {
                notes.push(format!(
                    "{program} did not get its owner's rights, because it was followed; without \
                     --follow it does"
                ));
            }
            let unpinned = follower.pinned.and_then(|pinned| pinned.refusal);
            self.losses.extend(unpinned.map(|refusal| Loss::refused("pinning threads", &refusal)));
            (counted, uncounted) = (follower.counted.into_values().collect(), follower.uncounted);
        }
        if self.is_bound && status.signal() == Some(libc::SIGKILL) {
            notes.push(
                "SIGKILL has ended it: the kernel sends it where the nodes of bind:NODES are full (dmesg \
                 tells; preferred:NODE goes on elsewhere) or a limit on memory is reached, and people do"
                    .into(),
            );
        }
        if let Some(moved) = self.moved {
            notes.extend(moved.notes());
            self.losses.extend(moved.losses());
        }
        let (threads, threads_unlisted) = self.seen.listed();
        let losses = self.losses;
        Outcome {
            status,
            told_to_end: None,
            took,
            memory,
            counted,
            uncounted,
            threads,
            threads_unlisted,
            losses,
            notes,
        }
    }
}
