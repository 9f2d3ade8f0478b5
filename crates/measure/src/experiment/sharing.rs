//! `sharing`: n threads near a memory node beside m threads far from it (saad2022, tables 1 to
//! 3): what one controller gives to local and to remote processes.

use std::collections::BTreeSet;

use nearfar_machine::{CpuGroup, CpuSet, GroupBy, MemoryPolicy};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, Grid, Reason, ReasonCode, SharingCoordinates,
    Suite,
};

use super::Planned;
use super::omitted::{made, omitted, one_core, one_initiator, unusable_parts};
use super::setting::{Groups, Loop, Setting};
use super::stream::StreamPlan;

/// The paper ran the triad; `full` also reads, and stores past the caches.
fn suite_kernels(suite: Suite) -> &'static [&'static str] {
    match suite {
        Suite::Quick | Suite::Standard => &["triad"],
        Suite::Full => &["triad", "load", "copy_nt"],
    }
}

/// Initiators of up to this many cores have every thread count in the full grid.
const EVERY_COUNT_UP_TO: usize = 4;

/// Larger ones have at most this many.
const MOST_COUNTS: usize = 6;

/// Every memory node with local cores: its initiator beside each other initiator, n x m threads.
///
/// The full grid has all thread counts of small initiators, of larger ones powers of two and all,
/// at most six. The sparse grid has what the models are fitted from: each side alone with one and
/// all of its threads, and the cells (1, 1), (half, half), (all, 1), (all, all), which predict
/// the other cells of the paper's table to about 2 %. A machine with many initiators has many pairs
/// that are alike: the sparse grid takes for each node one remote initiator of its package, and one
/// of other packages for each of the firmware's distances.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let groups = Groups::of(setting, GroupBy::Memory);
    if let Some(absent) = one_core(setting, Experiment::Sharing, &groups.usable) {
        planned.absent.push(absent);
        return planned;
    }
    if groups.usable.len() < 2 {
        planned.absent.push(one_initiator(Experiment::Sharing.as_str(), setting.machine));
        return planned;
    }
    planned.absent = unusable_parts(setting, Experiment::Sharing);
    let (pairs, not_shared) = pairs_of_nodes(setting, &groups);
    planned.absent.extend(not_shared);
    let kernels = setting.kernels(suite_kernels(setting.inputs.suite));
    for of in setting.loops(Experiment::Sharing, kernels, &mut planned.absent) {
        let streams = Streams { setting, l3_domains: &groups.l3_domains, of };
        planned.extend(pairs.iter().flat_map(|node| streams.cases(node)));
    }
    planned
}

/// A memory node, the initiator near it and those far from it.
struct SharedNode<'a> {
    node: u32,
    local: &'a CpuGroup,
    remote: Vec<&'a CpuGroup>,
}

fn pairs_of_nodes<'a>(
    setting: Setting<'_>,
    groups: &'a Groups,
) -> (Vec<SharedNode<'a>>, Vec<Absent>) {
    let mut shared = Vec::new();
    let mut absent = Vec::new();
    let mut alike = 0;
    for node in setting.targets() {
        let is_near = |cpu_group: &&CpuGroup| {
            groups
                .initiator_of(cpu_group)
                .is_some_and(|initiator| initiator.memory_nodes.contains(node))
        };
        let (near, far): (Vec<&CpuGroup>, Vec<&CpuGroup>) = groups.usable.iter().partition(is_near);
        let name = format!("sharing/node{node}");
        let Some(&local) = near.first() else {
            let text = format!("no core that this process may use is local to node {node}");
            absent.push(omitted(name, ReasonCode::CpusNotAllowed, text));
            continue;
        };
        if far.is_empty() {
            let text = format!("every initiator that may be used is local to node {node}");
            absent.push(omitted(name, ReasonCode::OneInitiator, text));
            continue;
        }
        let all = far.len();
        let remote = match setting.inputs.grid {
            Grid::Full => far,
            Grid::Sparse => one_of_each_relation(setting, groups, local, node, far),
        };
        alike += all - remote.len();
        shared.push(SharedNode { node, local, remote });
    }
    if alike > 0 {
        let text = format!(
            "the sparse grid has for each memory node one remote initiator of its package and \
             one of other packages at each distance; {alike} pairs of a node and an initiator that \
             are like these by the firmware's word are left out; --grid full (suite full) \
             measures them"
        );
        absent.push(omitted("sharing/alike", ReasonCode::FullSuiteOnly, text));
    }
    (shared, absent)
}

/// The first of these initiators for each way in which they can lie to the node.
fn one_of_each_relation<'a>(
    setting: Setting<'_>,
    groups: &Groups,
    local: &CpuGroup,
    node: u32,
    remote: Vec<&'a CpuGroup>,
) -> Vec<&'a CpuGroup> {
    let machine = setting.machine;
    let package = |cpu_group: &CpuGroup| {
        groups.initiator_of(cpu_group).and_then(|initiator| machine.only_package(&initiator.cpus))
    };
    let home = package(local);
    let mut seen = BTreeSet::new();
    let is_new = |cpu_group: &&CpuGroup| {
        let same_package = home.is_some() && package(cpu_group) == home;
        let from = groups.initiator_of(cpu_group).and_then(|initiator| initiator.cpu_node);
        let distance = from.and_then(|from| machine.distance(from, node));
        seen.insert((same_package, distance))
    };
    remote.into_iter().filter(is_new).collect()
}

