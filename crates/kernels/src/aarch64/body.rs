//! What the loops of both instruction sets have in common.

/// Gives the code of one body: a naked function of the type `Code`, so that every build of the
/// crate runs the same instructions.
///
/// Each list in `steps` is issued for k = 0 to 7; then the `pointers` advance by the bytes of an
/// iteration, which `bytes` leaves in x7. Addresses are pointer plus constant.
///
/// A pass begins at the head of the loop of iterations, so that no padding is run between passes.
///
/// Registers: x0, x1, x2 = a, b, c; x3 = iterations; x4 = passes; x5 = exchange; x6 = bytes of one
/// pass; x7 = bytes of an iteration; x8 = end of the first pointer's array; x9 and x10 are free. Of
/// vectors 0 to 7 and 16 to 31 are free, the caller's own are between them. The lanes of the exchange
/// begin at its start, where results go; the scalar stands at 320.
macro_rules! code {
    (
        bytes: [$($bytes:expr),+], pointers: [$first:literal $(, $other:literal)*],
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
                ".arch_extension sve",
                $($bytes,)+
                "mul x6, x3, x7",
                concat!("add x8, ", $first, ", x6"),
                $($before,)*
                ".p2align 6",
                "2:",
                $(".irp k,0,1,2,3,4,5,6,7", $($step,)+ ".endr",)+
                concat!("add ", $first, ", ", $first, ", x7"),
                $(concat!("add ", $other, ", ", $other, ", x7"),)*
                concat!("cmp ", $first, ", x8"),
                "b.ne 2b",
                concat!("sub ", $first, ", ", $first, ", x6"),
                $(concat!("sub ", $other, ", ", $other, ", x6"),)*
                "subs x4, x4, #1",
                "b.ne 2b",
                $($after,)*
                "ret",
                ".arch_extension nosve",
            )
        }
        code
    }};
}
pub(super) use code;
