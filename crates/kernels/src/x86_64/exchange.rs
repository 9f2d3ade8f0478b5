//! The loops of an exchanged line.
//!
//! Neither waits by `pause`: it lasts 40 to 140 cycles on Intel's cores since Skylake, as long as a
//! hand-over, and would be measured instead of it. On two hyperthreads of one core the waiting side
//! takes places in the core from the other, as it does in a program that spins so.

use std::sync::atomic::AtomicU64;

/// Waits for a turn by loads and writes the next, `times` times (at least one), each turn two above
/// the one before. Ends early where a turn does not come within `patience` loads; gives how many were left.
pub(crate) fn write_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    // SAFETY: the address is an atomic's, which both sides access by whole, aligned words; times and
    // patience are above 0.
    unsafe { write_turns_at(count.as_ptr(), turn, times.max(1), patience.max(1)) }
}

/// The same by compare-and-swap, which waits and writes in one.
pub(crate) fn swap_turns(count: &AtomicU64, turn: u64, times: u64, patience: u64) -> u64 {
    // SAFETY: as for `write_turns`.
    unsafe { swap_turns_at(count.as_ptr(), turn, times.max(1), patience.max(1)) }
}

/// # Safety
///
/// `count` is that of an atomic, and neither `times` nor `patience` is 0.
#[unsafe(naked)]
unsafe extern "sysv64" fn write_turns_at(
    count: *mut u64,
    turn: u64,
    times: u64,
    patience: u64,
) -> u64 {
    std::arch::naked_asm!(
        "2:",
        "mov r8, rcx",
        ".p2align 5",
        "3:",
        "mov rax, [rdi]",
        "cmp rax, rsi",
        "je 4f",
        "dec r8",
        "jnz 3b",
        "mov rax, rdx",
        "ret",
        "4:",
        "inc rax",
        "mov [rdi], rax",
        "add rsi, 2",
        "dec rdx",
        "jnz 2b",
        "mov rax, rdx",
        "ret",
    )
}

/// # Safety
///
/// As for `write_turns_at`.
#[unsafe(naked)]
unsafe extern "sysv64" fn swap_turns_at(
    count: *mut u64,
    turn: u64,
    times: u64,
    patience: u64,
) -> u64 {
    std::arch::naked_asm!(
        "2:",
        "mov r8, rcx",
        "lea r9, [rsi + 1]",
        ".p2align 5",
        "3:",
        "mov rax, rsi",
        "lock cmpxchg [rdi], r9",
        "je 4f",
        "dec r8",
        "jnz 3b",
        "mov rax, rdx",
        "ret",
        "4:",
        "add rsi, 2",
        "dec rdx",
        "jnz 2b",
        "mov rax, rdx",
        "ret",
    )
}
