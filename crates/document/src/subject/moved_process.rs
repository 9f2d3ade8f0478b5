//! What became of a process whose memory was moved, for people.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_place::{MovedProcess, WhyStayed};
use nearfar_units::{Bytes, BytesPerSecond, excerpt_of};

use super::figures::{count, percent_words};
use super::run::describe_verdict;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Nodes that the first screen has room for.
const FIRST_NODES: usize = 16;

/// Whether it is where it was asked for, by node before and after, and what stayed.
///
/// With where it runs as what to ask next where there are several `nodes` with memory that may be used.
pub fn moved_process_answer(moved: &MovedProcess, nodes: usize) -> Answer {
    let one =
        (nodes < 2).then(|| "this machine has one memory node: there is no other".to_string());
    let lines = lines(moved).into_iter().chain(one).map(|line| Part::words("  ", line));
    let answer = Answer::saying(sentence(moved))
        .and_table(by_node(moved), FIRST_NODES)
        .and_all(Shown::Always, lines);
    let command = format!("nearfar ps --pid {}", moved.pid);
    match nodes {
        0 | 1 => answer,
        _ => answer.and_next([(command.as_str(), "where it runs, and what of its memory is far")]),
    }
}

fn sentence(moved: &MovedProcess) -> String {
    let program = moved.command.first().map_or("", String::as_str);
    let program = excerpt_of(program.rsplit('/').next().unwrap_or(program), 40);
    let who = format!("{}: process {} ({program})", moved.placement, moved.pid);
    match (moved.undone, &moved.verdict) {
        (Some(_), _) if moved.before_bytes_by_node.is_none() => {
            format!("{who}: interrupted before anything was moved.")
        }
        (Some(undone), _) => format!("{who}: interrupted; {undone}."),
        (None, None) => format!("{who}: it has no memory."),
        (None, Some(verdict)) => {
            let nothing = match moved.is_as_asked() && moved.moved_bytes == 0 {
                true => "nothing to move, ",
                false => "",
            };
            let part = if moved.is_partial { "a part alone is known: " } else { "" };
            let found = describe_verdict(verdict, Some(&moved.asked_shares));
            format!("{who}: {nothing}{part}{found}.")
        }
    }
}

fn by_node(moved: &MovedProcess) -> Table {
    let before = moved.before_bytes_by_node.as_ref();
    let nodes: BTreeSet<u32> = before
        .into_iter()
        .chain([&moved.bytes_by_node])
        .flat_map(|bytes| bytes.keys().copied())
        .chain(moved.asked_shares.keys().copied())
        .collect();
    let of = |bytes: &BTreeMap<u32, u64>, node: &u32| bytes.get(node).copied().unwrap_or_default();
    let all = moved.bytes_by_node.values().map(|&bytes| bytes as f64).sum::<f64>().max(1.0);
    let row = |node: &u32| {
        let now = of(&moved.bytes_by_node, node);
        vec![
            Cell::text(node),
            Cell::text(before.map_or("?".into(), |before| Bytes(of(before, node)).to_string())),
            Cell::text(Bytes(now)),
            Cell::text(percent_words(now as f64 / all)),
            Cell::text(percent_words(moved.asked_shares.get(node).copied().unwrap_or_default())),
        ]
    };
    let columns = ["node", "before", "now", "share", "asked"].map(Column::words);
    Table::new("", columns, nodes.iter().map(row))
}

fn lines(moved: &MovedProcess) -> Vec<String> {
    let mut lines = Vec::new();
    if moved.moved_bytes > 0 {
        let rate = BytesPerSecond(moved.moved_bytes as f64 / moved.seconds.max(f64::MIN_POSITIVE));
        let most = BytesPerSecond(moved.most_bytes_per_second);
        lines.push(format!("{} moved at {rate} (--rate {most})", Bytes(moved.moved_bytes)));
    }
    if moved.threads > 0 {
        lines.push(format!("{} given the placement's CPUs", count(moved.threads, "thread")));
    }
    if moved.shared_bytes > 0 {
        lines.push(format!(
            "{} stayed: other processes map it too (children that share its pages, say)",
            Bytes(moved.shared_bytes)
        ));
    }
    if let Some(bytes) = moved.swapped_bytes.filter(|&bytes| bytes > 0) {
        lines.push(format!("{} is swapped out, on no node, and was not moved", Bytes(bytes)));
    }
    if moved.undone.is_none() {
        let mut explained = 0;
        for stayed in &moved.stayed {
            explained += stayed.bytes;
            lines.push(format!("{} stayed: {}", Bytes(stayed.bytes), why_words(stayed.why)));
        }
        let later = moved.astray_bytes.saturating_sub(explained);
        if later > 0 {
            lines.push(format!("{} came meanwhile, where its policy puts it", Bytes(later)));
        }
    }
    if moved.unknown_bytes > 0 {
        lines.push(format!(
            "{} is on nodes that the kernel does not tell: NUMA balancing (Linux 6.1 to 6.5) has marked \
             it; try again while the program uses it",
            Bytes(moved.unknown_bytes)
        ));
    }
    lines.extend(moved.notes.iter().map(|note| format!("note: {note}")));
    lines
}

fn why_words(why: WhyStayed) -> &'static str {
    match why {
        WhyStayed::NoRoom => "its node has no room (numactl -H)",
        WhyStayed::NoMemory => "its node is gone or has no memory (numactl -H)",
        WhyStayed::Mapped | WhyStayed::Locked => "it lies together with what other processes map",
        WhyStayed::Dirty | WhyStayed::KeptInMemory | WhyStayed::Held => {
            "the kernel or a device holds it; try again"
        }
    }
}

