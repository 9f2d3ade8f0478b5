//! Follows a program, its threads and its children from their first instruction (ptrace(2)): each
//! thread is pinned before it touches memory, each process counted when its last thread is about to end.
//!
//! A tracer takes part in whatever the program does with threads and processes, so this is done only
//! where it is asked for, and as little as possible: a thread stands still at its beginning, the first
//! thread of a process (and, where that has ended, the others) once more at its end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use nearfar_sys::{
    Change, MappingDetails, first_change_of, interrupt, is_thread_of, leave_stopped,
    mapping_details, process_of_task, resume, stop_at_end, task_pages,
};

use crate::pinning::PinnedThreads;
use crate::process_family::MAX_PROCESSES;
use crate::program_memory::{Census, CountMethod, FileKinds, ProcessMemory, total};
use crate::report::ReportedProcess;
use crate::seen_threads::SeenThreads;

/// Bits of a file's mode by which a program takes its owner's or group's rights.
const TAKES_RIGHTS: u32 = libc::S_ISUID | libc::S_ISGID;
/// Memory of processes that are listed.
const LEAST_BYTES: u64 = 1 << 20;

/// What is known of a followed program.
#[derive(Debug)]
pub(crate) struct Follower {
    /// The processes of living threads.
    threads: HashMap<u32, u32>,
    /// The living threads of processes whose first thread has ended.
    leaderless: HashMap<u32, HashSet<u32>>,
    pub pinned: Option<PinnedThreads>,
    /// This process's user; that nobody knows is a user without rights.
    uid: u32,
    /// Programs that were started and did not get their owner's rights.
    pub without_rights: BTreeSet<String>,
    /// Processes with memory worth a line, and how many more there were.
    pub counted: BTreeMap<u32, ReportedProcess>,
    pub uncounted: usize,
    file_kinds: FileKinds,
    /// Its pages go to several nodes in turn, which whole huge pages do only about.
    is_interleaved: bool,
}

