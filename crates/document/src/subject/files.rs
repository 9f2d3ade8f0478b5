//! Where what is in memory of files is, and what became of it, for people.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_machine::NodeSet;
use nearfar_place::{FileKind, FileList, FileMemory, FileUser, ListedFile, WhyStayed};
use nearfar_units::{Bytes, shell_path};

use super::figures::{count, percent_words};
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Files and reasons that the first screen has room for.
const FIRST_FILES: usize = 12;
const FIRST_REASONS: usize = 6;

/// Nodes that a file's row names, those with most of it, and letters of its path, the last ones.
const NAMED_NODES: usize = 2;
const PATH_LETTERS: usize = 24;

/// The files, the largest in memory first, and what stayed where.
///
/// With what spreads them where there are several `nodes` with memory that may be used.
pub fn file_list_answer(list: &FileList, nodes: usize) -> Answer {
    let mut answer = Answer::saying(sentence(list));
    if !list.files.is_empty() {
        answer = answer.and_table(table(&list.files), FIRST_FILES);
    }
    let reasons: Vec<Part> = reasons(list).into_iter().map(|line| Part::words("", line)).collect();
    let left = reasons.len().saturating_sub(FIRST_REASONS);
    let more =
        (left > 0).then(|| Part::words("", format!("--full: {}.", count(left, "more line"))));
    let gap = (!reasons.is_empty()).then_some(Part::Gap);
    let pages = pages(list).map(|words| Part::words("  ", words));
    let next = next(list).filter(|_| nodes > 1);
    let next = next.map(|words| [Part::Gap, Part::words("", words)]);
    answer
        .and_all(Shown::Always, pages)
        .and_all(Shown::Always, gap)
        .and_all(Shown::First, reasons.iter().take(FIRST_REASONS).cloned().chain(more))
        .and_all(Shown::Full, reasons.clone())
        .and_all(Shown::Always, next.into_iter().flatten())
}

/// Of each file in a line what became of it when it was placed.
pub fn placed_file_lines(list: &FileList) -> Vec<String> {
    let line = |file: &ListedFile| {
        let bytes = file.in_memory.as_ref().map_or(0, FileMemory::bytes);
        let reasons = reasons_of(file, list);
        let why =
            if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
        match &file.change {
            Some(_) => {
                let nodes = file.in_memory.as_ref().map(|memory| nodes(&memory.bytes_by_node));
                let nodes = nodes.unwrap_or_default();
                format!("{}: {} in memory, {nodes}{why}", file.path, Bytes(bytes))
            }
            None => format!("{}: nothing to place{why}", file.path),
        }
    };
    list.files.iter().map(line).collect()
}

