//! `hybrid`: loads and stores shared out over a fast and a slow memory (denoyelle2019,
//! section 6): the bandwidth of each of the four kinds of transfer, the overlap of each two, and
//! points that the fitted model is validated by.

mod settings;

use std::collections::BTreeMap;

use nearfar_kernels::Mix;
use nearfar_machine::{MemoryKind, MemoryPolicy};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, HybridCoordinates, HybridPoint, PageSplit,
    ReasonCode, Record, Suite, TransferKind, summarize_case,
};

use self::settings::{PointSetting, corner, pair, surface};
use super::Planned;
use super::omitted::{made, omitted, unusable_parts};
use super::setting::{Loop, Setting};
use super::whole_initiator::WholeInitiator;

/// The four kinds alone: what the settings of the pairs follow from.
pub(super) fn plan_corners(setting: Setting<'_>) -> Planned {
    let mut planned =
        Planned { cases: Vec::new(), absent: unusable_parts(setting, Experiment::Hybrid) };
    let name = Experiment::Hybrid.as_str();
    if setting.targets().count() < 2 {
        let text = "there is one memory node that may be used: nothing can be shared out";
        planned.absent.push(omitted(name, ReasonCode::OneNode, text));
        return planned;
    }
    let all = memories(setting);
    if all.is_empty() {
        let (code, text) = why_none(setting);
        planned.absent.push(omitted(name, code, text));
    }
    for memories in &all {
        let corners = TransferKind::ALL.into_iter().map(corner);
        planned.extend(corners.map(|point| case(setting, memories, &point)));
    }
    planned
}

/// Why no initiator has two memories, though several nodes may be used.
fn why_none(setting: Setting<'_>) -> (ReasonCode, &'static str) {
    let initiators = WholeInitiator::all(setting);
    let mut own = initiators.iter().map(|initiator| initiator.own_targets(setting));
    if initiators.is_empty() {
        (ReasonCode::CpusNotAllowed, "this process may use none of the machine's CPUs")
    } else if own.all(|nodes| nodes.is_empty()) {
        let text = "no initiator that may be used has a memory node of its own that may be used";
        (ReasonCode::NodeNotAllowed, text)
    } else {
        let text = "all memory nodes that may be used are near the initiator and of one kind: none of \
                    them is its slower memory";
        (ReasonCode::OneMemoryKind, text)
    }
}

/// The twelve ordered pairs by the bandwidths of the corners, and the points of validation.
pub(super) fn plan_points(setting: Setting<'_>, record: &Record) -> Planned {
    let mut planned = Planned::default();
    for memories in &memories(setting) {
        let rates = CornerRates::of(memories, record);
        for dominating in TransferKind::ALL {
            let others = TransferKind::ALL.into_iter().filter(|&beside| beside != dominating);
            planned.extend(
                others.map(|beside| pair_case(setting, memories, &rates, (dominating, beside))),
            );
        }
        let points = surface(setting.inputs.suite == Suite::Full);
        planned.extend(points.iter().map(|point| case(setting, memories, point)));
    }
    planned
}

/// Bytes/s of each kind alone.
enum CornerRates {
    /// The corners are not begun: a plan that is only counted.
    NotBegun,
    /// Those that have samples.
    Measured(BTreeMap<TransferKind, f64>),
}

impl CornerRates {
    fn of(memories: &Memories, record: &Record) -> Self {
        let mut begun = false;
        let mut rates = BTreeMap::new();
        for case in &record.cases {
            let corner = case.coordinates.iter().find_map(|place| match place {
                Coordinates::Hybrid(hybrid) if memories.are_those_of(hybrid) => {
                    match hybrid.point {
                        HybridPoint::Corner { of } => Some(of),
                        HybridPoint::Pair { .. } | HybridPoint::Surface => None,
                    }
                }
                _ => None,
            });
            let Some(kind) = corner else { continue };
            begun = true;
            let samples = record.samples.iter().filter(|sample| sample.case == case.id);
            let rate = summarize_case(samples).map(|summary| summary.sum.median);
            rates.extend(rate.map(|rate| (kind, rate)));
        }
        if begun { Self::Measured(rates) } else { Self::NotBegun }
    }

    fn rate(&self, kind: TransferKind) -> Option<f64> {
        match self {
            Self::NotBegun => Some(1.0),
            Self::Measured(rates) => rates.get(&kind).copied(),
        }
    }
}

