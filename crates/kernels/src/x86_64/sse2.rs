//! The bodies in SSE2: 16-byte vectors.

use super::body::{body, code, repeat};
use crate::body::{Bodies, Body};

/// Store, copy, scale, add and triad, for one instruction that stores.
macro_rules! storing_bodies {
    ($store:literal) => {
        [
            body!(
                vector: 16, unroll: 8, pointers: ["rdi"],
                before: [
                    ".irp k,0,1,2,3",
                    "movupd xmm\\k, [r9 + \\k*16]",
                    ".endr",
                    "movapd xmm4, xmm0",
                    "movapd xmm5, xmm1",
                    "movapd xmm6, xmm2",
                    "movapd xmm7, xmm3"
                ],
                steps: [[concat!($store, " [rdi + \\k*16], xmm\\k")]],
                after: []
            ),
            body!(
                vector: 16, unroll: 8, pointers: ["rdi", "rsi"],
                before: [],
                steps: [["movupd xmm\\k, [rsi + \\k*16]", concat!($store, " [rdi + \\k*16], xmm\\k")]],
                after: []
            ),
            body!(
                vector: 16, unroll: 8, pointers: ["rdi", "rsi"],
                before: ["movsd xmm8, [r9 + 64]", "unpcklpd xmm8, xmm8"],
                steps: [[
                    "movupd xmm\\k, [rsi + \\k*16]",
                    "mulpd xmm\\k, xmm8",
                    concat!($store, " [rdi + \\k*16], xmm\\k")
                ]],
                after: []
            ),
            body!(
                vector: 16, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: [],
                steps: [
                    [
                        "movupd xmm\\k, [rsi + \\k*16]",
                        "movupd xmm9, [rdx + \\k*16]",
                        "addpd xmm\\k, xmm9"
                    ],
                    [concat!($store, " [rdi + \\k*16], xmm\\k")]
                ],
                after: []
            ),
            body!(
                vector: 16, unroll: 8, pointers: ["rdi", "rsi", "rdx"],
                before: ["movsd xmm8, [r9 + 64]", "unpcklpd xmm8, xmm8"],
                steps: [
                    [
                        "movupd xmm\\k, [rdx + \\k*16]",
                        "movupd xmm9, [rsi + \\k*16]",
                        "mulpd xmm\\k, xmm8",
                        "addpd xmm\\k, xmm9"
                    ],
                    [concat!($store, " [rdi + \\k*16], xmm\\k")]
                ],
                after: []
            ),
        ]
    };
}

pub(super) const SSE2: Bodies = Bodies {
    load: Body {
        unfolded: Some(code!(
            vector: 16, unroll: 8, pointers: ["rsi"],
            before: [],
            steps: [["movupd xmm\\k, [rsi + \\k*16]"]],
            after: []
        )),
        ..body!(
            vector: 16, unroll: 8, pointers: ["rsi"],
            before: [repeat!(8), "pxor xmm\\k, xmm\\k", ".endr"],
            steps: [["movdqu xmm8, [rsi + \\k*16]", "pxor xmm\\k, xmm8"]],
            after: [
                ".irp k,1,2,3,4,5,6,7",
                "pxor xmm0, xmm\\k",
                ".endr",
                "movdqu [r9], xmm0",
                // The other lanes of the exchange.
                "pxor xmm1, xmm1",
                ".irp k,1,2,3",
                "movdqu [r9 + \\k*16], xmm1",
                ".endr"
            ]
        )
    },
    ddot: body!(
        vector: 16, unroll: 8, pointers: ["rsi", "rdx"],
        before: [repeat!(8), "pxor xmm\\k, xmm\\k", ".endr"],
        steps: [[
            "movupd xmm8, [rsi + \\k*16]",
            "movupd xmm9, [rdx + \\k*16]",
            "mulpd xmm8, xmm9",
            "addpd xmm\\k, xmm8"
        ]],
        after: [
            ".irp k,1,2,3,4,5,6,7",
            "addpd xmm0, xmm\\k",
            ".endr",
            "movupd [r9], xmm0",
            // The other lanes of the exchange.
            "pxor xmm1, xmm1",
            ".irp k,1,2,3",
            "movdqu [r9 + \\k*16], xmm1",
            ".endr"
        ]
    ),
    storing: [storing_bodies!("movupd"), storing_bodies!("movntpd")],
};
