//! Generated loops in the instruction sets of AArch64.
//!
//! Instructions have one width there and these loops take two dozen of them, so that they are encoded
//! here, in `encoding`.

mod encoding;
mod flops;
mod instruction_cache;
mod looped;
mod mix;
mod vectors;

#[cfg(test)]
mod disassembly;

pub(super) use crate::aarch64::{fence_stores, write_non_temporal};
pub(super) use flops::assemble_flops;
pub(super) use instruction_cache::show_code;
pub(super) use mix::{accumulators as mix_accumulators, assemble_mix};
