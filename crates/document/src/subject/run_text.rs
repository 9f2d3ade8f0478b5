//! What became of a program's placement, in words.

use std::collections::BTreeSet;

use nearfar_machine::CpuSet;
use nearfar_place::{CountMethod, ReportedMemory, RunReport, Verdict, Verification};

use super::figures::{count, significant};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// For people, at a program's end.
pub fn run_text(report: &RunReport) -> String {
    let mut text = paragraph("nearfar: ", &format!("{}: {}", report.placement, report.binding));
    for loss in &report.refused {
        text += &paragraph(" refused: ", &printable(&loss.to_string()));
    }
    if let Some(why) = &report.memory_absent {
        text += &paragraph(" where its memory was is not known: ", &printable(why));
    }
    if let Some(memory) = &report.memory {
        text += &memory_table(memory);
        text += &paragraph(" ", &when(memory, report.seconds));
    }
    if let Some((process, deviation)) = report
        .processes
        .iter()
        .filter_map(|it| Some((it, it.largest_deviation?)))
        .max_by(|one, other| one.1.total_cmp(&other.1))
    {
        let all = report.processes.len() + report.processes_unlisted;
        let said = format!(
            "{} of 1 MiB and more counted at the end, farthest from what was asked: {} ({}) by {}",
            count(all, "process"),
            process.name,
            process.process,
            percent(deviation)
        );
        text += &paragraph(" ", &printable(&said));
    }
    text += &threads(report);
    if let Some(verification) = &report.verification {
        text += &verification_text(verification);
    }
    for note in &report.notes {
        text += &paragraph(" note: ", &printable(note));
    }
    text
}

fn when(memory: &ReportedMemory, ran: Option<f64>) -> String {
    let at = significant(memory.at_seconds, 3);
    let of = ran.map_or(String::new(), |ran| format!(" of {} s", significant(ran, 3)));
    let processes = count(memory.processes, "process");
    let mut said = match memory.method {
        CountMethod::Seen => format!("seen {at} s after its start{of}; {processes}"),
        CountMethod::AtEnd => format!("proven when a process ended, at {at} s{of}; {processes}"),
    };
    if memory.changed_file_bytes >= 1 << 20 {
        said += &format!(
            "; {} of changed file pages, nodes not known",
            mebibytes(memory.changed_file_bytes)
        );
    }
    if !memory.shared_bytes_by_node.is_empty() {
        let nodes: Vec<String> = memory
            .shared_bytes_by_node
            .iter()
            .map(|(node, bytes)| format!("{} on node {node}", mebibytes(*bytes)))
            .collect();
        said += &format!("; shared memory, not counted above: {}", nodes.join(", "));
    }
    said
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

fn threads(report: &RunReport) -> String {
    if report.threads.is_empty() {
        return String::new();
    }
    let seen: CpuSet = report.threads.iter().flat_map(|thread| thread.cpus_seen.iter()).collect();
    let all = report.threads.len() + report.threads_unlisted;
    paragraph(" ", &format!("{} seen on CPUs {seen}", count(all, "thread")))
}

fn memory_table(memory: &ReportedMemory) -> String {
    let share = |shares: &std::collections::BTreeMap<u32, f64>, node: &u32| {
        percent(shares.get(node).copied().unwrap_or_default())
    };
    let asked = |node: &u32| {
        memory.asked_shares.as_ref().map_or_else(|| "-".into(), |shares| share(shares, node))
    };
    let nodes: BTreeSet<u32> = memory
        .own_bytes_by_node
        .keys()
        .chain(memory.asked_shares.iter().flat_map(|shares| shares.keys()))
        .copied()
        .collect();
    let row = |node: &u32| {
        let bytes = memory.own_bytes_by_node.get(node).copied().unwrap_or_default();
        let found = share(&memory.achieved_shares, node);
        vec![node.to_string(), asked(node), found, format!("{} KiB", bytes / 1024)]
    };
    let header = ["node", "asked", "found", "own memory"].map(String::from).to_vec();
    table(header, nodes.iter().map(row).collect(), 0)
}

/// Whether a placement makes a program faster.
pub(crate) fn verification_text(found: &Verification) -> String {
    let (low, high) = found.interval;
    let meaning = match found.verdict {
        Verdict::Faster => "the placement is faster",
        Verdict::Slower => "the placement is slower",
        Verdict::Same => "no difference that matters",
        Verdict::Undecided => "the times scatter too much to say which is faster",
    };
    let said = format!(
        "{meaning}: {} s with it, {} s without, ratio {low:.3} to {high:.3} ({} rounds, 95 %)",
        significant(found.placed_median_seconds, 3),
        significant(found.default_median_seconds, 3),
        found.rounds
    );
    paragraph(" verified: ", &said)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
