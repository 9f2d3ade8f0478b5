//! Why a kernel has no loop to offer.

use std::fmt;

use crate::Variant;

/// Why [`Kernel::in_variant`](crate::Kernel::in_variant) gave no loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The variant is one that this kernel was not written for, on any CPU.
    NotWritten {
        /// Name of the kernel.
        kernel: &'static str,
        variant: Variant,
    },
    /// The kernel exists in the variant, but this CPU or its operating system does not run it.
    NotOnThisCpu {
        /// Name of the kernel.
        kernel: &'static str,
        variant: Variant,
    },
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::NotWritten { kernel, variant } => write!(
                f,
                "kernel {kernel} has no {variant} variant, because only vector instruction sets \
                 have non-temporal stores here: choose a vector variant, or the kernel without _nt"
            ),
            Unavailable::NotOnThisCpu { kernel, variant } => {
                write!(f, "this CPU does not run the {variant} variant of kernel {kernel}: use")?;
                for (position, variant) in Variant::available().into_iter().enumerate() {
                    write!(f, "{}{variant}", if position == 0 { " " } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Unavailable {}
