//! The bodies in SVE, for vectors of any length.
//!
//! An iteration takes sixteen vectors of each array: the k-th goes through register k, the one eight
//! behind it through 20 + k; 16 to 19 hold what is loaded beside them, 28 the factor. Predicate 0 is
//! that of all lanes.

use super::body::code;
use crate::body::{Bodies, Body};

/// Vectors of each array per iteration: whole lines, of the shortest vectors too.
const UNROLL: u32 = 16;

/// Bytes of a vector of this thread.
///
/// # Panics
///
/// Perhaps by the signal of an unknown instruction, where there is no SVE.
pub(crate) fn vector_bytes() -> usize {
    #[unsafe(naked)]
    extern "C" fn read() -> usize {
        std::arch::naked_asm!(".arch_extension sve", "rdvl x0, #1", "ret", ".arch_extension nosve")
    }
    read()
}

/// A [`Body`] that has nothing to let go. Whoever names it gives it the length of an iteration.
macro_rules! body {
    (bytes: [$($bytes:expr),+], $($rest:tt)*) => {
        Body {
            code: code!(bytes: [$($bytes),+], $($rest)*),
            unfolded: None,
            unroll: UNROLL,
            iteration_bytes: 0,
        }
    };
}

/// Store, copy, scale, add and triad. The two strings store the k-th vector and the one eight
/// behind it; `bytes` is as in `code!`, with what else the strings want.
macro_rules! storing_bodies {
    (bytes: [$($bytes:expr),+], $first:literal, $second:literal) => {
        [
            body!(
                bytes: [$($bytes),+], pointers: ["x0"],
                before: [
                    "ptrue p0.d",
                    ".irp k,0,1,2,3,4,5,6,7",
                    "rdvl x9, #\\k",
                    "and x9, x9, #63",
                    "add x9, x5, x9",
                    "ldr z\\k, [x9]",
                    "mov z2\\k\\().d, z\\k\\().d",
                    ".endr"
                ],
                steps: [[$first], [$second]],
                after: []
            ),
            body!(
                bytes: [$($bytes),+], pointers: ["x0", "x1"],
                before: ["ptrue p0.d"],
                steps: [
                    ["ldr z\\k, [x1, #\\k, mul vl]", $first],
                    ["ldr z2\\k, [x1, #\\k+8, mul vl]", $second]
                ],
                after: []
            ),
            body!(
                bytes: [$($bytes),+], pointers: ["x0", "x1"],
                before: ["ptrue p0.d", "ld1rd {{z28.d}}, p0/z, [x5, #320]"],
                steps: [
                    [
                        "ldr z\\k, [x1, #\\k, mul vl]",
                        "fmul z\\k\\().d, z\\k\\().d, z28.d",
                        $first
                    ],
                    [
                        "ldr z2\\k, [x1, #\\k+8, mul vl]",
                        "fmul z2\\k\\().d, z2\\k\\().d, z28.d",
                        $second
                    ]
                ],
                after: []
            ),
            body!(
                bytes: [$($bytes),+], pointers: ["x0", "x1", "x2"],
                before: ["ptrue p0.d"],
                steps: [
                    [
                        "ldr z\\k, [x1, #\\k, mul vl]",
                        "ldr z16, [x2, #\\k, mul vl]",
                        "fadd z\\k\\().d, z\\k\\().d, z16.d"
                    ],
                    [$first],
                    [
                        "ldr z2\\k, [x1, #\\k+8, mul vl]",
                        "ldr z17, [x2, #\\k+8, mul vl]",
                        "fadd z2\\k\\().d, z2\\k\\().d, z17.d"
                    ],
                    [$second]
                ],
                after: []
            ),
            body!(
                bytes: [$($bytes),+], pointers: ["x0", "x1", "x2"],
                before: ["ptrue p0.d", "ld1rd {{z28.d}}, p0/z, [x5, #320]"],
                steps: [
                    [
                        "ldr z\\k, [x1, #\\k, mul vl]",
                        "ldr z16, [x2, #\\k, mul vl]",
                        "fmla z\\k\\().d, p0/m, z16.d, z28.d"
                    ],
                    [$first],
                    [
                        "ldr z2\\k, [x1, #\\k+8, mul vl]",
                        "ldr z17, [x2, #\\k+8, mul vl]",
                        "fmla z2\\k\\().d, p0/m, z17.d, z28.d"
                    ],
                    [$second]
                ],
                after: []
            ),
        ]
    };
}

