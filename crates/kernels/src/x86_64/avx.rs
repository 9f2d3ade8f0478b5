//! The bodies in AVX2 and FMA, 32-byte vectors, and in AVX-512F, 64-byte vectors.

use super::body::{body, code, repeat};
use crate::body::{Bodies, Body};

/// Store, copy, scale, add and triad, for one instruction that stores. Vectors are registers `$r` of
/// `$vector` bytes; `$stored` is the one that `store` stores, as `$before` has set it.
macro_rules! storing_bodies {
    (
        $store:literal, $r:literal, $vector:literal, unroll: $unroll:tt,
        before: [$($before:literal),*], stored: $stored:literal
    ) => {
        [
            body!(
                vector: $vector, unroll: $unroll, pointers: ["rdi"],
                before: [$($before),*],
                steps: [[concat!($store, " [rdi + \\k*", $vector, "], ", $stored)]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: $vector, unroll: $unroll, pointers: ["rdi", "rsi"],
                before: [],
                steps: [[
                    concat!("vmovupd ", $r, "\\k, [rsi + \\k*", $vector, "]"),
                    concat!($store, " [rdi + \\k*", $vector, "], ", $r, "\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: $vector, unroll: $unroll, pointers: ["rdi", "rsi"],
                before: [concat!("vbroadcastsd ", $r, "8, [r9 + 64]")],
                steps: [[
                    concat!("vmulpd ", $r, "\\k, ", $r, "8, [rsi + \\k*", $vector, "]"),
                    concat!($store, " [rdi + \\k*", $vector, "], ", $r, "\\k")
                ]],
                after: ["vzeroupper"]
            ),
            body!(
                vector: $vector, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: [],
                steps: [
                    [
                        concat!("vmovupd ", $r, "\\k, [rsi + \\k*", $vector, "]"),
                        concat!("vaddpd ", $r, "\\k, ", $r, "\\k, [rdx + \\k*", $vector, "]")
                    ],
                    [concat!($store, " [rdi + \\k*", $vector, "], ", $r, "\\k")]
                ],
                after: ["vzeroupper"]
            ),
            body!(
                vector: $vector, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: [concat!("vbroadcastsd ", $r, "8, [r9 + 64]")],
                steps: [
                    [
                        concat!("vmovupd ", $r, "\\k, [rdx + \\k*", $vector, "]"),
                        concat!("vfmadd213pd ", $r, "\\k, ", $r, "8, [rsi + \\k*", $vector, "]")
                    ],
                    [concat!($store, " [rdi + \\k*", $vector, "], ", $r, "\\k")]
                ],
                after: ["vzeroupper"]
            ),
        ]
    };
}

macro_rules! avx2_storing {
    ($store:literal) => {
        storing_bodies!(
            $store, "ymm", 32, unroll: 8,
            before: [
                ".irp k,0,2,4,6",
                "vmovupd ymm\\k, [r9]",
                ".endr",
                ".irp k,1,3,5,7",
                "vmovupd ymm\\k, [r9 + 32]",
                ".endr"
            ],
            stored: "ymm\\k"
        )
    };
}

macro_rules! avx512_storing {
    ($store:literal) => {
        storing_bodies!(
            $store, "zmm", 64, unroll: 4,
            before: ["vmovupd zmm0, [r9]"], stored: "zmm0"
        )
    };
}

pub(super) const AVX2: Bodies = Bodies {
    load: Body {
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
    },
    ddot: body!(
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
    ),
    storing: [avx2_storing!("vmovupd"), avx2_storing!("vmovntpd")],
};

pub(super) const AVX512: Bodies = Bodies {
    load: Body {
        unfolded: Some(code!(
            vector: 64, unroll: 4, pointers: ["rsi"],
            before: [],
            steps: [["vmovupd zmm\\k, [rsi + \\k*64]"]],
            after: ["vzeroupper"]
        )),
        // Two vectors at a time: 0x96 is the exclusive or of three, half as many operations.
        // Without a prefetch, which would make up for the operations that wait for memory and fill
        // the scheduler (2 % on an Emerald Rapids, 4 % on a Zen 4), but takes the turns of loads:
        // on the Zen 4 sets in the second level were read 10 % slower with it and in the third
        // 15 %, and the loops of `roofs` then stood above their roof.
        code: code!(
            vector: 128, unroll: 2, pointers: ["rsi"],
            before: [repeat!(2), "vpxord zmm\\k, zmm\\k, zmm\\k", ".endr"],
            steps: [[
                "vmovdqu64 zmm1\\k, [rsi + \\k*128]",
                "vpternlogq zmm\\k, zmm1\\k, [rsi + \\k*128 + 64], 0x96"
            ]],
            after: ["vpxorq zmm0, zmm0, zmm1", "vmovdqu64 [r9], zmm0", "vzeroupper"]
        ),
        unroll: 4,
        iteration_bytes: 4 * 64,
    },
    ddot: body!(
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
    ),
    storing: [avx512_storing!("vmovupd"), avx512_storing!("vmovntpd")],
};
