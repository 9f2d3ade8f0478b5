//! The bodies that take pages in turn: a line of each, then the next line of each, until they are
//! done. glibc copies what is large in this way (sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S,
//! `large_memcpy_2x` and `large_memcpy_4x`).
//!
//! A core's prefetcher of streams stays within a page, and has to find each anew; several pages at a
//! time are several streams, of which it follows some while it looks for the others. On an Emerald
//! Rapids (a virtual machine, one thread, 512 MiB, huge pages, 87 passes in turns) copy_nt moved
//! 24.5 GB/s by four pages, 23.9 by two, 23.8 by eight, 20.2 in order. What was tried beside it and
//! was no faster beyond noise: two or four lines of each page in a turn, all loads before the stores,
//! turns of 5 to 17 KiB instead of pages, and software prefetches 256 bytes ahead; those 512 and 1024
//! bytes ahead were up to 9 % slower. store_nt lost by pages in turn (19.3 GB/s by four, 20.0 in
//! order, 111 passes), and has no such form.

use crate::body::Body;
use crate::{Operation, Variant};

/// Bytes of what takes turns. Linux's base pages: prefetchers go by them whatever Linux maps.
pub(super) const PAGE: usize = 4096;

/// The bodies of one instruction set and number of pages.
pub(super) struct PagesInTurn {
    load: Body,
    /// Non-temporal: copy, scale, add and triad.
    storing: [Body; 4],
}

impl PagesInTurn {
    /// Those of a variant; `None` for those in order.
    pub fn of(variant: Variant) -> Option<PagesInTurn> {
        match variant {
            Variant::Avx512Pages2 => Some(AVX512_PAGES2),
            Variant::Avx512Pages4 => Some(AVX512_PAGES4),
            Variant::Avx2Pages2 => Some(AVX2_PAGES2),
            Variant::Avx2Pages4 => Some(AVX2_PAGES4),
            _ => None,
        }
    }

    /// The body of an operation; of those that store, the non-temporal one.
    pub fn body(&self, operation: Operation) -> Option<Body> {
        let [copy, scale, add, triad] = self.storing;
        match operation {
            Operation::Load => Some(self.load),
            Operation::Copy => Some(copy),
            Operation::Scale => Some(scale),
            Operation::Add => Some(add),
            Operation::Triad => Some(triad),
            Operation::Store | Operation::Ddot => None,
        }
    }
}

