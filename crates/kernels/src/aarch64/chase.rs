//! The loop of a chase.

use std::arch::asm;

/// Loads of one iteration of the loop.
pub(crate) const CHASE_UNROLL: u64 = 32;

/// [`CHASE_UNROLL`] times `iterations` accesses.
///
/// # Safety
///
/// As for `follow` of `chase.rs`, and there is at least one iteration. Each load needs the value of the one
/// before as its address, without an operation in between.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn follow_iterations(place: usize, iterations: u64) -> usize {
    std::arch::naked_asm!(
        ".p2align 6",
        "2:",
        ".rept 32",
        "ldr x0, [x0]",
        ".endr",
        "subs x1, x1, #1",
        "b.ne 2b",
        "ret",
    )
}

/// Writes an element and has the line that caches hold of it written to memory and dropped. `stnp`
/// would not do: it is a hint, and the line may stay. A cache behind the point where all of a
/// machine's observers meet, on the side of the memory, may keep it.
pub(crate) fn store_past_caches(element: &mut f64, value: f64) {
    *element = value;
    // SAFETY: the place is an element's, borrowed for writing; cleaning a line changes no value.
    // Linux lets programs do it (SCTLR_EL1.UCI).
    unsafe {
        asm!(
            "dc civac, {place}",
            place = in(reg) std::ptr::from_mut(element),
            options(nostack, preserves_flags)
        );
    }
}

/// Has all that was begun so done before what follows.
pub(crate) fn end_stores_past_caches() {
    // SAFETY: a barrier, which has no condition. Maintenance of caches is waited for by dsb alone.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) };
}
