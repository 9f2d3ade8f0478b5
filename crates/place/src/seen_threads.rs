//! The threads of a program that were seen, and on which CPUs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use nearfar_machine::CpuSet;
use nearfar_sys::{Task, task_cpus};
use serde::Serialize;

/// Threads that are listed.
const MOST_THREADS: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenThread {
    pub process: u32,
    /// Its name when it was seen last.
    pub name: String,
    /// The CPUs that it could use when it was seen last.
    pub cpus_allowed: CpuSet,
    pub cpus_seen: CpuSet,
}

#[derive(Debug, Default)]
pub(crate) struct SeenThreads {
    threads: BTreeMap<u32, SeenThread>,
    unlisted: BTreeSet<u32>,
}

impl SeenThreads {
    /// Takes in a thread at its beginning: it has not run yet, and has the name of the one that started
    /// it. Entries below /proc cost as much as the start of a thread: they are not made for each.
    pub fn welcome(&mut self, process: u32, tid: u32, starter: Option<u32>) {
        if self.admits(tid) {
            let starter = starter.and_then(|starter| self.threads.get(&starter));
            let name = starter.map_or_else(|| name_of(tid), |starter| starter.name.clone());
            let cpus_allowed = task_cpus(tid).unwrap_or_default();
            let cpus_seen = CpuSet::new();
            self.threads.insert(tid, SeenThread { process, name, cpus_allowed, cpus_seen });
        }
    }

    /// A process has become another program.
    pub fn rename(&mut self, process: u32) {
        if let Some(thread) = self.threads.get_mut(&process) {
            thread.name = name_of(process);
        }
    }

    /// Counts a thread, and tells whether there is room for it in the list.
    fn admits(&mut self, tid: u32) -> bool {
        let is_admitted = self.threads.len() < MOST_THREADS || self.threads.contains_key(&tid);
        if !is_admitted {
            self.unlisted.insert(tid);
        }
        is_admitted
    }

    /// Takes a look at a process's threads into account.
    pub fn note(&mut self, process: u32, tasks: &[Task]) {
        for task in tasks {
            if !self.admits(task.tid) {
                continue;
            }
            let seen = self.threads.entry(task.tid).or_insert_with(|| SeenThread {
                process,
                name: String::new(),
                cpus_allowed: CpuSet::new(),
                cpus_seen: CpuSet::new(),
            });
            seen.name.clone_from(&task.name);
            seen.cpus_allowed = task.cpus.clone();
            seen.cpus_seen.insert(task.last_cpu);
        }
    }

    /// Those that are listed, and how many more there were.
    pub fn listed(self) -> (Vec<SeenThread>, usize) {
        (self.threads.into_values().collect(), self.unlisted.len())
    }
}

fn name_of(tid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{tid}/comm")).unwrap_or_default();
    name.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(tid: u32, last_cpu: u32, cpus: &str) -> Task {
        Task { tid, name: format!("t{tid}"), last_cpu, cpus: cpus.parse().unwrap(), ticks: 0 }
    }

    #[test]
    fn cpus_that_a_thread_was_seen_on_add_up() {
        let mut seen = SeenThreads::default();
        seen.note(1, &[task(1, 0, "0-3"), task(2, 1, "0-3")]);
        seen.note(1, &[task(1, 3, "0-3"), task(2, 1, "1")]);
        let (threads, unlisted) = seen.listed();
        let told: Vec<String> = threads
            .iter()
            .map(|it| format!("{} {} {}", it.name, it.cpus_allowed, it.cpus_seen))
            .collect();
        assert_eq!((told, unlisted), (vec!["t1 0-3 0,3".into(), "t2 1 1".into()], 0));
    }

    #[test]
    fn a_flood_of_threads_is_counted_once_each() {
        let mut seen = SeenThreads::default();
        let tasks: Vec<Task> = (1..=5000).map(|tid| task(tid, 0, "0")).collect();
        seen.note(1, &tasks);
        seen.note(1, &tasks);
        let (threads, unlisted) = seen.listed();
        assert_eq!((threads.len(), unlisted), (MOST_THREADS, 5000 - MOST_THREADS));
    }
}
