//! Initiators with all of their cores at work.

use nearfar_machine::{CpuSet, Initiator, Machine, MemoryPolicy};
use nearfar_record::{Absent, Experiment, ReasonCode, Suite};

use super::omitted::omitted;
use super::setting::{Loop, Setting};
use super::stream::StreamPlan;
use super::thread_spread::cores_in_turn;

/// An initiator with one thread on each core that the process may use.
#[derive(Debug, Clone)]
pub(super) struct WholeInitiator {
    pub initiator: Initiator,
    /// Its CPUs that may be used.
    pub cpus: CpuSet,
    /// The CPU of each thread, in turn over the L3 domains.
    pub thread_cpus: Vec<u32>,
}

/// Caches of a core: level, size and how many threads share each.
type CoreCaches = Vec<(u32, Option<u64>, usize)>;

impl WholeInitiator {
    /// All that have a core that may be used; `unusable_parts` names the others.
    pub fn all(setting: Setting<'_>) -> Vec<Self> {
        let l3_domains = setting.machine.l3_domains();
        let usable = setting.initiator_groups();
        let of_initiator = |initiator: Initiator| {
            let cpu_group = usable.iter().find(|usable| usable.initiator == initiator.index)?;
            let thread_cpus = cores_in_turn(&l3_domains, cpu_group);
            Some(Self { initiator, cpus: cpu_group.cpus(), thread_cpus })
        };
        setting.machine.initiators().into_iter().filter_map(of_initiator).collect()
    }

    /// The initiator's number.
    pub fn index(&self) -> u32 {
        self.initiator.index
    }

    pub fn threads(&self) -> u32 {
        u32::try_from(self.thread_cpus.len()).unwrap_or(u32::MAX)
    }

    /// Whether a node is one of its own.
    pub fn owns(&self, node: u32) -> bool {
        self.initiator.memory_nodes.contains(node)
    }

    /// Where a node stands among the targets: its own come first, then the others by the
    /// firmware's distance (by their package where there is none), then by number.
    pub fn farness(&self, machine: &Machine, node: u32) -> impl Ord + use<> {
        let home = self.initiator.cpu_node.or_else(|| self.initiator.memory_nodes.first());
        let distance = home.and_then(|home| machine.distance(home, node));
        let package = |cpus: &CpuSet| machine.only_package(cpus);
        let theirs = machine.node(node).and_then(|node| package(&node.locality));
        let is_elsewhere = theirs.is_none() || theirs != package(&self.initiator.cpus);
        (
            !self.owns(node),
            self.initiator.cpu_node != Some(node),
            distance.unwrap_or(u64::MAX),
            is_elsewhere,
            node,
        )
    }

    /// How a node that is not its own lies to it: whether in its package, at which of the
    /// firmware's distances, and of which kind.
    pub fn relation(&self, machine: &Machine, node: u32) -> impl Ord + use<> {
        let home = machine.only_package(&self.initiator.cpus);
        let theirs = machine.node(node).and_then(|node| machine.only_package(&node.locality));
        let distance = self.initiator.cpu_node.and_then(|from| machine.distance(from, node));
        (home.is_some() && home == theirs, distance, machine.node(node).map(|node| node.kind))
    }

    /// All targets, the nearest first.
    pub fn targets(&self, setting: Setting<'_>) -> Vec<u32> {
        let mut nodes: Vec<u32> = setting.targets().collect();
        nodes.sort_by_cached_key(|&node| self.farness(setting.machine, node));
        nodes
    }

    /// Targets among its own nodes, the nearest first.
    pub fn own_targets(&self, setting: Setting<'_>) -> Vec<u32> {
        self.targets(setting).into_iter().filter(|&node| self.owns(node)).collect()
    }

    /// The nearest target that is not its own.
    pub fn nearest_remote(&self, setting: Setting<'_>) -> Option<u32> {
        self.targets(setting).into_iter().find(|&node| !self.owns(node))
    }

    /// A stream of all its threads.
    pub fn stream<'a>(&self, of: &'a Loop, memory: MemoryPolicy, sharers: u64) -> StreamPlan<'a> {
        let (cpus, thread_cpus) = (self.cpus.clone(), self.thread_cpus.clone());
        StreamPlan::pinned(cpus, thread_cpus, of, memory, sharers)
    }

    /// The caches of each of its cores: initiators with equal ones are alike.
    fn caches(&self, machine: &Machine) -> Vec<CoreCaches> {
        let sharers =
            |cpus: &CpuSet| self.thread_cpus.iter().filter(|&&cpu| cpus.contains(cpu)).count();
        let of_core = |&cpu: &u32| -> CoreCaches {
            let caches = machine.caches.iter().filter(|cache| cache.cpus.contains(cpu));
            caches.map(|cache| (cache.level, cache.bytes, sharers(&cache.cpus))).collect()
        };
        let mut cores: Vec<CoreCaches> = self.thread_cpus.iter().map(of_core).collect();
        cores.sort();
        cores
    }
}

/// The initiators of which an experiment measures what depends on cores and caches alone: in `full`
/// all, else the first of each kind (this many cores with such caches), and what is then left out.
pub(super) fn of_each_kind<'a>(
    setting: Setting<'_>,
    initiators: &'a [WholeInitiator],
    experiment: Experiment,
    what: &str,
) -> (Vec<&'a WholeInitiator>, Option<Absent>) {
    if setting.inputs.suite == Suite::Full {
        return (initiators.iter().collect(), None);
    }
    let mut kinds: Vec<Vec<CoreCaches>> = Vec::new();
    let (first, others): (Vec<_>, Vec<&WholeInitiator>) =
        initiators.iter().partition(|initiator| {
            let caches = initiator.caches(setting.machine);
            let is_new = !kinds.contains(&caches);
            kinds.extend(is_new.then_some(caches));
            is_new
        });
    let numbers: Vec<String> =
        others.iter().map(|initiator| initiator.index().to_string()).collect();
    let absent = (!others.is_empty()).then(|| {
        let text = format!(
            "initiators with as many cores and the same caches as an earlier one ({}): {what} left \
             out; --suite full measures them",
            numbers.join(", ")
        );
        omitted(format!("{experiment}/alike"), ReasonCode::FullSuiteOnly, text)
    });
    (first, absent)
}
