//! Moves the memory of a running process to the nodes of a placement, no faster than asked, and back
//! where it is interrupted.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nearfar_machine::CpuSet;
use nearfar_sys::{
    Errno, MappingDetails, MovedPages, Refusal, listed_page_nodes, mapping_details, may_look_into,
    move_listed_pages, process_identity, process_pages, swapped_bytes, task_state,
};

use crate::file_list::{StayedPages, WhyStayed};
use crate::move_step::{Step, steps};
use crate::moved_process::{MovedProcess, NotMoved, UndoneMove};
use crate::pace::Pace;
use crate::page_deal::PageDeal;
use crate::pinned_threads::{pin, unpin};
use crate::present_memory::{AddressDeal, PresentMemory, PresentPart, walk};
use crate::program_memory::{FileKinds, ProcessMemory, mapped_bytes, total};
use crate::report::{PlacementVerdict, is_part};
use crate::weights::numa_balancing_note;

/// What the kernel holds for a moment moves when it is asked again: so often, as long as it becomes less.
const PASSES: usize = 4;

/// A signal is seen after this.
const NAP: Duration = Duration::from_millis(50);

/// What is moved, whereto and how fast.
#[derive(Debug)]
pub struct MoveQuestion {
    pub pid: u32,
    /// The placement as the user wrote it, and where it has pages.
    pub placement: String,
    pub deal: PageDeal,
    /// At most so much is moved in a second, bytes; 1 at the least.
    pub bytes_per_second: f64,
    /// Whether files and shared memory are moved that nobody else maps.
    pub files: bool,
    /// The CPUs that its threads are to have, where they are to be moved as well.
    pub cpus: Option<CpuSet>,
}

/// Moves what a process has. `is_interrupted` is asked between steps: what was moved goes back then.
/// `tell` is told the bytes that were moved, and all that are to be.
///
/// # Errors
/// When there is no such process, or it, its node or its memory is not to be had. Where the kernel refuses
/// half-way, what was moved goes back.
pub fn move_process(
    root: &Path,
    question: &MoveQuestion,
    is_interrupted: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<MovedProcess, NotMoved> {
    let pid = question.pid;
    if pid == std::process::id() {
        return Err(NotMoved::Itself(pid));
    }
    may_look_into(root, pid).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => NotMoved::NotPermitted(pid),
        _ => unreadable(root, pid, "numa_maps", error.to_string()),
    })?;
    let identity = process_identity(root, pid)
        .ok_or_else(|| unreadable(root, pid, "status", "it does not tell its user".into()))?;
    if let Some(allowed) = &identity.memory_allowed
        && let Some(&node) = question.deal.shares.keys().find(|&&node| !allowed.contains(node))
    {
        return Err(NotMoved::NodeNotAllowed { pid, node, allowed: allowed.to_string() });
    }
    let fail = |refusal| not_moved(root, pid, refusal);
    let mapped = process_pages(root, pid).map_err(fail)?;
    if mapped.is_empty() {
        return Err(NotMoved::NoMemory(pid));
    }
    let deal = AddressDeal::of(&question.deal, total(&mapped_bytes(&mapped)));
    let count = |is_to_end: &dyn Fn() -> bool| {
        PresentMemory::count(root, pid, question.files, &deal, is_to_end).map_err(fail)
    };
    let before = count(is_interrupted)?;
    let is_counted = !is_interrupted();
    let mut mover = Mover {
        pid,
        deal: &deal,
        pace: Pace::new(question.bytes_per_second),
        moved_bytes: 0,
        left: BTreeMap::new(),
        done: Vec::new(),
    };
    let mut tell = |moved: u64| tell(moved.min(before.astray), before.astray);
    let mut pinned = Vec::new();
    let begun = Instant::now();
    let came_to_end = question
        .cpus
        .as_ref()
        .map_or(Ok(()), |cpus| pin(root, pid, cpus, &mut pinned, is_interrupted))
        .and_then(|()| mover.move_all(root, question.files, is_interrupted, &mut tell));
    let seconds = begun.elapsed().as_secs_f64();
    let mut undo = |mover: &mut Mover<'_>| {
        let confined_threads = unpin(root, pid, &pinned);
        UndoneMove { confined_threads, ..mover.undo(&mut tell) }
    };
    let mut undone = None;
    let counted = came_to_end.map_err(fail).and_then(|end| {
        undone = end.is_break().then(|| undo(&mut mover));
        count(&|| false)
    });
    let after = match counted {
        Ok(after) => after,
        Err(NotMoved::Ended(pid)) => return Err(NotMoved::Ended(pid)),
        Err(why) => {
            let undone = undone.unwrap_or_else(|| undo(&mut mover));
            return Err(NotMoved::Undone { why: Box::new(why), undone });
        }
    };
    if after.bytes() + after.shared == 0 && has_ended(root, pid) {
        return Err(NotMoved::Ended(pid));
    }
    let mut mapped = process_pages(root, pid).unwrap_or_default();
    FileKinds::default().classify(root, pid, pid, &mut mapped);
    // What others map too counts in full: it was to be moved, or kept from it.
    let with_huge_pages = mapping_details(root, pid, pid).unwrap_or_default().with_huge_pages;
    let details = MappingDetails { with_huge_pages, ..MappingDetails::default() };
    let memory = ProcessMemory::of(&mapped, Some(&details));
    let mapped_bytes = memory.mapped_bytes();
    let is_partial = is_part(mapped_bytes, memory.changed_file_bytes, mapped_bytes);
    let verdict = PlacementVerdict::new(&memory, &question.deal.shares);
    let verdict = verdict.filter(|_| undone.is_none());
    let is_elsewhere = verdict.as_ref().is_some_and(|verdict| !verdict.is_as_asked);
    let with_files = (is_elsewhere && !question.files)
        .then(|| "--files also moves files and shared memory that it maps".to_string());
    let later = "what it allocates from now on follows its own policy, as before";
    Ok(MovedProcess {
        schema: "nearfar.move/1",
        pid,
        command: identity.command,
        placement: question.placement.clone(),
        asked_shares: question.deal.shares.clone(),
        before_bytes_by_node: is_counted.then_some(before.alone),
        bytes_by_node: after.alone,
        unknown_bytes: after.unknown,
        astray_bytes: after.astray,
        stayed: mover.stayed(),
        swapped_bytes: swapped_bytes(root, pid),
        shared_bytes: after.shared,
        moved_bytes: mover.moved_bytes,
        seconds,
        most_bytes_per_second: question.bytes_per_second,
        threads: if undone.is_some() { 0 } else { pinned.len() },
        verdict,
        is_partial,
        undone,
        notes: with_files
            .into_iter()
            .chain([later.to_string()])
            .chain(numa_balancing_note())
            .collect(),
    })
}