fn sentence(list: &FileList) -> String {
    let by_node = list.bytes_by_node();
    let in_memory: u64 =
        list.files.iter().filter_map(|it| Some(it.in_memory.as_ref()?.bytes())).sum();
    let files = count(list.files.len(), "file");
    let is_known = list.files.iter().all(|file| file.in_memory.is_some());
    if list.files.is_empty() {
        return "There is no file below what was named.".into();
    }
    let changes = list.files.iter().filter_map(|file| file.change.as_ref());
    let off = changes.clone().filter(|change| !change.is_as_asked()).count();
    let changed = changes.clone().count();
    let unknown = match list.files.iter().filter(|file| file.absent.is_some()).count() {
        0 => String::new(),
        unknown => format!("; {} could not be looked at", count(unknown, "other")),
    };
    match &list.placement {
        Some(placement) if changed > 0 && off == 0 => {
            format!(
                "{placement}: {} of {} are where they were asked for{unknown}.",
                Bytes(in_memory),
                count(changed, "file")
            )
        }
        Some(placement) if changed > 0 => {
            format!("{placement}: {off} of {files} not wholly where it was asked for.")
        }
        Some(_) if in_memory == 0 && is_known => {
            format!("Nothing of {files} is in memory: nothing to place.")
        }
        None if changed > 0 => {
            let before = changes.flat_map(|change| change.before_bytes_by_node.values()).sum();
            // Of others nothing was dropped, and somebody may have read some again.
            let treated = list.files.iter().filter(|file| file.change.is_some());
            let left: u64 = treated.filter_map(|it| Some(it.in_memory.as_ref()?.bytes())).sum();
            format!(
                "{} of {} dropped from memory: {}{unknown}.",
                Bytes(u64::saturating_sub(before, left)),
                Bytes(before),
                count(changed, "file")
            )
        }
        _ if in_memory == 0 => match is_known {
            true => format!("Nothing of {files} is in memory."),
            false => format!("What of {files} is in memory is not known."),
        },
        _ => {
            let length: u64 = list.files.iter().filter_map(|file| file.bytes).sum();
            // What is in memory is whole pages, more than a file's own bytes.
            let own = |file: &ListedFile| {
                file.bytes.unwrap_or(u64::MAX).min(file.in_memory.as_ref()?.bytes()).into()
            };
            let in_files: u64 = list.files.iter().filter_map(own).sum();
            let is_whole = |file: &ListedFile| {
                file.in_memory
                    .as_ref()
                    .map(FileMemory::bytes)
                    .zip(file.bytes)
                    .is_some_and(|(a, b)| a >= b)
            };
            let of = match list.files.iter().all(is_whole) {
                true => format!("All of {files} in memory ({})", Bytes(in_memory)),
                false => format!("{} of {} of {files} in memory", Bytes(in_files), Bytes(length)),
            };
            match most(&by_node, 1).first() {
                Some((node, share)) => {
                    format!("{of}, {} of it on node {node}.", percent_words(*share))
                }
                None => format!("{of}, as far as it is known."),
            }
        }
    }
}

/// The nodes with most, and which share of all each has.
fn most(by_node: &BTreeMap<u32, u64>, nodes: usize) -> Vec<(u32, f64)> {
    let all = by_node.values().map(|&bytes| bytes as f64).sum::<f64>();
    let mut nodes_of: Vec<(u32, u64)> = by_node.iter().map(|(&node, &it)| (node, it)).collect();
    nodes_of.retain(|&(_, bytes)| bytes > 0);
    nodes_of.sort_by_key(|&(node, bytes)| (Reverse(bytes), node));
    nodes_of.into_iter().take(nodes).map(|(node, bytes)| (node, bytes as f64 / all)).collect()
}

fn table(files: &[ListedFile]) -> Table {
    let columns = ["file", "size", "in memory", "by node", "mapped by"];
    let row = |file: &ListedFile| {
        let memory = file.in_memory.as_ref();
        vec![
            Cell::text(last_letters(&file.path)),
            file.bytes.map_or(Cell::Empty, |bytes| Cell::text(Bytes(bytes))),
            memory.map_or(Cell::Empty, |memory| Cell::text(Bytes(memory.bytes()))),
            memory.map_or(Cell::Empty, |memory| Cell::text(nodes(&memory.bytes_by_node))),
            Cell::text(users(&file.mapped_by)),
        ]
    };
    Table::new("", columns.map(Column::words), files.iter().map(row))
}

/// The shares of the nodes with most, or of all where these are alike.
fn nodes(by_node: &BTreeMap<u32, u64>) -> String {
    let all = most(by_node, usize::MAX);
    if let [(_, first), .., (_, last)] = all.as_slice()
        && first - last < 0.02
    {
        let nodes: NodeSet = all.iter().map(|&(node, _)| node).collect();
        return format!("{nodes}: {:.0} % each", 100.0 / all.len() as f64);
    }
    let of = |&(node, share): &(u32, f64)| format!("{node}: {:.0} %", 100.0 * share);
    all.iter().take(NAMED_NODES).map(of).collect::<Vec<_>>().join(", ")
}

