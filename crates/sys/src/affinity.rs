//! Where the calling thread may run (sched_setaffinity(2)).

use std::ffi::{c_uint, c_ulong, c_void};
use std::ptr;

use nearfar_machine::{CpuSet, NodeSet};

use crate::bit_mask;
use crate::refusal::{Errno, Refusal};

/// Words of the first mask tried when reading: 1024 CPUs, what glibc's `cpu_set_t` holds.
const FIRST_WORDS: usize = 1024 / c_ulong::BITS as usize;
/// Words of the largest mask tried, for 524 288 CPUs. Linux is built for at most 8192.
const LAST_WORDS: usize = FIRST_WORDS << 9;

/// Lets the calling thread run on exactly these CPUs.
///
/// # Errors
/// When the set is empty, when the kernel refuses, or when it would grant fewer
/// CPUs: it silently drops those that are offline or outside the cpuset. The
/// affinity is then as before.
pub fn pin_thread(cpus: &CpuSet) -> Result<(), Refusal> {
    if cpus.is_empty() {
        return Err(Refusal::Argument {
            what: "an empty set of CPUs".into(),
            reason: "a thread needs at least one CPU to run on",
        });
    }
    let before = thread_cpus()?;
    set_affinity(THIS_THREAD, cpus)?;
    let granted = thread_cpus()?;
    if granted == *cpus {
        return Ok(());
    }
    set_affinity(THIS_THREAD, &before)?;
    Err(Refusal::Altered {
        call: "sched_setaffinity",
        asked: format!("CPUs {cpus}"),
        granted: format!("CPUs {granted}"),
        remedy: "the rest is offline or outside the cpuset; \
                 choose from Cpus_allowed_list in /proc/self/status",
    })
}

/// Lets a thread of another process run on these CPUs, or on those of them that are online and in
/// its cpuset.
///
/// # Errors
/// When none of them is, when it is gone, or when it belongs to somebody else.
pub fn pin_task(tid: u32, cpus: &CpuSet) -> Result<(), Refusal> {
    set_affinity(number_of(tid)?, cpus)
}

/// 0 would be the calling thread.
fn number_of(tid: u32) -> Result<libc::pid_t, Refusal> {
    let no_such = || Refusal::call("sched_setaffinity", tid, Errno(libc::ESRCH));
    libc::pid_t::try_from(tid).ok().filter(|&tid| tid > 0).ok_or_else(no_such)
}

/// The calling thread, for sched_setaffinity(2).
const THIS_THREAD: libc::pid_t = 0;

fn set_affinity(tid: libc::pid_t, cpus: &CpuSet) -> Result<(), Refusal> {
    let mask = bit_mask::words(cpus);
    let bytes = size_of_val(mask.as_slice());
    // SAFETY: the kernel reads size_of_val(mask) bytes from the live mask.
    let status = unsafe { libc::sched_setaffinity(tid, bytes, mask.as_ptr().cast()) };
    match status {
        0 => Ok(()),
        _ => Err(Refusal::call("sched_setaffinity", format_args!("{cpus}"), Errno::last())),
    }
}

/// The CPUs that the calling thread may run on and that are online.
///
/// # Errors
/// When the kernel refuses to say.
pub fn thread_cpus() -> Result<CpuSet, Refusal> {
    affinity(THIS_THREAD)
}

/// The same of a thread of another process.
///
/// # Errors
/// When it is gone or belongs to somebody else.
pub fn task_cpus(tid: u32) -> Result<CpuSet, Refusal> {
    affinity(number_of(tid)?)
}

fn affinity(tid: libc::pid_t) -> Result<CpuSet, Refusal> {
    let mut words = FIRST_WORDS;
    loop {
        let mut mask: Vec<c_ulong> = vec![0; words];
        // SAFETY: the kernel writes at most size_of_val(mask) bytes to the live mask.
        let status = unsafe {
            libc::sched_getaffinity(tid, size_of_val(mask.as_slice()), mask.as_mut_ptr().cast())
        };
        if status == 0 {
            return Ok(bit_mask::members(&mask));
        }
        let errno = Errno::last();
        // EINVAL: the mask is smaller than the kernel's own.
        if errno.0 != libc::EINVAL || words >= LAST_WORDS {
            return Err(Refusal::call("sched_getaffinity", format_args!("{words} words"), errno));
        }
        words *= 2;
    }
}

