//! Stores around the caches, beside those of the loops.

use std::arch::asm;
use std::arch::x86_64::_mm_sfence;
use std::ptr;

/// Makes non-temporal stores visible before all later ones.
pub(crate) fn fence_stores() {
    // SAFETY: every x86-64 CPU has sfence, and it has no other condition.
    unsafe { _mm_sfence() };
}

/// A non-temporal store of one element. Whoever uses it ends with [`fence_stores`].
#[inline(always)]
pub(crate) fn write_non_temporal(place: &mut f64, value: f64) {
    // SAFETY: movnti is in SSE2, which every x86-64 CPU has; a mutable reference is valid for
    // writes. The caller's fence orders the store before the borrow ends.
    unsafe {
        asm!(
            "movnti [{place}], {value}",
            place = in(reg) ptr::from_mut(place),
            value = in(reg) value.to_bits(),
            options(nostack, preserves_flags)
        );
    }
}
