//! Generated loops in the instruction sets of x86-64.

mod flops;
mod looped;
mod mix;
mod vectors;

#[cfg(test)]
mod disassembly;

pub(super) use crate::x86_64::{fence_stores, write_non_temporal};
pub(super) use flops::assemble_flops;
pub(super) use mix::{accumulators as mix_accumulators, assemble_mix};

/// Instructions are fetched as they were stored.
pub(super) fn show_code(_: &[u8]) {}
