//! How much memory a program's processes have by the kernel's counters: read in a hundredth of the time that it
//! takes to look where their pages are, so that a program's total is known whatever looks may cost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nearfar_sys::{
    ProcessSize, Refusal, base_page_bytes, newest_process, parent_of, process_numbers, process_size,
};

use crate::process_family::MAX_PROCESSES;

/// A program, what descends from it, and what has lost its parents and was taken in by this process, which is
/// then their parent ([`nearfar_sys::take_in_orphans`]).
#[derive(Debug)]
pub(crate) struct Family {
    keeper: u32,
    members: BTreeSet<u32>,
    /// Processes of which it is known that they are none of it, this process's other children among them.
    foreign: BTreeSet<u32>,
    newest: Option<u32>,
}

impl Family {
    /// Of a program that `keeper`, which has these `others` besides, is about to start.
    pub fn new(keeper: u32, others: impl IntoIterator<Item = u32>) -> Self {
        let foreign = others.into_iter().collect();
        Self { keeper, members: BTreeSet::new(), foreign, newest: None }
    }

    /// Finds those that have come since; all processes of the system are listed only where some were started.
    ///
    /// # Errors
    /// When /proc is not readable.
    pub fn find(&mut self, root: &Path, leader: u32) -> Result<(), Refusal> {
        self.members.insert(leader);
        let newest = newest_process(root);
        if newest.is_some() && self.newest == newest {
            return Ok(());
        }
        self.newest = newest;
        let all: BTreeSet<u32> = process_numbers(root)?.into_iter().collect();
        self.members.retain(|pid| all.contains(pid));
        self.foreign.retain(|pid| all.contains(pid));
        let known = |pid: &&u32| self.members.contains(*pid) || self.foreign.contains(*pid);
        let new = all.iter().filter(|pid| !known(pid));
        let mut new: BTreeMap<u32, u32> =
            new.filter_map(|&pid| Some((pid, parent_of(root, pid)?))).collect();
        loop {
            let is_member = |(_, parent): &(&u32, &u32)| {
                **parent == self.keeper || self.members.contains(*parent)
            };
            let found: Vec<u32> = new.iter().filter(is_member).map(|(&pid, _)| pid).collect();
            if found.is_empty() || self.members.len() >= MAX_PROCESSES {
                break;
            }
            for pid in found {
                new.remove(&pid);
                self.members.insert(pid);
            }
        }
        self.foreign.extend(new.into_keys().filter(|&pid| pid != leader));
        Ok(())
    }

    pub fn members(&self) -> &BTreeSet<u32> {
        &self.members
    }
}

/// The sizes of processes at one moment, by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct FamilySizes {
    sizes: BTreeMap<u32, ProcessSize>,
    /// Those that are copies of one another, and their faults, by their first stack.
    copies: BTreeMap<u64, (Vec<u32>, u64)>,
}

/// The size of a process and of the copies that have pages in common with it: while it stays the same, so does
/// what a look finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SizeMark {
    own: ProcessSize,
    copies: usize,
    faults_of_copies: u64,
}

impl SizeMark {
    /// Whether nothing of it is in common with a copy.
    pub fn is_alone(&self) -> bool {
        self.copies == 1
    }
}

impl FamilySizes {
    /// Those of these processes that have memory.
    pub fn read(root: &Path, processes: &BTreeSet<u32>, before: &Self) -> Self {
        let read = |&pid: &u32| Some((pid, process_size(root, pid, before.sizes.get(&pid))?));
        Self::new(processes.iter().filter_map(read))
    }

    fn new(sizes: impl Iterator<Item = (u32, ProcessSize)>) -> Self {
        let sizes: BTreeMap<u32, ProcessSize> = sizes.collect();
        let mut copies: BTreeMap<u64, (Vec<u32>, u64)> = BTreeMap::new();
        for (&pid, size) in &sizes {
            let (group, faults) = copies.entry(key(pid, size)).or_default();
            group.push(pid);
            *faults = faults.saturating_add(size.faults);
        }
        Self { sizes, copies }
    }

    pub fn has(&self, pid: u32) -> bool {
        self.sizes.contains_key(&pid)
    }

    pub fn total(&self) -> u64 {
        self.sizes.keys().map(|&pid| self.own_bytes(pid)).fold(0, u64::saturating_add)
    }

    pub fn processes(&self) -> impl ExactSizeIterator<Item = u32> {
        self.sizes.keys().copied()
    }

