//! Running processes whose memory lies far from where they run.
//!
//! To look where the pages of a process are makes the kernel go over its page tables: the largest are
//! looked at first, and no more when the time for it is over.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use nearfar_machine::{CpuSet, Machine, NodeSet};
use nearfar_sys::{
    MappedPages, Refusal, Task, may_look_into, node_free_bytes, process_identity, process_numbers,
    process_pages, resident_bytes, task_pages, task_state, tasks, user_name,
};

use crate::far_memory::{FarMemory, Nearness};
use crate::listed_processes::{ListedNode, ListedProcess, NotListed, PassedOver, ProcessList};
use crate::mending::{Patient, memory_home};
use crate::program_memory::{mapped_bytes, total};

/// A process with less memory than this is passed over, and one with less of it far is fine: every
/// process has a few MiB of libraries wherever another has read them first.
const LEAST_BYTES: u64 = 16 << 20;

/// A smaller share of far memory is fine.
const LEAST_SHARE: f64 = 0.1;

/// Which processes are looked at, and for how long.
#[derive(Debug, Clone)]
pub struct ProcessQuestion {
    /// These alone, whatever they have; all where none are named.
    pub pids: Vec<u32>,
    /// Also those that are fine.
    pub all: bool,
    /// A look that has begun is ended.
    pub budget: Duration,
}

/// Looks at the running processes of this machine. `has_program` tells of what mends them.
///
/// # Errors
/// When /proc cannot be read, or one of the processes that are named is not there or may not be looked
/// into.
pub fn list_processes(
    root: &Path,
    machine: &Machine,
    question: &ProcessQuestion,
    has_program: &dyn Fn(&str) -> bool,
) -> Result<ProcessList, NotListed> {
    let end = Instant::now() + question.budget;
    let mut list = ProcessList::of(machine);
    if list.nodes.len() < 2 && question.pids.is_empty() {
        return Ok(list);
    }
    let nearness = Nearness::of(machine);
    let mut fine = Vec::new();
    for (pid, resident) in list.candidates(root, question)? {
        if Instant::now() >= end {
            list.passed_over.out_of_time += 1;
            list.passed_over.out_of_time_bytes += resident;
            continue;
        }
        let process = match look(root, pid) {
            Ok(Some(pages)) => listed(root, pid, &pages, machine, &nearness, has_program),
            Ok(None) => None,
            Err(refusal) if !question.pids.is_empty() => return Err(refusal.into()),
            Err(refusal) => {
                list.passed_over.failed += 1;
                list.passed_over.first_failure.get_or_insert(refusal.to_string());
                None
            }
        };
        // What has ended meanwhile has no memory.
        let Some(mut process) = process else { continue };
        if list.nodes.len() < 2 {
            process.lies_near();
        }
        list.count(&process);
        if process.is_far { &mut list.processes } else { &mut fine }.push(process);
    }
    list.far = list.processes.len();
    list.processes.sort_by_key(|process| Reverse(total(&process.far_bytes_by_node)));
    if question.all || !question.pids.is_empty() {
        fine.sort_by_key(|process: &ListedProcess| Reverse(total(&process.bytes_by_node)));
        list.processes.append(&mut fine);
    }
    Ok(list)
}

impl ProcessList {
    fn of(machine: &Machine) -> Self {
        let nodes = machine.nodes.iter().filter(|node| node.has_memory());
        let nodes = nodes.map(|node| ListedNode {
            node: node.os_index,
            cpus: machine.cpus_near(node),
            bytes: 0,
            far_bytes: 0,
        });
        Self {
            schema: "nearfar.ps/1",
            nodes: nodes.collect(),
            processes: Vec::new(),
            looked_at: 0,
            far: 0,
            passed_over: PassedOver::default(),
            least_far_bytes: LEAST_BYTES,
            least_far_share: LEAST_SHARE,
        }
    }

