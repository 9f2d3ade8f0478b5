//! The bodies in AVX-512F: 64-byte vectors.

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
        vector: 64, unroll: 4, pointers: ["rsi"],
        before: [],
        steps: [["vmovupd zmm\\k, [rsi + \\k*64]"]],
        after: ["vzeroupper"]
    )),
    // Two vectors at a time: 0x96 is the exclusive or of three, half as many operations. Without a
    // prefetch, which would make up for the operations that wait for memory and fill the scheduler
    // (2 % on an Emerald Rapids, 4 % on a Zen 4), but takes the turns of loads: on the Zen 4 sets in
    // the second level were read 10 % slower with it and in the third 15 %, and the loops of `roofs`
    // then stood above their roof.
    code: code!(
        vector: 128, unroll: 2, pointers: ["rsi"],
        before: [repeat!(2), "vpxord zmm\\k, zmm\\k, zmm\\k", ".endr"],
        steps: [[
            "vmovdqu64 zmm1\\k, [rsi + \\k*128]",
            "vpternlogq zmm\\k, zmm1\\k, [rsi + \\k*128 + 64], 0x96"
        ]],
        after: ["vpxorq zmm0, zmm0, zmm1", "vmovdqu64 [r9], zmm0", "vzeroupper"]
    ),
    vector_bytes: 64,
    unroll: 4,
};

const DDOT: Body = body!(
    vector: 64, unroll: 8, pointers: ["rsi", "rdx"],
    before: [repeat!(8), "vpxord zmm\\k, zmm\\k, zmm\\k", ".endr"],
    steps: [["vmovupd zmm8, [rsi + \\k*64]", "vfmadd231pd zmm\\k, zmm8, [rdx + \\k*64]"]],
    after: [
        ".irp k,1,2,3,4,5,6,7",
        "vaddpd zmm0, zmm0, zmm\\k",
        ".endr",
        "vmovupd [r9], zmm0",
        "vzeroupper"
    ]
);

/// Store, copy, scale, add and triad, for one instruction that stores.
macro_rules! storing_bodies {
    ($store:literal) => {
        [
            body!(
                vector: 64, unroll: 4, pointers: ["rdi"],
                before: ["vmovupd zmm0, [r9]"],
                steps: [[concat!($store, " [rdi + \\k*64], zmm0")]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 64, unroll: 4, pointers: ["rdi", "rsi"],
                before: [],
                steps: [[
                    "vmovupd zmm\\k, [rsi + \\k*64]",
                    concat!($store, " [rdi + \\k*64], zmm\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 64, unroll: 4, pointers: ["rdi", "rsi"],
                before: ["vbroadcastsd zmm8, [r9 + 64]"],
                steps: [[
                    "vmulpd zmm\\k, zmm8, [rsi + \\k*64]",
                    concat!($store, " [rdi + \\k*64], zmm\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 64, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: [],
                steps: [
                    ["vmovupd zmm\\k, [rsi + \\k*64]", "vaddpd zmm\\k, zmm\\k, [rdx + \\k*64]"],
                    [concat!($store, " [rdi + \\k*64], zmm\\k")]
                ],
                after: ["vzeroupper"]
            ),
            body!(
                vector: 64, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: ["vbroadcastsd zmm8, [r9 + 64]"],
                steps: [
                    ["vmovupd zmm\\k, [rdx + \\k*64]", "vfmadd213pd zmm\\k, zmm8, [rsi + \\k*64]"],
                    [concat!($store, " [rdi + \\k*64], zmm\\k")]
                ],
                after: ["vzeroupper"]
            ),
        ]
    };
}
const ORDINARY: [Body; 5] = storing_bodies!("vmovupd");
const NON_TEMPORAL: [Body; 5] = storing_bodies!("vmovntpd");
