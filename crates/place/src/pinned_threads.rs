//! The CPUs of a running process's threads: given, and given back.

use std::path::Path;

use nearfar_machine::CpuSet;
use nearfar_sys::{Errno, Refusal, Task, pin_task, tasks};

/// Gives the threads of a process these CPUs, also those that start meanwhile unless they inherit them,
/// or `is_interrupted` says to end; `pinned` gets them as they were before.
pub(crate) fn pin(
    root: &Path,
    pid: u32,
    cpus: &CpuSet,
    pinned: &mut Vec<Task>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let mut is_first = true;
    while !is_interrupted() {
        let known = pinned.len();
        for task in tasks(root, pid)? {
            let inherits = !is_first && task.cpus.is_subset(cpus);
            if inherits || pinned.iter().any(|it| it.tid == task.tid) {
                continue;
            }
            match pin_task(task.tid, cpus) {
                Ok(()) => pinned.push(task),
                Err(refusal) if has_ended(&refusal) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        if pinned.len() == known {
            break;
        }
        is_first = false;
    }
    Ok(())
}

/// Gives threads the CPUs back that they had, and those of the first one to threads that have come since
/// and inherited what that was given. How many could not be given theirs.
pub(crate) fn unpin(root: &Path, pid: u32, pinned: &[Task]) -> usize {
    let Some(first) = pinned.iter().find(|task| task.tid == pid).or(pinned.first()) else {
        return 0;
    };
    // One that has ended has none.
    let now = || tasks(root, pid).unwrap_or_default();
    let given = now().into_iter().find(|task| task.tid == first.tid).map(|task| task.cpus);
    let give = |tid: u32, cpus: &CpuSet| {
        usize::from(pin_task(tid, cpus).is_err_and(|refusal| !has_ended(&refusal)))
    };
    let mut refused: usize = pinned.iter().map(|task| give(task.tid, &task.cpus)).sum();
    let mut known: Vec<u32> = pinned.iter().map(|task| task.tid).collect();
    // Those that it has confined may start others until they have theirs back.
    loop {
        let mut came = now();
        came.retain(|task| Some(&task.cpus) == given.as_ref() && !known.contains(&task.tid));
        if came.is_empty() || given.as_ref() == Some(&first.cpus) {
            return refused;
        }
        refused += came.iter().map(|task| give(task.tid, &first.cpus)).sum::<usize>();
        known.extend(came.iter().map(|task| task.tid));
    }
}

fn has_ended(refusal: &Refusal) -> bool {
    refusal.errno() == Some(Errno(libc::ESRCH))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::symlink;
    use std::process::{Child, Command, Stdio};

    use nearfar_sys::task_cpus;

    use super::*;

    struct Waiting(Child);

    impl Waiting {
        fn start() -> Self {
            Self(Command::new("cat").stdin(Stdio::piped()).spawn().unwrap())
        }

        fn cpus(&self) -> CpuSet {
            task_cpus(self.0.id()).unwrap()
        }
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    /// Two processes stand for the threads of one: one from the start, one that it starts once it is
    /// pinned. Where this test has one CPU, there is nothing to inherit or to give back.
    #[test]
    fn threads_that_start_later_inherit_cpus_and_get_the_old_ones_back() {
        let (first, later) = (Waiting::start(), Waiting::start());
        let (pid, all) = (first.0.id(), first.cpus());
        let some = CpuSet::single(all.first().unwrap());
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join(format!("proc/{pid}/task"));
        std::fs::create_dir_all(&folder).unwrap();
        let list =
            |tid: u32| symlink(format!("/proc/{tid}"), folder.join(tid.to_string())).unwrap();
        list(pid);
        let asked = Cell::new(0);
        let start_another = || {
            asked.set(asked.get() + 1);
            if asked.get() == 2 {
                pin_task(later.0.id(), &some).unwrap();
                list(later.0.id());
            }
            false
        };
        let mut pinned = Vec::new();
        pin(tree.path(), pid, &some, &mut pinned, &start_another).unwrap();
        assert_eq!(asked.get(), 2, "a round that finds all confined is the last one");
        assert_eq!(pinned.iter().map(|task| task.tid).collect::<Vec<_>>(), [pid]);
        assert_eq!((first.cpus(), later.cpus()), (some.clone(), some.clone()));
        assert_eq!(unpin(tree.path(), pid, &pinned), 0);
        assert_eq!((first.cpus(), later.cpus()), (all.clone(), all));
        let mut none = Vec::new();
        pin(tree.path(), pid, &some, &mut none, &|| true).unwrap();
        assert!(none.is_empty(), "it was interrupted before");
    }
}
