//! Processes whose memory lies far from where they run, for people.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_place::{ListedNode, ListedProcess, PassedOver, ProcessList};
use nearfar_units::{Bytes, excerpt_of};

use super::figures::{count, percent_words};
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Processes, remedies and nodes that the first screen has room for.
const FIRST_PROCESSES: usize = 8;
const FIRST_MENDED: usize = 4;
const FIRST_NODES: usize = 4;

/// Nodes that a process's row names, those with most of its memory.
const NAMED_NODES: usize = 2;

/// The processes, the farthest from their memory first, and what mends them.
pub fn process_list_answer(list: &ProcessList) -> Answer {
    let mut answer = Answer::saying(sentence(list));
    if !list.processes.is_empty() {
        for (shown, nodes) in [(Shown::First, NAMED_NODES), (Shown::Full, usize::MAX)] {
            let table = processes(&list.processes, nodes);
            answer = answer.and(shown, Part::Table { table, first_rows: FIRST_PROCESSES });
        }
    }
    if list.far > 0 {
        let of = |shown, processes: &[ListedProcess]| {
            let heading = Part::words("", "What mends them, COMMAND being their own:");
            let parts = processes.iter().flat_map(move |it| mending(it, shown == Shown::Full));
            std::iter::once(heading).chain(parts).map(move |part| (shown, part)).collect::<Vec<_>>()
        };
        let first = &list.processes[..list.far.min(FIRST_MENDED)];
        answer = answer.and_gap();
        for (shown, part) in
            of(Shown::First, first).into_iter().chain(of(Shown::Full, &list.processes))
        {
            answer = answer.and(shown, part);
        }
        answer = answer.and_table(by_node(list), FIRST_NODES);
    }
    let passed = passed_over(&list.passed_over, list.least_far_bytes);
    let gap = (!passed.is_empty()).then_some(Part::Gap);
    let passed = passed.into_iter().map(|line| Part::words("", line));
    answer.and_all(Shown::Always, gap.into_iter().chain(passed))
}

/// Processes that may have much memory and were not looked at.
fn not_seen(passed: &PassedOver) -> usize {
    let hidden = usize::from(passed.are_others_hidden);
    passed.out_of_time + passed.not_permitted + passed.failed + hidden
}

fn sentence(list: &ProcessList) -> String {
    if let [node] = list.nodes.as_slice() {
        return format!("This machine has one memory node, {}: nothing is far.", node.node);
    }
    let seen = count(list.looked_at, "process");
    match list.far {
        0 if list.looked_at == 0 && not_seen(&list.passed_over) > 0 => {
            "Whether a process runs far from its memory is not known: none was looked at.".into()
        }
        0 => format!("No process runs far from its memory: {seen} looked at."),
        far => {
            let bytes: u64 = list.nodes.iter().map(|node| node.far_bytes).sum();
            let (have, they) = if far == 1 { ("has", "it runs") } else { ("have", "they run") };
            format!("{far} of {seen} {have} {} far from where {they}.", Bytes(bytes))
        }
    }
}

fn processes(listed: &[ListedProcess], nodes: usize) -> Table {
    let columns = ["PID", "user", "far", "of all", "memory by node", "on nodes", "program"];
    let row = |process: &ListedProcess| {
        let far: u64 = process.far_bytes_by_node.values().sum();
        vec![
            Cell::text(process.pid),
            Cell::text(shortened(&process.user, 8)),
            if far > 0 { Cell::text(Bytes(far)) } else { Cell::Empty },
            if far > 0 { Cell::text(percent_words(process.far_share)) } else { Cell::Empty },
            Cell::text(memory(&process.bytes_by_node, nodes)),
            Cell::text(&process.running_on),
            Cell::text(program(process)),
        ]
    };
    Table::new("", columns.map(Column::words), listed.iter().map(row))
}

