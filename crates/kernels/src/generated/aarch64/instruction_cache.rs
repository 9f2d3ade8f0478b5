//! Caches for instructions do not see what is stored.

use std::arch::asm;

/// Has instructions that were stored in this memory run as they stand there: by this thread, and by
/// those that come back from Linux afterwards, as all do that wait for work.
pub(in crate::generated) fn show_code(code: &[u8]) {
    let (data_line, instruction_line) = line_bytes();
    let places = |line: usize| {
        let bytes = code.as_ptr_range();
        (bytes.start.addr() / line * line..bytes.end.addr()).step_by(line)
    };
    for place in places(data_line) {
        // SAFETY: cleans a line of memory that is mapped, which changes no value.
        unsafe { asm!("dc cvau, {}", in(reg) place, options(nostack, preserves_flags)) };
    }
    // SAFETY: a barrier.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for place in places(instruction_line) {
        // SAFETY: drops a line of instructions, which are fetched again.
        unsafe { asm!("ic ivau, {}", in(reg) place, options(nostack, preserves_flags)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// The smallest lines of data and of instructions among all caches.
fn line_bytes() -> (usize, usize) {
    let types: usize;
    // SAFETY: Linux lets programs read the register (or reads it for them).
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    // As powers of two of words.
    (4 << (types >> 16 & 15), 4 << (types & 15))
}
