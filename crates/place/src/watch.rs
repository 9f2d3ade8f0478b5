//! Stays with a program until it ends, looks where its memory and threads are, and does to it what its
//! placement needs.
//!
//! A look makes the kernel go over all page tables of a process. What takes far less time is to count what the
//! processes have by the kernel's counters: while these stay the same, a look would find what the last one
//! found. So processes are counted often, looked at when they have changed, and counts and looks together take at
//! most one part in a hundred of a CPU's time. What that leaves without a look is known as a total. Only where pages
//! are moved (weights that the kernel does not have) looks may take a quarter.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use nearfar_machine::{Binding, CpuSet};
use nearfar_sys::{
    AwaitedSignals, Change, Refusal, children_peak_bytes, descendants, follow, has_memory_nodes,
    mapping_details, next_change, next_change_of, process_pages, process_size, take_in_orphans,
    task_pages, task_state, tasks, thread_cpu_ns, tracer_of, wait_to_be_followed,
};

use crate::family_sizes::{Family, FamilySizes, SizeMark};
use crate::follow::Follower;
use crate::job::Job;
use crate::launch::{NotLaunched, launch};
use crate::loss::Loss;
use crate::pinning::{PinnedThreads, Pinning};
use crate::program_memory::{Census, CountMethod, FileKinds, ProcessMemory, ProgramMemory};
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

/// What happened to a program, and to what is followed with it. To ask for whomever something
/// happened to takes the kernel the longer the more threads are followed, and to ask for one thread does
/// not (Linux 5.14): SIGCHLD names one; but of several that come at once only the first does.
struct Changes {
    program: u32,
    /// Those that are asked one by one.
    asked: Vec<u32>,
    /// Something has happened since a search found nothing.
    is_search_due: bool,
    last_search: Instant,
    search_took: Duration,
    found_in_a_row: u32,
}

/// Searches may take 1 / SEARCH_COST of the time.
const SEARCH_COST: u32 = 8;
/// Where searches find this many changes in a row, there are likely many more.
const MANY: u32 = 4;

impl Changes {
    fn of(program: u32) -> Self {
        let (last_search, search_took) = (Instant::now(), Duration::ZERO);
        Self {
            program,
            asked: Vec::new(),
            is_search_due: true,
            last_search,
            search_took,
            found_in_a_row: 0,
        }
    }

    fn next(
        &mut self,
        told_of: Option<u32>,
        follower: Option<&Follower>,
    ) -> Result<Option<Change>, Refusal> {
        let Some(follower) = follower else { return next_change_of(self.program) };
        self.is_search_due |= told_of.is_some();
        self.asked.extend(told_of);
        while let Some(pid) = self.asked.pop() {
            // It may have been heard of before.
            if let Ok(Some(change)) = next_change_of(pid) {
                return Ok(Some(change));
            }
        }
        if !self.pause(Some(follower)).is_zero() {
            return Ok(None);
        }
        if self.found_in_a_row >= MANY {
            self.found_in_a_row = 0;
            self.asked.extend(follower.threads());
            return self.next(None, Some(follower));
        }
        let begun = Instant::now();
        let found = next_change()?;
        self.search_took = begun.elapsed();
        if found.is_some() {
            self.found_in_a_row += 1;
        } else {
            (self.is_search_due, self.found_in_a_row) = (false, 0);
            self.last_search = Instant::now();
        }
        Ok(found)
    }

    /// How long nothing is to be searched for.
    fn pause(&self, follower: Option<&Follower>) -> Duration {
        match follower {
            Some(_) if self.is_search_due => {
                (SEARCH_COST * self.search_took).saturating_sub(self.last_search.elapsed())
            }
            _ => Duration::MAX,
        }
    }
}

/// A process as it was when it was looked at.
struct Looked {
    mark: SizeMark,
    own_bytes: u64,
    at: Duration,
}

