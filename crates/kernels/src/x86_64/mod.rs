//! The kernels in the instruction sets of x86-64.
//!
//! `body` holds what all three have in common; the other files hold the instructions of each.

mod avx2;
mod avx512;
mod body;
mod sse2;

pub(crate) use body::Body;
