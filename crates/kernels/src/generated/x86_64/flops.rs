//! Arithmetic without memory in x86-64.

use iced_x86::{IcedError, Instruction};

use super::looped::{Looped, assembled, exchange_vector};
use super::vectors::{Combine, Vectors};
use crate::generated::Flops;
use crate::generated::flops::{Chains, Map};
use crate::generated::machine_code::Assembled;
use crate::{Unavailable, Variant};

/// The routine, whether or not this CPU runs it. Its first registers hold the chains, the next
/// ones the constants, in the order of the exchange.
pub(in crate::generated) fn assemble_flops(
    flops: &Flops,
    variant: Variant,
) -> Result<Assembled, Unavailable> {
    let fused = flops.operation.chains(variant).iter().any(|chains| chains.map == Map::Quadratic);
    assembled(flops, variant, |vectors| {
        if fused && !vectors.has_fused() {
            return Ok(Err("it has no fused multiply-add"));
        }
        let mut bytes = Vec::new();
        let entry = routine(flops, variant, vectors)?.assemble(&mut bytes)?;
        Ok(Ok(Assembled { bytes, entries: vec![entry] }))
    })
}

/// Chains with their registers.
#[derive(Clone, Copy)]
struct Placed {
    chains: Chains,
    first_chain: u32,
    first_constant: u32,
}

fn routine(flops: &Flops, variant: Variant, vectors: Vectors) -> Result<Looped, IcedError> {
    let kinds = flops.operation.chains(variant);
    let all: u32 = kinds.iter().map(|chains| chains.count).sum();
    let (mut first_chain, mut first_constant) = (0, all);
    let mut placed = Vec::new();
    for &chains in kinds {
        placed.push(Placed { chains, first_chain, first_constant });
        first_chain += chains.count;
        first_constant += u32::try_from(chains.map.constants().len()).unwrap_or(u32::MAX);
    }

    let before: Result<_, _> = (0..first_constant)
        .map(|register| vectors.load(register, exchange_vector(register as usize)))
        .collect();
    let after: Result<Vec<_>, _> = (0..all)
        .map(|register| vectors.store(exchange_vector(register as usize), register))
        .collect();
    let mut after = after?;
    after.extend(vectors.leave());

    // All kinds do the same number of operations in a turn, and take turns.
    let operations = placed.first().map_or(0, |first| first.chains.count * first.chains.rounds);
    let mut iteration = Vec::new();
    for count in 0..operations {
        for kind in &placed {
            iteration.extend(operation(flops, vectors, *kind, count)?);
        }
    }
    Ok(Looped { before: before?, iteration, destination_stride: 0, source_stride: 0, after })
}

/// The operation of that number on chains of one kind.
fn operation(
    flops: &Flops,
    vectors: Vectors,
    kind: Placed,
    count: u32,
) -> Result<Option<Instruction>, IcedError> {
    let chain = kind.first_chain + count % kind.chains.count;
    let even = (count / kind.chains.count).is_multiple_of(2);
    let constant = kind.first_constant;
    let combine = |op, constant| vectors.combine(op, flops.precision, chain, constant);
    match kind.chains.map {
        Map::Quadratic => vectors.subtract_square(flops.precision, chain, constant).transpose(),
        // On AArch64 alone.
        Map::Product => Ok(None),
        Map::Addition if even => combine(Combine::Add, constant).map(Some),
        Map::Addition => combine(Combine::Subtract, constant).map(Some),
        Map::Multiplication => combine(Combine::Multiply, constant + u32::from(!even)).map(Some),
    }
}
