//! How a slice is walked through: by bodies as far as whole iterations go, and one by one around
//! them.

use crate::architecture::{bodies, body_by_pages, fence_stores, write_non_temporal};
use crate::body::Body;
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
    /// The bodies of a kernel, if this CPU runs the variant and the variant is one of its
    /// architecture.
    pub(crate) fn detect(kernel: &Kernel, variant: Variant) -> Option<Walk> {
        if !variant.is_available() {
            return None;
        }
        let by_pages = match variant.pages_in_turn() {
            1 => None,
            // Bodies by pages that store do so around the caches.
            _ if kernel.is_written_for(variant) => Some(body_by_pages(kernel, variant)?),
            _ => return None,
        };
        let in_order = bodies(variant)?.of(kernel.operation, kernel.non_temporal);
        Some(Walk { by_pages, in_order })
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
