//! Work of one cycle each, by which the clock of a core is told.

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
    #[cfg(target_arch = "x86_64")]
    {
        let iterations = additions.div_ceil(UNROLL).max(1);
        // SAFETY: there is an iteration, and nothing else is asked for.
        let sum = unsafe { add_iterations(1, iterations) };
        // Ones, added up from 0.
        let wanted = iterations * UNROLL;
        assert_eq!(sum, wanted, "the CPU added wrongly, or not as often as was asked for");
        Some(sum)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = additions;
        None
    }
}

/// Additions of one iteration of the loop.
#[cfg(target_arch = "x86_64")]
const UNROLL: u64 = 64;

/// The sum of [`UNROLL`] times `iterations` times `addend`.
///
/// # Safety
///
/// There is at least one iteration.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "sysv64" fn add_iterations(addend: u64, iterations: u64) -> u64 {
    std::arch::naked_asm!(
        "xor eax, eax",
        ".p2align 6",
        "2:",
        ".rept 64",
        "add rax, rdi",
        ".endr",
        "dec rsi",
        "jnz 2b",
        "ret",
    )
}

#[cfg(all(test, target_arch = "x86_64"))]
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
