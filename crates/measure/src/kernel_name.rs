//! What a kernel's name in a case stands for.

use nearfar_kernels::{FlopOperation, Flops, Kernel, Mix, Precision, find};
use nearfar_record::{Reason, ReasonCode};

/// What runs over memory, by the name that cases and samples give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKernel {
    /// An entry of the catalog.
    Catalog(&'static Kernel),
    /// A mix, whose loop is generated.
    Mix(Mix),
}

impl MemoryKernel {
    /// The kernel of that name.
    ///
    /// # Errors
    /// Where there is none, and the text is no mix.
    pub fn named(name: &str) -> Result<Self, Reason> {
        if let Some(kernel) = find(name) {
            return Ok(Self::Catalog(kernel));
        }
        name.parse().map(Self::Mix).map_err(|invalid| Reason {
            code: ReasonCode::NoVariant,
            text: format!("there is no kernel {name} in the catalog, and {invalid}"),
        })
    }

    /// Elements loaded per step (of a catalog's kernel: per element).
    pub fn loads(&self) -> u32 {
        match self {
            Self::Catalog(kernel) => kernel.loads(),
            Self::Mix(mix) => mix.loads(),
        }
    }

    /// Elements stored per step.
    pub fn stores(&self) -> u32 {
        match self {
            Self::Catalog(kernel) => kernel.stores(),
            Self::Mix(mix) => mix.stores(),
        }
    }

    /// Floating-point operations per step.
    pub fn flops(&self) -> u32 {
        match self {
            Self::Catalog(kernel) => kernel.flops(),
            Self::Mix(mix) => mix.flops(),
        }
    }

    /// Bytes loaded and stored per step.
    pub fn step_bytes(&self) -> u64 {
        8 * u64::from(self.loads() + self.stores())
    }

    /// Whether it has ordinary stores, for which most CPUs first read the line.
    pub fn write_allocates(&self) -> bool {
        match self {
            Self::Catalog(kernel) => kernel.write_allocates(),
            Self::Mix(mix) => mix.stores() > 0 && !mix.non_temporal(),
        }
    }

    /// Elements of a thread's slices per step: a catalog's kernel has an array for each element
    /// that it loads, a mix has one that it reads and one that it writes.
    pub fn array_widths(&self) -> Vec<u32> {
        match self {
            Self::Catalog(kernel) => vec![1; kernel.arrays()],
            Self::Mix(mix) => {
                [mix.stores(), mix.loads()].into_iter().filter(|&width| width > 0).collect()
            }
        }
    }
}

/// Names of all arithmetic on registers, as in `roofs`.
pub fn flop_names() -> Vec<String> {
    let all = FlopOperation::ALL.into_iter().flat_map(|operation| {
        Precision::ALL.into_iter().map(move |precision| Flops { operation, precision })
    });
    all.map(|flops| flops.to_string()).collect()
}
