//! The bodies in NEON: 16-byte vectors, which are loaded and stored in pairs.
//!
//! An iteration takes eight pairs of each array. The k-th pair goes through registers k and 20 + k;
//! 16 to 19 hold what is loaded beside them, 28 the factor.

use super::body::code;
use crate::body::{Bodies, Body};

/// Vectors of each array per iteration.
const UNROLL: u32 = 16;

/// A [`Body`] that has nothing to let go.
macro_rules! body {
    ($($rest:tt)*) => {
        Body {
            code: code!(bytes: ["mov x7, #256"], $($rest)*),
            unfolded: None,
            unroll: UNROLL,
            iteration_bytes: 16 * UNROLL as usize,
        }
    };
}

/// Store, copy, scale, add and triad, for one instruction that stores a pair.
macro_rules! storing_bodies {
    ($store:literal) => {
        [
            body!(
                pointers: ["x0"],
                before: [
                    ".irp k,0,2,4,6",
                    "ldp q\\k, q2\\k, [x5]",
                    ".endr",
                    ".irp k,1,3,5,7",
                    "ldp q\\k, q2\\k, [x5, #32]",
                    ".endr"
                ],
                steps: [[concat!($store, " q\\k, q2\\k, [x0, #\\k*32]")]],
                after: []
            ),
            body!(
                pointers: ["x0", "x1"],
                before: [],
                steps: [[
                    "ldp q\\k, q2\\k, [x1, #\\k*32]",
                    concat!($store, " q\\k, q2\\k, [x0, #\\k*32]")
                ]],
                after: []
            ),
            body!(
                pointers: ["x0", "x1"],
                before: ["add x9, x5, #320", "ld1r {{v28.2d}}, [x9]"],
                steps: [[
                    "ldp q\\k, q2\\k, [x1, #\\k*32]",
                    "fmul v\\k\\().2d, v\\k\\().2d, v28.2d",
                    "fmul v2\\k\\().2d, v2\\k\\().2d, v28.2d",
                    concat!($store, " q\\k, q2\\k, [x0, #\\k*32]")
                ]],
                after: []
            ),
            body!(
                pointers: ["x0", "x1", "x2"],
                before: [],
                steps: [
                    [
                        "ldp q\\k, q2\\k, [x1, #\\k*32]",
                        "ldp q16, q17, [x2, #\\k*32]",
                        "fadd v\\k\\().2d, v\\k\\().2d, v16.2d",
                        "fadd v2\\k\\().2d, v2\\k\\().2d, v17.2d"
                    ],
                    [concat!($store, " q\\k, q2\\k, [x0, #\\k*32]")]
                ],
                after: []
            ),
            body!(
                pointers: ["x0", "x1", "x2"],
                before: ["add x9, x5, #320", "ld1r {{v28.2d}}, [x9]"],
                steps: [
                    [
                        "ldp q\\k, q2\\k, [x1, #\\k*32]",
                        "ldp q16, q17, [x2, #\\k*32]",
                        "fmla v\\k\\().2d, v16.2d, v28.2d",
                        "fmla v2\\k\\().2d, v17.2d, v28.2d"
                    ],
                    [concat!($store, " q\\k, q2\\k, [x0, #\\k*32]")]
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
            "movi v\\k\\().2d, #0\n",
            "movi v2\\k\\().2d, #0\n",
            ".endr"
        )
    };
}

pub(super) const NEON: Bodies = Bodies {
    load: Body {
        unfolded: Some(code!(
            bytes: ["mov x7, #256"], pointers: ["x1"],
            before: [],
            steps: [["ldp q\\k, q2\\k, [x1, #\\k*32]"]],
            after: []
        )),
        ..body!(
            pointers: ["x1"],
            before: [clear!()],
            steps: [[
                "ldp q16, q17, [x1, #\\k*32]",
                "eor v\\k\\().16b, v\\k\\().16b, v16.16b",
                "eor v2\\k\\().16b, v2\\k\\().16b, v17.16b"
            ]],
            after: [
                ".irp k,1,2,3,4,5,6,7,20,21,22,23,24,25,26,27",
                "eor v0.16b, v0.16b, v\\k\\().16b",
                ".endr",
                "ext v1.16b, v0.16b, v0.16b, #8",
                "eor v0.16b, v0.16b, v1.16b",
                "str d0, [x5]"
            ]
        )
    },
    ddot: body!(
        pointers: ["x1", "x2"],
        before: [clear!()],
        steps: [[
            "ldp q16, q17, [x1, #\\k*32]",
            "ldp q18, q19, [x2, #\\k*32]",
            "fmla v\\k\\().2d, v16.2d, v18.2d",
            "fmla v2\\k\\().2d, v17.2d, v19.2d"
        ]],
        after: [
            ".irp k,1,2,3,4,5,6,7,20,21,22,23,24,25,26,27",
            "fadd v0.2d, v0.2d, v\\k\\().2d",
            ".endr",
            "faddp d0, v0.2d",
            "str d0, [x5]"
        ]
    ),
    storing: [storing_bodies!("stp"), storing_bodies!("stnp")],
};
