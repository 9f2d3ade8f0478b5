//! Why there is no loop to offer.

use std::io;

use crate::Variant;

/// Why [`Kernel::in_variant`](crate::Kernel::in_variant), [`Mix::generate`](crate::Mix::generate)
/// or [`Flops::generate`](crate::Flops::generate) gave no loop of what is named.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// It has no form in that instruction set, on any CPU.
    #[error("there is no {variant} form of {name}, because {why}: choose another variant")]
    NotWritten { name: String, variant: Variant, why: &'static str },
    /// This CPU or its operating system does not run that instruction set.
    #[error(
        "this CPU does not run {variant} code, in which {name} was asked for: use {}",
        runnable()
    )]
    NotOnThisCpu { name: String, variant: Variant },
    /// Linux gave no memory that may be executed.
    #[error(
        "cannot make memory executable for the loop {name}: {cause}; a security policy may \
         forbid it (SELinux: execmem; systemd: MemoryDenyWriteExecute): allow it for this \
         program, or measure with the kernels of the catalog, which need none"
    )]
    NoExecutableMemory { name: String, cause: io::Error },
    /// The assembler refused an instruction: a fault of this program.
    #[error("cannot assemble {name} in {variant}: {cause}; please report this")]
    NotAssembled { name: String, variant: Variant, cause: String },
}

fn runnable() -> String {
    Variant::available().iter().map(Variant::to_string).collect::<Vec<_>>().join(" or ")
}
