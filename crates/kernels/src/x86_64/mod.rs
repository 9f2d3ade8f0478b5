//! The kernels in the instruction sets of x86-64.
//!
//! `body` holds what all three have in common, `chase` the loop that follows pointers, `exchange` those that
//! hand a line over; the other files hold the instructions of each set.

mod avx;
mod body;
mod chase;
mod exchange;
mod sse2;

pub(crate) use body::{Body, fence_stores, write_non_temporal};
pub(crate) use chase::{end_stores_past_caches, follow, store_past_caches};
pub(crate) use exchange::{swap_turns, write_turns};
