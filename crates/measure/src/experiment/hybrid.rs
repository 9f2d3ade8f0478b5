//! `hybrid`: loads and stores shared out over a fast and a slow memory (denoyelle2019,
//! section 6): the bandwidth of each of the four kinds of transfer, the overlap of each two, and
//! points that the fitted model is validated by.

mod memories;
mod settings;

use std::collections::BTreeMap;

use nearfar_kernels::Mix;
use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, HybridCoordinates, HybridPoint, PageSplit,
    ReasonCode, Record, Suite, TransferKind, summarize_case,
};

use self::memories::{Memories, memories};
use self::settings::{PointSetting, corner, pair, surface};
use super::Planned;
use super::omitted::{no_variant, omitted, omitted_for};
use super::setting::Setting;
use super::unusable::unusable_parts;
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
    let kernel = mix.to_string();
    let Some(variant) = setting.preferred(&kernel) else {
        let forced = setting.inputs.variant.as_deref();
        return Err(no_variant(id, &kernel, forced));
    };
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
    let mut plan = memories.initiator.stream(&kernel, &variant, memory, 2);
    plan.write_memory = write_memory;
    let stream = match plan.on_memory(setting) {
        Ok(stream) => stream,
        Err(reason) => return Err(omitted_for(id, reason)),
    };
    let coordinates = HybridCoordinates {
        initiator: memories.initiator.index(),
        fast_node: memories.fast,
        slow_node: memories.slow,
        point: point.point,
        loads: mix.loads(),
        stores: mix.stores(),
        load_pages: point.load_pages,
        store_pages: point.store_pages,
        threads: stream.threads,
        kernel,
        variant,
    };
    Ok(Case {
        id,
        coordinates: vec![Coordinates::Hybrid(coordinates)],
        actors: vec![Actor::Stream(stream)],
    })
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
