//! How two CPUs lie to each other.

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// How two CPUs lie to each other: the nearest part that holds both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CpuRelation {
    /// Hardware threads of one core.
    SameCore,
    /// Two cores that share a cache of level 3.
    SameL3,
    /// Two cores of one memory node.
    SameNode,
    /// Two memory nodes of one package.
    SamePackage,
    /// Two packages.
    OtherPackage,
}

impl CpuRelation {
    /// All, the nearest first.
    pub const ALL: [Self; 5] =
        [Self::SameCore, Self::SameL3, Self::SameNode, Self::SamePackage, Self::OtherPackage];

    /// In words: `of one core`.
    pub fn words(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::SameL3 => "same L3",
            Self::SameNode => "same memory node",
            Self::SamePackage => "same package",
            Self::OtherPackage => "other package",
        }
    }
}

impl Machine {
    /// How two CPUs lie to each other; `None` where nothing that is described holds both, and they are
    /// not known to be of two packages.
    pub fn cpu_relation(&self, one: u32, other: u32) -> Option<CpuRelation> {
        let both = |cpus: &crate::CpuSet| cpus.contains(one) && cpus.contains(other);
        let package = |cpu| self.packages.iter().position(|it| it.cpus.contains(cpu));
        if self.cores.iter().any(|core| both(&core.cpus)) {
            Some(CpuRelation::SameCore)
        } else if self.caches.iter().any(|cache| cache.level == 3 && both(&cache.cpus)) {
            Some(CpuRelation::SameL3)
        } else if self.nodes.iter().any(|node| both(&node.cpus)) {
            Some(CpuRelation::SameNode)
        } else {
            let (one, other) = (package(one)?, package(other)?);
            let is_same = one == other;
            Some(if is_same { CpuRelation::SamePackage } else { CpuRelation::OtherPackage })
        }
    }
}

words!(CpuRelation);