/// Gives the code of one body, as `code!` does: a naked function of the type `Code`. An iteration is
/// as many pages of each array as `pages` says. The steps are issued for one line of each page,
/// k = 0, 1, ..., with the pointers at that line of the first page; addresses are pointer plus
/// constant here too.
///
/// Registers: as in `code!`; rcx = end of the first pointer's first page, once the number of
/// iterations is no longer needed.
macro_rules! page_code {
    (
        pages: $pages:tt, pointers: [$first:literal $(, $other:literal)*],
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
                concat!("imul r10, rcx, ", $pages, "*4096"),
                concat!("lea r11, [", $first, " + r10]"),
                $($before,)*
                "2:",
                concat!("lea rcx, [", $first, " + 4096]"),
                ".p2align 6",
                "3:",
                $(super::body::repeat!($pages), $($step,)+ ".endr",)+
                concat!("add ", $first, ", 64"),
                $(concat!("add ", $other, ", 64"),)*
                concat!("cmp ", $first, ", rcx"),
                "jne 3b",
                // On to the page after those that took turns.
                concat!("add ", $first, ", (", $pages, "-1)*4096"),
                $(concat!("add ", $other, ", (", $pages, "-1)*4096"),)*
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

/// The bodies of one instruction set and number of pages. Vectors are registers `$r`; `line` has for
/// each vector of a line what stands before k in its register's number, and its place in the line.
/// Register 8 holds the factor, 9 what was folded.
macro_rules! pages_in_turn {
    (
        $r:literal, vector: $vector:literal, xor: $xor:literal, pages: $pages:tt,
        line: [$(($n:literal, $at:literal)),+],
        clear_rest: [$($clear_rest:literal),*]
    ) => {{
        const BODY: Body = Body {
            code: page_code!(
                pages: $pages, pointers: ["rdi", "rsi"],
                before: [],
                steps: [[$(
                    concat!("vmovupd ", $r, $n, "\\k, [rsi + \\k*4096 + ", $at, "]"),
                    concat!("vmovntpd [rdi + \\k*4096 + ", $at, "], ", $r, $n, "\\k")
                ),+]],
                after: ["vzeroupper"]
            ),
            unfolded: None,
            // Of the loop within the pages.
            unroll: $pages * 64 / $vector,
            iteration_bytes: $pages * PAGE,
        };
        let scale = page_code!(
            pages: $pages, pointers: ["rdi", "rsi"],
            before: [concat!("vbroadcastsd ", $r, "8, [r9 + 64]")],
            steps: [[$(
                concat!("vmulpd ", $r, $n, "\\k, ", $r, "8, [rsi + \\k*4096 + ", $at, "]"),
                concat!("vmovntpd [rdi + \\k*4096 + ", $at, "], ", $r, $n, "\\k")
            ),+]],
            after: ["vzeroupper"]
        );
        let add = page_code!(
            pages: $pages, pointers: ["rdi", "rsi", "rdx"],
            before: [],
            steps: [
                [$(
                    concat!("vmovupd ", $r, $n, "\\k, [rsi + \\k*4096 + ", $at, "]"),
                    concat!(
                        "vaddpd ", $r, $n, "\\k, ", $r, $n, "\\k, [rdx + \\k*4096 + ", $at, "]"
                    )
                ),+],
                [$(concat!("vmovntpd [rdi + \\k*4096 + ", $at, "], ", $r, $n, "\\k")),+]
            ],
            after: ["vzeroupper"]
        );
        let triad = page_code!(
            pages: $pages, pointers: ["rdi", "rsi", "rdx"],
            before: [concat!("vbroadcastsd ", $r, "8, [r9 + 64]")],
            steps: [
                [$(
                    concat!("vmovupd ", $r, $n, "\\k, [rdx + \\k*4096 + ", $at, "]"),
                    concat!(
                        "vfmadd213pd ", $r, $n, "\\k, ", $r, "8, [rsi + \\k*4096 + ", $at, "]"
                    )
                ),+],
                [$(concat!("vmovntpd [rdi + \\k*4096 + ", $at, "], ", $r, $n, "\\k")),+]
            ],
            after: ["vzeroupper"]
        );
        let load = page_code!(
            pages: $pages, pointers: ["rsi"],
            before: [
                super::body::repeat!($pages),
                $(concat!($xor, " ", $r, $n, "\\k, ", $r, $n, "\\k, ", $r, $n, "\\k"),)+
                ".endr"
            ],
            steps: [[$(
                concat!($xor, " ", $r, $n, "\\k, ", $r, $n, "\\k, [rsi + \\k*4096 + ", $at, "]")
            ),+]],
            after: [
                concat!($xor, " ", $r, "9, ", $r, "9, ", $r, "9"),
                super::body::repeat!($pages),
                $(concat!($xor, " ", $r, "9, ", $r, "9, ", $r, $n, "\\k"),)+
                ".endr",
                concat!("vmovupd [r9], ", $r, "9"),
                $($clear_rest,)*
                "vzeroupper"
            ]
        );
        let unfolded = page_code!(
            pages: $pages, pointers: ["rsi"],
            before: [],
            steps: [[$(concat!("vmovupd ", $r, $n, "\\k, [rsi + \\k*4096 + ", $at, "]")),+]],
            after: ["vzeroupper"]
        );
        PagesInTurn {
            load: Body { code: load, unfolded: Some(unfolded), ..BODY },
            storing: [
                BODY,
                Body { code: scale, ..BODY },
                Body { code: add, ..BODY },
                Body { code: triad, ..BODY },
            ],
        }
    }};
}

macro_rules! avx512 {
    ($pages:tt) => {
        pages_in_turn!(
            "zmm", vector: 64, xor: "vpxorq", pages: $pages,
            line: [("", "0")],
            clear_rest: []
        )
    };
}

macro_rules! avx2 {
    ($pages:tt) => {
        pages_in_turn!(
            "ymm", vector: 32, xor: "vpxor", pages: $pages,
            line: [("", "0"), ("1", "32")],
            clear_rest: ["vpxor ymm8, ymm8, ymm8", "vmovupd [r9 + 32], ymm8"]
        )
    };
}

const AVX512_PAGES2: PagesInTurn = avx512!(2);
const AVX512_PAGES4: PagesInTurn = avx512!(4);
const AVX2_PAGES2: PagesInTurn = avx2!(2);
const AVX2_PAGES4: PagesInTurn = avx2!(4);

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind, Register};

    use super::*;
    use crate::CATALOG;

    /// Places that are accessed in one iteration of the innermost loop, by pointer.
    fn displacements(body: Body) -> BTreeMap<Register, BTreeSet<u64>> {
        const LONGEST: usize = 1500;
        let start = body.code as *const () as *const u8;
        // SAFETY: the program's code goes on behind each of these functions, which are no longer
        // than this; nothing is read behind the `ret`.
        let code = unsafe { std::slice::from_raw_parts(start, LONGEST) };
        let mut places: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        let instructions = Decoder::new(64, code, DecoderOptions::NONE).into_iter();
        for it in instructions.take_while(|it| it.mnemonic() != Mnemonic::Ret) {
            let accesses = it.op_kinds().any(|kind| kind == OpKind::Memory);
            let is_array =
                [Register::RDI, Register::RSI, Register::RDX].contains(&it.memory_base());
            if accesses && is_array && it.mnemonic() != Mnemonic::Lea {
                assert_eq!(it.memory_index(), Register::None);
                let is_new =
                    places.entry(it.memory_base()).or_default().insert(it.memory_displacement64());
                assert!(is_new, "accessed twice");
            }
        }
        places
    }

    /// That each element is computed once is held by the differential tests; this is the order.
    #[test]
    fn a_line_of_each_page_is_accessed_then_the_next() {
        for variant in Variant::PAGES_IN_TURN {
            let pages = PagesInTurn::of(variant).unwrap();
            let vector = variant.vector_bytes() as u64;
            let wanted: BTreeSet<u64> = (0..variant.pages_in_turn() as u64)
                .flat_map(|page| (0..64 / vector).map(move |it| page * 4096 + it * vector))
                .collect();
            let kernels = CATALOG.iter().filter(|kernel| kernel.is_written_for(variant));
            for kernel in kernels {
                let body = pages.body(kernel.operation).unwrap();
                let places = displacements(body);
                assert_eq!(places.len(), kernel.arrays(), "{} in {variant}", kernel.name);
                for (pointer, places) in places {
                    assert_eq!(places, wanted, "{pointer:?} of {} in {variant}", kernel.name);
                }
                assert_eq!(u64::from(body.unroll) * vector, 64 * variant.pages_in_turn() as u64);
            }
        }
    }
}
