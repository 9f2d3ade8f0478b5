//! What cases are made from.

use nearfar_kernels::CATALOG;
use nearfar_machine::{CpuGroup, CpuSet, GroupBy, Initiator, Machine};
use nearfar_record::{Absent, Experiment, Inputs, ReasonCode, Record};
use nearfar_workloads::Workload;

use super::cpu_places::CpuPlaces;
use super::omitted::omitted;
use super::working_set::node_memory_is_known;
use crate::executor::OfferedVariants;

/// A kernel, mix or arithmetic in the variant that is measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loop {
    pub kernel: String,
    pub variant: String,
}

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
    /// Out of a record's header and what was added to it last: a resumed run makes the same cases
    /// again.
    pub fn of(
        record: &'a Record,
        places: &'a CpuPlaces<'a>,
        variants: &'a OfferedVariants,
    ) -> Self {
        let header = &record.header;
        Self {
            places,
            machine: &header.machine,
            inputs: record.inputs(),
            variants,
            available_bytes: header.environment.available_bytes,
            memory_bytes: header.environment.memory_bytes,
        }
    }

    /// The kernels and mixes that the user named; `None` where workloads alone were named, or nothing.
    pub(super) fn asked_kernels(&self) -> Option<Vec<&String>> {
        let named = self.inputs.kernels.iter().flatten();
        let kernels: Vec<_> = named.filter(|name| name.parse::<Workload>().is_err()).collect();
        (!kernels.is_empty()).then_some(kernels)
    }

    /// The catalog's kernels of these names, or those that the user named.
    pub(super) fn kernels(&self, of_suite: &[&str]) -> Vec<&'static str> {
        let asked = self.asked_kernels();
        let is_wanted = |name: &str| match &asked {
            Some(names) => names.iter().any(|asked| *asked == name),
            None => of_suite.contains(&name),
        };
        CATALOG.iter().map(|kernel| kernel.name).filter(|name| is_wanted(name)).collect()
    }

    /// Names of kernels and mixes, each once: those that the user named, in that order, else those
    /// of the suite.
    pub(super) fn kernel_names(&self, of_suite: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let wanted: Vec<String> = match self.asked_kernels() {
            Some(asked) => asked.into_iter().cloned().collect(),
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

    /// The loop of a kernel in its preferred variant, in which it is measured outside `pairs`; why
    /// `case` has none where no variant of it can run.
    pub(super) fn preferred(&self, case: impl Into<String>, kernel: &str) -> Result<Loop, Absent> {
        match self.offered(kernel).into_iter().next() {
            Some(variant) => Ok(Loop { kernel: kernel.into(), variant }),
            None => Err(self.no_variant(case, kernel)),
        }
    }

    /// The same of several kernels; what cannot run is noted.
    pub(super) fn loops(
        &self,
        experiment: Experiment,
        kernels: impl IntoIterator<Item: AsRef<str>>,
        absent: &mut Vec<Absent>,
    ) -> Vec<Loop> {
        let of_kernel = |kernel: &str| self.preferred(format!("{experiment}/{kernel}"), kernel);
        let found = kernels.into_iter().map(|kernel| of_kernel(kernel.as_ref()));
        found.filter_map(|of| of.map_err(|missing| absent.push(missing)).ok()).collect()
    }

    /// A kernel that cannot run here.
    pub(super) fn no_variant(&self, case: impl Into<String>, kernel: &str) -> Absent {
        let text = match &self.inputs.variant {
            Some(forced) => format!("{kernel} does not exist in {forced}, or not on this CPU"),
            None => format!("{kernel} needs vector instructions that this CPU does not have"),
        };
        omitted(case, ReasonCode::NoVariant, text)
    }

    /// Memory nodes that can be a target.
    pub(super) fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let machine = self.machine;
        machine
            .nodes
            .iter()
            .filter(|node| node.has_memory())
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

    /// The cores of initiators that the process may use, as groups of CPUs.
    pub(super) fn initiator_groups(&self) -> Vec<CpuGroup> {
        self.usable_groups(GroupBy::Memory)
    }

    /// Groups of CPUs with at least one CPU that the process may use.
    fn usable_groups(&self, kind: GroupBy) -> Vec<CpuGroup> {
        let all = self.machine.cpu_groups(kind).into_iter();
        all.filter(|cpu_group| !cpu_group.cores.is_empty()).collect()
    }
}

/// How the machine's CPUs are grouped: looked up once for all cases.
pub(super) struct Groups {
    pub initiators: Vec<Initiator>,
    pub l3_domains: Vec<CpuSet>,
    /// Of one kind, with at least one CPU that the process may use.
    pub usable: Vec<CpuGroup>,
}

impl Groups {
    pub fn of(setting: Setting<'_>, kind: GroupBy) -> Self {
        Self {
            initiators: setting.machine.initiators(),
            l3_domains: setting.machine.l3_domains(),
            usable: setting.usable_groups(kind),
        }
    }

    pub fn initiator_of(&self, cpu_group: &CpuGroup) -> Option<&Initiator> {
        self.initiators.iter().find(|initiator| initiator.index == cpu_group.initiator)
    }
}
