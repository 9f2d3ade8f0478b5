//! What machines must have in common to be each other's peers, and what beside that may explain a difference.
//! Nothing that only root can read splits a group.

use std::collections::BTreeMap;
use std::hash::Hasher;

use nearfar_machine::{Fnv1a, Machine, MemoryKind};
use nearfar_model::environment_settings;
use nearfar_record::{Executor, Header};
use serde::{Deserialize, Serialize};

/// What groups are made by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineKind {
    pub executor: Executor,
    pub architecture: String,
    /// Name of the CPU; null: not known.
    pub cpu: Option<String>,
    /// Null: not known.
    pub stepping: Option<u32>,
    /// Who accesses memory, in the order of their numbers.
    pub initiators: Vec<KindInitiator>,
    /// Memory nodes, in the order of their numbers.
    pub nodes: Vec<KindNode>,
    /// The firmware's distances between nodes; null: it gives none.
    pub distances: Option<Vec<Vec<u64>>>,
    /// Version of nearfar, whose loops are what is measured.
    pub nearfar: String,
    /// What was measured, in words of the plan.
    pub measured: String,
}

/// CPUs that share their nearest memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KindInitiator {
    pub cpus: u32,
    /// The package that it is on; null: on several, or not known.
    pub package: Option<u32>,
}

/// A memory node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KindNode {
    /// The operating system's number.
    pub node: u32,
    pub memory: MemoryKind,
    /// The package that it is at; null: at several, or not known.
    pub package: Option<u32>,
    /// Its size in GiB, rounded up to what modules add up to: the firmware of alike machines keeps more or less
    /// for itself. Null: not known.
    pub gib: Option<u64>,
}

impl MachineKind {
    /// The kind of a record's machine.
    pub fn of(header: &Header) -> Self {
        let machine = &header.machine;
        let settings: BTreeMap<_, _> = environment_settings(header).into_iter().collect();
        let words = |names: &[&str]| -> String {
            let known = names.iter().filter_map(|name| settings.get(name)?.as_deref());
            known.collect::<Vec<&str>>().join("; ")
        };
        let initiators = machine.initiators().into_iter().map(|initiator| KindInitiator {
            cpus: u32::try_from(initiator.cpus.len()).unwrap_or(u32::MAX),
            package: package_of(machine, |package| initiator.cpus.is_subset(package)),
        });
        let nodes = machine.nodes.iter().map(|node| KindNode {
            node: node.os_index,
            memory: node.kind,
            package: package_of(machine, |package| {
                !node.locality.is_empty() && node.locality.is_subset(package)
            }),
            gib: node.memory_bytes.map(installed_gib),
        });
        Self {
            executor: header.executor,
            architecture: header.environment.architecture.clone(),
            cpu: header.environment.cpu.model_name.clone(),
            stepping: header.environment.cpu.stepping,
            initiators: initiators.collect(),
            nodes: nodes.collect(),
            distances: machine.distances.as_ref().map(|it| it.values.clone()),
            nearfar: header.versions.nearfar.clone(),
            measured: words(&[
                "suite",
                "experiments",
                "group_by",
                "kernels",
                "variant",
                "pages",
                "working_set_bytes",
                "cache_multiple",
                "chase_multiple",
                "window_ns",
            ]),
        }
    }

    /// A name of eight hexadecimal digits.
    pub fn id(&self) -> String {
        let mut hash = Fnv1a::default();
        // A value of plain fields cannot fail to be written.
        hash.write(&serde_json::to_vec(self).unwrap_or_default());
        format!("{:08x}", hash.finish() >> 32)
    }

    /// In a few words for people.
    pub fn words(&self) -> String {
        let cpus: u32 = self.initiators.iter().map(|it| it.cpus).sum();
        let gib: Option<u64> = self.nodes.iter().map(|node| node.gib).sum();
        let gib = gib.map_or_else(String::new, |gib| format!(", {gib} GiB"));
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        let nodes = match self.nodes.len() {
            1 => "1 node".into(),
            nodes => format!("{nodes} nodes"),
        };
        format!("{cpu}, {cpus} CPUs, {nodes}{gib}")
    }

    /// In what another differs, where both have the same cells; `None` where they cannot be compared: other
    /// CPUs or other nodes.
    pub fn differences(&self, other: &Self) -> Option<Vec<&'static str>> {
        let shape =
            |kind: &Self| kind.nodes.iter().map(|it| (it.node, it.package)).collect::<Vec<_>>();
        let is_near = self.executor == other.executor
            && self.architecture == other.architecture
            && self.cpu == other.cpu
            && self.initiators == other.initiators
            && shape(self) == shape(other);
        let differing = [
            ("stepping", self.stepping != other.stepping),
            ("memory", self.nodes != other.nodes),
            ("distances", self.distances != other.distances),
            ("version of nearfar", self.nearfar != other.nearfar),
            ("what was measured", self.measured != other.measured),
        ];
        is_near.then(|| {
            differing.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
        })
    }
}

/// What may explain a difference and is no reason to judge apart, by name; what is not known is not there.
pub fn configuration(header: &Header) -> BTreeMap<String, String> {
    const NAMES: [&str; 16] = [
        "microcode",
        "memory_modules",
        "system_vendor",
        "product",
        "board",
        "bios_version",
        "bios_date",
        "kernel_release",
        "hypervisor",
        "governors",
        "boost",
        "smt",
        "transparent_huge_pages",
        "numa_balancing",
        "ksm",
        "hwloc",
    ];
    let settings = environment_settings(header).into_iter();
    let known = settings.filter(|(name, _)| NAMES.contains(name));
    known.filter_map(|(name, value)| Some((name.into(), value?))).collect()
}

fn package_of(machine: &Machine, is_on: impl Fn(&nearfar_machine::CpuSet) -> bool) -> Option<u32> {
    machine.packages.iter().find(|package| is_on(&package.cpus)).map(|package| package.os_index)
}

/// Multiples of 8 GiB, of small nodes of 1: what the firmware keeps is less than either.
fn installed_gib(bytes: u64) -> u64 {
    const GIB: u64 = 1 << 30;
    let step = if bytes > 16 * GIB { 8 } else { 1 };
    bytes.div_ceil(step * GIB) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_firmware_keeps_makes_no_kind() {
        let mib = |mib: u64| installed_gib(mib << 20);
        assert_eq!((mib(128_412), mib(128_760), mib(131_072)), (128, 128, 128));
        assert_eq!((mib(96_500), mib(1_990), mib(16_384)), (96, 2, 16));
    }
}
