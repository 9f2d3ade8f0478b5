//! A program with the children that it has started: where their threads are, and their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use nearfar_machine::CpuSet;
use nearfar_record::{PageNodes, ProofMethod};
use nearfar_sys::{MappedPages, MappingKind, Refusal, base_page_bytes, process_pages, tasks};

/// More processes than this are not followed.
const MOST_PROCESSES: usize = 4096;

/// What was seen of a program at once.
#[derive(Debug)]
pub(crate) struct Look {
    /// CPUs that its threads ran on last.
    pub cpus: CpuSet,
    /// Its anonymous pages by node, in base pages, or why nobody may look.
    pub pages: Result<PageNodes, Refusal>,
}

/// Looks at a program and its children. What ends meanwhile is left out.
pub(crate) fn look(root: &Path, leader: u32) -> Look {
    let family = family(root, leader);
    let threads = family.iter().filter_map(|&process| tasks(root, process).ok()).flatten();
    let cpus = threads.map(|task| task.last_cpu).collect();
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    let mut refusal = None;
    for &process in &family {
        match process_pages(root, process) {
            Ok(mappings) => add_anonymous(&mappings, &mut bytes),
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let page_bytes = base_page_bytes() as u64;
    let pages: BTreeMap<u32, u64> =
        bytes.into_iter().map(|(node, bytes)| (node, bytes / page_bytes)).collect();
    let pages = match refusal {
        Some(refusal) if pages.is_empty() => Err(refusal),
        _ => Ok(PageNodes { method: ProofMethod::NumaMaps, page_bytes, pages, unknown: 0 }),
    };
    Look { cpus, pages }
}

/// Pages of files lie where whoever read them first ran; a program's own are where its policy
/// puts them.
fn add_anonymous(mappings: &[MappedPages], bytes: &mut BTreeMap<u32, u64>) {
    for mapping in mappings.iter().filter(|mapping| mapping.kind != MappingKind::File) {
        for (&node, &pages) in &mapping.nodes {
            let known = bytes.entry(node).or_default();
            *known = known.saturating_add(pages.saturating_mul(mapping.page_bytes));
        }
    }
}

/// A process and all below it, by /proc/PID/task/TID/children (proc(5)).
fn family(root: &Path, leader: u32) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([leader]);
    let mut open = vec![leader];
    while let Some(process) = open.pop() {
        let threads = fs::read_dir(root.join(format!("proc/{process}/task")));
        let threads = threads.into_iter().flatten().flatten();
        let texts =
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        for text in texts {
            for child in text.split_ascii_whitespace().filter_map(|child| child.parse().ok()) {
                if family.len() < MOST_PROCESSES && family.insert(child) {
                    open.push(child);
                }
            }
        }
    }
    family
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_and_a_child_of_it_are_seen() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let root = Path::new("/");
        let family = family(root, std::process::id());
        assert!(family.contains(&child.id()) && family.contains(&std::process::id()), "{family:?}");
        let look = look(root, std::process::id());
        assert!(!look.cpus.is_empty());
        let pages = look.pages.unwrap();
        assert!(pages.pages.values().sum::<u64>() > 10, "{pages:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(super::look(root, u32::MAX).pages.is_err());
    }
}