/// What the cases of a kernel have in common.
struct Streams<'a> {
    setting: Setting<'a>,
    l3_domains: &'a [CpuSet],
    of: Loop,
}

impl Streams<'_> {
    /// All cases on one node. The runs of the local initiator alone stand once, in the grid of
    /// every remote one.
    fn cases(&self, shared: &SharedNode<'_>) -> Vec<Result<Case, Absent>> {
        let grid = self.setting.inputs.grid;
        let local = ThreadCounts::of(shared.local);
        let alone = |counts: &ThreadCounts| match grid {
            Grid::Full => counts.all.clone(),
            Grid::Sparse => BTreeSet::from([1, counts.most()]).into_iter().collect(),
        };
        let mut cases = Vec::new();
        for n in alone(&local) {
            cases.push(self.case(shared, &shared.remote, n, 0));
        }
        for remote in &shared.remote {
            let one = std::slice::from_ref(remote);
            let counts = ThreadCounts::of(remote);
            for m in alone(&counts) {
                cases.push(self.case(shared, one, 0, m));
            }
            for (n, m) in mixed_cells(&local, &counts, grid) {
                cases.push(self.case(shared, one, n, m));
            }
        }
        cases
    }

    /// n threads of the local initiator beside m of a remote one; with m = 0 the case is a part of
    /// the grids of all these remote initiators.
    fn case(
        &self,
        shared: &SharedNode<'_>,
        remote: &[&CpuGroup],
        n: u32,
        m: u32,
    ) -> Result<Case, Absent> {
        let sides = [Some(shared.local), remote.first().copied()].into_iter().flatten();
        let sides: Vec<(&CpuGroup, u32)> =
            sides.zip([n, m]).filter(|&(_, threads)| threads > 0).collect();
        let names: Vec<String> = sides
            .iter()
            .map(|(side, threads)| format!("initiator{}x{threads}", side.index))
            .collect();
        let Loop { kernel, variant } = &self.of;
        let id = format!("sharing/node{}/{}/{kernel}/{variant}", shared.node, names.join("+"));
        let sharers = sides.len() as u64;
        let stream = |side| self.stream(side, shared.node, sharers);
        let coordinates = |remote: &&CpuGroup| {
            Coordinates::Sharing(SharingCoordinates {
                memory_node: shared.node,
                local_initiator: shared.local.initiator,
                remote_initiator: remote.initiator,
                local_threads: n,
                remote_threads: m,
                kernel: kernel.clone(),
                variant: variant.clone(),
            })
        };
        let actors = sides.into_iter().map(stream).collect();
        made(id, remote.iter().map(coordinates).collect(), actors)
    }

    fn stream(&self, side: (&CpuGroup, u32), node: u32, sharers: u64) -> Result<Actor, Reason> {
        let memory = MemoryPolicy::Preferred(node);
        let plan = StreamPlan::spread(self.l3_domains, side, &self.of, memory, sharers)?;
        plan.on_memory(self.setting).map(Actor::Stream)
    }
}

/// Thread counts of an initiator in the full grid, ascending, without 0.
struct ThreadCounts {
    all: Vec<u32>,
}

impl ThreadCounts {
    fn of(initiator: &CpuGroup) -> Self {
        let cores = initiator.cores.len();
        let counts: Vec<usize> = if cores <= EVERY_COUNT_UP_TO {
            (1..=cores).collect()
        } else {
            let powers = std::iter::successors(Some(1), |count| Some(count * 2));
            let powers: Vec<usize> =
                powers.take_while(|&count| count < cores).chain([cores]).collect();
            evenly_chosen(&powers)
        };
        Self { all: counts.into_iter().filter_map(|count| u32::try_from(count).ok()).collect() }
    }

    fn most(&self) -> u32 {
        self.all.last().copied().unwrap_or(0)
    }

    /// The largest that is at most half of all threads, rounded up.
    fn half(&self) -> u32 {
        let half = self.most().div_ceil(2);
        self.all.iter().copied().filter(|&count| count <= half).max().unwrap_or(0)
    }
}

/// At most [`MOST_COUNTS`] of these, the first and the last among them.
fn evenly_chosen(counts: &[usize]) -> Vec<usize> {
    if counts.len() <= MOST_COUNTS {
        return counts.to_vec();
    }
    let steps = MOST_COUNTS - 1;
    let place = |step: usize| (step * (counts.len() - 1) + steps / 2) / steps;
    (0..MOST_COUNTS).map(|step| counts[place(step)]).collect()
}

/// Cells with threads on both sides, ascending.
fn mixed_cells(local: &ThreadCounts, remote: &ThreadCounts, grid: Grid) -> Vec<(u32, u32)> {
    match grid {
        Grid::Full => {
            let row = |&n: &u32| remote.all.iter().map(move |&m| (n, m));
            local.all.iter().flat_map(row).collect()
        }
        Grid::Sparse => {
            let all = (local.most(), remote.most());
            let half = (local.half(), remote.half());
            BTreeSet::from([(1, 1), half, (all.0, 1), all]).into_iter().collect()
        }
    }
}
