//! `latency`: how long one access takes: of every initiator to every node, through sets of growing
//! size, with translations missed or not, and beside traffic.

mod loaded;
mod sizes;

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Chase, ChaseWalk, Coordinates, Experiment, LatencyCoordinates, LatencyLoad, Pages,
    Suite,
};

use self::sizes::{curve, llc_multiple, memory_bytes};

pub(super) use self::sizes::size_word;
use super::Planned;
use super::omitted::unusable_parts;
use super::setting::Setting;
use super::whole_initiator::{WholeInitiator, of_each_kind};

/// Bytes that are walked through before others: 64 base pages, the group of multichase. The
/// translation buffer next to the core has 64 entries for them or more (Intel since Haswell, AMD
/// since Zen), so that one access in 16, the first to each page, misses it.
const GROUP_BYTES: u64 = 256 << 10;

/// What a chase walks through, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Walk {
    node: u32,
    bytes: u64,
    pages: Pages,
    order: ChaseWalk,
}

/// Every suite: each initiator on each node, through a set that caches do not hold, the
/// translations held. `standard` has also six sizes from the first cache on for the first initiator
/// of each kind, and the latency beside traffic; `full` every size for every initiator, other pages,
/// and translations missed.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let initiators = WholeInitiator::all(setting);
    let mut planned =
        Planned { cases: Vec::new(), absent: unusable_parts(setting, Experiment::Latency) };
    for initiator in &initiators {
        let walk = |node| memory_walk(setting, initiator, node);
        let cases = initiator
            .targets(setting)
            .into_iter()
            .map(|node| Ok(idle_case(setting, initiator, walk(node))));
        planned.extend(cases);
    }
    if setting.inputs.suite == Suite::Quick {
        return planned;
    }
    let what = "their access times by size are";
    let (within, alike) = of_each_kind(setting, &initiators, Experiment::Latency, what);
    planned.absent.extend(alike);
    for initiator in within {
        let walks = curve_walks(setting, initiator);
        planned.extend(walks.into_iter().map(|walk| Ok(idle_case(setting, initiator, walk))));
    }
    planned.extend(loaded::cases(setting, &initiators));
    planned
}

/// Through a set on a node that caches do not hold.
fn memory_walk(setting: Setting<'_>, initiator: &WholeInitiator, node: u32) -> Walk {
    let cpu = initiator.first_cpu();
    Walk {
        node,
        bytes: memory_bytes(setting, cpu, node),
        pages: setting.inputs.pages,
        order: ChaseWalk::PageGroups,
    }
}

/// Sizes on the nearest node of an initiator, and in `full` other pages and the other order there and
/// on the nearest remote node.
fn curve_walks(setting: Setting<'_>, initiator: &WholeInitiator) -> Vec<Walk> {
    let is_full = setting.inputs.suite == Suite::Full;
    let Some(near) = initiator.targets(setting).first().copied() else {
        return Vec::new();
    };
    let memory = memory_walk(setting, initiator, near);
    // A size that was forced is the only one.
    let sizes = match setting.inputs.working_set_bytes {
        Some(_) => Vec::new(),
        None => curve(setting.machine, initiator.first_cpu(), memory.bytes, is_full),
    };
    let mut walks: Vec<Walk> = sizes.into_iter().map(|bytes| Walk { bytes, ..memory }).collect();
    if is_full {
        let other = match setting.inputs.pages {
            Pages::Small => Pages::Transparent,
            Pages::Transparent | Pages::Huge => Pages::Small,
        };
        let remote = initiator.nearest_remote(setting).filter(|&remote| remote != near);
        for node in std::iter::once(near).chain(remote) {
            let memory = memory_walk(setting, initiator, node);
            walks.extend([
                Walk { order: ChaseWalk::Anywhere, ..memory },
                Walk { pages: other, ..memory },
                Walk { pages: other, order: ChaseWalk::Anywhere, ..memory },
            ]);
        }
    }
    walks
}

impl WholeInitiator {
    /// The CPU of a chase.
    fn first_cpu(&self) -> u32 {
        self.thread_cpus[0]
    }

    fn chase(&self, setting: Setting<'_>, walk: Walk) -> Chase {
        let cpu = self.first_cpu();
        let caches = setting.places.cache_bytes([cpu], &[walk.node]);
        Chase {
            binding: Binding {
                cpus: self.cpus.clone(),
                memory: MemoryPolicy::Preferred(walk.node),
            },
            thread_cpu: cpu,
            working_set_bytes: walk.bytes,
            llc_multiple: llc_multiple(walk.bytes, caches),
            group_bytes: match walk.order {
                ChaseWalk::PageGroups => GROUP_BYTES.min(walk.bytes),
                ChaseWalk::Anywhere => walk.bytes,
            },
            pages: walk.pages,
        }
    }

    fn latency(&self, walk: Walk, load: Option<LatencyLoad>) -> Coordinates {
        Coordinates::Latency(LatencyCoordinates {
            initiator: self.index(),
            cpu_node: self.initiator.cpu_node,
            memory_node: walk.node,
            working_set_bytes: walk.bytes,
            pages: walk.pages,
            walk: walk.order,
            load,
        })
    }
}

/// The chase alone.
fn idle_case(setting: Setting<'_>, initiator: &WholeInitiator, walk: Walk) -> Case {
    let pages = walk.pages.as_str();
    Case {
        id: format!(
            "latency/initiator{}/node{}/{}/{pages}/{}",
            initiator.index(),
            walk.node,
            size_word(walk.bytes),
            walk.order.as_str()
        ),
        coordinates: vec![initiator.latency(walk, None)],
        actors: vec![Actor::Chase(initiator.chase(setting, walk))],
    }
}
