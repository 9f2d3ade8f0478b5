//! Looks at a program and its children: where their pages are, where their threads run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nearfar_machine::Machine;
use nearfar_record::ProfileLook;
use nearfar_sys::{process_pages, task_state, tasks};

use crate::process_family::family;
use crate::program_memory::mapped_bytes;

/// Time from the first look to the second.
const FIRST_INTERVAL: Duration = Duration::from_millis(10);

/// The longest time between looks, where looking is cheap.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);

/// Looking takes at most this part of the time: Linux stops the program's changes to its mappings
/// while it counts their pages.
const COST: u32 = 50;

/// A tick of proc(5), of which there are 100 in a second on every Linux that runs here.
const TICK_SECONDS: f64 = 0.01;

/// Looks at a program, one after the other.
#[derive(Debug)]
pub(crate) struct Looking {
    root: PathBuf,
    pid: u32,
    began: Instant,
    initiator_of: BTreeMap<u32, u32>,
    /// Ticks that each thread had used at the last look.
    ticks: BTreeMap<u32, u64>,
    /// Whether what threads used before the first look counts.
    counts_from_start: bool,
    interval: Duration,
    pub looks: Vec<ProfileLook>,
    /// The name of the program.
    pub name: Option<String>,
    /// Why pages could not be looked at, of the last look that failed.
    pub no_pages: Option<String>,
    /// Threads that were seen on CPUs of no known initiator.
    pub lost_threads: BTreeSet<u32>,
    /// Whether the kernel tells of children.
    pub sees_children: bool,
}

impl Looking {
    /// Begins to look at a process. What its threads used before counts only for a program that
    /// was started by us.
    pub fn new(root: &Path, pid: u32, machine: &Machine, counts_from_start: bool) -> Self {
        let initiators = machine.initiators();
        let initiator_of = initiators
            .iter()
            .flat_map(|initiator| initiator.cpus.iter().map(move |cpu| (cpu, initiator.index)))
            .collect();
        Self {
            root: root.into(),
            pid,
            began: Instant::now(),
            initiator_of,
            ticks: BTreeMap::new(),
            counts_from_start,
            interval: FIRST_INTERVAL,
            looks: Vec::new(),
            name: None,
            no_pages: None,
            lost_threads: BTreeSet::new(),
            sees_children: true,
        }
    }

    /// Time since looking began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The same in seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed().as_secs_f64()
    }

    /// Looks once; gives the time until the next look, `None` when the process has gone.
    pub fn look(&mut self) -> Option<Duration> {
        let at_seconds = self.seconds();
        let before = Instant::now();
        let mut look = ProfileLook {
            at_seconds,
            processes: 0,
            threads: 0,
            cpu_seconds: BTreeMap::new(),
            bytes: None,
        };
        for pid in self.family() {
            let Ok(threads) = tasks(&self.root, pid) else { continue };
            // A process that has ended and is not waited for has a task and no memory.
            if threads.is_empty() {
                continue;
            }
            look.processes += 1;
            for task in &threads {
                look.threads += 1;
                if pid == self.pid && task.tid == pid {
                    self.name = Some(task.name.clone());
                }
                let known = self.ticks.insert(task.tid, task.ticks);
                // A number that is used again begins anew.
                let known = known.filter(|&known| known <= task.ticks);
                let is_first = self.looks.is_empty() && !self.counts_from_start;
                let used = match known {
                    Some(known) => task.ticks - known,
                    None if is_first => 0,
                    None => task.ticks,
                };
                match self.initiator_of.get(&task.last_cpu) {
                    Some(&initiator) => {
                        let seconds = used as f64 * TICK_SECONDS;
                        *look.cpu_seconds.entry(initiator).or_default() += seconds;
                    }
                    None => {
                        self.lost_threads.insert(task.tid);
                    }
                }
            }
            self.add_pages(pid, &mut look);
        }
        if look.threads == 0 {
            return None;
        }
        self.looks.push(look);
        let interval = self.interval.max(before.elapsed() * COST);
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
        Some(interval)
    }

    fn add_pages(&mut self, pid: u32, look: &mut ProfileLook) {
        match process_pages(&self.root, pid) {
            Err(refusal) => self.no_pages = Some(refusal.to_string()),
            Ok(mappings) => {
                let bytes = look.bytes.get_or_insert_default();
                for (node, more) in mapped_bytes(&mappings) {
                    let known = bytes.entry(node).or_insert(0);
                    *known = known.saturating_add(more);
                }
            }
        }
    }

    fn family(&mut self) -> Vec<u32> {
        let (family, childless) = family(&self.root, self.pid);
        if childless.is_some() && task_state(&self.root, self.pid).is_some() {
            self.sees_children = false;
        }
        family
    }

    /// The threads that were seen last, by their numbers.
    pub fn threads_now(&mut self) -> Vec<u32> {
        let family = self.family();
        let of = |pid: &u32| tasks(&self.root, *pid).unwrap_or_default();
        family.iter().flat_map(of).map(|task| task.tid).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::all_cpus;
    use super::*;

    #[test]
    fn this_process_is_seen_with_its_pages_and_a_child() {
        let mut machine = all_cpus();
        let pid = std::process::id();
        let mut looking = Looking::new("/".as_ref(), pid, &machine, true);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let next = looking.look();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(next.is_some_and(|next| next >= FIRST_INTERVAL));
        let look = &looking.looks[0];
        assert!(look.threads >= 2, "{look:?}");
        assert!(look.bytes.as_ref().is_some_and(|bytes| bytes.values().sum::<u64>() > 0));
        // Other tests have children of this process at the same time.
        assert!(look.processes >= 2 || !looking.sees_children, "{look:?}");
        assert!(looking.name.is_some() && looking.lost_threads.is_empty());
        // On a machine without these CPUs no thread is anywhere.
        machine.nodes.clear();
        machine.cores.clear();
        let mut lost = Looking::new("/".as_ref(), pid, &machine, true);
        assert!(lost.look().is_some() && !lost.lost_threads.is_empty());
        assert!(lost.looks[0].cpu_seconds.is_empty());
    }

    #[test]
    fn nobody_is_seen_where_nobody_is() {
        let mut looking = Looking::new("/".as_ref(), u32::MAX, &all_cpus(), true);
        assert_eq!(looking.look(), None);
        assert!(looking.looks.is_empty());
    }
}
