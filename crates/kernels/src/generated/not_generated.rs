//! Why there is no code for a loop.

use std::io;

use crate::Variant;

/// Why [`Mix::generate`](crate::Mix::generate) or [`Flops::generate`](crate::Flops::generate)
/// gave no loop.
#[derive(Debug, thiserror::Error)]
pub enum NotGenerated {
    /// The loop has no form in that instruction set, on any CPU.
    #[error("there is no {variant} form of {recipe}, because {why}: choose another variant")]
    NotWritten {
        /// Text of what was to be generated.
        recipe: String,
        /// The instruction set asked for.
        variant: Variant,
        /// What it lacks.
        why: &'static str,
    },
    /// This CPU or its operating system does not run that instruction set.
    #[error(
        "this CPU does not run {variant} code, in which {recipe} was asked for: choose another \
         variant"
    )]
    NotOnThisCpu {
        /// Text of what was to be generated.
        recipe: String,
        /// The instruction set asked for.
        variant: Variant,
    },
    /// Linux gave no memory that may be executed.
    #[error(
        "cannot make memory executable for the loop {recipe}: {cause}; a security policy may \
         forbid it (SELinux: execmem; systemd: MemoryDenyWriteExecute): allow it for this \
         program, or measure with the kernels of the catalog, which need none"
    )]
    NoExecutableMemory {
        /// Text of what was to be generated.
        recipe: String,
        /// What Linux said.
        cause: io::Error,
    },
    /// The assembler refused an instruction: a fault of this program.
    #[error("cannot assemble {recipe} in {variant}: {cause}; please report this")]
    NotAssembled {
        /// Text of what was to be generated.
        recipe: String,
        /// The instruction set asked for.
        variant: Variant,
        /// What the assembler said.
        cause: String,
    },
}