    /// Processes that began as copies of one another and have not become other programs.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.copies.values().map(|(group, _)| group.as_slice())
    }

    pub fn mark(&self, pid: u32) -> Option<SizeMark> {
        let own = *self.sizes.get(&pid)?;
        let (group, faults) = self.copies.get(&key(pid, &own))?;
        Some(SizeMark { own, copies: group.len(), faults_of_copies: *faults })
    }

    /// Memory of a process that none before it has: of a copy what it has beyond the first one, and what it has
    /// changed since, at most a page for each fault.
    pub fn own_bytes(&self, pid: u32) -> u64 {
        let Some(size) = self.sizes.get(&pid) else { return 0 };
        let group = self.copies.get(&key(pid, size)).map_or(&[][..], |(group, _)| group.as_slice());
        let parent = group.binary_search(&size.parent).is_ok().then_some(size.parent);
        let before = parent.or(group.first().copied()).filter(|&before| before != pid);
        match before.and_then(|before| self.sizes.get(&before)) {
            Some(before) => {
                let changed = size.faults.saturating_mul(base_page_bytes() as u64);
                size.own_bytes.saturating_sub(before.own_bytes).max(changed.min(size.own_bytes))
            }
            None => size.own_bytes,
        }
    }

    /// Of copies the first one, where the others have changed little, at most a sixth: it has nearly all of their
    /// memory, and what they changed is known as a total.
    pub fn first_of_unchanged(&self, copies: &[u32]) -> Option<u32> {
        let (&first, others) = copies.split_first().filter(|(_, others)| !others.is_empty())?;
        let changed = others.iter().map(|&pid| self.own_bytes(pid)).fold(0, u64::saturating_add);
        (changed <= self.own_bytes(first) / 6).then_some(first)
    }

    /// Whether the same processes have about the same: all have come and have their memory.
    pub fn is_about(&self, before: &Self) -> bool {
        let all: u64 = self.sizes.values().map(|size| size.own_bytes).sum();
        let faulted = |(pid, size): (&u32, &ProcessSize)| {
            let before = before.sizes.get(pid).map_or(0, |before| before.faults);
            size.faults.saturating_sub(before).saturating_mul(base_page_bytes() as u64)
        };
        self.sizes.keys().eq(before.sizes.keys())
            && self.sizes.iter().map(faulted).sum::<u64>() <= all / 100
    }
}

/// Of one whose stack is not told a number that no stack has.
fn key(pid: u32, size: &ProcessSize) -> u64 {
    if size.first_stack == 0 { pid.into() } else { size.first_stack }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(processes: &[(u32, u32, u64, u64, u64)]) -> FamilySizes {
        let size = |&(pid, parent, stack, faults, pages): &(u32, u32, u64, u64, u64)| {
            let own_bytes = pages * base_page_bytes() as u64;
            let resident_bytes = own_bytes;
            (pid, ProcessSize { parent, faults, first_stack: stack, resident_bytes, own_bytes })
        };
        FamilySizes::new(processes.iter().map(size))
    }

    #[test]
    fn a_copy_has_what_it_changed_and_what_is_new() {
        let page = base_page_bytes() as u64;
        let found = sizes(&[
            (7, 1, 5000, 9000, 1000),
            (8, 7, 5000, 30, 1000),
            (9, 7, 5000, 800, 1700),
            (10, 7, 6000, 3, 1000),
            (11, 1, 5000, 20, 1000),
        ]);
        let pages = |pid| found.own_bytes(pid) / page;
        assert_eq!([7, 8, 9, 10, 11].map(pages), [1000, 30, 800, 1000, 20]);
        assert_eq!(found.groups().collect::<Vec<_>>(), [&[7, 8, 9, 11][..], &[10]]);
        assert_eq!(pages(12), 0);
    }

    #[test]
    fn one_has_the_memory_of_copies_that_change_nothing() {
        let found =
            sizes(&[(7, 1, 5000, 900, 10000), (8, 7, 5000, 30, 10000), (9, 7, 5000, 60, 10000)]);
        assert_eq!(found.first_of_unchanged(&[7, 8, 9]), Some(7));
        assert_eq!(found.first_of_unchanged(&[7]), None);
        let found = sizes(&[(7, 1, 5000, 900, 10000), (8, 7, 5000, 3000, 10000)]);
        assert_eq!(found.first_of_unchanged(&[7, 8]), None);
    }

    /// The pages of the one are its own again once the other has changed them, although its own size stays.
    #[test]
    fn a_copy_that_changes_pages_changes_the_mark_of_both() {
        let before = sizes(&[(7, 1, 5000, 900, 1000), (8, 7, 5000, 30, 1000), (9, 7, 6000, 5, 10)]);
        let after =
            sizes(&[(7, 1, 5000, 900, 1000), (8, 7, 5000, 1030, 1000), (9, 7, 6000, 5, 10)]);
        assert_ne!(before.mark(7), after.mark(7));
        assert_eq!(before.mark(9), after.mark(9));
        assert!(!after.is_about(&before) && after.is_about(&after));
    }

    /// A grandchild, one that has lost its parent, and one that came when nothing had been started.
    #[test]
    fn a_family_is_found_whoever_its_parents_are() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: String| {
            let path = tree.path().join("proc").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let start = |pid: u32, parent: u32| {
            write(&format!("{pid}/stat"), format!("{pid} (a) S {parent} 1 1"));
        };
        write("loadavg", "0.1 0.1 0.1 1/9 20\n".into());
        for (pid, parent) in [(1, 0), (5, 1), (6, 5), (10, 5), (12, 20), (20, 10), (15, 5), (16, 1)]
        {
            start(pid, parent);
        }
        let mut family = Family::new(5, [6]);
        let mut find = || {
            family.find(tree.path(), 10).unwrap();
            family.members().iter().copied().collect::<Vec<_>>()
        };
        assert_eq!(find(), [10, 12, 15, 20]);
        start(21, 10);
        assert_eq!(find(), [10, 12, 15, 20], "nothing was started, as far as it is told");
        write("loadavg", "0.1 0.1 0.1 1/9 21\n".into());
        std::fs::remove_dir_all(tree.path().join("proc/15")).unwrap();
        assert_eq!(find(), [10, 12, 20, 21]);
    }
}
