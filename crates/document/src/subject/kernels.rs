//! The catalog of kernels, as `--kernel list` prints it.

use nearfar_kernels::CATALOG;
use serde::Serialize;

use crate::answer::{Answer, Part, Shown};

/// The catalog of kernels; `characterize --kernel list --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelList {
    pub schema: &'static str,
    /// One entry for each, in the catalog's order.
    pub kernels: Vec<ListedKernel>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedKernel {
    /// The word for it in arguments and records.
    pub kernel: &'static str,
    /// What it does to element i.
    pub formula: &'static str,
    /// The variants in which it exists, the preferred first.
    pub variants: Vec<String>,
}

impl KernelList {
    /// The view of the catalog. `variants` gives those of a kernel by its name.
    pub fn new(variants: impl Fn(&str) -> Vec<String>) -> Self {
        let view = |kernel: &nearfar_kernels::Kernel| ListedKernel {
            kernel: kernel.name,
            formula: kernel.formula,
            variants: variants(kernel.name),
        };
        Self { schema: "nearfar.kernels/1", kernels: CATALOG.iter().map(view).collect() }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let line = |it: &ListedKernel| {
            Part::words(format!("{:9} {:22} ", it.kernel, it.formula), it.variants.join(", "))
        };
        Answer::default().and_all(Shown::Always, self.kernels.iter().map(line))
    }
}

#[cfg(test)]
mod tests {
    use nearfar_kernels::find;
    use nearfar_model::PROGRAMS;

    #[test]
    fn programs_have_the_intensity_of_the_catalog() {
        for program in PROGRAMS {
            let kernel = find(program.name).unwrap();
            let bytes = 8 * (kernel.loads() + kernel.stores());
            let intensity = f64::from(kernel.flops()) / f64::from(bytes);
            assert_eq!(intensity.to_string(), program.intensity.to_string(), "{}", program.name);
        }
    }
}