    /// Who is to be looked at, with the memory that the kernel's counters tell, the largest first.
    fn candidates(
        &mut self,
        root: &Path,
        question: &ProcessQuestion,
    ) -> Result<Vec<(u32, u64)>, NotListed> {
        let mut found = Vec::new();
        let pids = match question.pids.as_slice() {
            [] => process_numbers(root)?,
            pids => pids.to_vec(),
        };
        let is_named = !question.pids.is_empty();
        // The first process is everybody's to see, but where /proc hides what is not one's own.
        self.passed_over.are_others_hidden = task_state(root, 1).is_none();
        let own = process_identity(root, std::process::id());
        self.passed_over.is_root = own.is_some_and(|own| own.uid == 0);
        for pid in pids.into_iter().filter(|&pid| is_named || pid != std::process::id()) {
            let resident = resident_bytes(root, pid).unwrap_or(0);
            let is_large = resident >= LEAST_BYTES || question.all;
            match may_look_into(root, pid) {
                // The kernel's own have no memory.
                Ok(()) if resident == 0 && !is_named => {}
                Ok(()) if is_large || is_named => found.push((pid, resident)),
                Ok(()) => self.passed_over.small += 1,
                Err(error) if is_named => return Err(cannot_look(pid, &error)),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.passed_over.not_permitted += 1;
                }
                // It has ended.
                Err(_) => {}
            }
        }
        found.sort_by_key(|&(pid, resident)| (Reverse(resident), pid));
        Ok(found)
    }

    fn count(&mut self, process: &ListedProcess) {
        self.looked_at += 1;
        for node in &mut self.nodes {
            let of = |bytes: &BTreeMap<u32, u64>| bytes.get(&node.node).copied().unwrap_or(0);
            let (bytes, far) = (of(&process.bytes_by_node), of(&process.far_bytes_by_node));
            node.bytes = node.bytes.saturating_add(bytes);
            if process.is_far {
                node.far_bytes = node.far_bytes.saturating_add(far);
            }
        }
    }
}

fn cannot_look(pid: u32, error: &io::Error) -> NotListed {
    match error.kind() {
        io::ErrorKind::PermissionDenied => NotListed::NotPermitted(pid),
        io::ErrorKind::NotFound => NotListed::NoSuchProcess(pid),
        _ => NotListed::Refused(Refusal::File {
            action: "read",
            path: format!("/proc/{pid}/numa_maps"),
            reason: error.to_string(),
        }),
    }
}

/// The pages of a process; `None` where it has ended.
fn look(root: &Path, pid: u32) -> Result<Option<Vec<MappedPages>>, Refusal> {
    let pages = match task_pages(root, pid, pid) {
        // Another thread has the memory of one whose first thread has ended.
        Ok(pages) if pages.is_empty() => process_pages(root, pid),
        pages => pages,
    };
    match pages {
        Err(_) if task_state(root, pid).is_none_or(|state| state == 'Z') => Ok(None),
        pages => pages.map(Some),
    }
}

/// A process that has memory and threads; `None` where it has ended.
fn listed(
    root: &Path,
    pid: u32,
    pages: &[MappedPages],
    machine: &Machine,
    nearness: &Nearness,
    has_program: &dyn Fn(&str) -> bool,
) -> Option<ListedProcess> {
    let identity = process_identity(root, pid)?;
    let tasks = tasks(root, pid).ok()?;
    let bytes_by_node = mapped_bytes(pages);
    let cpu_time = cpu_time(&tasks);
    let far = nearness.far_memory(&cpu_time, &bytes_by_node)?;
    let home = nearness.initiator(far.home)?;
    let cpus_last: CpuSet = cpu_time.keys().copied().collect();
    let is_near = |cpus: &CpuSet| cpus.intersects(&cpus_last);
    let initiators = nearness.initiators.iter().filter(|own| is_near(&own.cpus));
    let running_on: NodeSet = initiators.filter_map(|own| machine.home_memory(own)).collect();
    let home_memory = machine.home_memory(home);
    let is_far = far.share >= LEAST_SHARE && total(&far.bytes) >= LEAST_BYTES;
    let in_common = tasks.iter().map(|task| task.cpus.clone());
    let in_common = in_common.reduce(|one, other| one.intersection(&other)).unwrap_or_default();
    let mending = is_far.then(|| {
        let cpus_of = |node| Some((node, machine.node(node)?.cpus.clone()));
        let patient = Patient {
            pid,
            far: &far,
            home_cpus: home.cpu_node,
            home_memory,
            cpus_allowed: &in_common,
            memory_allowed: identity.memory_allowed.as_ref(),
            running_on: &running_on,
            memory_home: memory_home(&bytes_by_node).and_then(cpus_of),
            free_at_home: home_memory.and_then(|node| node_free_bytes(root, node)),
        };
        patient.mending(has_program)
    });
    let FarMemory { bytes: far_bytes_by_node, share: far_share, .. } = far;
    Some(ListedProcess {
        pid,
        user: user_name(root, identity.uid).unwrap_or_else(|| identity.uid.to_string()),
        command: identity.command,
        bytes_by_node,
        threads: tasks.len(),
        cpus_allowed: tasks.iter().flat_map(|task| task.cpus.iter()).collect(),
        cpus_last,
        running_on,
        far_bytes_by_node,
        far_share,
        is_far,
        mending,
    })
}

