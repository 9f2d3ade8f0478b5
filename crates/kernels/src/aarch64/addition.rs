//! Additions that wait for each other.

/// Additions of one iteration of the loop.
pub(crate) const ADDITIONS: u64 = 64;

/// The sum of [`ADDITIONS`] times `iterations` times `addend`.
///
/// # Safety
///
/// There is at least one iteration.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn add_iterations(addend: u64, iterations: u64) -> u64 {
    std::arch::naked_asm!(
        "mov x2, #0",
        ".p2align 6",
        "2:",
        ".rept 64",
        "add x2, x2, x0",
        ".endr",
        "subs x1, x1, #1",
        "b.ne 2b",
        "mov x0, x2",
        "ret",
    )
}
