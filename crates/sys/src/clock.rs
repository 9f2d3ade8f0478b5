//! The clock of every measurement.

use std::time::Duration;

/// Nanoseconds of `CLOCK_MONOTONIC`: comparable between threads and processes since
/// boot, never set back, its rate steered by NTP. A read is a call into the vDSO,
/// without entering the kernel on usual clock sources.
pub fn monotonic_ns() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC)
}

/// [`monotonic_ns`] as a duration since boot.
pub fn monotonic() -> Duration {
    Duration::from_nanos(monotonic_ns())
}

/// Nanoseconds that this thread has had a CPU (`CLOCK_THREAD_CPUTIME_ID`): what
/// [`monotonic_ns`] gains over it, the thread spent without one.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to live memory; both clocks always exist,
    // so the call has no failure to report.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    #[expect(
        clippy::cast_sign_loss,
        reason = "neither is negative, and nanoseconds since boot fit 64 bits for 584 years"
    )]
    let nanoseconds = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    nanoseconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_no_cpu_time() {
        let (wall, cpu) = (monotonic_ns(), thread_cpu_ns());
        std::thread::sleep(Duration::from_millis(20));
        let (wall, cpu) = (monotonic_ns() - wall, thread_cpu_ns() - cpu);
        assert!(wall >= 20_000_000 && wall - cpu >= 15_000_000, "{cpu} of {wall}");
    }

    #[test]
    fn clock_agrees_with_the_kernels_own_account_of_uptime() {
        // The first number of /proc/uptime counts suspended time too, so it bounds
        // the clock from above; it is rounded down to 10 ms.
        let before = monotonic();
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = text.split(' ').next().unwrap().parse().unwrap();
        assert!(before.as_secs_f64() <= uptime + 0.01, "{before:?} is after {uptime}");
        assert!(monotonic() >= before);
        assert!(before > Duration::ZERO);
    }

    #[test]
    fn clock_never_runs_backwards_between_threads() {
        let mut last = monotonic_ns();
        for _ in 0..100 {
            let seen = std::thread::spawn(monotonic_ns).join().unwrap();
            assert!(seen >= last);
            last = seen;
        }
    }
}
