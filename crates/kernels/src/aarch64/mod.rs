//! The kernels in the instruction sets of AArch64.
//!
//! `body` holds what both have in common, `neon` and `sve` their instructions, `chase` the loop that
//! follows pointers, `exchange` the loops that hand a line over, `addition` the one that adds.
//!
//! What is non-temporal is a hint here (`stnp`, `stnt1d`): a core may store so as it stores
//! otherwise. No loop takes pages in turn: whether that is faster on a core of these has not been
//! measured.

mod addition;
mod body;
mod chase;
#[cfg(test)]
mod counted;
mod exchange;
mod neon;
#[cfg(test)]
pub(crate) mod objdump;
mod sve;

use std::arch::asm;

use crate::body::{Bodies, Body};
use crate::{Kernel, Variant};

pub(crate) use addition::{ADDITIONS, add_iterations};
pub(crate) use chase::{
    CHASE_UNROLL, end_stores_past_caches, follow_iterations, store_past_caches,
};
pub(crate) use exchange::{swap_turns, write_turns};
pub(crate) use sve::vector_bytes as sve_bytes;

/// No instruction stores one element around the caches. The loops store all but what lies before the
/// first line and behind the last iteration.
pub(crate) use crate::portable::write_volatile as write_non_temporal;

/// Lanes that are handed to a body: the eight again and again, so that a vector of up to 256 bytes
/// can be taken from any multiple of 16 below 64.
pub(crate) const LANES: usize = 40;

/// Partial results that a body leaves.
pub(crate) const RESULTS: usize = 1;

/// The bodies of a variant's instruction set, if this CPU runs it.
pub(crate) fn bodies(variant: Variant) -> Option<Bodies> {
    match variant {
        Variant::Sve => Some(sve::bodies()),
        Variant::Neon => Some(neon::NEON),
        _ => None,
    }
}

/// None takes pages in turn.
pub(crate) fn body_by_pages(_: &Kernel, _: Variant) -> Option<Body> {
    None
}

/// Has all stores observed before those that follow.
pub(crate) fn fence_stores() {
    // SAFETY: a barrier, which has no condition.
    unsafe { asm!("dmb ishst", options(nostack, preserves_flags)) };
}
