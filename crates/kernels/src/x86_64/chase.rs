//! The loop of a chase.

use std::arch::x86_64::{_mm_sfence, _mm_stream_si64};

/// Loads of one iteration of the loop.
pub(crate) const CHASE_UNROLL: u64 = 32;

/// [`CHASE_UNROLL`] times `iterations` accesses.
///
/// # Safety
///
/// As for `follow` of `chase.rs`, and there is at least one iteration. Each load needs the value of the one
/// before as its address, without an operation in between.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn follow_iterations(place: usize, iterations: u64) -> usize {
    std::arch::naked_asm!(
        ".p2align 6",
        "2:",
        ".rept 32",
        "mov rdi, [rdi]",
        ".endr",
        "dec rsi",
        "jnz 2b",
        "mov rax, rdi",
        "ret",
    )
}

/// Writes an element around the caches; a line that they hold of it goes to memory.
pub(crate) fn store_past_caches(element: &mut f64, value: f64) {
    // SAFETY: the place is an element's, aligned to its 8 bytes and borrowed for writing.
    unsafe { _mm_stream_si64(std::ptr::from_mut(element).cast(), value.to_bits().cast_signed()) }
}

/// Has all such stores done before what follows.
pub(crate) fn end_stores_past_caches() {
    // SAFETY: SSE, which every x86-64 CPU has.
    unsafe { _mm_sfence() }
}
