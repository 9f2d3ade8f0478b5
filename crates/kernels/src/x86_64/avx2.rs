//! The bodies in AVX2 and FMA: 32-byte vectors.

use super::body::{Body, body, code, repeat};
use crate::Operation;

/// The body of a kernel. The catalog has no non-temporal reduction.
pub(super) fn body_of(operation: Operation, non_temporal: bool) -> Body {
    let [store, copy, scale, add, triad] = if non_temporal { NON_TEMPORAL } else { ORDINARY };
    match operation {
        Operation::Load => LOAD,
        Operation::Store => store,
        Operation::Copy => copy,
        Operation::Scale => scale,
        Operation::Add => add,
        Operation::Triad => triad,
        Operation::Ddot => DDOT,
    }
}

const LOAD: Body = Body {
    unfolded: Some(code!(
        vector: 32, unroll: 8, pointers: ["rsi"],
        before: [],
        steps: [["vmovupd ymm\\k, [rsi + \\k*32]"]],
        after: ["vzeroupper"]
    )),
    ..body!(
        vector: 32, unroll: 8, pointers: ["rsi"],
        before: [repeat!(8), "vpxor ymm\\k, ymm\\k, ymm\\k", ".endr"],
        steps: [["vpxor ymm\\k, ymm\\k, [rsi + \\k*32]"]],
        after: [
            ".irp k,1,2,3,4,5,6,7",
            "vpxor ymm0, ymm0, ymm\\k",
            ".endr",
            "vmovdqu [r9], ymm0",
            // The other lanes of the exchange.
            "vpxor ymm1, ymm1, ymm1",
            "vmovdqu [r9 + 32], ymm1",
            "vzeroupper"
        ]
    )
};

const DDOT: Body = body!(
    vector: 32, unroll: 8, pointers: ["rsi", "rdx"],
    before: [repeat!(8), "vpxor ymm\\k, ymm\\k, ymm\\k", ".endr"],
    steps: [["vmovupd ymm8, [rsi + \\k*32]", "vfmadd231pd ymm\\k, ymm8, [rdx + \\k*32]"]],
    after: [
        ".irp k,1,2,3,4,5,6,7",
        "vaddpd ymm0, ymm0, ymm\\k",
        ".endr",
        "vmovupd [r9], ymm0",
        // The other lanes of the exchange.
        "vpxor ymm1, ymm1, ymm1",
        "vmovdqu [r9 + 32], ymm1",
        "vzeroupper"
    ]
);

/// Store, copy, scale, add and triad, for one instruction that stores.
macro_rules! storing_bodies {
    ($store:literal) => {
        [
            body!(
                vector: 32, unroll: 8, pointers: ["rdi"],
                before: [
                    ".irp k,0,2,4,6",
                    "vmovupd ymm\\k, [r9]",
                    ".endr",
                    ".irp k,1,3,5,7",
                    "vmovupd ymm\\k, [r9 + 32]",
                    ".endr"
                ],
                steps: [[concat!($store, " [rdi + \\k*32], ymm\\k")]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 32, unroll: 8, pointers: ["rdi", "rsi"],
                before: [],
                steps: [[
                    "vmovupd ymm\\k, [rsi + \\k*32]",
                    concat!($store, " [rdi + \\k*32], ymm\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 32, unroll: 8, pointers: ["rdi", "rsi"],
                before: ["vbroadcastsd ymm8, [r9 + 64]"],
                steps: [[
                    "vmulpd ymm\\k, ymm8, [rsi + \\k*32]",
                    concat!($store, " [rdi + \\k*32], ymm\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 32, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: [],
                steps: [
                    ["vmovupd ymm\\k, [rsi + \\k*32]", "vaddpd ymm\\k, ymm\\k, [rdx + \\k*32]"],
                    [concat!($store, " [rdi + \\k*32], ymm\\k")]
                ],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 32, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: ["vbroadcastsd ymm8, [r9 + 64]"],
                steps: [
                    ["vmovupd ymm\\k, [rdx + \\k*32]", "vfmadd213pd ymm\\k, ymm8, [rsi + \\k*32]"],
                    [concat!($store, " [rdi + \\k*32], ymm\\k")]
                ],
                after: ["vzeroupper"]
            ),
        ]
    };
}
const ORDINARY: [Body; 5] = storing_bodies!("vmovupd");
const NON_TEMPORAL: [Body; 5] = storing_bodies!("vmovntpd");
