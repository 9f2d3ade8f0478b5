//! The loop of a chase.

use std::arch::x86_64::{_mm_sfence, _mm_stream_si64};

use crate::portable;

/// Loads of one iteration of the loop.
const UNROLL: u64 = 32;

/// Follows pointers for this many accesses; gives where that ends. Each load needs the value of the
/// one before as its address, without an operation in between.
///
/// # Safety
///
/// `place` holds the address of a place that does so too, and so on; their provenance is exposed.
pub(crate) unsafe fn follow(place: usize, accesses: u64) -> usize {
    let iterations = accesses / UNROLL;
    let place = if iterations == 0 {
        place
    } else {
        // SAFETY: `place` is as the loop wants it, and there is an iteration.
        unsafe { follow_iterations(place, iterations) }
    };
    // SAFETY: the loop ended at such a place as well.
    unsafe { portable::follow(place, accesses % UNROLL) }
}

/// [`UNROLL`] times `iterations` accesses.
///
/// # Safety
///
/// As for [`follow`], and there is at least one iteration.
#[unsafe(naked)]
unsafe extern "sysv64" fn follow_iterations(place: usize, iterations: u64) -> usize {
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