impl Follower {
    pub fn new(program: u32, pinned: Option<PinnedThreads>, is_interleaved: bool) -> Self {
        Self {
            threads: [(program, program)].into(),
            leaderless: HashMap::new(),
            pinned,
            uid: fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid()),
            without_rights: BTreeSet::new(),
            counted: BTreeMap::new(),
            uncounted: 0,
            file_kinds: FileKinds::default(),
            is_interleaved,
        }
    }

    /// How many threads live.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = u32> {
        self.threads.keys().copied()
    }

    /// Deals with a change. Of what fails here the process is gone, which is heard of next.
    pub fn take(
        &mut self,
        change: Change,
        census: &mut Census,
        seen: &mut SeenThreads,
        at: Duration,
    ) {
        match change {
            Change::Started { pid, started, is_process } => {
                let parent = self.threads.get(&pid).copied().unwrap_or(pid);
                let is_process = is_process || !is_thread_of(parent, started);
                // It goes on first: what it started stands still at its beginning without it.
                resume(pid, 0).ok();
                if self.threads.contains_key(&started) {
                    return;
                }
                // In most cases that is still to come.
                match first_change_of(started) {
                    Ok(Some(Change::Halted { .. } | Change::Stopped { .. })) => {
                        let process = if is_process { started } else { parent };
                        self.welcome(started, process, Some(pid), seen);
                        resume(started, 0).ok();
                    }
                    // The one that started it has ended its process: it must not be left standing.
                    Ok(Some(change)) => self.take(change, census, seen, at),
                    Ok(None) | Err(_) => {}
                }
            }
            Change::Ending { pid } => {
                self.part(pid, census, at);
                resume(pid, 0).ok();
            }
            Change::Executed { pid, before } => {
                self.begin_anew(pid, before);
                seen.rename(pid);
                resume(pid, 0).ok();
            }
            Change::Stopped { pid, signal } => {
                match self.threads.get(&pid) {
                    None => {
                        if let Some(process) = process_of_task(Path::new("/"), pid) {
                            self.welcome(pid, process, None, seen);
                        }
                    }
                    Some(process) if self.leaderless.contains_key(process) => {
                        _ = stop_at_end(pid, true).ok();
                    }
                    Some(_) => {}
                }
                resume(pid, signal).ok();
            }
            Change::Halted { pid, .. } => _ = leave_stopped(pid).ok(),
            Change::Ended { pid, .. } => {
                if let Some(process) = self.threads.remove(&pid) {
                    self.leave(pid, process);
                }
                census.forget(pid);
            }
        }
    }

    /// Takes in a thread that stands still at its beginning, where known with the one that started it.
    fn welcome(&mut self, tid: u32, process: u32, starter: Option<u32>, seen: &mut SeenThreads) {
        self.threads.insert(tid, process);
        let others = self.leaderless.get_mut(&process);
        // It begins as the one that started it.
        stop_at_end(tid, tid == process || others.is_some()).ok();
        if let Some(others) = others {
            others.insert(tid);
        }
        if let Some(pinned) = &mut self.pinned {
            if tid == process { pinned.free_process(process) } else { pinned.pin(process, tid) }
        }
        seen.welcome(process, tid, starter);
    }

    /// The first thread of a process is about to end, or the last of one whose first has ended: the
    /// process's memory is counted.
    fn part(&mut self, tid: u32, census: &mut Census, at: Duration) {
        let Some(process) = self.threads.remove(&tid) else { return };
        if tid == process {
            self.watch_others(process);
        }
        self.leave(tid, process);
        if tid != process && self.leaderless.contains_key(&process) {
            return;
        }
        // One that nobody may look into is not counted, and its last look stays.
        let root = Path::new("/");
        let Ok(mut mappings) = task_pages(root, process, tid) else { return };
        self.file_kinds.classify(root, process, tid, &mut mappings);
        let mut alone = ProcessMemory::of(&mappings, None);
        let mut memory = alone.clone();
        // Of what is little it does not matter whose it is.
        let is_in_common = mappings.iter().any(|mapping| mapping.is_mapped_twice);
        if (is_in_common || self.is_interleaved) && total(&memory.own) >= LEAST_BYTES {
            let details = mapping_details(root, process, tid).unwrap_or_default();
            memory = ProcessMemory::of(&mappings, Some(&details));
            let with_huge_pages = details.with_huge_pages;
            let details = MappingDetails { with_huge_pages, ..MappingDetails::default() };
            alone = ProcessMemory::of(&mappings, Some(&details));
        }
        self.list(process, &memory, at);
        // The others were counted at other times, when more or fewer had the same pages.
        let is_in_common = alone.bytes().saturating_sub(memory.bytes()) >= LEAST_BYTES;
        census.count(process, memory);
        match is_in_common {
            true => census.remember_one(CountMethod::AtEnd, at, alone),
            false => census.remember(CountMethod::AtEnd, at),
        }
        if !self.leaderless.contains_key(&process) {
            census.forget(process);
        }
    }

    /// The first thread of a process ends: where others go on, they tell of their ends from now on.
    fn watch_others(&mut self, process: u32) {
        let folder = format!("/proc/{process}/task");
        let tids = fs::read_dir(folder).into_iter().flatten().flatten();
        let tids = tids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let others: HashSet<u32> =
            tids.filter(|&tid| tid != process && self.threads.contains_key(&tid)).collect();
        for &tid in &others {
            interrupt(tid).ok();
        }
        if !others.is_empty() {
            self.leaderless.insert(process, others);
        }
    }

    /// Forgets a thread that has ended.
    fn leave(&mut self, tid: u32, process: u32) {
        if let Some(pinned) = &mut self.pinned {
            pinned.forget(tid);
        }
        if let Some(others) = self.leaderless.get_mut(&process) {
            others.remove(&tid);
            if others.is_empty() {
                self.leaderless.remove(&process);
            }
        }
    }

    fn list(&mut self, process: u32, memory: &ProcessMemory, at: Duration) {
        if total(&memory.own) < LEAST_BYTES {
            return;
        }
        // One whose first thread ends before the others is counted twice: the last counts.
        if self.counted.len() >= MAX_PROCESSES && !self.counted.contains_key(&process) {
            self.uncounted += 1;
            return;
        }
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        let counted = ReportedProcess {
            process,
            name: name.trim_end().into(),
            at_seconds: at.as_secs_f64(),
            own_bytes_by_node: memory.own.clone(),
            largest_deviation: None,
        };
        self.counted.insert(process, counted);
    }

    /// A process has become another program: the thread that did it is its first and only one now,
    /// under its process's number. Of the others' ends is heard.
    fn begin_anew(&mut self, pid: u32, before: u32) {
        if before != pid && self.threads.remove(&before).is_some() {
            self.leave(before, pid);
        }
        self.threads.insert(pid, pid);
        self.leaderless.remove(&pid);
        stop_at_end(pid, true).ok();
        self.look_for_rights(pid);
    }

    /// A traced program does not get the rights of its file's owner, unless root traces it.
    fn look_for_rights(&mut self, pid: u32) {
        if self.uid == 0 {
            return;
        }
        let Ok(file) = fs::metadata(format!("/proc/{pid}/exe")) else {
            return;
        };
        if file.mode() & TAKES_RIGHTS != 0 && file.uid() != self.uid {
            let name = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            self.without_rights.insert(name.display().to_string());
        }
    }
}
