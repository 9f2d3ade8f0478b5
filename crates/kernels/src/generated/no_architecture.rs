//! Architectures for which loops are not generated.

use super::machine_code::Assembled;
use super::{Flops, Mix};
use crate::{Unavailable, Variant};

pub(super) use crate::portable::write_volatile as write_non_temporal;

const WHY: &str = "loops are generated for x86-64 and AArch64 only";

/// None.
pub(super) fn assemble_mix(mix: &Mix, variant: Variant) -> Result<Assembled, Unavailable> {
    Err(Unavailable::NotWritten { name: mix.to_string(), variant, why: WHY })
}

/// None.
pub(super) fn assemble_flops(flops: &Flops, variant: Variant) -> Result<Assembled, Unavailable> {
    Err(Unavailable::NotWritten { name: flops.to_string(), variant, why: WHY })
}

/// No routine leaves any.
pub(super) fn mix_accumulators(_: &Mix, _: Variant) -> usize {
    0
}

/// There is none.
pub(super) fn show_code(_: &[u8]) {}

/// Nothing is stored around the caches.
pub(super) fn fence_stores() {}
