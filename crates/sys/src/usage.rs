//! What disturbed a thread: switches, faults, stolen CPU time; and what a process took.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Duration;

use nearfar_machine::CpuSet;

use crate::refusal::{Errno, Refusal};
use crate::system_file::{field, numbers_in, read_text};

/// Counts of the calling thread since its start (getrusage(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// Times another thread took the CPU away.
    pub involuntary_switches: u64,
    /// Page faults served without reading from disk; first touches among them.
    pub minor_faults: u64,
}

/// The calling thread's counts.
///
/// # Errors
/// When the kernel refuses to say.
pub fn thread_usage() -> Result<ThreadUsage, Refusal> {
    let usage = usage_of("RUSAGE_THREAD", libc::RUSAGE_THREAD)?;
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or_default();
    Ok(ThreadUsage {
        involuntary_switches: count(usage.ru_nivcsw),
        minor_faults: count(usage.ru_minflt),
    })
}

/// CPU time of all children of this process that have ended and were waited for, and of theirs
/// (getrusage(2)).
///
/// # Errors
/// When the kernel refuses to say.
pub fn children_cpu_time() -> Result<Duration, Refusal> {
    let usage = usage_of("RUSAGE_CHILDREN", libc::RUSAGE_CHILDREN)?;
    let time = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::from_secs(seconds)
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default())
    };
    Ok(time(usage.ru_utime) + time(usage.ru_stime))
}

/// The most memory that any child of this process, or of theirs, had present that has ended and was waited for,
/// bytes; `None` where it is not known. A child begins with what this process has present, so that less than
/// that says nothing (getrusage(2)).
pub fn children_peak_bytes(root: &Path) -> Option<u64> {
    let usage = usage_of("RUSAGE_CHILDREN", libc::RUSAGE_CHILDREN).ok()?;
    let peak = u64::try_from(usage.ru_maxrss).ok()?.checked_mul(1024)?;
    let own = peak_resident_bytes(root)?;
    (peak > own.saturating_add(own / 4)).then_some(peak)
}

/// What kept a thread from a CPU since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuWait {
    /// Time in which it could have run.
    pub waited: Duration,
    /// Times another thread took the CPU away.
    pub involuntary_switches: u64,
}

/// The same of each thread of this process by its number (schedstat and status of proc(5)); those that
/// the kernel does not tell of are left out.
pub fn cpu_waits(root: &Path) -> BTreeMap<u32, CpuWait> {
    let of = |thread: u32| {
        let schedstat = read_text(root, format!("proc/self/task/{thread}/schedstat")).ok()?;
        let status = read_text(root, format!("proc/self/task/{thread}/status")).ok()?;
        // Time on a CPU, time in the queue for one, both in ns, and turns.
        let waited = schedstat.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let involuntary_switches = field(&status, "nonvoluntary_ctxt_switches")?;
        let wait = CpuWait { waited: Duration::from_nanos(waited), involuntary_switches };
        Some((thread, wait))
    };
    let threads = numbers_in(root, "proc/self/task").unwrap_or_default();
    threads.into_iter().filter_map(of).collect()
}

fn usage_of(name: &str, who: libc::c_int) -> Result<libc::rusage, Refusal> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one rusage to live memory.
    match unsafe { libc::getrusage(who, usage.as_mut_ptr()) } {
        // SAFETY: a struct of integers is valid for zero bytes, and the kernel filled it.
        0 => Ok(unsafe { usage.assume_init() }),
        _ => Err(Refusal::call("getrusage", name, Errno::last())),
    }
}

/// Time since boot that the hypervisor ran something else while these CPUs had work,
/// summed over them, in steps of a clock tick (usually 10 ms). `None` when /proc/stat
/// does not say for every one of them. A hypervisor may not tell: 0 does not prove
/// that the CPUs were ours.
pub fn steal_time(root: &Path, cpus: &CpuSet) -> Option<Duration> {
    let text = read_text(root, "proc/stat").ok()?;
    // SAFETY: no memory is involved.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let ticks_per_second = u32::try_from(ticks_per_second).ok().filter(|&ticks| ticks > 0)?;
    let ticks = count_steal_ticks(&text, cpus)?;
    Some(Duration::from_secs(ticks) / ticks_per_second)
}

