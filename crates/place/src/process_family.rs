//! A program with the children that it has started: where their threads are, and their pages.

use std::collections::BTreeMap;
use std::path::Path;

use nearfar_machine::CpuSet;
use nearfar_record::{PageNodes, ProofMethod};
use nearfar_sys::{Refusal, base_page_bytes, descendants, mapping_details, process_pages, tasks};

use crate::program_memory::{Census, ProcessMemory};

/// More processes of a program than this are not looked at, and not listed.
pub(crate) const MAX_PROCESSES: usize = 4096;

/// A program and what descends from it; by itself where the kernel does not tell of children, and why
/// not. What has lost its parent is not found.
pub(crate) fn family(root: &Path, leader: u32) -> (Vec<u32>, Option<Refusal>) {
    let (children, refusal) = match descendants(root, leader) {
        Ok(children) => (children, None),
        Err(refusal) => (Vec::new(), Some(refusal)),
    };
    ([leader].into_iter().chain(children).take(MAX_PROCESSES).collect(), refusal)
}

/// What was seen of a program at once.
#[derive(Debug)]
pub(crate) struct Look {
    /// CPUs that its threads ran on last.
    pub cpus: CpuSet,
    /// Its anonymous pages by node, in base pages, or why nobody may look.
    pub pages: Result<PageNodes, Refusal>,
    /// Files and shared memory that it maps, by node, bytes; each once.
    pub shared: BTreeMap<u32, u64>,
}

/// Looks at a program and its children. What ends meanwhile is left out.
pub(crate) fn look(root: &Path, leader: u32) -> Look {
    let (family, _) = family(root, leader);
    let threads = family.iter().filter_map(|&process| tasks(root, process).ok()).flatten();
    let cpus = threads.map(|task| task.last_cpu).collect();
    let mut census = Census::default();
    let mut refusal = None;
    for &process in &family {
        match process_pages(root, process) {
            Ok(mappings) => {
                let details = (family.len() > 1)
                    .then(|| mapping_details(root, process, process).unwrap_or_default());
                census.count(process, ProcessMemory::of(&mappings, details.as_ref()));
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let page_bytes = base_page_bytes() as u64;
    let pages: BTreeMap<u32, u64> =
        census.own().iter().map(|(&node, &bytes)| (node, bytes / page_bytes)).collect();
    let pages = match refusal {
        Some(refusal) if pages.is_empty() => Err(refusal),
        _ => Ok(PageNodes { method: ProofMethod::NumaMaps, page_bytes, pages, unknown: 0 }),
    };
    Look { cpus, pages, shared: census.shared() }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_and_a_child_of_it_are_seen() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let root = Path::new("/");
        let children = descendants(root, std::process::id()).unwrap();
        assert!(children.contains(&child.id()), "{children:?}");
        let look = look(root, std::process::id());
        assert!(!look.cpus.is_empty());
        let pages = look.pages.unwrap();
        assert!(pages.pages.values().sum::<u64>() > 10, "{pages:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(super::look(root, u32::MAX).pages.is_err());
    }
}
