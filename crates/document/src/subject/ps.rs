//! Processes whose memory lies far from where they run, for people.

use std::collections::BTreeMap;

use nearfar_place::{ListedProcess, PassedOver, ProcessList};
use nearfar_units::{Bytes, excerpt_of};

use super::figures::{count, percent_words};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table_with_numbers;

/// Processes and remedies that the first screen has room for.
const FIRST_PROCESSES: usize = 8;
const FIRST_MENDED: usize = 4;

/// Nodes that a process's row names, those with most of its memory.
const NAMED_NODES: usize = 2;

/// The processes for a terminal; all of them where that is asked for.
pub fn process_list_text(list: &ProcessList, full: bool) -> String {
    if let [node] = list.nodes.as_slice() {
        let said = format!("This machine has one memory node, {}: nothing is far.", node.node);
        return paragraph("", &said);
    }
    let mut text = paragraph("", &answer(list));
    let listed =
        if full { list.processes.len() } else { FIRST_PROCESSES.min(list.processes.len()) };
    if listed > 0 {
        text += &format!("\n{}", processes(&list.processes[..listed]));
    }
    if listed < list.processes.len() {
        let more = count(list.processes.len() - listed, "process");
        text += &paragraph(" ", &format!("{more} more: nearfar ps --full"));
    }
    let mended = if full { listed } else { FIRST_MENDED };
    text += &mending(list.processes.iter().take(mended));
    if list.far > 0 {
        text += &format!("\n{}", by_node(list));
    }
    let passed = passed_over(&list.passed_over, list.least_far_bytes);
    if !passed.is_empty() {
        text.push('\n');
    }
    text + &passed.iter().map(|line| paragraph("", line)).collect::<String>()
}

fn answer(list: &ProcessList) -> String {
    let seen = count(list.looked_at, "process");
    match list.far {
        0 => format!("No process runs far from its memory: {seen} looked at."),
        far => {
            let bytes: u64 = list.nodes.iter().map(|node| node.far_bytes).sum();
            let have = if far == 1 { "has" } else { "have" };
            format!("{far} of {seen} {have} {} far from where they run.", Bytes(bytes))
        }
    }
}

fn processes(listed: &[ListedProcess]) -> String {
    let header = ["PID", "user", "far", "of all", "memory by node", "ran on", "command"];
    let row = |process: &ListedProcess| {
        let far: u64 = process.far_bytes_by_node.values().sum();
        vec![
            process.pid.to_string(),
            excerpt_of(&printable(&process.user), 8),
            if far > 0 { Bytes(far).to_string() } else { "-".into() },
            percent_words(process.far_share),
            memory(&process.bytes_by_node),
            ran_on(process),
            excerpt_of(&printable(&process.command.join(" ")), 24),
        ]
    };
    let rows = listed.iter().map(row).collect();
    table_with_numbers(header.map(String::from).into(), rows, 0..1)
}

/// On the nodes with most of it.
fn memory(by_node: &BTreeMap<u32, u64>) -> String {
    let mut nodes: Vec<(u32, u64)> = by_node.iter().map(|(&node, &bytes)| (node, bytes)).collect();
    nodes.sort_by_key(|&(node, bytes)| (std::cmp::Reverse(bytes), node));
    let of = |&(node, bytes): &(u32, u64)| format!("{node}: {}", Bytes(bytes));
    let named: Vec<String> = nodes.iter().take(NAMED_NODES).map(of).collect();
    let more = if nodes.len() > NAMED_NODES { ", .." } else { "" };
    named.join(", ") + more
}

fn ran_on(process: &ListedProcess) -> String {
    let cpus = process.cpus_last.to_string();
    let nodes = match &process.running_on {
        nodes if nodes.len() == 1 => format!("node {nodes}"),
        nodes => format!("nodes {nodes}"),
    };
    match cpus.len() {
        1..=7 => format!("CPU {cpus}, {nodes}"),
        _ => nodes,
    }
}

fn mending<'a>(processes: impl Iterator<Item = &'a ListedProcess>) -> String {
    let mut text = String::new();
    for process in processes {
        let Some(mending) = &process.mending else { continue };
        let now = match (&mending.now, mending.needs_package, &mending.not_now) {
            (Some(command), Some(package), _) => format!("{command}  (of the package {package})"),
            (Some(command), None, _) => command.clone(),
            (None, _, why) => format!("- ({})", why.as_deref().unwrap_or("nothing helps")),
        };
        let pid = format!("{:>7}", process.pid);
        text += &paragraph(&format!("{pid}  now         "), &now);
        text += &paragraph("         next start  ", &mending.next_start);
    }
    if text.is_empty() { text } else { format!("\nWhat mends them:\n{text}") }
}

fn by_node(list: &ProcessList) -> String {
    let header = ["node", "CPUs near it", "memory of these processes", "far from them"];
    let row = |node: &nearfar_place::ListedNode| {
        vec![
            node.node.to_string(),
            if node.cpus.is_empty() { "-".into() } else { node.cpus.to_string() },
            Bytes(node.bytes).to_string(),
            Bytes(node.far_bytes).to_string(),
        ]
    };
    let rows = list.nodes.iter().map(row).collect();
    table_with_numbers(header.map(String::from).into(), rows, 2..4)
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
        lines.push(format!("{failed} could not be looked at: {}.", printable(why)));
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
