//! A machine that nobody here has: its parts, and what loads on it get.

use std::collections::BTreeMap;

use nearfar_machine::Machine;
use serde::{Deserialize, Serialize};

use crate::capacities::{Capacities, Load, rates_together};
use crate::error::FlowError;
use crate::fault::Fault;
use crate::noise::Noise;

/// A simulated machine as its file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedMachine {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The key of the paper that its figures are from, where they are from one.
    pub paper: Option<String>,
    /// Its parts; all of it may be used.
    pub machine: Machine,
    /// Variants of the kernels, the preferred first.
    pub variants: Vec<String>,
    /// Kernels that differ from the triad, by name; every other kernel is like it.
    pub kernels: BTreeMap<String, KernelBehaviour>,
    /// What each part carries of each variant's triad, in the order of `variants`, faults
    /// applied. Clusters are those of `machine`, by index.
    pub capacities: Vec<Capacities>,
    /// How its figures scatter.
    pub noise: Noise,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Time really slept / time on its own clock; 0 does not wait.
    pub real_time: f64,
    /// The text of its file, from which [`crate::parse_machine`] makes it again.
    pub text: String,
}

/// How a kernel differs from the triad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelBehaviour {
    /// Its useful bytes / the triad's, in the same time on the same parts.
    pub factor: f64,
    /// Variants that exist of it, the preferred first; `None` for all.
    pub variants: Option<Vec<String>>,
}

/// A load that runs a kernel in one of its variants.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLoad {
    /// Kernel by its name.
    pub kernel: String,
    /// Variant by its name.
    pub variant: String,
    /// Whose threads, how many, on which memory.
    pub load: Load,
}

impl SimulatedMachine {
    /// The variants of a kernel, the preferred first.
    #[must_use]
    pub fn variants(&self, kernel: &str) -> Vec<String> {
        let own = self.kernels.get(kernel).and_then(|behaviour| behaviour.variants.clone());
        own.unwrap_or_else(|| self.variants.clone())
    }

    /// What each load moves when all run at the same time and nothing scatters, useful
    /// bytes/s. Two threads on one core count as two.
    ///
    /// # Errors
    /// [`FlowError::Load`] for a variant, cluster or node that it does not have, and the
    /// solver's errors.
    pub fn rates(&self, loads: &[KernelLoad]) -> Result<Vec<f64>, FlowError> {
        let mut of_variants = Vec::new();
        for KernelLoad { kernel, variant, load } in loads {
            let exists = self.variants(kernel).contains(variant);
            let position = self.variants.iter().position(|known| known == variant);
            let capacities = position
                .filter(|_| exists)
                .and_then(|position| self.capacities.get(position))
                .ok_or_else(|| {
                    FlowError::Load(format!(
                        "{} has no kernel {kernel:?} in variant {variant:?}; it has {}",
                        self.name,
                        self.variants(kernel).join(", ")
                    ))
                })?;
            of_variants.push((capacities, load));
        }
        let triads = rates_together(&of_variants)?;
        Ok(triads
            .into_iter()
            .zip(loads)
            .map(|(rate, load)| rate * self.factor(&load.kernel))
            .collect())
    }

    /// One thread's triad on the memory nearest to it, in the preferred variant, useful
    /// bytes/s: what a short look at the machine sees.
    ///
    /// # Errors
    /// [`FlowError::Load`] when no cluster has memory of its own.
    pub fn look_rate(&self) -> Result<f64, FlowError> {
        let near = self
            .machine
            .clusters()
            .iter()
            .find_map(|cluster| Some((cluster.index, cluster.memory_nodes.first()?)));
        let (Some((cluster, node)), Some(capacities)) = (near, self.capacities.first()) else {
            return Err(FlowError::Load(format!("no cluster of {} has memory", self.name)));
        };
        let load = Load { cluster, threads: 1, shares: vec![(node, 1.0)] };
        Ok(capacities.rates(&[load])?.into_iter().sum())
    }

    /// Nodes without room.
    #[must_use]
    pub fn full_nodes(&self) -> Vec<u32> {
        let full = |fault: &Fault| match fault {
            Fault::FullMemory { node } => Some(*node),
            _ => None,
        };
        self.faults.iter().filter_map(full).collect()
    }

    fn factor(&self, kernel: &str) -> f64 {
        self.kernels.get(kernel).map_or(1.0, |behaviour| behaviour.factor)
    }
}