/// The nodes that hold most of it, at most this number, each with its share.
fn memory(by_node: &BTreeMap<u32, u64>, most: usize) -> String {
    let all = by_node.values().map(|&bytes| bytes as f64).sum::<f64>();
    let mut nodes: Vec<(u32, u64)> = by_node.iter().map(|(&node, &bytes)| (node, bytes)).collect();
    nodes.sort_by_key(|&(node, bytes)| (Reverse(bytes), node));
    let of = |&(node, bytes): &(u32, u64)| format!("{node}: {:.0} %", 100.0 * bytes as f64 / all);
    let named: Vec<String> = nodes.iter().take(most).map(of).collect();
    named.join(", ") + if nodes.len() > most { " .." } else { "" }
}

/// With a plus sign for what does not fit, as ps(1) has it.
fn shortened(word: &str, most: usize) -> String {
    if word.chars().count() <= most {
        return word.into();
    }
    word.chars().take(most - 1).chain(['+']).collect()
}

/// Its name without folders and arguments.
fn program(process: &ListedProcess) -> String {
    let path = process.command.first().map_or("", String::as_str);
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path);
    shortened(name, 13)
}

/// The commands that mend a process; with all, its own too.
fn mending(process: &ListedProcess, all: bool) -> Vec<Part> {
    let Some(mending) = &process.mending else { return Vec::new() };
    let pid = format!("{:>7}  ", process.pid);
    let now = match (&mending.now, mending.needs_package, &mending.not_now) {
        (Some(_), Some(package), _) => {
            format!("now (of the package {package}), and at its next start:")
        }
        (Some(_), None, _) => "now, and at its next start:".into(),
        (None, _, why) => {
            format!("nothing now: {}; at its next start:", why.as_deref().unwrap_or("not known"))
        }
    };
    let whose = all.then(|| {
        let command = excerpt_of(&process.command.join(" "), 400);
        let cpus = (&process.cpus_last, &process.cpus_allowed);
        let threads = count(process.threads, "thread");
        let ran = format!("{command}, {threads}, last on CPUs {}, may use {}", cpus.0, cpus.1);
        Part::words(pid.clone(), ran)
    });
    let first = if all { " ".repeat(pid.len()) } else { pid.clone() };
    let indent = " ".repeat(pid.len() + 2);
    let commands = mending.now.iter().chain([&mending.next_start]);
    let commands = commands.map(|command| Part::Lines(format!("{indent}{command}")));
    whose.into_iter().chain([Part::words(first, now)]).chain(commands).collect()
}

fn by_node(list: &ProcessList) -> Table {
    let columns = ["node", "CPUs near it", "memory of processes", "far from them"];
    let row = |node: &ListedNode| {
        vec![
            Cell::text(node.node),
            if node.cpus.is_empty() { Cell::Empty } else { Cell::text(&node.cpus) },
            Cell::text(Bytes(node.bytes)),
            Cell::text(Bytes(node.far_bytes)),
        ]
    };
    let mut nodes: Vec<&ListedNode> = list.nodes.iter().collect();
    nodes.sort_by_key(|node| (Reverse(node.far_bytes), node.node));
    Table::new("", columns.map(Column::words), nodes.into_iter().map(row))
}