/// What is huge or dirty of all.
fn pages(list: &FileList) -> Option<String> {
    let sum = |of: fn(&FileMemory) -> Option<u64>| -> u64 {
        list.files.iter().filter_map(|file| of(file.in_memory.as_ref()?)).sum()
    };
    let (huge, dirty) = (sum(|it| it.huge_bytes), sum(|it| it.dirty_bytes));
    let huge = (huge > 0).then(|| format!("{} in huge pages", Bytes(huge)));
    let dirty = (dirty > 0).then(|| format!("{} not on the disk yet (dirty)", Bytes(dirty)));
    let said: Vec<String> = huge.into_iter().chain(dirty).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// A path ends with what tells files apart.
fn last_letters(path: &str) -> String {
    let letters = path.chars().count();
    if letters <= PATH_LETTERS {
        return path.into();
    }
    ['+'].into_iter().chain(path.chars().skip(letters - PATH_LETTERS + 1)).collect()
}

fn users(users: &[FileUser]) -> String {
    match users {
        [] => String::new(),
        [user] => format!("{} ({})", user.name, user.pid),
        users => count(users.len(), "process"),
    }
}

/// Why something of files is not known or stayed; what is the same of several is said once.
fn reasons(list: &FileList) -> Vec<String> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for file in &list.files {
        for reason in reasons_of(file, list) {
            match said.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, files)) => files.push(&file.path),
                None => said.push((reason, vec![&file.path])),
            }
        }
    }
    let line = |(reason, files): (String, Vec<&str>)| match files.as_slice() {
        [file] => format!("{file}: {reason}."),
        [first, ..] => format!("{first} and {} more: {reason}.", files.len() - 1),
        [] => reason,
    };
    said.into_iter().map(line).collect()
}

fn reasons_of(file: &ListedFile, list: &FileList) -> Vec<String> {
    let of_one = file.in_memory.as_ref().is_some_and(|memory| memory.is_of_one_process);
    let of_one = of_one.then(|| {
        "this is what one process maps of it; of the rest Linux tells nothing to who neither owns a \
         file nor may write it"
            .to_string()
    });
    let stayed = file.change.iter().flat_map(|change| &change.stayed).map(|stayed| {
        let why = why_words(stayed.why, &file.mapped_by, list.placement.is_some());
        format!("{} stayed: {why}", Bytes(stayed.bytes))
    });
    let kind = match file.kind {
        Some(FileKind::SharedMemory) => {
            Some("it is kept in memory (tmpfs): these pages are the file")
        }
        Some(FileKind::HugePages) => Some("it is kept in memory, in huge pages (hugetlbfs)"),
        Some(FileKind::Storage) | None => None,
    };
    let kind = kind.map(Into::into);
    file.absent.clone().into_iter().chain(of_one).chain(stayed).chain(kind).collect()
}

fn why_words(why: WhyStayed, users: &[FileUser], is_placed: bool) -> String {
    let who: Vec<String> =
        users.iter().take(3).map(|user| format!("{} ({})", user.name, user.pid)).collect();
    let who = match (who.is_empty(), users.len() > who.len()) {
        (true, _) => "a process that this user may not look into".into(),
        (false, true) => format!("{} and others", who.join(", ")),
        (false, false) => who.join(", "),
    };
    let root = if is_placed { ", or do it as root, who may move what others map" } else { "" };
    match why {
        WhyStayed::Mapped => format!("{who} maps it; end that{root}"),
        WhyStayed::Locked => format!("{who} maps it and has locked it (mlock); end that{root}"),
        WhyStayed::Dirty => {
            "it was written and is not on the disk yet; try again after sync".into()
        }
        WhyStayed::KeptInMemory => "the file is kept in memory; remove it to have that back".into(),
        WhyStayed::NoRoom => "the node has no room (numactl -H)".into(),
        WhyStayed::NoMemory => "the node is gone or has no memory (numactl -H)".into(),
        WhyStayed::Held => "the kernel holds it; try again".into(),
    }
}

/// What to type next.
fn next(list: &FileList) -> Option<String> {
    let by_node = list.bytes_by_node();
    let is_on_one = most(&by_node, 1).first().is_some_and(|(_, share)| *share > 0.9);
    let file = list
        .files
        .first()
        .filter(|file| file.in_memory.as_ref().is_some_and(|it| it.bytes() > 0))?;
    let was_looked_at = list.placement.is_none() && list.files.iter().all(|it| it.change.is_none());
    (was_looked_at && is_on_one && file.absent.is_none()).then(|| {
        format!("To spread it: `nearfar files {} --place interleave`", shell_path(&file.path))
    })
}

#[cfg(test)]
mod tests {
    use nearfar_place::{FileChange, StayedPages};

    use super::*;
    use crate::answer::Room;

