//! What the loops of all x86-64 instruction sets have in common.

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

/// Gives the code of one body: a naked function of the type `Code`, so that every build of the
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
        /// Has the safety conditions of `Code`.
        #[unsafe(naked)]
        unsafe extern "C" fn code(
            a: *mut f64,
            b: *const f64,
            c: *const f64,
            iterations: usize,
            passes: usize,
            exchange: *mut crate::body::Exchange,
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

/// A `Body` that has nothing to let go.
macro_rules! body {
    (vector: $vector:literal, unroll: $unroll:tt, $($rest:tt)*) => {
        crate::body::Body {
            code: super::body::code!(vector: $vector, unroll: $unroll, $($rest)*),
            unfolded: None,
            unroll: $unroll,
            iteration_bytes: $unroll * $vector,
        }
    };
}
pub(super) use body;
