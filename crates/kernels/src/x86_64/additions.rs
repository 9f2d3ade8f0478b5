//! Additions that wait for each other.

/// Additions of one iteration of the loop.
const UNROLL: u64 = 64;

/// At least so many, and at least an iteration; gives how many.
pub(crate) fn add_in_sequence(additions: u64) -> u64 {
    let iterations = additions.div_ceil(UNROLL).max(1);
    // SAFETY: there is an iteration, and nothing else is asked for.
    let sum = unsafe { add_iterations(1, iterations) };
    // Ones, added up from 0.
    assert_eq!(sum, iterations * UNROLL, "the CPU added wrongly, or not as often as was asked for");
    sum
}

/// The sum of [`UNROLL`] times `iterations` times `addend`.
///
/// # Safety
///
/// There is at least one iteration.
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