/// What was not looked at, and how it is.
fn passed_over(passed: &PassedOver, least: u64) -> Vec<String> {
    let mut lines = Vec::new();
    if passed.not_permitted > 0 {
        let which = count(passed.not_permitted, "process");
        lines.push(match passed.is_root {
            true => format!("{which} could not be looked into: that takes CAP_SYS_PTRACE here."),
            false => format!(
                "{which} of other users could not be looked into: sudo nearfar ps sees all."
            ),
        });
    }
    if passed.are_others_hidden {
        lines.push("/proc hides the processes of other users: sudo nearfar ps sees all.".into());
    }
    if passed.out_of_time > 0 {
        lines.push(format!(
            "{} with {} were left when the time was over: --budget gives more.",
            count(passed.out_of_time, "process"),
            Bytes(passed.out_of_time_bytes)
        ));
    }
    if let Some(why) = &passed.first_failure {
        let failed = count(passed.failed, "process");
        lines.push(format!("{failed} could not be looked at: {}.", why));
    }
    if passed.small > 0 {
        lines.push(format!(
            "{} with less than {} passed over: --all lists them.",
            count(passed.small, "process"),
            Bytes(least)
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use nearfar_place::Mending;

    use super::*;
    use crate::answer::Room;

    fn process(pid: u32) -> ListedProcess {
        ListedProcess {
            pid,
            user: "a-long-user-name".into(),
            command: ["/opt/\u{1b}[2Jsome/where/solver-of-all", "--input", "x y"]
                .map(Into::into)
                .into(),
            bytes_by_node: [(0, 3 << 30), (1, 90 << 30), (7, 1 << 30)].into(),
            threads: 3,
            cpus_allowed: "0-255".parse().unwrap(),
            cpus_last: "0-2,77".parse().unwrap(),
            running_on: "0-1".parse().unwrap(),
            far_bytes_by_node: [(1, 88 << 30)].into(),
            far_share: 0.94,
            is_far: true,
            mending: Some(Mending {
                now: Some(format!("taskset -a -c -p 0-3 {pid}")),
                needs_package: Some("util-linux"),
                not_now: None,
                next_start: "nearfar run --placement local:0 -- COMMAND".into(),
            }),
        }
    }

    fn list(processes: u32) -> ProcessList {
        let node = |node| ListedNode {
            node,
            cpus: "0-15,128-143".parse().unwrap(),
            bytes: 700 << 30,
            far_bytes: u64::from(node) << 33,
        };
        ProcessList {
            schema: "nearfar.ps/1",
            nodes: (0..64).map(node).collect(),
            processes: (1..=processes).map(|number| process(4_000_000 + number)).collect(),
            looked_at: 200,
            far: processes as usize,
            passed_over: PassedOver {
                small: 1200,
                not_permitted: 31,
                is_root: false,
                are_others_hidden: true,
                out_of_time: 4,
                out_of_time_bytes: 9 << 30,
                failed: 2,
                first_failure: Some("/proc/7/numa_maps: 'x' is not a count".into()),
            },
            least_far_bytes: 16 << 20,
            least_far_share: 0.1,
        }
    }

    #[test]
    fn the_first_screen_is_one_and_the_rest_is_told_in_full() {
        let answer = process_list_answer(&list(100));
        let first = answer.text(Room { width: 80, full: false });
        let long = first.lines().filter(|line| line.chars().count() > 80).count();
        assert!(long == 0 && first.lines().count() <= 40, "{first}");
        assert!(first.starts_with("100 of 200 processes have "), "{first}");
        assert!(first.contains("1: 96 %, 0: 3 % .."), "{first}");
        let full = answer.text(Room { width: 80, full: true });
        assert!(full.contains("1: 96 %, 0: 3 %, 7: 1 %") && !full.contains("% .."), "{full}");
        for pid in 4_000_001..=4_000_100 {
            assert!(full.contains(&format!("taskset -a -c -p 0-3 {pid}\n")), "{pid}: {full}");
        }
        assert!(!full.contains('\u{1b}') && full.contains("--input x y, 3 threads"), "{full}");
        for said in ["31 processes of other users", "4 processes with 9 GiB", "1200 processes"] {
            assert!(first.contains(said), "'{said}' is not in {first}");
        }
    }

    #[test]
    fn where_nothing_is_far_that_is_the_answer() {
        let none = process_list_answer(&list(0)).text(Room { width: 80, full: false });
        assert!(none.starts_with("No process runs far from its memory: 200 processes"), "{none}");
        let mut one = list(1);
        one.nodes.truncate(1);
        (one.far, one.passed_over) = (0, PassedOver::default());
        let named = process_list_answer(&one).text(Room { width: 80, full: true });
        one.processes.clear();
        let one = process_list_answer(&one).text(Room { width: 80, full: true });
        assert_eq!(one, "This machine has one memory node, 0: nothing is far.\n");
        assert!(named.starts_with(&one) && named.contains("4000001"), "{named}");
    }
}