/// The CPU time of threads by the CPU that each ran on last; where none is known yet, as if all had
/// had as much.
fn cpu_time(tasks: &[Task]) -> BTreeMap<u32, f64> {
    let ran = tasks.iter().any(|task| task.ticks > 0);
    let mut time = BTreeMap::new();
    for task in tasks.iter().filter(|task| !ran || task.ticks > 0) {
        *time.entry(task.last_cpu).or_default() += if ran { task.ticks as f64 } else { 1.0 };
    }
    time
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const GIB_PAGES: u64 = 1 << 18;

    /// A machine's files: two nodes with the CPUs 0-1 and 2-3, and processes with pages by node, and
    /// threads by ticks, last CPU and CPUs allowed.
    struct Recorded(TempDir);

    impl Recorded {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.process(1, [10, 0], &[(1, 0, "0-3")]);
            files
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn process(&self, pid: u32, pages: [u64; 2], threads: &[(u64, u32, &str)]) {
            let of = |name: &str| format!("proc/{pid}/{name}");
            let [zero, one] = pages;
            self.write(&of("statm"), &format!("9 {} 0 0 0 0 0\n", zero + one));
            self.write(&of("cmdline"), &format!("./work\0{pid}\0"));
            let maps = format!(
                "7f0000000000 default anon={0} dirty={0} N0={zero} N1={one} kernelpagesize_kB=4\n",
                zero + one
            );
            self.write(&of("numa_maps"), &maps);
            for (tid, (ticks, cpu, allowed)) in (pid..).zip(threads) {
                let mut fields = vec!["0".to_string(); 50];
                (fields[0], fields[11], fields[36]) =
                    ("S".into(), ticks.to_string(), cpu.to_string());
                let stat = format!("{tid} (work) {}\n", fields.join(" "));
                let status = format!(
                    "Name:\twork\nUid:\t1000 1000 1000 1000\nCpus_allowed_list:\t{allowed}\n\
                     Mems_allowed_list:\t0-1\n"
                );
                let folder = format!("proc/{pid}/task/{tid}");
                self.write(&format!("{folder}/numa_maps"), &maps);
                self.write(&format!("{folder}/maps"), "");
                for folder in [folder, format!("proc/{pid}")] {
                    self.write(&format!("{folder}/stat"), &stat);
                    self.write(&format!("{folder}/status"), &status);
                }
            }
        }

        fn list(
            &self,
            all: bool,
            pids: &[u32],
            budget: Duration,
        ) -> Result<ProcessList, NotListed> {
            let machine = nearfar_topology::parse_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
            let question = ProcessQuestion { pids: pids.to_vec(), all, budget };
            list_processes(self.0.path(), &machine, &question, &|_| true)
        }
    }

    const LONG: Duration = Duration::from_secs(3600);

    fn pids(list: &ProcessList) -> Vec<u32> {
        list.processes.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn the_farthest_come_first_and_those_that_are_fine_only_where_they_are_asked_for() {
        let machine = Recorded::new();
        machine.process(10, [GIB_PAGES, 2 * GIB_PAGES], &[(50, 0, "0-1"), (0, 3, "0-3")]);
        machine.process(11, [0, 4 * GIB_PAGES], &[(9, 1, "0-3")]);
        machine.process(12, [0, 4 * GIB_PAGES], &[(9, 2, "0-3"), (9, 3, "2-3")]);
        machine.process(13, [4 * GIB_PAGES, 0], &[(5, 1, "0-3"), (5, 2, "0-3")]);
        // Large enough to be looked at, and nearly all of it near.
        machine.process(14, [20 * GIB_PAGES, GIB_PAGES], &[(5, 1, "0-3")]);
        machine.process(std::process::id(), [0, 9 * GIB_PAGES], &[(5, 1, "0-3")]);
        let list = machine.list(false, &[], LONG).unwrap();
        assert_eq!(pids(&list), [11, 13, 10]);
        assert_eq!((list.looked_at, list.far, list.passed_over.small), (5, 3, 1));
        let [ten, thirteen] = [&list.processes[2], &list.processes[1]];
        assert_eq!(ten.far_bytes_by_node, [(1, 2 << 30)].into());
        assert!((ten.far_share - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!((ten.user.as_str(), ten.command.join(" ")), ("1000", "./work 10".into()));
        assert_eq!(
            (ten.cpus_allowed.to_string(), ten.cpus_last.to_string()),
            ("0-3".into(), "0".into())
        );
        assert_eq!((ten.running_on.to_string(), ten.threads), ("0".into(), 2));
        let mending = ten.mending.as_ref().unwrap();
        assert_eq!(mending.now.as_deref(), Some("nearfar move --pid 10 --files bind:0"));
        assert_eq!(thirteen.far_bytes_by_node, [(0, 2 << 30)].into());
        let spread = thirteen.mending.as_ref().unwrap().now.as_deref();
        assert_eq!(spread, Some("nearfar move --pid 13 --files interleave:0-1"));
        let far: Vec<u64> = list.nodes.iter().map(|node| node.far_bytes >> 30).collect();
        let bytes: Vec<u64> = list.nodes.iter().map(|node| node.bytes >> 30).collect();
        assert_eq!((far, bytes), (vec![2, 6], vec![25, 11]));
        let all = machine.list(true, &[], LONG).unwrap();
        assert_eq!(pids(&all), [11, 13, 10, 14, 12, 1]);
        assert!(all.processes[3..].iter().all(|it| !it.is_far && it.mending.is_none()));
    }

    #[test]
    fn processes_that_are_named_are_told_of_or_why_not() {
        let machine = Recorded::new();
        machine.process(12, [0, 4], &[(9, 2, "0-3")]);
        assert_eq!(pids(&machine.list(false, &[12], LONG).unwrap()), [12]);
        let refusal = machine.list(false, &[12, 77], LONG).unwrap_err().to_string();
        assert!(refusal.contains("no process 77"), "{refusal}");
    }

    #[test]
    fn when_the_time_is_over_the_smaller_ones_are_left_out_and_counted() {
        let machine = Recorded::new();
        machine.process(10, [GIB_PAGES, 0], &[(9, 2, "0-3")]);
        machine.process(11, [2 * GIB_PAGES, 0], &[(9, 2, "0-3")]);
        let list = machine.list(false, &[], Duration::ZERO).unwrap();
        assert_eq!((list.looked_at, list.passed_over.out_of_time), (0, 2));
        assert_eq!(list.passed_over.out_of_time_bytes, 3 << 30);
    }

    #[test]
    fn one_that_ends_meanwhile_or_is_damaged_does_not_stop_the_others() {
        let machine = Recorded::new();
        machine.process(10, [0, GIB_PAGES], &[(9, 0, "0-3")]);
        machine.process(11, [0, GIB_PAGES], &[(9, 0, "0-3")]);
        machine.process(12, [0, GIB_PAGES], &[(9, 0, "0-3")]);
        let path = |name: &str| machine.0.path().join(name);
        fs::remove_dir_all(path("proc/11/task")).unwrap();
        fs::remove_file(path("proc/11/stat")).unwrap();
        fs::write(path("proc/12/task/12/numa_maps"), "7f00 default N0=x\n").unwrap();
        let list = machine.list(false, &[], LONG).unwrap();
        assert_eq!(pids(&list), [10]);
        assert_eq!(list.passed_over.failed, 1);
        assert!(list.passed_over.first_failure.unwrap().contains("numa_maps"));
    }

    #[test]
    fn with_one_node_nothing_is_far_and_who_is_named_is_told() {
        let machine = nearfar_topology::parse_synthetic("pack:1 [numa] core:2 pu:1").unwrap();
        let mut question = ProcessQuestion { pids: Vec::new(), all: true, budget: LONG };
        let list = list_processes(Path::new("/"), &machine, &question, &|_| true).unwrap();
        assert_eq!((list.nodes.len(), list.looked_at), (1, 0));
        let recorded = Recorded::new();
        // In a container /proc may tell of nodes that /sys does not.
        recorded.process(10, [1, GIB_PAGES], &[(50, 0, "0-1")]);
        question.pids.push(10);
        let list = list_processes(recorded.0.path(), &machine, &question, &|_| true).unwrap();
        assert_eq!((pids(&list), list.looked_at, list.far), (vec![10], 1, 0));
        assert_eq!(list.processes[0].bytes_by_node[&1], 1 << 30);
        assert!(list.processes[0].far_bytes_by_node.is_empty());
    }
}