fn has_ended(root: &Path, pid: u32) -> bool {
    task_state(root, pid).is_none_or(|state| state == 'Z')
}

/// There is no such process, or its file does not tell what is needed.
fn unreadable(root: &Path, pid: u32, file: &str, reason: String) -> NotMoved {
    let folder = root.join(format!("proc/{pid}"));
    match folder.exists() {
        true => NotMoved::Refused(Refusal::Content {
            path: folder.join(file).display().to_string(),
            reason,
        }),
        false => NotMoved::NoSuchProcess(pid),
    }
}

/// Why it was not moved, by what the kernel refused.
fn not_moved(root: &Path, pid: u32, refusal: Refusal) -> NotMoved {
    match (&refusal, refusal.errno()) {
        _ if has_ended(root, pid) => NotMoved::Ended(pid),
        // As after it became another program's, with other rights.
        _ if may_look_into(root, pid)
            .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) =>
        {
            NotMoved::NotPermitted(pid)
        }
        // Another user's was told before.
        (Refusal::Call { call: "move_pages", .. }, Some(Errno(libc::EPERM | libc::ENOSYS)))
        | (Refusal::Unanswered { .. }, _) => NotMoved::CallForbidden(refusal.cause()),
        _ => NotMoved::Refused(refusal),
    }
}

struct Mover<'a> {
    pid: u32,
    deal: &'a AddressDeal<'a>,
    pace: Pace,
    moved_bytes: u64,
    /// Bytes that stayed at the last pass, by why.
    left: BTreeMap<WhyStayed, u64>,
    done: Vec<Step>,
}

