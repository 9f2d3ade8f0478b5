//! How a memory node lies as a cluster sees it.

use serde::{Deserialize, Serialize};

use crate::index_set::CpuSet;
use crate::machine::Machine;

/// How a cluster and a memory node lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The node is one of the cluster's own.
    Local,
    /// Another node of the cluster's package.
    SamePackage,
    /// A node of another package.
    OtherPackage,
}

impl Machine {
    /// The package that these CPUs belong to; `None` when they are of none or of several.
    pub fn only_package(&self, cpus: &CpuSet) -> Option<u32> {
        let mut touched = self.packages.iter().filter(|package| package.cpus.intersects(cpus));
        let first = touched.next()?;
        touched.next().is_none().then_some(first.os_index)
    }
}
