//! Looks at processes: at which, and what each takes.

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use nearfar_sys::{
    mapping_details, process_pages, process_size, task_pages, task_state, tasks, thread_cpu_ns,
};

use super::{COST, Looked, MAX_LOOK_NS_PER_MIB, MOVING_COST, OLD, SAVED, SHORT, Watch};
use crate::family_sizes::FamilySizes;
use crate::program_memory::ProcessMemory;

/// Copies of one process that are to be looked at.
struct Stale {
    unseen: u64,
    group: Vec<u32>,
    /// Copies that need no look: the one of the group has their memory.
    unchanged: Vec<u32>,
}

/// What a look goes over: pages of a process, and what takes as long in every process.
fn units(own_bytes: u64) -> u64 {
    own_bytes + (16 << 20)
}

impl Watch {
    /// Looks at the processes that are not what they were at their last look, those first of which most is not
    /// known: how many pages were moved, and whether there was anything to look at.
    pub(super) fn look(&mut self, sizes: &FamilySizes, cost: &dyn Fn() -> Duration) -> (u64, bool) {
        let at = self.begun.elapsed();
        // A program that has no pages to move yet will have them.
        let awaits_pages = self.moved.as_ref().is_some_and(|moved| !moved.has_moved());
        let part = if awaits_pages || self.is_moving { MOVING_COST } else { COST };
        let budget = at.max(SHORT) / part;
        let groups = self.stale(sizes, at);
        let is_settled = sizes.is_about(&self.sizes);
        let much = sizes.total() / 100;
        let (mut moved, mut has_looked) = (0, false);
        for Stale { unseen, group, unchanged } in groups {
            let likely: Duration = group.iter().map(|&pid| self.likely_cost(pid, sizes)).sum();
            // Where more than a tenth is not known, what this process took to start does not count.
            let free = if unseen > 10 * much { self.start } else { Duration::ZERO };
            let allowed = (budget + free).saturating_sub(self.spent);
            let left = allowed.saturating_sub(cost());
            // What still grows is looked at as a whole, and only where that costs little of what is left: its parts
            // would be known of different moments, and of one at which it is small.
            let is_cheap = SAVED * likely <= left;
            let first = group.first().map_or(likely, |&pid| self.likely_cost(pid, sizes));
            let is_due = is_cheap || is_settled && unseen > much && first <= left;
            if !is_due && !self.looked.is_empty() {
                continue;
            }
            // What was seen of these at another moment may be in common with what is seen now.
            if group.len() > 1 {
                group.iter().for_each(|&pid| self.forget(pid));
            }
            for pid in group {
                let before = cost();
                let is_affordable = is_due && before + self.likely_cost(pid, sizes) <= allowed;
                if has_looked && !is_affordable {
                    break;
                }
                let Some(mark) = sizes.mark(pid) else { continue };
                let are_threads_due = is_cheap || !self.looked.contains_key(&pid);
                let is_alone = mark.is_alone() || !unchanged.is_empty();
                let (found, now) = self.look_at(pid, is_alone, are_threads_due);
                moved += now;
                has_looked = true;
                // While it grows a look finds more than was counted before.
                let own_bytes = sizes.own_bytes(pid).max(found);
                self.looked.insert(pid, Looked { mark, own_bytes, at });
                self.looks.1 += units(own_bytes);
                for &copy in &unchanged {
                    let Some(mark) = sizes.mark(copy) else { continue };
                    self.census.count(copy, ProcessMemory::default());
                    self.looked.insert(copy, Looked { mark, own_bytes: 0, at });
                }
            }
        }
        // What ended meanwhile had its pages in common with others for a part of the time only.
        let is_gone = |(pid, looked): (&u32, &Looked)| {
            let is_in_question = looked.at == at && !looked.mark.is_alone();
            (is_in_question && process_size(Path::new("/"), *pid, None).is_none()).then_some(*pid)
        };
        let gone: Vec<u32> = self.looked.iter().filter_map(is_gone).collect();
        gone.into_iter().for_each(|pid| self.census.forget(pid));
        (moved, has_looked)
    }

