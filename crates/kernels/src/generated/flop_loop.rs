//! Arithmetic in one instruction set, ready to run.

use std::ptr;

use super::flops::first_value;
use super::machine_code::{Exchange, MachineCode};
use super::{Flops, Precision};
use crate::Variant;

/// Arithmetic in one instruction set, on a CPU that was found to run it. Clones share the code.
#[derive(Clone, Debug)]
pub struct FlopLoop {
    flops: Flops,
    variant: Variant,
    code: MachineCode,
}

impl FlopLoop {
    /// `code` is what the architecture assembled for `flops` in `variant`, which this CPU runs: one
    /// routine, which takes the chains' numbers and then the constants from the exchange, and
    /// leaves the chains' numbers there.
    pub(super) fn new(flops: Flops, variant: Variant, code: MachineCode) -> FlopLoop {
        FlopLoop { flops, variant, code }
    }

    /// What it computes.
    pub fn kind(&self) -> Flops {
        self.flops
    }

    /// The instruction set it runs in.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Floating-point operations of this many turns; a fused multiply-add is two.
    pub fn flops(&self, turns: u64) -> u64 {
        self.flops.flops(self.variant, turns)
    }

    /// Computes for this many turns, beginning with the same numbers each time; gives the exclusive
    /// or of the bits of all numbers that it ended with, see [`Flops::expected`].
    pub fn run(&self, turns: usize) -> u64 {
        let mut exchange = Exchange { vectors: [[0; 8]; Exchange::VECTORS] };
        let operation = self.flops.operation;
        let chains: u32 = operation.chains(self.variant).iter().map(|chains| chains.count).sum();
        let constants =
            operation.chains(self.variant).iter().flat_map(|chains| chains.map.constants());
        let (values, rest) = exchange.vectors.split_at_mut(chains as usize);
        for (chain, vector) in (0..).zip(values) {
            *vector = self.vector(|lane| first_value(chain, lane));
        }
        for (vector, &constant) in rest.iter_mut().zip(constants) {
            *vector = self.vector(|_| constant);
        }
        if turns > 0 {
            let routine = self.code.routine(0);
            // SAFETY: `Flops::generate` found the instruction set. The routine touches no memory
            // but the exchange, and turns and passes are not 0.
            unsafe { routine(ptr::null_mut(), ptr::null(), turns, 1, &raw mut exchange) };
        }
        let words = self.variant.vector_bytes() / size_of::<u64>();
        let values = exchange.vectors[..chains as usize].iter();
        values.flat_map(|vector| &vector[..words]).fold(0, |one, two| one ^ two)
    }

    /// The bits of a vector of these lanes.
    fn vector(&self, lane: impl Fn(usize) -> f64) -> [u64; 8] {
        match self.flops.precision {
            Precision::Double => std::array::from_fn(|word| lane(word).to_bits()),
            Precision::Single => std::array::from_fn(|word| {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
                let bits = |lane: f64| u64::from((lane as f32).to_bits());
                bits(lane(2 * word)) | bits(lane(2 * word + 1)) << 32
            }),
        }
    }
}
