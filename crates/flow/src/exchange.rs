//! How long two CPUs take to hand a line to each other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use nearfar_machine::CpuRelation;

use crate::bounds::{self, BadKey, FACTORS};
use crate::machine_file::MachineFile;

/// From less than a load of a cache next to the core to far more than any machine takes.
const NANOSECONDS: RangeInclusive<f64> = 0.1..=1e5;

/// What a file says of hand-overs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandOvers {
    /// By store and load, ns one way.
    pub ns: BTreeMap<CpuRelation, f64>,
    /// By compare-and-swap / by store and load.
    pub compare_swap: Option<f64>,
}

pub(crate) fn hand_overs(file: &MachineFile) -> Result<HandOvers, BadKey> {
    let entry = &file.exchange;
    let given = [
        ("same_core_ns", CpuRelation::SameCore, entry.same_core_ns),
        ("same_l3_ns", CpuRelation::SameL3, entry.same_l3_ns),
        ("same_node_ns", CpuRelation::SameNode, entry.same_node_ns),
        ("same_package_ns", CpuRelation::SamePackage, entry.same_package_ns),
        ("other_package_ns", CpuRelation::OtherPackage, entry.other_package_ns),
    ];
    let mut ns = BTreeMap::new();
    for (key, relation, value) in given {
        if let Some(value) = value {
            ns.insert(relation, bounds::number(&format!("exchange.{key}"), value, &NANOSECONDS)?);
        }
    }
    let factor = |value| bounds::number("exchange.compare_swap", value, &FACTORS);
    Ok(HandOvers { ns, compare_swap: entry.compare_swap.map(factor).transpose()? })
}
