//! The kernels in the instruction sets of x86-64.
//!
//! `body` holds what all three have in common, `walk` how a slice is done by them, `chase` the loop
//! that follows pointers, `pages` the bodies that take pages in turn, `exchange` the loops that hand
//! a line over; the other files hold the instructions of each set.

mod avx;
mod body;
mod chase;
mod exchange;
mod pages;
mod sse2;
mod walk;

pub(crate) use chase::{end_stores_past_caches, follow, store_past_caches};
pub(crate) use exchange::{swap_turns, write_turns};
pub(crate) use walk::{Walk, fence_stores, write_non_temporal};
