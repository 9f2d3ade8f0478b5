//! Who accesses memory, for people: CPUs, and not the number of an initiator.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{CpuGroupSet, CpuSet, Initiator, Machine, NodeSet};
use nearfar_record::{Profile, ProfiledInitiator};

/// Longer lists of CPUs are named by their nodes, in sentences and, where these tell initiators apart, as
/// labels of tables: beside these eight nodes fit 80 columns.
const LONGEST: usize = 24;
const LONGEST_OF_LABELS: usize = 9;

/// The CPUs of a machine's initiators, and their node: of several local ones that with CPUs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Who {
    known: BTreeMap<u32, (CpuSet, NodeSet)>,
    /// Whether labels are CPUs: these are short, or their nodes name several initiators.
    is_labelled_by_cpus: bool,
}

impl Who {
    pub fn new(machine: &Machine) -> Self {
        let nodes = |it: &Initiator| it.cpu_node.map_or(it.memory_nodes.clone(), NodeSet::single);
        let initiators = machine.initiators();
        Self::of(initiators.iter().map(|it| (it.index, (it.cpus.clone(), nodes(it)))).collect())
    }

    /// Those of the machine that a program was watched on.
    pub fn of_profile(profile: &Profile) -> Self {
        let nodes = |it: &ProfiledInitiator| match it.cpu_node {
            Some(node) => NodeSet::single(node),
            None => it.memory_nodes.iter().copied().collect(),
        };
        let initiators = profile.initiators.iter();
        Self::of(initiators.map(|it| (it.index, (it.cpus.clone(), nodes(it)))).collect())
    }

    fn of(known: BTreeMap<u32, (CpuSet, NodeSet)>) -> Self {
        let nodes: BTreeSet<String> = known.values().map(|(_, nodes)| nodes.to_string()).collect();
        let is_short = |(cpus, _): &(CpuSet, _)| cpus.to_string().len() <= LONGEST_OF_LABELS;
        let is_labelled_by_cpus = nodes.len() < known.len() || known.values().all(is_short);
        Self { known, is_labelled_by_cpus }
    }

    /// `CPUs 0-17`; `initiator 7` of one that the machine does not have.
    pub fn cpus(&self, initiator: u32) -> String {
        self.all_cpus([initiator])
    }

    /// The same of several together.
    pub fn all_cpus(&self, initiators: impl IntoIterator<Item = u32>) -> String {
        self.named(initiators.into_iter().collect(), LONGEST)
    }

    /// The same of one as the label of a row: all in one form.
    pub fn label(&self, initiator: u32) -> String {
        let longest = if self.is_labelled_by_cpus { usize::MAX } else { 0 };
        self.named(CpuGroupSet::single(initiator), longest)
    }

    /// The nodes of several, as a list.
    pub fn nodes(&self, initiators: impl IntoIterator<Item = u32>) -> String {
        let known = initiators.into_iter().filter_map(|it| self.known.get(&it));
        let nodes: NodeSet = known.flat_map(|(_, nodes)| nodes.iter()).collect();
        nodes.to_string()
    }

    fn named(&self, initiators: CpuGroupSet, longest: usize) -> String {
        let known: Vec<_> = initiators.iter().filter_map(|it| self.known.get(&it)).collect();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if known.len() < initiators.len() {
            return format!("initiator{} {initiators}", plural(initiators.len()));
        }
        let cpus: CpuSet = known.iter().flat_map(|(cpus, _)| cpus.iter()).collect();
        let nodes: NodeSet = known.iter().flat_map(|(_, nodes)| nodes.iter()).collect();
        let list = cpus.to_string();
        if list.len() > longest && !nodes.is_empty() {
            return format!("CPUs of node{} {nodes}", plural(nodes.len()));
        }
        format!("CPU{} {list}", plural(cpus.len()))
    }
}
