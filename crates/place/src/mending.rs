//! What brings a process's memory and its threads together again.

use nearfar_machine::{CpuSet, NodeSet};
use serde::Serialize;

use crate::far_memory::FarMemory;

/// The share of CPU time or memory that counts as all of it.
const NEARLY_ALL: f64 = 0.9;

/// What mends a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mending {
    /// The command that mends it while it runs; null where there is none.
    pub now: Option<String>,
    /// The package of Debian and others whose program that needs, where this machine lacks it; else null.
    pub needs_package: Option<&'static str>,
    /// Why there is none; null where there is one.
    pub not_now: Option<String>,
    /// How it is started so that it does not come about again, with its own command in place of
    /// COMMAND.
    pub next_start: String,
}

/// What is known of a process and of the nodes that it could use.
#[derive(Debug)]
pub(crate) struct Patient<'a> {
    pub pid: u32,
    pub far: &'a FarMemory,
    /// The node with the CPUs on which it runs most.
    pub home_cpus: Option<u32>,
    /// The memory next to these CPUs.
    pub home_memory: Option<u32>,
    /// The CPUs that all of its threads may use.
    pub cpus_allowed: &'a CpuSet,
    /// The nodes on which its cpuset lets it have memory, where that is told.
    pub memory_allowed: Option<&'a NodeSet>,
    /// Where it runs: the nodes near to those CPUs.
    pub running_on: &'a NodeSet,
    /// The node with nearly all of its memory and the CPUs near that, where there is one.
    pub memory_home: Option<(u32, CpuSet)>,
    /// Bytes that are free on its home node, where that is told.
    pub free_at_home: Option<u64>,
}

impl Patient<'_> {
    /// What to do. Not every system has the programs that move what runs.
    pub fn mending(&self, has_program: impl Fn(&str) -> bool) -> Mending {
        let at_home = self.far.home_share >= NEARLY_ALL;
        let (next_start, now) = match (self.home_cpus, self.home_memory) {
            (Some(cpus), Some(memory)) if at_home => {
                (format!("nearfar run --placement local:{cpus} -- COMMAND"), self.now(memory))
            }
            _ => (
                format!("nearfar run --placement interleave:{} -- COMMAND", self.running_on),
                self.spread(),
            ),
        };
        let (now, not_now) = match now {
            Ok(command) => (Some(command), None),
            Err(why) => (None, Some(why)),
        };
        let needed = now.as_deref().and_then(|command| command.split(' ').next());
        let lacks = |program: &&str| *program == "taskset" && !has_program(program);
        let needs_package = needed.filter(lacks).map(|_| "util-linux");
        Mending { now, needs_package, not_now, next_start }
    }

    /// Its memory goes to all nodes that it runs on.
    fn spread(&self) -> Result<String, String> {
        let nodes = self.running_on;
        match self.memory_allowed.is_none_or(|allowed| nodes.is_subset(allowed)) {
            true => Ok(format!("nearfar move --pid {} --files interleave:{nodes}", self.pid)),
            false => Err(format!("its cpuset does not let it have memory on nodes {nodes}")),
        }
    }

    /// Its memory goes to its home, or where that has no room for what is far, it goes to its memory.
    fn now(&self, home: u32) -> Result<String, String> {
        let pid = self.pid;
        let far = self.far.bytes.values().copied().fold(0, u64::saturating_add);
        let is_allowed = self.memory_allowed.is_none_or(|nodes| nodes.contains(home));
        let has_room = self.free_at_home.is_none_or(|free| free > far);
        if is_allowed && has_room {
            return Ok(format!("nearfar move --pid {pid} --files bind:{home}"));
        }
        match &self.memory_home {
            Some((_, cpus)) if cpus.is_subset(self.cpus_allowed) && !cpus.is_empty() => {
                Ok(format!("taskset -a -c -p {cpus} {pid}"))
            }
            _ if is_allowed => Err(format!("node {home} has no room for it")),
            _ => Err(format!("its cpuset does not let it have memory on node {home}")),
        }
    }
}

/// The node with nearly all of this memory.
pub(crate) fn memory_home(bytes: &std::collections::BTreeMap<u32, u64>) -> Option<u32> {
    let all = bytes.values().map(|&bytes| bytes as f64).sum::<f64>();
    let most = bytes.iter().max_by_key(|(_, bytes)| **bytes)?;
    (*most.1 as f64 >= NEARLY_ALL * all).then_some(*most.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    struct Case {
        home_share: f64,
        cpus_allowed: &'static str,
        memory_allowed: Option<&'static str>,
        memory_home: Option<(u32, CpuSet)>,
        free: Option<u64>,
    }

    fn mending(case: Case, has_program: bool) -> Mending {
        let far = FarMemory {
            home: 0,
            home_share: case.home_share,
            bytes: [(1, 8 * GIB), (2, GIB / 8)].into(),
            share: 0.9,
        };
        let allowed = case.memory_allowed.map(|list| list.parse().unwrap());
        let patient = Patient {
            pid: 71,
            far: &far,
            home_cpus: Some(0),
            home_memory: Some(0),
            cpus_allowed: &case.cpus_allowed.parse().unwrap(),
            memory_allowed: allowed.as_ref(),
            running_on: &"0-1".parse().unwrap(),
            memory_home: case.memory_home,
            free_at_home: case.free,
        };
        patient.mending(|_| has_program)
    }

    #[test]
    fn pages_go_to_threads_or_threads_to_pages() {
        let at_1 = || Some((1, "2-3".parse().unwrap()));
        let case = |home_share, cpus_allowed, memory_allowed, free| Case {
            home_share,
            cpus_allowed,
            memory_allowed,
            memory_home: at_1(),
            free,
        };
        let pages = mending(case(1.0, "0-3", Some("0-1"), Some(9 * GIB)), true);
        assert_eq!(pages.now.as_deref(), Some("nearfar move --pid 71 --files bind:0"));
        assert_eq!(pages.next_start, "nearfar run --placement local:0 -- COMMAND");
        assert_eq!((pages.needs_package, &pages.not_now), (None, &None));
        let lacking = mending(case(1.0, "0-3", Some("1"), None), false);
        assert_eq!(lacking.now.as_deref(), Some("taskset -a -c -p 2-3 71"));
        assert_eq!(lacking.needs_package, Some("util-linux"));
        for (memory_allowed, free) in [(Some("0-1"), Some(GIB)), (Some("1"), Some(9 * GIB))] {
            let threads = mending(case(1.0, "0-3", memory_allowed, free), true);
            assert_eq!(threads.now.as_deref(), Some("taskset -a -c -p 2-3 71"));
            let pinned = mending(case(1.0, "0-1", memory_allowed, free), true);
            assert!(pinned.now.is_none() && pinned.not_now.is_some(), "{pinned:?}");
        }
        let spread = mending(case(0.5, "0-3", None, None), true);
        assert_eq!(spread.now.as_deref(), Some("nearfar move --pid 71 --files interleave:0-1"));
        let confined = mending(case(0.5, "0-3", Some("1"), None), true);
        assert!(confined.now.is_none() && confined.not_now.is_some(), "{confined:?}");
        assert_eq!(spread.next_start, "nearfar run --placement interleave:0-1 -- COMMAND");
    }

    #[test]
    fn the_home_of_memory_has_nearly_all_of_it() {
        assert_eq!(memory_home(&[(0, 5), (2, 95)].into()), Some(2));
        assert_eq!(memory_home(&[(0, 15), (2, 85)].into()), None);
        assert_eq!(memory_home(&[].into()), None);
    }
}
