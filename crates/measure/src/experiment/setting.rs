//! What cases are made from.

use nearfar_kernels::{CATALOG, Kernel};
use nearfar_machine::{CpuGroup, CpuSet, GroupBy, Initiator, Machine};
use nearfar_record::{Header, Inputs};

use super::cpu_places::CpuPlaces;
use super::working_set::node_memory_is_known;
use crate::executor::OfferedVariants;

/// What an experiment is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub machine: &'a Machine,
    pub places: &'a CpuPlaces<'a>,
    pub inputs: &'a Inputs,
    /// Variants of each kernel that the executor offers, the preferred first.
    pub variants: &'a OfferedVariants,
    /// Memory that may be used; `None` when not known.
    pub available_bytes: Option<u64>,
    /// Memory of the machine by /proc/meminfo; `None` when not known.
    pub memory_bytes: Option<u64>,
}

impl<'a> Setting<'a> {
    /// Out of a record's header: a resumed run makes the same cases again.
    pub fn of(
        header: &'a Header,
        places: &'a CpuPlaces<'a>,
        variants: &'a OfferedVariants,
    ) -> Self {
        Self {
            places,
            machine: &header.machine,
            inputs: &header.inputs,
            variants,
            available_bytes: header.environment.available_bytes,
            memory_bytes: header.environment.memory_bytes,
        }
    }

    /// The catalog's kernels of these names, or of those that the user named.
    pub(super) fn kernels(&self, of_suite: &[&str]) -> Vec<&'static Kernel> {
        let asked = self.inputs.kernels.as_ref();
        let is_wanted = |name: &str| match asked {
            Some(names) => names.iter().any(|asked| asked == name),
            None => of_suite.contains(&name),
        };
        CATALOG.iter().filter(|kernel| is_wanted(kernel.name)).collect()
    }

    /// Names of kernels and mixes, each once: those that the user named, in that order, else those
    /// of the suite.
    pub(super) fn kernel_names(&self, of_suite: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let wanted = match &self.inputs.kernels {
            Some(asked) => asked.clone(),
            None => of_suite.iter().copied().map(String::from).collect(),
        };
        for name in wanted {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Variants of a kernel, mix or arithmetic that can run: those that the executor offers, or
    /// of these the one that was forced.
    pub(super) fn offered(&self, kernel: &str) -> Vec<String> {
        let forced = self.inputs.variant.as_ref();
        let wanted = |variant: &&String| forced.is_none_or(|forced| forced == *variant);
        self.variants.of(kernel).iter().filter(wanted).cloned().collect()
    }

    /// The variant in which a kernel is measured outside `pairs`: the preferred one.
    pub(super) fn preferred(&self, kernel: &str) -> Option<String> {
        self.offered(kernel).into_iter().next()
    }

    /// Memory nodes that can be a target.
    pub(super) fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let machine = self.machine;
        machine
            .nodes
            .iter()
            .filter(|node| node.memory_bytes != Some(0))
            .map(|node| node.os_index)
            .filter(|&node| machine.allowed_nodes.contains(node))
    }

    /// Memory that arrays on a node may take from; `None` when not known.
    pub(super) fn available_on(&self, node: u32) -> Option<u64> {
        let of_node = self
            .machine
            .node(node)
            .and_then(|node| node.memory_bytes)
            .filter(|_| node_memory_is_known(self.machine, self.memory_bytes));
        [self.available_bytes, of_node].into_iter().flatten().min()
    }

    /// The cores of an initiator that the process may use, as a group of CPUs.
    pub(super) fn initiator_groups(&self) -> Vec<CpuGroup> {
        let all = self.machine.cpu_groups(GroupBy::Memory);
        all.into_iter().filter(|cpu_group| !cpu_group.cores.is_empty()).collect()
    }
}

/// How the machine's CPUs are grouped: looked up once for all cases.
pub(super) struct Groups {
    pub initiators: Vec<Initiator>,
    pub l3_domains: Vec<CpuSet>,
    /// Of the kind that was asked for.
    pub cpu_groups: Vec<CpuGroup>,
}

impl Groups {
    pub fn of(setting: Setting<'_>) -> Self {
        Self {
            initiators: setting.machine.initiators(),
            l3_domains: setting.machine.l3_domains(),
            cpu_groups: setting.machine.cpu_groups(setting.inputs.group_by),
        }
    }

    /// Groups of CPUs with at least one CPU that the process may use.
    pub fn usable(&self) -> impl Iterator<Item = &CpuGroup> {
        self.cpu_groups.iter().filter(|cpu_group| !cpu_group.cores.is_empty())
    }

    pub fn initiator_of(&self, cpu_group: &CpuGroup) -> Option<&Initiator> {
        self.initiators.iter().find(|initiator| initiator.index == cpu_group.initiator)
    }
}
