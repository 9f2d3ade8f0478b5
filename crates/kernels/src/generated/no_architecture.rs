//! Architectures for which loops are not generated.

use super::machine_code::Assembled;
use super::{Flops, Mix, NotGenerated};
use crate::Variant;

pub(super) use crate::portable::write_volatile as write_non_temporal;

const WHY: &str = "loops are generated for x86-64 only";

/// None.
pub(super) fn assemble_mix(mix: &Mix, variant: Variant) -> Result<Assembled, NotGenerated> {
    Err(NotGenerated::NotWritten { recipe: mix.to_string(), variant, why: WHY })
}

/// None.
pub(super) fn assemble_flops(flops: &Flops, variant: Variant) -> Result<Assembled, NotGenerated> {
    Err(NotGenerated::NotWritten { recipe: flops.to_string(), variant, why: WHY })
}

/// No routine leaves any.
pub(super) fn mix_accumulators(_: &Mix, _: Variant) -> usize {
    0
}

/// Nothing is stored around the caches.
pub(super) fn fence_stores() {}
