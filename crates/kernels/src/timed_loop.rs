//! One kernel in one instruction set, ready to run.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::walk::Walk;
use crate::{Checksum, Constants, Kernel, Operands, Operation, Variant, portable};

/// One kernel in one instruction set, on a CPU that was found to run it.
#[derive(Clone, Copy, Debug)]
pub struct TimedLoop {
    kernel: &'static Kernel,
    variant: Variant,
    code: Code,
}

#[derive(Clone, Copy, Debug)]
enum Code {
    Portable,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vectors(Walk),
}

impl TimedLoop {
    /// `None` if this CPU does not run the variant.
    pub(crate) fn new(kernel: &'static Kernel, variant: Variant) -> Option<TimedLoop> {
        let code = match variant {
            Variant::Portable => Code::Portable,
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            _ => Code::Vectors(Walk::detect(kernel, variant)?),
            #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
            _ => return None,
        };
        Some(TimedLoop { kernel, variant, code })
    }

    /// The kernel it runs.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The instruction set it runs in.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Vectors of each array per iteration of the loop as it is written. (The compiler may unroll
    /// the portable loop further.) Elements beyond a whole number of iterations are done one by
    /// one, so lengths for timing are multiples of `unroll() * variant().vector_bytes() / 8`.
    /// Pages are taken in turn as far as there are as many whole ones; what is left is done in
    /// order.
    pub fn unroll(&self) -> u32 {
        match self.code {
            Code::Portable => match self.kernel.operation {
                Operation::Load | Operation::Store | Operation::Ddot => 8,
                Operation::Copy | Operation::Scale | Operation::Add | Operation::Triad => 1,
            },
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Code::Vectors(walk) => walk.unroll(),
        }
    }

    /// Runs the kernel `repeats` times over the same operands. Every load and store is issued
    /// every time. Non-temporal stores are fenced once, at the end.
    ///
    /// Results equal [`Kernel::expected`] in every bit if the scalar of `constants` is a power of
    /// two and no product overflows; otherwise fused and separate multiply-add can differ.
    ///
    /// # Panics
    ///
    /// If the operands are not of the kernel's shape.
    pub fn run(&self, operands: Operands<'_>, constants: &Constants, repeats: u32) -> Checksum {
        assert_eq!(
            operands.shape(),
            (self.kernel.loads(), self.kernel.stores()),
            "kernel {} takes other numbers of (read, written) arrays",
            self.kernel.name
        );
        let nothing = match self.kernel.operation {
            Operation::Load => Checksum::Xor(0),
            Operation::Ddot => Checksum::Sum(0.0),
            Operation::Store
            | Operation::Copy
            | Operation::Scale
            | Operation::Add
            | Operation::Triad => Checksum::None,
        };
        nothing.with(match self.code {
            Code::Portable => portable::run(
                self.kernel.operation,
                operands,
                constants,
                repeats,
                portable::write_volatile,
            ),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Code::Vectors(walk) => walk.run(self.kernel, operands, constants, repeats),
        })
    }
}