fn pair_case(
    setting: Setting<'_>,
    memories: &Memories,
    rates: &CornerRates,
    (dominating, beside): (TransferKind, TransferKind),
) -> Result<Case, Absent> {
    let rate = |kind| {
        rates.rate(kind).ok_or_else(|| {
            // A resumed run tries the corner again, and then plans this case.
            let text = format!(
                "its setting follows from the bandwidth of {}, which has no samples; go on with \
                 --resume where that can be measured",
                kind.as_str()
            );
            let name = memories.id(&pair_label(dominating, beside));
            omitted(name, ReasonCode::UnmeasuredInput, text)
        })
    };
    let (longer, shorter) = (rate(dominating)?, rate(beside)?);
    match pair(dominating, beside, longer, shorter) {
        Some(point) => case(setting, memories, &point),
        None => {
            let text = format!(
                "{} and {} are {:.3} and {:.3} GB/s alone: no ratio of small numbers lets one \
                 take about as long as the other",
                dominating.as_str(),
                beside.as_str(),
                longer / 1e9,
                shorter / 1e9
            );
            let name = memories.id(&pair_label(dominating, beside));
            Err(omitted(name, ReasonCode::NoRatio, text))
        }
    }
}

fn pair_label(dominating: TransferKind, beside: TransferKind) -> String {
    format!("pair/{}-{}", dominating.as_str(), beside.as_str())
}

/// Where a point is among those of two memories: the end of its case's id.
fn label(point: &PointSetting, mix: &Mix) -> String {
    match point.point {
        HybridPoint::Corner { of } => format!("corner/{}", of.as_str()),
        HybridPoint::Pair { dominating, beside } => pair_label(dominating, beside),
        HybridPoint::Surface => {
            let pages = point.load_pages.or(point.store_pages);
            let pages = pages
                .map_or_else(String::new, |pages| format!("/fast{}slow{}", pages.fast, pages.slow));
            format!("surface/{mix}{pages}")
        }
    }
}

fn case(setting: Setting<'_>, memories: &Memories, point: &PointSetting) -> Result<Case, Absent> {
    let invalid = |error: nearfar_kernels::InvalidMix| {
        let name = memories.id(&format!("{}l{}nt", point.loads, point.stores));
        omitted(name, ReasonCode::NoVariant, error.to_string())
    };
    let mix = Mix::new(point.loads, point.stores, point.stores > 0).map_err(invalid)?;
    let id = memories.id(&label(point, &mix));
    let of = setting.preferred(&*id, &mix.to_string())?;
    let loaded = point.load_pages.map(|pages| memories.policy(pages));
    let stored = point.store_pages.map(|pages| memories.policy(pages));
    let (memory, write_memory) = match (loaded, stored) {
        (Some(loaded), stored) => {
            let elsewhere = stored.filter(|stored| *stored != loaded);
            (loaded, elsewhere)
        }
        (None, Some(stored)) => (stored, None),
        (None, None) => {
            return Err(omitted(id, ReasonCode::NoVariant, "it neither loads nor stores"));
        }
    };
    // Two arrays, which may lie on one node or on two.
    let mut plan = memories.initiator.stream(&of, memory, 2);
    plan.write_memory = write_memory;
    let threads = plan.threads;
    let actors = plan.on_memory(setting).map(|stream| vec![Actor::Stream(stream)]);
    let Loop { kernel, variant } = of;
    let coordinates = HybridCoordinates {
        initiator: memories.initiator.index(),
        fast_node: memories.fast,
        slow_node: memories.slow,
        point: point.point,
        loads: mix.loads(),
        stores: mix.stores(),
        load_pages: point.load_pages,
        store_pages: point.store_pages,
        threads,
        kernel,
        variant,
    };
    made(id, vec![Coordinates::Hybrid(coordinates)], actors)
}

impl Memories {
    fn id(&self, label: &str) -> String {
        let (initiator, fast, slow) = (self.initiator.index(), self.fast, self.slow);
        format!("{}/initiator{initiator}/node{fast}+node{slow}/{label}", Experiment::Hybrid)
    }

    fn are_those_of(&self, hybrid: &HybridCoordinates) -> bool {
        (hybrid.initiator, hybrid.fast_node, hybrid.slow_node)
            == (self.initiator.index(), self.fast, self.slow)
    }

    /// The policy that shares an array's pages out so.
    fn policy(&self, pages: PageSplit) -> MemoryPolicy {
        match (pages.fast, pages.slow) {
            (_, 0) => MemoryPolicy::Preferred(self.fast),
            (0, _) => MemoryPolicy::Preferred(self.slow),
            (fast, slow) => {
                MemoryPolicy::Weighted(BTreeMap::from([(self.fast, fast), (self.slow, slow)]))
            }
        }
    }
}

/// An initiator and two memories that it uses at the same time.
#[derive(Debug)]
struct Memories {
    initiator: WholeInitiator,
    /// The node that should be faster. If it is not, the model holds all the same.
    fast: u32,
    slow: u32,
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
fn memories(setting: Setting<'_>) -> Vec<Memories> {
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
