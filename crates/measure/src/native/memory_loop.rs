//! What a stream runs over its arrays: a kernel of the catalog or a generated mix, in one
//! instruction set.

use nearfar_kernels::{
    Checksum, Constants, MixLoop, Operands, Operation, Pattern, TimedLoop, UnknownVariant, Variant,
};
use nearfar_record::{Reason, ReasonCode};

use super::stream::Source;
use crate::kernel_name::MemoryKernel;

/// The loop of a stream, on a CPU that was found to run it.
#[derive(Debug, Clone)]
pub(super) enum MemoryLoop {
    Catalog(TimedLoop),
    /// Generated.
    Mix(MixLoop),
}

/// The parts of a thread's slices that one call runs over.
#[derive(Debug)]
pub(super) struct Arrays<'a> {
    pub destination: Option<&'a mut [f64]>,
    pub sources: [Option<&'a [f64]>; 2],
}

impl MemoryLoop {
    /// The loop of a kernel in a variant.
    ///
    /// # Errors
    /// Where this CPU has none.
    pub fn of(kernel: MemoryKernel, variant: &str) -> Result<Self, Reason> {
        let variant = parse_variant(variant)?;
        match kernel {
            MemoryKernel::Catalog(kernel) => {
                kernel.in_variant(variant).map(Self::Catalog).map_err(no_variant)
            }
            MemoryKernel::Mix(mix) => mix.generate(variant).map(Self::Mix).map_err(no_variant),
        }
    }

    pub fn kernel(&self) -> MemoryKernel {
        match self {
            Self::Catalog(timed_loop) => MemoryKernel::Catalog(timed_loop.kernel()),
            Self::Mix(mix_loop) => MemoryKernel::Mix(mix_loop.mix()),
        }
    }

    /// The kernel's name, as in cases.
    pub fn name(&self) -> String {
        match self {
            Self::Catalog(timed_loop) => timed_loop.kernel().name.into(),
            Self::Mix(mix_loop) => mix_loop.mix().to_string(),
        }
    }

    pub fn variant(&self) -> Variant {
        match self {
            Self::Catalog(timed_loop) => timed_loop.variant(),
            Self::Mix(mix_loop) => mix_loop.variant(),
        }
    }

    /// Vectors per iteration: of each array of a catalog's kernel, of all accesses of a mix.
    pub fn unroll(&self) -> u32 {
        match self {
            Self::Catalog(timed_loop) => timed_loop.unroll(),
            Self::Mix(mix_loop) => {
                let lanes = mix_loop.variant().vector_bytes() / size_of::<f64>();
                let steps = mix_loop.iteration_steps() / lanes;
                let (mix, steps) = (mix_loop.mix(), u32::try_from(steps).unwrap_or(u32::MAX));
                steps * (mix.loads() + mix.stores())
            }
        }
    }

    /// Elements per step of the destination, and of each source.
    pub fn widths(&self) -> (usize, usize) {
        match self {
            Self::Catalog(_) => (1, 1),
            Self::Mix(mix_loop) => {
                (mix_loop.mix().stores() as usize, mix_loop.mix().loads() as usize)
            }
        }
    }

    /// Runs it this many times over the same arrays.
    pub fn run(&self, arrays: Arrays<'_>, constants: &Constants, repeats: u32) -> Checksum {
        let Arrays { destination, sources: [b, c] } = arrays;
        match self {
            Self::Catalog(timed_loop) => {
                let operands = match (destination, b, c) {
                    (None, Some(b), None) => Operands::load(b),
                    (None, Some(b), Some(c)) => Operands::dot(b, c),
                    (Some(a), None, _) => Operands::store(a),
                    (Some(a), Some(b), None) => Operands::map(a, b),
                    (Some(a), Some(b), Some(c)) => Operands::zip(a, b, c),
                    (None, None, _) => return Checksum::None,
                };
                timed_loop.run(operands, constants, repeats)
            }
            Self::Mix(mix_loop) => mix_loop.run(
                destination.unwrap_or_default(),
                b.unwrap_or_default(),
                constants,
                repeats,
            ),
        }
    }

    /// What a pass over the first this many steps of these sources gives.
    pub fn expected_sums(
        &self,
        pattern: &Pattern,
        sources: &[Source<'_>],
        steps: usize,
    ) -> Checksum {
        let steps = steps as u64;
        match (self, sources) {
            (Self::Mix(mix_loop), [b]) => mix_loop.mix().expected(pattern, b.first_index, steps),
            (Self::Catalog(timed_loop), sources) => {
                match (timed_loop.kernel().operation, sources) {
                    (Operation::Load, [b]) => {
                        Checksum::Xor(pattern.xor(b.first_index..b.first_index + steps))
                    }
                    (Operation::Ddot, [b, c]) => {
                        Checksum::Sum(pattern.dot(b.first_index, c.first_index, steps))
                    }
                    _ => Checksum::None,
                }
            }
            (Self::Mix(_), _) => Checksum::None,
        }
    }

    /// What a pass with these constants leaves at an element of the destination; `b` and `c` are
    /// the sources there, of a catalog's kernel. Lanes count from a block's start; blocks are
    /// multiples of eight.
    pub fn expected_at(
        &self,
        constants: &Constants,
        element: usize,
        b: f64,
        c: f64,
    ) -> Option<f64> {
        match self {
            Self::Catalog(timed_loop) => {
                timed_loop.kernel().expected(constants, element as u64, b, c)
            }
            Self::Mix(_) => Some(constants.lanes[element % constants.lanes.len()]),
        }
    }
}

/// The instruction set of that name.
///
/// # Errors
/// Where there is none.
pub(super) fn parse_variant(variant: &str) -> Result<Variant, Reason> {
    variant.parse().map_err(|unknown: UnknownVariant| no_variant(unknown))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn no_variant(why: impl ToString) -> Reason {
    Reason { code: ReasonCode::NoVariant, text: why.to_string() }
}