    /// The processes that are not what they were, or that have not been looked at for long, in groups of copies, those
    /// first of which most is not known.
    fn stale(&self, sizes: &FamilySizes, at: Duration) -> Vec<Stale> {
        let unseen = |pid: u32| {
            let known = self.looked.get(&pid).map_or(0, |looked| looked.own_bytes);
            sizes.own_bytes(pid).abs_diff(known)
        };
        let is_stale = |pid: &u32| {
            self.moved.is_some()
                || self.looked.get(pid).is_none_or(|looked| Some(looked.mark) != sizes.mark(*pid))
        };
        let is_old = |pid: &u32| self.looked.get(pid).is_some_and(|it| it.at + OLD <= at);
        let mut groups: Vec<Stale> = Vec::new();
        for copies in sizes.groups() {
            let mut group: Vec<u32> = copies.iter().copied().filter(is_stale).collect();
            if group.is_empty() && copies.iter().any(is_old) {
                group = copies.to_vec();
            }
            if group.is_empty() {
                continue;
            }
            group.sort_by_key(|&pid| Reverse(unseen(pid)));
            let all = group.iter().map(|&pid| unseen(pid)).sum();
            // Pages are moved of each.
            let first = sizes.first_of_unchanged(copies).filter(|_| self.moved.is_none());
            groups.push(match first {
                Some(first) => Stale {
                    unseen: all,
                    group: vec![first],
                    unchanged: copies.iter().copied().filter(|&pid| pid != first).collect(),
                },
                None => Stale { unseen: all, group, unchanged: Vec::new() },
            });
        }
        groups.sort_by_key(|stale| Reverse(stale.unseen));
        groups
    }

    /// What a look at a process will take, as long as others took for their size.
    fn likely_cost(&self, pid: u32, sizes: &FamilySizes) -> Duration {
        let (took, all) = self.looks;
        let units = u128::from(units(sizes.own_bytes(pid)));
        // The first look takes longer than those that follow.
        let most = units * MAX_LOOK_NS_PER_MIB / (1 << 20);
        let nanos = (took.as_nanos() * units / u128::from(all.max(1))).min(most);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Looks at a process, and moves its pages where that is asked for: bytes of its own that were found, and how
    /// many pages were moved.
    fn look_at(&mut self, process: u32, is_alone: bool, are_threads_due: bool) -> (u64, u64) {
        let root = Path::new("/");
        if are_threads_due {
            self.seen.note(process, &tasks(root, process).unwrap_or_default());
        }
        let cpu_before = thread_cpu_ns();
        // Only to move them it has to be known where mappings end.
        let pages = match self.moved.is_some() {
            true => process_pages(root, process),
            false => match task_pages(root, process, process) {
                Ok(mappings) if mappings.is_empty() => process_pages(root, process),
                pages => pages,
            },
        };
        let mut mappings = match pages {
            // What has no memory is not there any more.
            Ok(mappings) if mappings.is_empty() => return (0, 0),
            Ok(mappings) => mappings,
            Err(refusal) => {
                // What has ended meanwhile refuses nothing; but /proc may be hidden.
                let has_ended = task_state(root, process).is_none_or(|state| state == 'Z');
                if !has_ended || task_state(root, std::process::id()).is_none() {
                    self.blocked = Some(refusal);
                }
                return (0, 0);
            }
        };
        let mut moved = 0;
        if let Some(weights) = &mut self.moved {
            moved = weights.deal(process, &mappings);
            if moved > 0 {
                mappings = process_pages(root, process).unwrap_or(mappings);
            }
        }
        // Alone it has nothing in common with anybody.
        let details = (!is_alone || self.is_interleaved)
            .then(|| mapping_details(root, process, process).unwrap_or_default());
        self.looks.0 += Duration::from_nanos(thread_cpu_ns().saturating_sub(cpu_before));
        self.file_kinds.classify(root, process, process, &mut mappings);
        let memory = ProcessMemory::of(&mappings, details.as_ref());
        let found = memory.bytes();
        self.census.count(process, memory);
        (found, moved)
    }
}
