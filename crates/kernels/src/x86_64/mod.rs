//! The kernels in the instruction sets of x86-64.
//!
//! `body` holds what all three have in common, `chase` the loop that follows pointers, `pages` the
//! bodies that take pages in turn, `exchange` the loops that hand a line over, `addition` the one
//! that adds, `non_temporal` stores of single elements; the other files hold the instructions of
//! each set.

mod addition;
mod avx;
mod body;
mod chase;
mod exchange;
mod non_temporal;
mod pages;
mod sse2;

use crate::body::{Bodies, Body};
use crate::{Kernel, Variant};

pub(crate) use addition::{ADDITIONS, add_iterations};
pub(crate) use chase::{
    CHASE_UNROLL, end_stores_past_caches, follow_iterations, store_past_caches,
};
pub(crate) use exchange::{swap_turns, write_turns};
pub(crate) use non_temporal::{fence_stores, write_non_temporal};

/// Lanes that are handed to a body, and partial results that it leaves: those of 64 bytes.
pub(crate) const LANES: usize = 8;
pub(crate) const RESULTS: usize = 8;

/// The bodies in order of a variant's instruction set, whether or not this CPU runs it.
pub(crate) fn bodies(variant: Variant) -> Option<Bodies> {
    match variant.in_order() {
        Variant::Avx512 => Some(avx::AVX512),
        Variant::Avx2 => Some(avx::AVX2),
        Variant::Sse2 => Some(sse2::SSE2),
        _ => None,
    }
}

/// The body of a kernel that takes pages in turn, as the variant says.
pub(crate) fn body_by_pages(kernel: &Kernel, variant: Variant) -> Option<Body> {
    pages::PagesInTurn::of(variant)?.body(kernel.operation)
}