/// Copies of one process that are to be looked at.
struct Stale {
    unseen: u64,
    group: Vec<u32>,
    /// Copies that need no look: the one of the group has their memory.
    unchanged: Vec<u32>,
}

/// What a look goes over: pages of a process, and what takes as long in every process.
fn units(own_bytes: u64) -> u64 {
    own_bytes + (16 << 20)
}

struct Watch {
    program: u32,
    begun: Instant,
    family: Family,
    /// When to count next, and what CPU time this process took so far, or all counts and looks.
    next_count: Duration,
    spent: Duration,
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

    /// Looks at the processes that are not what they were at their last look, those first of which most is not
    /// known: how many pages were moved, and whether there was anything to look at.
    fn look(&mut self, sizes: &FamilySizes, cost: &dyn Fn() -> Duration) -> (u64, bool) {
        let at = self.begun.elapsed();
        // A program that has no pages to move yet will have them.
        let awaits_pages = self.moved.as_ref().is_some_and(|moved| !moved.has_moved());
        let part = if awaits_pages || self.is_moving { MOVING_COST } else { COST };
        let allowed = (at.max(SHORT) / part).saturating_sub(self.spent);
        let groups = self.stale(sizes, at);
        let is_settled = sizes.is_about(&self.sizes);
        let much = sizes.total() / 100;
        let (mut moved, mut has_looked) = (0, false);
        for Stale { unseen, group, unchanged } in groups {
            let likely: Duration = group.iter().map(|&pid| self.likely_cost(pid, sizes)).sum();
            let left = allowed.saturating_sub(cost());
            // What still grows is looked at as a whole, and only where that costs little of what is left: its parts
            // would be known of different moments, and of one at which it is small.
            let is_cheap = SAVED * likely <= left;
            let first = group.first().map_or(likely, |&pid| self.likely_cost(pid, sizes));
            let is_due = is_cheap || is_settled && unseen > much && first <= left;
            if !is_due && !self.looked.is_empty() {
                continue;
            }
            // What was seen of these at another moment may be in common with what is seen now.
            if group.len() > 1 {
                group.iter().for_each(|&pid| self.forget(pid));
            }
            for pid in group {
                let before = cost();
                let is_affordable = is_due && before + self.likely_cost(pid, sizes) <= allowed;
                if has_looked && !is_affordable {
                    break;
                }
                let Some(mark) = sizes.mark(pid) else { continue };
                let are_threads_due = is_cheap || !self.looked.contains_key(&pid);
                let is_alone = mark.is_alone() || !unchanged.is_empty();
                let (found, now) = self.look_at(pid, is_alone, are_threads_due);
                moved += now;
                has_looked = true;
                // While it grows a look finds more than was counted before.
                let own_bytes = sizes.own_bytes(pid).max(found);
                self.looked.insert(pid, Looked { mark, own_bytes, at });
                self.looks.1 += units(own_bytes);
                for &copy in &unchanged {
                    let Some(mark) = sizes.mark(copy) else { continue };
                    self.census.count(copy, ProcessMemory::default());
                    self.looked.insert(copy, Looked { mark, own_bytes: 0, at });
                }
            }
        }
        // What ended meanwhile had its pages in common with others for a part of the time only.
        let is_gone = |(pid, looked): (&u32, &Looked)| {
            let is_in_question = looked.at == at && !looked.mark.is_alone();
            (is_in_question && process_size(Path::new("/"), *pid, None).is_none()).then_some(*pid)
        };
        let gone: Vec<u32> = self.looked.iter().filter_map(is_gone).collect();
        gone.into_iter().for_each(|pid| self.census.forget(pid));
        (moved, has_looked)
    }