    fn file(path: &str, bytes_by_node: &[(u32, u64)]) -> ListedFile {
        ListedFile {
            path: path.into(),
            kind: Some(FileKind::Storage),
            bytes: Some(16 << 30),
            in_memory: Some(FileMemory {
                bytes_by_node: bytes_by_node.iter().copied().collect(),
                huge_bytes: Some(2 << 30),
                dirty_bytes: Some(0),
                ..FileMemory::default()
            }),
            absent: None,
            mapped_by: vec![FileUser { pid: 4711, name: "llama-server".into(), locks: false }],
            change: None,
        }
    }

    fn list(files: Vec<ListedFile>) -> FileList {
        FileList {
            schema: "nearfar.files/1",
            placement: None,
            asked_shares: None,
            files,
            processes_not_permitted: 0,
        }
    }

    fn said(list: &FileList, full: bool) -> String {
        file_list_answer(list, 4).text(Room { width: 80, full })
    }

    #[test]
    fn a_file_on_one_node_is_told_with_the_command_that_spreads_it() {
        let path = "/very/long/folders/of/models/with a blank-q4.gguf";
        let said = said(&list(vec![file(path, &[(2, 8 << 30)])]), false);
        let expected = "8 GiB of 16 GiB of 1 file in memory, 100 % of it on node 2.";
        assert_eq!(said.lines().next(), Some(expected));
        for words in
            ["+ls/with a blank-q4.gguf", "2: 100 %", "llama-server (4711)", "2 GiB in huge"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
        let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&format!("nearfar files '{path}' --place interleave")), "{said}");
    }

    #[test]
    fn what_stayed_is_told_with_why() {
        let mut stayed = file("model", &[(0, 4 << 30), (1, 2 << 30)]);
        stayed.change = Some(FileChange {
            before_bytes_by_node: [(0, 6 << 30)].into(),
            moved_bytes: 2 << 30,
            read_again_bytes: 0,
            largest_deviation: Some(0.17),
            stayed: vec![StayedPages { why: WhyStayed::Mapped, bytes: 1 << 30 }],
        });
        let mut list = list(vec![stayed]);
        list.placement = Some("interleave".into());
        let text = said(&list, false);
        let first = "interleave: 1 of 1 file not wholly where it was asked for.";
        assert_eq!(text.lines().next(), Some(first));
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            joined.contains("model: 1 GiB stayed: llama-server (4711) maps it; end that"),
            "{text}"
        );
        assert!(!joined.contains("To spread it"), "{text}");
        list.files[0].change.as_mut().unwrap().largest_deviation = Some(0.001);
        let first = "interleave: 6 GiB of 1 file are where they were asked for.";
        assert_eq!(said(&list, false).lines().next(), Some(first));
    }

    #[test]
    fn what_was_not_dropped_is_not_counted_as_dropped() {
        let mut dropped = file("own", &[(0, 1 << 20)]);
        dropped.change = Some(FileChange {
            before_bytes_by_node: [(0, 3 << 20)].into(),
            moved_bytes: 0,
            read_again_bytes: 0,
            largest_deviation: None,
            stayed: Vec::new(),
        });
        // Of another user, of which a process of one's own maps more than that.
        let list = list(vec![dropped, file("others", &[(0, 64 << 20)])]);
        let first = "2 MiB of 3 MiB dropped from memory: 1 file.";
        assert_eq!(said(&list, false).lines().next(), Some(first));
    }

    #[test]
    fn a_hundred_files_fit_a_screen() {
        let files = (0..100).map(|number| {
            let mut file = file(&format!("a/{number}"), &[]);
            let why = format!("it cannot be opened: {number}");
            (file.in_memory, file.absent) = (None, Some(why));
            file
        });
        let list = list(files.collect());
        assert!(said(&list, false).lines().count() <= 40);
        assert!(said(&list, true).lines().count() > 200);
        let alike = nodes(&[(0, 252), (1, 250), (3, 249)].into());
        assert_eq!(alike, "0-1,3: 33 % each");
        assert_eq!(nodes(&[(0, 1), (1, 80), (2, 19)].into()), "1: 80 %, 2: 19 %");
    }
}