impl Mover<'_> {
    /// Whether it came to its end.
    fn move_all(
        &mut self,
        root: &Path,
        files: bool,
        is_interrupted: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(u64),
    ) -> Result<ControlFlow<()>, Refusal> {
        let mut held = u64::MAX;
        for _ in 0..PASSES {
            self.left.clear();
            let deal = self.deal;
            let end = walk(root, self.pid, files, &deal.blocks, |part| {
                let alone = part.pages.iter().filter(|page| page.is_alone);
                let pages: Vec<usize> = alone.map(|page| page.address).collect();
                let most = self.pace.step_pages(part.page_bytes);
                for step in steps(&pages, most, part.has_huge) {
                    if is_interrupted() {
                        return Ok(ControlFlow::Break(()));
                    }
                    self.move_step(step, &part, is_interrupted)?;
                    tell(self.moved_bytes);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if end.is_break() || is_interrupted() {
                return Ok(ControlFlow::Break(()));
            }
            let now = self.left.get(&WhyStayed::Held).copied().unwrap_or_default();
            if now == 0 || now >= held {
                break;
            }
            held = now;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn move_step(
        &mut self,
        pages: &[usize],
        part: &PresentPart,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        let begun = Instant::now();
        let deal = self.deal;
        let nodes = listed_page_nodes(self.pid, pages, part.page_bytes)?;
        let stray = |(&page, node): (&usize, Option<u32>)| {
            node.filter(|&node| node != deal.node_of(page, part)).map(|node| (page, node))
        };
        let strays: Vec<(usize, u32)> = pages.iter().zip(nodes).filter_map(stray).collect();
        if strays.is_empty() {
            return Ok(());
        }
        let step = Step::new(&strays, part);
        let moved = self.request(&step, |page| deal.node_of(page, part));
        // A request that fails may have moved some.
        self.done.push(step);
        let moved = moved?;
        let bytes = moved.moved * part.page_bytes as u64;
        self.moved_bytes += bytes;
        for (why, pages) in reasons(&moved) {
            *self.left.entry(why).or_default() += pages * part.page_bytes as u64;
        }
        self.wait(begun, bytes, is_interrupted);
        Ok(())
    }

    fn request(&self, step: &Step, to: impl Fn(usize) -> u32) -> Result<MovedPages, Refusal> {
        move_listed_pages(self.pid, &step.addresses(), step.page_bytes, step.has_huge, to)
    }

    /// Until the rate allows the next step.
    fn wait(&mut self, begun: Instant, bytes: u64, is_interrupted: &dyn Fn() -> bool) {
        let due = self.pace.due_after(begun, bytes);
        while !is_interrupted() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(NAP));
        }
    }

    /// Moves everything back, at the same rate. Of a step that is refused nothing is known to be back.
    fn undo(&mut self, tell: &mut dyn FnMut(u64)) -> UndoneMove {
        let mut undone = UndoneMove::default();
        let mut left = self.moved_bytes;
        while let Some(step) = self.done.pop() {
            let begun = Instant::now();
            let page = step.page_bytes as u64;
            let Ok(back) = self.request(&step, |page| step.node_of(page)) else {
                undone.not_back_bytes += step.addresses().len() as u64 * page;
                continue;
            };
            undone.back_bytes += back.moved * page;
            undone.not_back_bytes += reasons(&back).map(|(_, pages)| pages * page).sum::<u64>();
            left = left.saturating_sub(back.moved * page);
            tell(left);
            self.wait(begun, back.moved * page, &|| false);
        }
        undone
    }

    fn stayed(&self) -> Vec<StayedPages> {
        self.left.iter().map(|(&why, &bytes)| StayedPages { why, bytes }).collect()
    }
}

/// Why pages did not move. Those that are no longer there need not.
fn reasons(moved: &MovedPages) -> impl Iterator<Item = (WhyStayed, u64)> {
    moved.left.iter().filter_map(|(errno, &pages)| {
        let why = match errno.map(|errno| errno.0) {
            Some(libc::ENOENT) => return None,
            Some(libc::EACCES) => WhyStayed::Mapped,
            Some(libc::ENOMEM) => WhyStayed::NoRoom,
            Some(libc::ENODEV) => WhyStayed::NoMemory,
            _ => WhyStayed::Held,
        };
        Some((why, pages))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use nearfar_sys::task_cpus;

    use super::*;

    const PAGE: usize = 4096;

    #[test]
    fn what_has_gone_needs_no_reason() {
        let left = [
            (Some(Errno(libc::ENOENT)), 7),
            (Some(Errno(libc::EACCES)), 6),
            (Some(Errno(libc::ENOMEM)), 5),
            (Some(Errno(libc::EBUSY)), 4),
            (Some(Errno(libc::ENODEV)), 2),
            (None, 3),
        ];
        let moved = MovedPages { there: 1, moved: 2, left: left.into() };
        let mut found: Vec<_> = reasons(&moved).collect();
        found.sort_unstable();
        let expected = [
            (WhyStayed::Mapped, 6),
            (WhyStayed::NoRoom, 5),
            (WhyStayed::NoMemory, 2),
            (WhyStayed::Held, 3),
            (WhyStayed::Held, 4),
        ];
        assert_eq!(found, expected);
    }

    fn question(pid: u32) -> MoveQuestion {
        let memory = "bind:0".parse().unwrap();
        MoveQuestion {
            pid,
            placement: "bind:0".into(),
            deal: PageDeal::of(&"bind:0".parse().unwrap(), &memory).unwrap(),
            bytes_per_second: 1e9,
            files: false,
            cpus: None,
        }
    }

    #[test]
    fn who_cannot_be_moved_is_told() {
        let root = Path::new("/");
        let refuse = |question: &MoveQuestion| {
            move_process(root, question, &|| false, &mut |_, _| {}).unwrap_err()
        };
        assert!(matches!(refuse(&question(std::process::id())), NotMoved::Itself(_)));
        assert!(matches!(refuse(&question(u32::MAX)), NotMoved::NoSuchProcess(_)));
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("proc/7");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("numa_maps"), "").unwrap();
        let status = "Name:\twork\nUid:\t1 1 1 1\nMems_allowed_list:\t1-3\n";
        std::fs::write(folder.join("status"), status).unwrap();
        let refused = move_process(tree.path(), &question(7), &|| false, &mut |_, _| {});
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("allows nodes 1-3"), "{refused}");
    }

    /// A process of this test's, whose smaps is not to be read any more once something was looked at.
    #[test]
    fn what_was_done_before_a_refusal_is_undone() {
        let mut waiting = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = waiting.id();
        let cpus = task_cpus(pid).unwrap();
        let one = CpuSet::single(cpus.last().unwrap());
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join(format!("proc/{pid}"));
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["numa_maps", "maps", "status", "stat", "smaps", "pagemap", "task", "cmdline"] {
            symlink(format!("/proc/{pid}/{file}"), folder.join(file)).unwrap();
        }
        let asked = MoveQuestion { cpus: Some(one.clone()), ..question(pid) };
        let mut looks = 0;
        let mut hide = |_, _| {
            looks += 1;
            if looks == 1 {
                assert_eq!(task_cpus(pid).unwrap(), one);
                std::fs::remove_file(folder.join("smaps")).unwrap();
            }
        };
        let refused = move_process(tree.path(), &asked, &|| false, &mut hide).unwrap_err();
        let NotMoved::Undone { why, undone } = &refused else { panic!("{refused}") };
        assert!(matches!(**why, NotMoved::Refused(_)), "{refused}");
        assert_eq!((undone.not_back_bytes, undone.confined_threads), (0, 0), "{refused}");
        let said = refused.to_string();
        assert!(said.contains("smaps") && said.contains("is back"), "{said}");
        assert_eq!(task_cpus(pid).unwrap(), cpus);
        // Without its list of threads, or of pages, it is still there.
        std::fs::remove_file(folder.join("numa_maps")).unwrap();
        let refused = move_process(tree.path(), &asked, &|| false, &mut |_, _| {}).unwrap_err();
        assert!(matches!(refused, NotMoved::Refused(_)), "{refused}");
        waiting.kill().unwrap();
        waiting.wait().unwrap();
    }

    #[test]
    fn of_what_is_refused_on_the_way_back_nothing_counts_as_back() {
        let page_deal = question(1).deal;
        let steps = [2, 3].map(|pages| {
            let strays: Vec<_> = (1..=pages).map(|number| (number * PAGE, 0)).collect();
            Step::new(&strays, &PresentPart::without_pages(PAGE, false))
        });
        let mut mover = Mover {
            pid: i32::MAX as u32,
            deal: &AddressDeal::of(&page_deal, 1 << 20),
            pace: Pace::new(1e9),
            moved_bytes: 0,
            left: BTreeMap::new(),
            done: steps.into(),
        };
        let undone = mover.undo(&mut |_| {});
        let expected = UndoneMove { not_back_bytes: 5 * PAGE as u64, ..UndoneMove::default() };
        assert_eq!(undone, expected);
    }
}
