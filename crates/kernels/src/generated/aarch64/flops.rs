//! Arithmetic without memory in AArch64.

use super::encoding::Lanes;
use super::looped::{LINE, Looped, assembled};
use super::vectors::{Combine, Vectors};
use crate::generated::flops::{Chains, Map};
use crate::generated::machine_code::Assembled;
use crate::generated::{Flops, Precision};
use crate::{Unavailable, Variant};

/// The routine, whether or not this CPU runs it. Its first registers hold the chains, the next
/// ones the constants, in the order of the exchange.
pub(in crate::generated) fn assemble_flops(
    flops: &Flops,
    variant: Variant,
) -> Result<Assembled, Unavailable> {
    assembled(flops, variant, |vectors| {
        let mut bytes = Vec::new();
        let entry = routine(flops, variant, vectors)
            .ok_or("its instructions have no such operation")?
            .assemble(&mut bytes);
        Ok(Assembled { bytes, entries: vec![entry] })
    })
}

/// Chains with their registers.
#[derive(Clone, Copy)]
struct Placed {
    chains: Chains,
    first_chain: u32,
    first_constant: u32,
}

fn routine(flops: &Flops, variant: Variant, vectors: Vectors) -> Option<Looped> {
    let kinds = flops.operation.chains(variant);
    let all: u32 = kinds.iter().map(|chains| chains.count).sum();
    let (mut first_chain, mut first_constant) = (0, all);
    let mut placed = Vec::new();
    for &chains in kinds {
        placed.push(Placed { chains, first_chain, first_constant });
        first_chain += chains.count;
        first_constant += u32::try_from(chains.map.constants().len()).unwrap_or(u32::MAX);
    }

    let mut before: Vec<u32> = vectors.begin().into_iter().collect();
    before.extend((0..first_constant).map(|it| vectors.take(it, it * LINE)));
    let after = (0..all).map(|it| vectors.leave(it, it * LINE)).collect();

    // All kinds do the same number of operations in a turn, and take turns.
    let operations = placed.first().map_or(0, |first| first.chains.count * first.chains.rounds);
    let mut iteration = Vec::new();
    for count in 0..operations {
        for kind in &placed {
            iteration.push(operation(flops, vectors, *kind, count)?);
        }
    }
    Some(Looped { before, iteration, destination_stride: 0, source_stride: 0, after })
}

/// The operation of that number on chains of one kind, if there is such an instruction.
fn operation(flops: &Flops, vectors: Vectors, kind: Placed, count: u32) -> Option<u32> {
    let lanes = match flops.precision {
        Precision::Double => Lanes::Double,
        Precision::Single => Lanes::Single,
    };
    let chain = kind.first_chain + count % kind.chains.count;
    let even = (count / kind.chains.count).is_multiple_of(2);
    let constant = kind.first_constant;
    let combine = |combine, other| Some(vectors.combine(combine, lanes, chain, other));
    match kind.chains.map {
        // On x86-64 alone.
        Map::Quadratic => None,
        Map::Product => Some(vectors.add_product(lanes, chain, [constant, constant + 1], even)),
        Map::Addition if even => combine(Combine::Add, constant),
        Map::Addition => combine(Combine::Subtract, constant),
        Map::Multiplication => combine(Combine::Multiply, constant + u32::from(!even)),
    }
}
