//! What became of a program's placement, in words.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{CpuSet, NodeSet};
use nearfar_place::{
    CountMethod, PlacementVerdict, ReportedMemory, RunReport, SharedKind, Verdict, Verification,
    named,
};
use nearfar_units::Bytes;

use super::figures::{count, significant};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Nodes and notes that the first screen has room for.
const FIRST_NODES: usize = 16;
const FIRST_NOTES: usize = 4;

/// A look before this part of a program's time is told as an early one.
const EARLY: f64 = 0.1;

/// For people, at a program's end: whether its memory is where it was asked for, then what was seen.
pub fn run_answer(report: &RunReport) -> Answer {
    let mut answer = Answer::default();
    if let Some(verification) = &report.verification {
        let words = format!("{}: {}", report.placement, verification_words(verification));
        answer = answer.and(Shown::Always, Part::words("nearfar: ", words));
    }
    let words = format!("{}: {}", report.placement, memory_words(report));
    answer = answer.and(Shown::Always, Part::words("nearfar: ", words));
    if let Some(memory) = &report.memory {
        answer = answer
            .and_table(memory_table(memory), FIRST_NODES)
            .and(Shown::Always, Part::words("  ", parts(memory)));
    }
    let refused = report.refused.iter().map(|loss| Part::Words {
        first: "  refused: ".into(),
        words: loss.to_string(),
        emphasis: Emphasis::Caution,
    });
    let ran = threads(report).map(|words| Part::words("  ", words));
    let binding = Part::words("  ", format!("asked for {}", report.binding));
    let notes = report.notes.iter().map(|note| Part::words("  note: ", note));
    let left = report.notes.len().saturating_sub(FIRST_NOTES);
    let more =
        (left > 0).then(|| Part::words("  ", format!("{}: --full", count(left, "more note"))));
    answer
        .and_all(Shown::Always, farthest_process(report).map(|words| Part::words("  ", words)))
        .and_all(Shown::Always, ran.into_iter().chain([binding]).chain(refused))
        .and_all(Shown::First, notes.clone().take(FIRST_NOTES).chain(more))
        .and_all(Shown::Full, notes)
}

/// Whether it is where it was asked for, or where it is.
fn memory_words(report: &RunReport) -> String {
    let Some(memory) = &report.memory else {
        let why = report.memory_absent.as_deref().unwrap_or("nobody looked");
        return format!("where its memory was is not known: {why}");
    };
    let all = Bytes(memory.own_bytes_by_node.values().sum());
    let seen = describe_sighting(memory, report.seconds);
    let part = if memory.is_partial() { "a part alone was seen: " } else { "" };
    match &memory.verdict {
        Some(verdict) => {
            let found = describe_verdict(verdict, memory.asked_shares.as_ref());
            format!("{part}{found}; {seen}")
        }
        None => {
            let shares = memory.achieved_shares.iter();
            let most = shares.max_by(|one, other| one.1.total_cmp(other.1));
            let most =
                most.map(|(node, share)| format!(", {} of it on node {node}", percent(*share)));
            format!("{part}{all} of its own memory{}; {seen}", most.unwrap_or_default())
        }
    }
}

/// `NOT as asked: 2% of 154 MiB is on node 1`.
pub(crate) fn describe_verdict(
    verdict: &PlacementVerdict,
    asked: Option<&BTreeMap<u32, f64>>,
) -> String {
    let begin = if verdict.is_as_asked { "as asked" } else { "NOT as asked" };
    let bytes = &verdict.bytes_by_node;
    let all: u64 = bytes.values().copied().fold(0, u64::saturating_add);
    let share = |node: u32| bytes.get(&node).copied().unwrap_or_default() as f64 / all as f64;
    let asked: Vec<(u32, f64)> = asked
        .into_iter()
        .flatten()
        .map(|(node, share)| (*node, *share))
        .filter(|(_, share)| *share > 0.0)
        .collect();
    if let [(node, _)] = asked.as_slice() {
        return format!("{begin}: {} of {} is on node {node}", percent(share(*node)), Bytes(all));
    }
    let off = percent(verdict.largest_deviation);
    let nodes: NodeSet = asked.iter().map(|(node, _)| *node).collect();
    match verdict.undivided_page_bytes {
        Some(page) => format!(
            "{begin}, as near as pages of {} can be divided: {} over nodes {nodes}, off by {off}",
            Bytes(page),
            Bytes(all)
        ),
        None => {
            format!("{begin}: {} over nodes {nodes}, shares off by {off} at most", Bytes(all))
        }
    }
}

/// `seen 5.9 s of 7.4 s, 154 of 158 MiB at the peak`.
fn describe_sighting(memory: &ReportedMemory, ran: Option<f64>) -> String {
    let at = significant(memory.at_seconds, 3);
    let of = ran.map_or(String::new(), |ran| format!(" of {}", significant(ran, 3)));
    let seen = match memory.method {
        CountMethod::Seen => format!("seen at {at}{of} s"),
        CountMethod::AtEnd => format!("counted when a process ended, at {at}{of} s"),
    };
    // What it had later nobody has seen.
    let is_early = memory.method == CountMethod::Seen
        && ran.is_some_and(|ran| memory.at_seconds < EARLY * ran);
    let early = if is_early { ", early" } else { "" };
    let peak = match memory.mapped_bytes == memory.peak_bytes {
        true => format!("{} mapped, the peak", Bytes(memory.peak_bytes)),
        false => {
            // Of what was not looked at the kernel's counters have pages that copies have in common.
            let (all, part) = (Bytes(memory.peak_bytes), Bytes(memory.mapped_bytes));
            format!("{part} of at most {all} mapped at the peak")
        }
    };
    let processes = match memory.processes < memory.peak_processes && memory.is_partial() {
        true => format!(", {} of {}", memory.processes, count(memory.peak_processes, "process")),
        false => String::new(),
    };
    format!("{seen}{early}, {peak}{processes}")
}