#[cfg(test)]
mod tests {
    use nearfar_place::{PlacementVerdict, StayedPages, UndoneMove};

    use super::*;
    use crate::answer::Room;

    fn verdict(is_as_asked: bool) -> PlacementVerdict {
        let one = if is_as_asked { 4 << 30 } else { 1 << 30 };
        PlacementVerdict {
            is_as_asked,
            bytes_by_node: [(0, 4 << 30), (1, one)].into(),
            largest_deviation: if is_as_asked { 0.0 } else { 0.3 },
            do_files_count: false,
            undivided_page_bytes: None,
        }
    }

    fn moved() -> MovedProcess {
        MovedProcess {
            schema: "nearfar.move/1",
            pid: 4711,
            command: vec!["/opt/\u{1b}[2Jsolver".into(), "-x".into()],
            placement: "interleave:0-1".into(),
            asked_shares: [(0, 0.5), (1, 0.5)].into(),
            before_bytes_by_node: Some([(0, 8 << 30)].into()),
            bytes_by_node: [(0, 4 << 30), (1, 4 << 30)].into(),
            unknown_bytes: 0,
            astray_bytes: 0,
            stayed: Vec::new(),
            swapped_bytes: Some(0),
            shared_bytes: 3 << 20,
            moved_bytes: 4 << 30,
            seconds: 2.2,
            most_bytes_per_second: 2e9,
            threads: 2,
            verdict: Some(verdict(true)),
            is_partial: false,
            undone: None,
            notes: vec!["later".into()],
        }
    }

    fn text(moved: &MovedProcess, nodes: usize) -> String {
        moved_process_answer(moved, nodes).text(Room { width: 120, full: false })
    }

    #[test]
    fn what_became_of_it_is_said_first_and_the_next_command_last() {
        let said = text(&moved(), 2);
        let first = "interleave:0-1: process 4711 (";
        assert!(said.starts_with(first) && !said.contains('\u{1b}'), "{said}");
        for words in [
            "as asked: 8 GiB over nodes 0-1, shares off by 0.0%",
            "4 GiB moved at 1.95 GB/s (--rate 2.00 GB/s)",
            "2 threads given the placement's CPUs",
            "3 MiB stayed: other processes map it too",
            "note: later",
        ] {
            assert!(said.contains(words), "'{words}' is not in {said}");
        }
        assert!(
            said.trim_end().lines().last().unwrap().contains("nearfar ps --pid 4711"),
            "{said}"
        );
        let alone = MovedProcess { moved_bytes: 0, ..moved() };
        let said = text(&alone, 1);
        assert!(
            said.contains("nothing to move, as asked: 8 GiB over")
                && said.contains("one memory node")
        );
        assert!(!said.contains("moved at") && !said.contains("nearfar ps"), "{said}");
    }

    #[test]
    fn memory_that_it_maps_and_did_not_move_is_said_first() {
        let shared = MovedProcess { verdict: Some(verdict(false)), ..moved() };
        assert!(!shared.is_as_asked());
        let said = text(&shared, 2);
        let first = "NOT as asked: 5 GiB over nodes 0-1, shares off by 30.0% at most";
        assert!(said.replace('\n', " ").contains(first), "{said}");
        let undone = Some(UndoneMove::default());
        let early = MovedProcess { undone, verdict: None, before_bytes_by_node: None, ..moved() };
        assert!(text(&early, 2).contains("interrupted before anything was moved."));
    }

    #[test]
    fn what_is_not_where_it_belongs_is_told_with_why() {
        let no_room = StayedPages { why: WhyStayed::NoRoom, bytes: 1 << 30 };
        let astray = MovedProcess {
            astray_bytes: (1 << 30) + (64 << 20),
            stayed: vec![no_room],
            swapped_bytes: Some(5 << 20),
            before_bytes_by_node: None,
            unknown_bytes: 1 << 30,
            verdict: Some(verdict(false)),
            ..moved()
        };
        assert!(!astray.is_as_asked());
        let said = text(&astray, 2);
        for words in [
            "NOT as asked",
            "1 GiB stayed: its node has no room (numactl -H)",
            "64 MiB came meanwhile",
            "5 MiB is swapped out",
            "?",
            "1 GiB is on nodes that the kernel does not tell",
        ] {
            assert!(said.contains(words), "'{words}' is not in {said}");
        }
        let in_part = MovedProcess { is_partial: true, ..moved() };
        assert!(text(&in_part, 2).contains("a part alone is known: "), "{}", text(&in_part, 2));
        let none = MovedProcess { bytes_by_node: BTreeMap::new(), verdict: None, ..moved() };
        assert!(!none.is_as_asked() && text(&none, 2).contains("it has no memory"));
    }

    #[test]
    fn how_much_came_back_is_told() {
        let undone = |not_back_bytes| MovedProcess {
            undone: Some(UndoneMove {
                back_bytes: 1 << 30,
                not_back_bytes,
                confined_threads: usize::from(not_back_bytes > 0),
            }),
            verdict: None,
            ..moved()
        };
        assert!(!undone(0).is_as_asked());
        assert!(text(&undone(0), 2).contains("interrupted; what was moved, 1 GiB, is back."));
        let said = text(&undone(2 << 20), 2);
        assert!(said.contains("1 GiB is back where it was, 2 MiB could"), "{said}");
        assert!(
            said.contains("of its threads 1 could not")
                && !text(&undone(0), 2).contains("threads 1")
        );
    }
}