fn count_steal_ticks(stat: &str, cpus: &CpuSet) -> Option<u64> {
    let mut ticks: u64 = 0;
    let mut found = CpuSet::new();
    for line in stat.lines() {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next().and_then(|word| word.strip_prefix("cpu"));
        let Some(cpu) = cpu.and_then(|number| number.parse().ok()) else {
            continue;
        };
        if cpus.contains(cpu) && found.insert(cpu) {
            // user nice system idle iowait irq softirq steal (proc_stat(5))
            ticks = ticks.checked_add(words.nth(7)?.parse().ok()?)?;
        }
    }
    (found == *cpus).then_some(ticks)
}

/// The most memory that this process had present at any time, in bytes (`VmHWM`);
/// `None` when /proc/self/status does not say.
pub fn peak_resident_bytes(root: &Path) -> Option<u64> {
    let text = read_text(root, "proc/self/status").ok()?;
    field(&text, "VmHWM")?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::mapping::{Mapping, PageRequest};

    #[test]
    fn children_use_cpu_time_when_they_have_ended() {
        let before = children_cpu_time().unwrap();
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", count]).status().unwrap().success());
        assert!(children_cpu_time().unwrap() > before);
    }

    #[test]
    fn first_touches_are_minor_faults_of_the_thread() {
        let mut mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        let pages = (mapping.bytes() / crate::base_page_bytes()) as u64;
        let before = thread_usage().unwrap();
        mapping.as_f64_mut().fill(1.0);
        let touched = thread_usage().unwrap();
        assert!(touched.minor_faults - before.minor_faults >= pages);
        std::thread::spawn(move || {
            mapping.drop_pages().unwrap();
            mapping.as_f64_mut().fill(1.0);
        })
        .join()
        .unwrap();
        let other = thread_usage().unwrap();
        assert!(other.minor_faults - touched.minor_faults < pages, "another thread's were counted");
    }

    #[test]
    fn waits_are_those_of_each_thread() {
        let root = tempfile::tempdir().unwrap();
        let write = |thread: u32, schedstat: &str| {
            let folder = root.path().join(format!("proc/self/task/{thread}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("schedstat"), schedstat).unwrap();
            std::fs::write(folder.join("status"), "Name:\tit\nnonvoluntary_ctxt_switches:\t4\n")
                .unwrap();
        };
        write(7, "100 2500 3\n");
        write(8, "100\n");
        let wait = CpuWait { waited: Duration::from_nanos(2500), involuntary_switches: 4 };
        assert_eq!(cpu_waits(root.path()), BTreeMap::from([(7, wait)]));
        assert!(cpu_waits(&root.path().join("nowhere")).is_empty());
    }

    const STAT: &str = "cpu  9 9 9 9 9 9 9 999 0 0\n\
                        cpu0 1 2 3 4 5 6 7 100 0 0\n\
                        cpu2 1 2 3 4 5 6 7 250 0 0\n\
                        cpu30 1 2 3 4\n\
                        intr 1 2 3\n";

    #[test]
    fn steal_is_summed_over_the_cpus_asked_for() {
        let ticks = |cpus: &str| count_steal_ticks(STAT, &cpus.parse().unwrap());
        assert_eq!(ticks("0"), Some(100));
        assert_eq!(ticks("0,2"), Some(350));
        assert_eq!(ticks(""), Some(0));
        assert_eq!(ticks("0-2"), None, "CPU 1 is not listed");
        assert_eq!(ticks("30"), None, "a kernel before steal time");
    }

    #[test]
    fn live_steal_is_known_for_the_cpus_of_this_thread() {
        let cpus = crate::thread_cpus().unwrap();
        assert!(steal_time(Path::new("/"), &cpus).is_some());
        assert_eq!(steal_time(Path::new("/"), &CpuSet::single(65_535)), None);
        assert_eq!(steal_time(Path::new("/nowhere"), &cpus), None);
    }

    #[test]
    fn peak_is_at_least_what_was_touched() {
        let mut mapping = Mapping::new(8 << 20, PageRequest::Small).unwrap();
        mapping.as_f64_mut().fill(1.0);
        assert!(peak_resident_bytes(Path::new("/")).unwrap() >= 8 << 20);
        assert_eq!(peak_resident_bytes(Path::new("/nowhere")), None);
    }
}