    /// The processes that are not what they were, or that have not been looked at for long, in groups of copies, those
    /// first of which most is not known.
    fn stale(&self, sizes: &FamilySizes, at: Duration) -> Vec<Stale> {
        let unseen = |pid: u32| {
            let known = self.looked.get(&pid).map_or(0, |looked| looked.own_bytes);
            sizes.own_bytes(pid).abs_diff(known)
        };
        let is_stale = |pid: &u32| {
            self.moved.is_some()
                || self.looked.get(pid).is_none_or(|looked| Some(looked.mark) != sizes.mark(*pid))
        };
        let is_old = |pid: &u32| self.looked.get(pid).is_some_and(|it| it.at + OLD <= at);
        let mut groups: Vec<Stale> = Vec::new();
        for copies in sizes.groups() {
            let mut group: Vec<u32> = copies.iter().copied().filter(is_stale).collect();
            if group.is_empty() && copies.iter().any(is_old) {
                group = copies.to_vec();
            }
            if group.is_empty() {
                continue;
            }
            group.sort_by_key(|&pid| Reverse(unseen(pid)));
            let all = group.iter().map(|&pid| unseen(pid)).sum();
            // Pages are moved of each.
            let first = sizes.first_of_unchanged(copies).filter(|_| self.moved.is_none());
            groups.push(match first {
                Some(first) => Stale {
                    unseen: all,
                    group: vec![first],
                    unchanged: copies.iter().copied().filter(|&pid| pid != first).collect(),
                },
                None => Stale { unseen: all, group, unchanged: Vec::new() },
            });
        }
        groups.sort_by_key(|stale| Reverse(stale.unseen));
        groups
    }

    /// What a look at a process will take, as long as others took for their size.
    fn likely_cost(&self, pid: u32, sizes: &FamilySizes) -> Duration {
        let (took, all) = self.looks;
        let units = u128::from(units(sizes.own_bytes(pid)));
        // The first look takes longer than those that follow.
        let most = units * MAX_LOOK_NS_PER_MIB / (1 << 20);
        let nanos = (took.as_nanos() * units / u128::from(all.max(1))).min(most);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn forget(&mut self, pid: u32) {
        self.census.forget(pid);
        if let Some(looked) = self.looked.get_mut(&pid) {
            looked.own_bytes = 0;
        }
    }

    /// Looks at a process, and moves its pages where that is asked for: bytes of its own that were found, and how
    /// many pages were moved.
    fn look_at(&mut self, process: u32, is_alone: bool, are_threads_due: bool) -> (u64, u64) {
        let root = Path::new("/");
        if are_threads_due {
            self.seen.note(process, &tasks(root, process).unwrap_or_default());
        }
        let cpu_before = thread_cpu_ns();
        // Only to move them it has to be known where mappings end.
        let pages = match self.moved.is_some() {
            true => process_pages(root, process),
            false => match task_pages(root, process, process) {
                Ok(mappings) if mappings.is_empty() => process_pages(root, process),
                pages => pages,
            },
        };
        let mut mappings = match pages {
            // What has no memory is not there any more.
            Ok(mappings) if mappings.is_empty() => return (0, 0),
            Ok(mappings) => mappings,
            Err(refusal) => {
                // What has ended meanwhile refuses nothing; but /proc may be hidden.
                let has_ended = task_state(root, process).is_none_or(|state| state == 'Z');
                if !has_ended || task_state(root, std::process::id()).is_none() {
                    self.blocked = Some(refusal);
                }
                return (0, 0);
            }
        };
        let mut moved = 0;
        if let Some(weights) = &mut self.moved {
            moved = weights.deal(process, &mappings);
            if moved > 0 {
                mappings = process_pages(root, process).unwrap_or(mappings);
            }
        }
        // Alone it has nothing in common with anybody.
        let details = (!is_alone || self.is_interleaved)
            .then(|| mapping_details(root, process, process).unwrap_or_default());
        self.looks.0 += Duration::from_nanos(thread_cpu_ns().saturating_sub(cpu_before));
        self.file_kinds.classify(root, process, process, &mut mappings);
        let memory = ProcessMemory::of(&mappings, details.as_ref());
        let found = memory.bytes();
        self.census.count(process, memory);
        (found, moved)
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