/// The CPU that the calling thread runs on at this moment; `None` when the kernel
/// does not say (getcpu(2) blocked).
pub fn current_cpu() -> Option<u32> {
    // SAFETY: no arguments, no memory.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok()
}

/// The nodes of these CPUs, by getcpu(2) on each of them, which needs no file. The
/// calling thread visits them in turn and goes back.
///
/// # Errors
/// When the thread cannot run on each of the CPUs, or getcpu(2) is refused or gives no
/// answer.
pub fn nodes_of_cpus(cpus: &CpuSet) -> Result<NodeSet, Refusal> {
    let before = thread_cpus()?;
    let visit = |cpu| {
        pin_thread(&CpuSet::single(cpu))?;
        current_node()
    };
    let nodes: Result<NodeSet, Refusal> = cpus.iter().map(visit).collect();
    pin_thread(&before)?;
    nodes
}

/// The node of the CPU that the calling thread runs on.
fn current_node() -> Result<u32, Refusal> {
    const NO_ANSWER: c_uint = c_uint::MAX;
    let mut node = NO_ANSWER;
    let (cpu, cache) = (ptr::null_mut::<c_uint>(), ptr::null_mut::<c_void>());
    // SAFETY: the kernel writes one number to the live `node`, and nothing for null.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, cpu, &raw mut node, cache) };
    match (status, node) {
        (0, NO_ANSWER) => Err(Refusal::Unanswered { call: "getcpu", arguments: "node".into() }),
        (0, node) => Ok(node),
        _ => Err(Refusal::call("getcpu", "node", Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_thread_runs_on_its_cpu() {
        let all = thread_cpus().unwrap();
        std::thread::spawn(move || {
            for cpu in all.iter() {
                pin_thread(&CpuSet::single(cpu)).unwrap();
                assert_eq!(thread_cpus().unwrap(), CpuSet::single(cpu));
                assert_eq!(current_cpu(), Some(cpu));
            }
            pin_thread(&all).unwrap();
            assert_eq!(thread_cpus().unwrap(), all);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn nodes_of_cpus_are_those_of_sysfs() {
        std::thread::spawn(|| {
            let before = thread_cpus().unwrap();
            for cpu in before.iter() {
                let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
                let names = std::fs::read_dir(folder).unwrap().flatten();
                let by_sysfs = names.filter_map(|entry| {
                    entry.file_name().to_str()?.strip_prefix("node")?.parse::<u32>().ok()
                });
                let by_sysfs: NodeSet = by_sysfs.collect();
                assert_eq!(nodes_of_cpus(&CpuSet::single(cpu)).unwrap(), by_sysfs);
            }
            assert!(nodes_of_cpus(&CpuSet::single(65_535)).is_err());
            assert_eq!(thread_cpus().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn partly_granted_set_is_refused_and_leaves_the_affinity() {
        std::thread::spawn(|| {
            let mut wanted = thread_cpus().unwrap();
            let before = CpuSet::single(wanted.first().unwrap());
            pin_thread(&before).unwrap();
            wanted.insert(65_535);
            let refusal = pin_thread(&wanted).unwrap_err();
            assert!(matches!(refusal, Refusal::Altered { .. }), "{refusal}");
            assert_eq!(thread_cpus().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn sets_without_a_usable_cpu_are_refused() {
        let refusal = pin_thread(&CpuSet::new()).unwrap_err();
        assert!(matches!(refusal, Refusal::Argument { .. }));
        let refusal = pin_thread(&CpuSet::single(65_535)).unwrap_err();
        assert_eq!(refusal.errno(), Some(Errno(libc::EINVAL)));
        assert!(refusal.to_string().contains("Cpus_allowed_list"), "{refusal}");
    }
}
