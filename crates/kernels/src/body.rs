//! A loop in assembly, as the loops of all instruction sets are.

use std::ptr;

use crate::architecture::{LANES, RESULTS};
use crate::{Checksum, Constants, Operands, Operation};

/// What a body takes from memory before its loops, and leaves there after them.
#[repr(C, align(64))]
pub(crate) struct Exchange {
    /// Bits of the eight lanes that `store` writes, again and again; then, in the first ones, of the
    /// partial results of a reduction, some of which may be zero.
    lanes: [u64; LANES],
    /// The factor of `scale` and `triad`, right behind them.
    scalar: f64,
}

/// The code of one kernel for whole iterations.
///
/// Arguments: the arrays `a`, `b`, `c` (those the kernel has; the others are ignored), the number
/// of iterations of one pass, the number of passes, and the exchange.
///
/// # Safety
///
/// The CPU has the instruction set. Iterations and passes are at least 1. Each array of the kernel
/// is valid for that many iterations: `a` for writes, `b` and `c` for reads. For a non-temporal
/// body `a` is aligned to a line.
type Code = unsafe extern "C" fn(
    a: *mut f64,
    b: *const f64,
    c: *const f64,
    iterations: usize,
    passes: usize,
    exchange: *mut Exchange,
);

/// The code of one kernel, and how much it does per iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub code: Code,
    /// For `load`: the same loads by the same iterations, whose values are let go.
    pub unfolded: Option<Code>,
    /// Vectors of each array per iteration of the innermost loop.
    pub unroll: u32,
    /// Bytes of each array per iteration: whole lines.
    pub iteration_bytes: usize,
}

/// The bodies of one instruction set.
pub(crate) struct Bodies {
    pub load: Body,
    pub ddot: Body,
    /// Store, copy, scale, add and triad: ordinary, and non-temporal. The catalog has no
    /// non-temporal reduction.
    pub storing: [[Body; 5]; 2],
}

impl Bodies {
    pub fn of(&self, operation: Operation, non_temporal: bool) -> Body {
        let [store, copy, scale, add, triad] = self.storing[usize::from(non_temporal)];
        match operation {
            Operation::Load => self.load,
            Operation::Store => store,
            Operation::Copy => copy,
            Operation::Scale => scale,
            Operation::Add => add,
            Operation::Triad => triad,
            Operation::Ddot => self.ddot,
        }
    }
}

impl Body {
    /// How many whole iterations there are in this many elements, and how many elements these take.
    pub fn whole_iterations(&self, elements: usize) -> (usize, usize) {
        let per_iteration = self.iteration_bytes / size_of::<f64>();
        let iterations = elements / per_iteration;
        (iterations, iterations * per_iteration)
    }

    /// Runs this many iterations, which are all elements of the operands.
    ///
    /// # Safety
    ///
    /// This CPU has the instruction set. The operands are those of the body's operation, and this
    /// many whole iterations long; of a non-temporal body `a` is aligned to a line.
    pub unsafe fn run_iterations(
        self,
        operation: Operation,
        operands: Operands<'_>,
        constants: &Constants,
        iterations: usize,
        repeats: u32,
    ) -> Checksum {
        if iterations == 0 || repeats == 0 {
            return Checksum::None;
        }
        let lane = |index: usize| constants.lanes[index % constants.lanes.len()].to_bits();
        let mut exchange = Exchange { lanes: std::array::from_fn(lane), scalar: constants.scalar };
        let a = operands.a.map_or(ptr::null_mut(), <[f64]>::as_mut_ptr);
        let b = operands.b.map_or(ptr::null(), <[f64]>::as_ptr);
        let c = operands.c.map_or(ptr::null(), <[f64]>::as_ptr);

        let mut passes = repeats as usize;
        if let Some(unfolded) = self.unfolded {
            // From the first-level cache of an Emerald Rapids the loads run 25 % slower when each
            // is folded, which is a limit of the arithmetic and not of the cache. Under exclusive
            // or two passes over the same data cancel out, so the last pass (of an odd number) or
            // the last two (of an even number) give the checksum of all.
            let folded = 2 - passes % 2;
            if passes > folded {
                // SAFETY: as for `self.code` below.
                unsafe { unfolded(a, b, c, iterations, passes - folded, &raw mut exchange) };
                passes = folded;
            }
        }
        // SAFETY: the caller says that the instruction set is there, and that the operands are
        // those of the operation, so long and aligned. Neither iterations nor passes are 0.
        unsafe { (self.code)(a, b, c, iterations, passes, &raw mut exchange) };
        let results = exchange.lanes.first_chunk::<RESULTS>().unwrap_or(&[0; RESULTS]);
        match operation {
            Operation::Load => Checksum::Xor(results.iter().fold(0, |one, two| one ^ two)),
            Operation::Ddot => Checksum::Sum(results.map(f64::from_bits).iter().sum()),
            Operation::Store
            | Operation::Copy
            | Operation::Scale
            | Operation::Add
            | Operation::Triad => Checksum::None,
        }
    }
}
