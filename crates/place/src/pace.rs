//! A bounded rate: steps that are so large that a second has many, each no sooner than the rate allows.

use std::time::{Duration, Instant};

/// A step takes so long at the rate.
const STEP: Duration = Duration::from_millis(20);

/// Bytes of a step, at most: what one system call is asked for.
const MOST_STEP_BYTES: f64 = (64 << 20) as f64;

/// When the next step may begin.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_per_second: f64,
    due: Option<Instant>,
}

impl Pace {
    /// Less than 1 byte/s counts as that.
    pub fn new(bytes_per_second: f64) -> Self {
        Self { bytes_per_second: bytes_per_second.max(1.0), due: None }
    }

    /// Pages of a step.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 2^26, and not negative"
    )]
    pub fn step_pages(&self, page_bytes: usize) -> usize {
        let bytes = (self.bytes_per_second * STEP.as_secs_f64()).min(MOST_STEP_BYTES);
        (bytes as usize / page_bytes).max(1)
    }

    /// When the next step may begin after one of `bytes` that began at `begun`. Of time that was lost no
    /// more than a step's is made up for: the rate is kept step by step, not over the whole move.
    pub fn due_after(&mut self, begun: Instant, bytes: u64) -> Instant {
        let latest = begun.checked_sub(STEP).unwrap_or(begun);
        let from = self.due.map_or(begun, |due| due.max(latest));
        let due = from + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        self.due = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_take_as_long_as_the_rate_says() {
        let begun = Instant::now();
        let mut pace = Pace::new(1e9);
        assert_eq!(pace.step_pages(4096), 4882);
        let mut now = begun;
        for _ in 0..50 {
            now = pace.due_after(now, 20_000_000);
        }
        assert_eq!((now - begun).as_millis(), 1000);
        // Each wakes a little late, which the next one makes up for.
        let mut pace = Pace::new(1e9);
        let mut now = begun;
        for _ in 0..50 {
            now = pace.due_after(now, 20_000_000) + Duration::from_millis(3);
        }
        assert_eq!((now - begun).as_millis(), 1003);
    }

    #[test]
    fn what_was_lost_in_a_long_break_is_not_made_up_for() {
        let begun = Instant::now();
        let mut pace = Pace::new(1e9);
        pace.due_after(begun, 20_000_000);
        let later = begun + Duration::from_secs(60);
        assert_eq!(pace.due_after(later, 20_000_000), later);
        assert_eq!((pace.due_after(later, 20_000_000) - later).as_millis(), 20);
    }

    #[test]
    fn any_rate_gives_steps() {
        for (rate, pages) in [(0.0, 1), (f64::NAN, 1), (1.0, 1), (1e15, 16_384), (4e6, 19)] {
            let mut pace = Pace::new(rate);
            assert_eq!(pace.step_pages(4096), pages, "{rate}");
            let now = Instant::now();
            assert!(pace.due_after(now, 1 << 30) > now);
        }
        assert_eq!(Pace::new(1e9).step_pages(1 << 30), 1, "a page is not divided");
    }
}
