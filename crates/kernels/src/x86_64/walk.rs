//! How a slice is walked through: by bodies as far as whole iterations go, and one by one around
//! them.

use std::arch::asm;
use std::arch::x86_64::_mm_sfence;
use std::ptr;

use super::avx::{AVX2, AVX512};
use super::body::Body;
use super::pages::PagesInTurn;
use super::sse2::SSE2;
use crate::line::elements_to_next_line;
use crate::{Checksum, Constants, Kernel, Operands, Variant, portable};

/// The bodies of one kernel in one variant, on a CPU that was found to run them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// What takes pages in turn, where the variant does.
    by_pages: Option<Body>,
    in_order: Body,
}

impl Walk {
    /// The bodies of a kernel, if this CPU runs the variant and the variant is one of x86-64.
    pub(crate) fn detect(kernel: &Kernel, variant: Variant) -> Option<Walk> {
        let Kernel { operation, non_temporal, .. } = *kernel;
        let bodies = match variant.in_order() {
            Variant::Avx512 => AVX512,
            Variant::Avx2 => AVX2,
            Variant::Sse2 => SSE2,
            _ => return None,
        };
        let by_pages = match PagesInTurn::of(variant) {
            // Its bodies that store do so around the caches.
            Some(pages) if kernel.is_written_for(variant) => Some(pages.body(operation)?),
            Some(_) => return None,
            None => None,
        };
        let walk = Walk { by_pages, in_order: bodies.of(operation, non_temporal) };
        variant.is_available().then_some(walk)
    }

    /// Vectors of each array per iteration of the innermost loop.
    pub(crate) fn unroll(&self) -> u32 {
        self.by_pages.unwrap_or(self.in_order).unroll
    }

    /// Runs the kernel: whole iterations in the bodies, the elements around them one by one.
    pub(crate) fn run(
        self,
        kernel: &Kernel,
        operands: Operands<'_>,
        constants: &Constants,
        repeats: u32,
    ) -> Checksum {
        let Kernel { operation, non_temporal, .. } = *kernel;
        let one_by_one = |operands: Operands<'_>, constants: &Constants| {
            if operands.is_empty() {
                // The usual case, and in a first-level cache even empty repeats would count.
                Checksum::None
            } else if non_temporal {
                portable::run(operation, operands, constants, repeats, write_non_temporal)
            } else {
                portable::run(operation, operands, constants, repeats, portable::write_volatile)
            }
        };

        let head =
            if non_temporal { operands.a.as_deref().map_or(0, elements_to_next_line) } else { 0 };
        let (head_operands, mut rest) = operands.split_at(head);
        // The lanes are counted from the start of the slice; what follows a body starts a whole
        // number of eight elements after it.
        let mut shifted = *constants;
        shifted.lanes.rotate_left(head % 8);

        let mut checksum = one_by_one(head_operands, constants);
        for body in self.by_pages.into_iter().chain([self.in_order]) {
            let (iterations, elements) = body.whole_iterations(rest.len());
            let (body_operands, after) = rest.split_at(elements);
            rest = after;
            // SAFETY: `detect` found the instruction set. `TimedLoop::run` checked that the operands
            // are those of the kernel, and they are `iterations` whole iterations long. `a` begins
            // with a line after the head of a non-temporal kernel, and bodies take whole lines.
            let found = unsafe {
                body.run_iterations(operation, body_operands, &shifted, iterations, repeats)
            };
            checksum = checksum.with(found);
        }
        checksum = checksum.with(one_by_one(rest, &shifted));
        if non_temporal {
            fence_stores();
        }
        checksum
    }
}

/// Makes non-temporal stores visible before all later ones.
pub(crate) fn fence_stores() {
    // SAFETY: every x86-64 CPU has sfence, and it has no other condition.
    unsafe { _mm_sfence() };
}

/// A non-temporal store of one element. Whoever uses it ends with [`fence_stores`].
#[inline(always)]
pub(crate) fn write_non_temporal(place: &mut f64, value: f64) {
    // SAFETY: movnti is in SSE2, which every x86-64 CPU has; a mutable reference is valid for
    // writes. The caller's fence orders the store before the borrow ends.
    unsafe {
        asm!(
            "movnti [{place}], {value}",
            place = in(reg) ptr::from_mut(place),
            value = in(reg) value.to_bits(),
            options(nostack, preserves_flags)
        );
    }
}
