//! The most memory that a process had at once, by the kernel's own account: what a program freed
//! before any look at its pages is found out by it.

use std::fs;

/// What may be missing of a process's memory without a word: the kernel counts by the thread, and
/// some pages late.
const UNSAID_BYTES: u64 = 8 << 20;

/// Bytes of its own memory (without files and what it shares) that a process had at once, about:
/// its highest resident size (VmHWM of /proc/PID/status, proc_pid_status(5)) without the files that
/// are resident now. `None` where the kernel does not say.
pub(crate) fn own_peak(pid: u32) -> Option<u64> {
    own_peak_of(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

fn own_peak_of(status: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(':')?.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let others = kib("RssFile")?.saturating_add(kib("RssShmem")?);
    kib("VmHWM")?.saturating_sub(others).checked_mul(1 << 10)
}

/// What to say of processes that had more memory at once than was counted, each given by both;
/// `None` where that is not worth a word.
pub(crate) fn sentence(processes: impl Iterator<Item = (u64, u64)>) -> Option<String> {
    let (mut peaks, mut counted) = (0_u64, 0_u64);
    for (peak, bytes) in processes {
        if peak.saturating_sub(bytes) >= UNSAID_BYTES.max(peak / 10) {
            peaks = peaks.saturating_add(peak);
            counted = counted.saturating_add(bytes);
        }
    }
    (peaks > 0).then(|| {
        format!(
            "it had about {} MiB of own memory at once, of which looks found {} MiB: the rest was \
             freed before one, and where it was is not known",
            peaks >> 20,
            counted >> 20
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_without_files() {
        let status = "VmPeak:\t  900000 kB\nVmHWM:\t  320000 kB\nVmRSS:\t   9000 kB\n\
            RssAnon:\t    2000 kB\nRssFile:\t    6000 kB\nRssShmem:\t    1000 kB\n";
        assert_eq!(own_peak_of(status), Some(313_000 << 10));
        assert_eq!(own_peak_of("VmHWM:\t12 kB\n"), None);
        assert_eq!(own_peak_of("VmHWM:\t12 kB\nRssFile:\t99 kB\nRssShmem:\t0 kB\n"), Some(0));
        assert!(own_peak(std::process::id()).unwrap() > 0);
    }

    #[test]
    fn what_was_freed_before_a_look_is_said_where_it_is_much() {
        let mib = |mib: u64| mib << 20;
        let said = |processes: &[(u64, u64)]| sentence(processes.iter().copied());
        assert_eq!(said(&[(mib(300), mib(290)), (mib(7), 0)]), None);
        let text = said(&[(mib(300), mib(168)), (mib(50), mib(50))]).unwrap();
        assert!(text.contains("300 MiB") && text.contains("168 MiB"), "{text}");
    }
}