fn farthest_process(report: &RunReport) -> Option<String> {
    let deviations = report.processes.iter().filter_map(|it| Some((it, it.largest_deviation?)));
    let (process, off) = deviations.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let all = report.processes.len() + report.processes_unlisted;
    Some(format!(
        "{} of 1 MiB and more counted at the end; farthest from what was asked: {} ({}), by {}",
        count(all, "process"),
        process.name,
        process.process,
        percent(off)
    ))
}

/// What else was mapped, by kind and node, and whether it counts.
fn parts(memory: &ReportedMemory) -> String {
    let mut said = count(memory.processes, "process");
    if memory.changed_file_bytes >= 1 << 20 {
        let bytes = Bytes(memory.changed_file_bytes);
        said += &format!("; {bytes} of files, changed in part, on nodes not known");
    }
    if !memory.shared.is_empty() || !memory.files.is_empty() {
        let shared = memory.shared.iter().map(|it| (shared_words(it.kind), &it.bytes_by_node));
        let of_files = |is_program: bool| {
            let mut files: BTreeMap<u32, u64> = BTreeMap::new();
            let of_kind = memory.files.iter().filter(|file| file.is_program == is_program);
            for (&node, &bytes) in of_kind.flat_map(|file| &file.bytes_by_node) {
                *files.entry(node).or_default() += bytes;
            }
            files
        };
        let (data, programs) = (of_files(false), of_files(true));
        let do_files_count = memory.verdict.as_ref().is_some_and(|verdict| verdict.do_files_count);
        let of_data = if do_files_count { "mapped files" } else { "mapped files, not counted" };
        let files = [(of_data, &data), ("program and libraries, not counted", &programs)];
        let files = files.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let parts: Vec<String> =
            shared.chain(files).map(|(what, bytes)| by_node(what, bytes)).collect();
        said += &format!("; {}", parts.join("; "));
    }
    said
}

fn by_node(what: &str, bytes: &BTreeMap<u32, u64>) -> String {
    let nodes: Vec<String> =
        bytes.iter().map(|(node, bytes)| format!("{} on node {node}", Bytes(*bytes))).collect();
    format!("{what}, {}", nodes.join(", "))
}

fn shared_words(kind: SharedKind) -> &'static str {
    match kind {
        SharedKind::SystemV => "shared memory of System V",
        SharedKind::Posix => "shared memory of POSIX (/dev/shm)",
        SharedKind::Tmpfs => "files in memory (tmpfs)",
        SharedKind::Memfd => "shared memory of memfd_create",
        SharedKind::Unnamed => "shared memory without a file",
        SharedKind::HugePages => "shared huge pages (hugetlbfs)",
    }
}

fn threads(report: &RunReport) -> Option<String> {
    // One that never ran while it was looked at was on none.
    let placed = || report.threads.iter().filter(|thread| !thread.cpus_seen.is_empty());
    let cpus: CpuSet = placed().flat_map(|thread| thread.cpus_seen.iter()).collect();
    let all = report.threads.len() + report.threads_unlisted;
    let named = named("CPU", &cpus);
    let of = match placed().count() {
        0 => String::new(),
        placed if placed == report.threads.len() => format!(" on {named}"),
        placed => format!(", {placed} of them on {named}"),
    };
    (all > 0).then(|| format!("{} seen{of}", count(all, "thread")))
}

fn memory_table(memory: &ReportedMemory) -> Table {
    let share = |shares: &BTreeMap<u32, f64>, node: &u32| {
        percent(shares.get(node).copied().unwrap_or_default())
    };
    let asked = |node: &u32| {
        memory.asked_shares.as_ref().map_or(Cell::Empty, |shares| Cell::text(share(shares, node)))
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
        vec![Cell::text(node), asked(node), Cell::text(found), Cell::text(Bytes(bytes))]
    };
    let columns = ["node", "asked", "found", "own memory"].map(Column::words);
    Table::new("", columns, nodes.iter().map(row))
}

/// Whether a placement makes a program faster.
pub(crate) fn verification_part(found: &Verification) -> Part {
    Part::words(" verified: ", verification_words(found))
}

fn verification_words(found: &Verification) -> String {
    let (low, high) = found.interval;
    let meaning = match found.verdict {
        Verdict::Faster => "the placement is faster",
        Verdict::Slower => "the placement is slower",
        Verdict::Same => "no difference that matters",
        Verdict::Undecided => "the times scatter too much to say which is faster",
    };
    format!(
        "{meaning}: {} s with it, {} s without, ratio {low:.3} to {high:.3} ({} rounds, 95 %)",
        significant(found.placed_median_seconds, 3),
        significant(found.default_median_seconds, 3),
        found.rounds
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
