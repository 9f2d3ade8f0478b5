//! Work of one cycle each, by which the clock of a core is told.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::architecture::{ADDITIONS, add_iterations};

/// Adds one register to another about this many times, each addition waiting for the one before;
/// gives how many there were. Each takes one cycle on every core that is known, so that the time it
/// takes tells the clock at which the core runs now. `None` where there is no such loop.
///
/// Both operands are registers: recent Intel cores add small constants before execution, several
/// in one cycle.
///
/// # Panics
///
/// If the sum is not that of this many additions.
pub fn add_in_sequence(additions: u64) -> Option<u64> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let iterations = additions.div_ceil(ADDITIONS).max(1);
        // SAFETY: there is an iteration, and nothing else is asked for.
        let sum = unsafe { add_iterations(1, iterations) };
        // Ones, added up from 0.
        let wanted = iterations * ADDITIONS;
        assert_eq!(sum, wanted, "the CPU added wrongly, or not as often as was asked for");
        Some(sum)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = additions;
        None
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_least_as_many_additions_as_asked_for_and_hardly_more() {
        for asked in [0, 1, 63, 64, 65, 1000, 1_000_000] {
            let made = add_in_sequence(asked).unwrap();
            assert!((asked..asked.max(1) + 64).contains(&made), "{made} for {asked}");
        }
    }
}
