//! What the loops of all x86-64 instruction sets have in common.

use std::ptr;

use crate::{Checksum, Constants, Operands, Operation};

/// What a body takes from memory before its loops, and leaves there after them.
#[repr(C, align(64))]
pub(super) struct Exchange {
    /// Bits of the eight lanes that `store` writes; then of the eight partial results of a
    /// reduction, which for narrow vectors are partly zero.
    lanes: [u64; 8],
    /// The factor of `scale` and `triad`, at byte 64.
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
/// body `a` is aligned to the vector.
type Code = unsafe extern "sysv64" fn(
    a: *mut f64,
    b: *const f64,
    c: *const f64,
    iterations: usize,
    passes: usize,
    exchange: *mut Exchange,
);

/// The code of one kernel, and how much it does per iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub code: Code,
    /// For `load`: the same loads by the same iterations, whose values are let go.
    pub unfolded: Option<Code>,
    /// Vectors of each array per iteration of the innermost loop.
    pub unroll: u32,
    /// Bytes of each array per iteration.
    pub iteration_bytes: usize,
}

/// The bodies of one instruction set.
pub(super) struct Bodies {
    pub(super) load: Body,
    pub(super) ddot: Body,
    /// Store, copy, scale, add and triad: ordinary, and non-temporal. The catalog has no
    /// non-temporal reduction.
    pub(super) storing: [[Body; 5]; 2],
}

impl Bodies {
    pub(super) fn of(&self, operation: Operation, non_temporal: bool) -> Body {
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

/// Opens the repetition of a step for k = 0, 1, ... below a number.
macro_rules! repeat {
    (2) => {
        ".irp k,0,1"
    };
    (4) => {
        ".irp k,0,1,2,3"
    };
    (8) => {
        ".irp k,0,1,2,3,4,5,6,7"
    };
}
pub(super) use repeat;

/// Gives the code of one body: a naked function of the type [`Code`], so that every build of the
/// crate runs the same instructions.
///
/// Each list in `steps` is issued `unroll` times, for k = 0, 1, ..., on vectors of `vector` bytes;
/// then the `pointers` advance. Addresses are pointer plus constant: many Intel cores issue
/// an operation on memory with an index register as two (Intel optimization manual,
/// "micro-fusion"), and on some its store cannot use every port.
///
/// A pass begins at the head of the loop of iterations, so that no padding is run between passes.
///
/// More unrolling was not found to be faster. Loads from the first-level cache of an Emerald
/// Rapids became up to 4 % slower.
///
/// Registers: rdi, rsi, rdx = a, b, c; rcx = iterations; r8 = passes; r9 = exchange; r10 = bytes
/// of one pass; r11 = end of the first pointer's array. The caller's own registers are kept.
macro_rules! code {
    (
        vector: $vector:literal, unroll: $unroll:tt, pointers: [$first:literal $(, $other:literal)*],
        before: [$($before:expr),*],
        steps: [$([$($step:expr),+]),+],
        after: [$($after:expr),*]
    ) => {{
        /// Has the safety conditions of [`Code`](super::body::Code).
        #[unsafe(naked)]
        unsafe extern "sysv64" fn code(
            a: *mut f64,
            b: *const f64,
            c: *const f64,
            iterations: usize,
            passes: usize,
            exchange: *mut super::body::Exchange,
        ) {
            std::arch::naked_asm!(
                concat!("imul r10, rcx, ", $unroll, "*", $vector),
                concat!("lea r11, [", $first, " + r10]"),
                $($before,)*
                ".p2align 6",
                "2:",
                $(super::body::repeat!($unroll), $($step,)+ ".endr",)+
                concat!("add ", $first, ", ", $unroll, "*", $vector),
                $(concat!("add ", $other, ", ", $unroll, "*", $vector),)*
                concat!("cmp ", $first, ", r11"),
                "jne 2b",
                concat!("sub ", $first, ", r10"),
                $(concat!("sub ", $other, ", r10"),)*
                "dec r8",
                "jnz 2b",
                $($after,)*
                "ret",
            )
        }
        code
    }};
}
pub(super) use code;

/// A [`Body`] that has nothing to let go.
macro_rules! body {
    (vector: $vector:literal, unroll: $unroll:tt, $($rest:tt)*) => {
        super::body::Body {
            code: super::body::code!(vector: $vector, unroll: $unroll, $($rest)*),
            unfolded: None,
            unroll: $unroll,
            iteration_bytes: $unroll * $vector,
        }
    };
}
pub(super) use body;

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
        let mut exchange =
            Exchange { lanes: constants.lanes.map(f64::to_bits), scalar: constants.scalar };
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
        match operation {
            Operation::Load => Checksum::Xor(exchange.lanes.iter().fold(0, |one, two| one ^ two)),
            Operation::Ddot => Checksum::Sum(exchange.lanes.map(f64::from_bits).iter().sum()),
            Operation::Store
            | Operation::Copy
            | Operation::Scale
            | Operation::Add
            | Operation::Triad => Checksum::None,
        }
    }
}