/// Sets the sixteen accumulators to 0.
macro_rules! clear {
    () => {
        concat!(
            ".irp k,0,1,2,3,4,5,6,7\n",
            "mov z\\k\\().d, #0\n",
            "mov z2\\k\\().d, #0\n",
            ".endr"
        )
    };
}

const SVE: Bodies = Bodies {
    load: Body {
        unfolded: Some(code!(
            bytes: ["rdvl x7, #16"], pointers: ["x1"],
            before: [],
            steps: [["ldr z\\k, [x1, #\\k, mul vl]"], ["ldr z2\\k, [x1, #\\k+8, mul vl]"]],
            after: []
        )),
        ..body!(
            bytes: ["rdvl x7, #16"], pointers: ["x1"],
            before: [clear!()],
            steps: [
                ["ldr z16, [x1, #\\k, mul vl]", "eor z\\k\\().d, z\\k\\().d, z16.d"],
                ["ldr z17, [x1, #\\k+8, mul vl]", "eor z2\\k\\().d, z2\\k\\().d, z17.d"]
            ],
            after: [
                ".irp k,1,2,3,4,5,6,7,20,21,22,23,24,25,26,27",
                "eor z0.d, z0.d, z\\k\\().d",
                ".endr",
                "ptrue p0.d",
                "eorv d0, p0, z0.d",
                "str d0, [x5]"
            ]
        )
    },
    ddot: body!(
        bytes: ["rdvl x7, #16"], pointers: ["x1", "x2"],
        before: [clear!(), "ptrue p0.d"],
        steps: [
            [
                "ldr z16, [x1, #\\k, mul vl]",
                "ldr z18, [x2, #\\k, mul vl]",
                "fmla z\\k\\().d, p0/m, z16.d, z18.d"
            ],
            [
                "ldr z17, [x1, #\\k+8, mul vl]",
                "ldr z19, [x2, #\\k+8, mul vl]",
                "fmla z2\\k\\().d, p0/m, z17.d, z19.d"
            ]
        ],
        after: [
            ".irp k,1,2,3,4,5,6,7,20,21,22,23,24,25,26,27",
            "fadd z0.d, z0.d, z\\k\\().d",
            ".endr",
            "faddv d0, p0, z0.d",
            "str d0, [x5]"
        ]
    ),
    storing: [
        storing_bodies!(
            bytes: ["rdvl x7, #16"],
            "str z\\k, [x0, #\\k, mul vl]",
            "str z2\\k, [x0, #\\k+8, mul vl]"
        ),
        // Their addresses reach from 8 vectors before a pointer to 7 behind it.
        storing_bodies!(
            bytes: ["rdvl x7, #16", "addvl x0, x0, #8"],
            "stnt1d {{z\\k\\().d}}, p0, [x0, #\\k-8, mul vl]",
            "stnt1d {{z2\\k\\().d}}, p0, [x0, #\\k, mul vl]"
        ),
    ],
};

/// The bodies, for vectors as long as those of this thread.
pub(super) fn bodies() -> Bodies {
    let iteration_bytes = UNROLL as usize * vector_bytes();
    let of = |body: Body| Body { iteration_bytes, ..body };
    Bodies {
        load: of(SVE.load),
        ddot: of(SVE.ddot),
        storing: SVE.storing.map(|bodies| bodies.map(of)),
    }
}
