//! Which two memories of which initiator are measured together.

use nearfar_machine::MemoryKind;
use nearfar_record::Suite;

use crate::experiment::setting::Setting;
use crate::experiment::whole_initiator::WholeInitiator;

/// An initiator and two memories that it uses at the same time.
#[derive(Debug)]
pub(super) struct Memories {
    pub initiator: WholeInitiator,
    /// The node that should be faster. If it is not, the model holds all the same.
    pub fast: u32,
    pub slow: u32,
}

/// How fast a kind of memory should be, the fastest first.
fn rank(kind: MemoryKind) -> u32 {
    match kind {
        MemoryKind::Hbm => 0,
        MemoryKind::Dram => 1,
        MemoryKind::Unknown => 2,
        MemoryKind::Cxl => 3,
        MemoryKind::Nvm => 4,
        MemoryKind::Gpu => 5,
    }
}

/// The memories of the first initiator that has two, in `full` of the first of each package. A
/// initiator with memory of several kinds near it has each kind beside the next slower one; any
/// other its own node beside the nearest of the others.
pub(super) fn memories(setting: Setting<'_>) -> Vec<Memories> {
    let is_full = setting.inputs.suite == Suite::Full;
    let mut packages = Vec::new();
    let mut all = Vec::new();
    for initiator in WholeInitiator::all(setting) {
        let package = setting.machine.only_package(&initiator.initiator.cpus);
        if packages.contains(&package) || !is_full && !all.is_empty() {
            continue;
        }
        let pairs = node_pairs(setting, &initiator);
        packages.extend((!pairs.is_empty()).then_some(package));
        let of = |(fast, slow)| Memories { initiator: initiator.clone(), fast, slow };
        all.extend(pairs.into_iter().map(of));
    }
    all
}

/// Pairs of a fast and a slow node for an initiator.
fn node_pairs(setting: Setting<'_>, initiator: &WholeInitiator) -> Vec<(u32, u32)> {
    let nodes = initiator.targets(setting);
    let Some(&own) = nodes.iter().find(|&&node| initiator.owns(node)) else {
        return Vec::new();
    };
    // Memory of a whole package or machine is near to each of its initiators.
    let is_near = |node: &&u32| {
        let node = setting.machine.node(**node);
        node.is_some_and(|node| initiator.initiator.cpus.is_subset(&node.locality))
    };
    let kind_of = |node: u32| setting.machine.node(node).map(|node| rank(node.kind));
    let mut near: Vec<(Option<u32>, u32)> =
        nodes.iter().filter(is_near).map(|&node| (kind_of(node), node)).collect();
    // Stable: the nearest of each kind stays first.
    near.sort_by_key(|&(rank, _)| rank);
    near.dedup_by_key(|&mut (rank, _)| rank);
    if near.len() > 1 {
        return near.windows(2).map(|pair| (pair[0].1, pair[1].1)).collect();
    }
    initiator.nearest_remote(setting).map(|remote| (own, remote)).into_iter().collect()
}
