//! What each level of the memory gives an initiator, what its cores compute at most, and points
//! below those roofs.
//! Units: useful bytes/s, FLOP/s, FLOPs per byte that the cores request.
//! Source: denoyelle2019, section 4, tables 1, 2, 4 and 5; attainable = the lower of
//! the roof of arithmetic and arithmetic intensity x the roof of bandwidth.
//! Fails when: a core's clock differs between a roof and a point below it; `core_ghz` of both
//! shows that where it is known.

use std::collections::HashMap;

use nearfar_machine::Initiator;
use nearfar_record::{CaseSummary, Coordinates, Part, Roof, RoofCoordinates, RoofPurpose, Work};

use nearfar_units::FlopsPerSecond;
use serde::Serialize;

use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

/// A roof of one initiator, or a point below one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofFigures {
    /// Which case; a case that several initiators take part in has figures for each.
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: RoofCoordinates,
    /// Whether the node is the initiator's own; null for a roof that is not one node's.
    pub is_local: Option<bool>,
    /// Useful bytes; null without samples and for arithmetic on registers.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub bandwidth: Option<CaseSummary>,
    /// Floating-point operations; null without samples and for a kernel without any.
    #[serde(rename = "gflop_per_s")]
    pub flops: Option<CaseSummary>,
    /// Median clock of the cores; null where nobody looked.
    pub core_ghz: Option<f64>,
    /// Bytes of one thread in one cycle, median over threads and undisturbed samples; null
    /// without bytes or clock.
    pub bytes_per_cycle: Option<f64>,
    /// Operations of one thread in one cycle, as above; null without operations or clock.
    pub flops_per_cycle: Option<f64>,
    /// Operations / bytes that the cores request; null where either is missing.
    #[serde(rename = "flops_per_byte")]
    pub intensity: Option<f64>,
    /// What the roofs say of it; null for a roof, and where a roof or the point is missing.
    pub attainable: Option<Attainable>,
}

/// What the roofs say of a point below them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attainable {
    /// The lower of the two roofs at the point's intensity.
    #[serde(rename = "gflop_per_s")]
    pub flops: FlopsPerSecond,
    /// Measured / that.
    pub ratio: f64,
}

/// The roofs of a record by initiator, and for each the points below them.
pub fn roofs(figures: &RecordFigures<'_>) -> Vec<RoofFigures> {
    let initiators = figures.record().header.machine.initiators();
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Roofs(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<RoofFigures> =
        places.map(|(place, case)| figures_of(place, case, &initiators)).collect();
    all.sort_by_key(|figures| {
        let RoofCoordinates { initiator, roof, purpose, .. } = figures.place;
        (initiator, purpose, rank(figures), roof)
    });
    let known: Known = all
        .iter()
        .filter(|figures| figures.place.purpose == RoofPurpose::Roof)
        .filter_map(|figures| {
            let RoofCoordinates { initiator, roof, kernel, variant, .. } = figures.place.clone();
            let summary = figures.bandwidth.as_ref().or(figures.flops.as_ref())?;
            Some(((initiator, roof, variant, kernel), summary.sum.median))
        })
        .collect();
    for figures in &mut all {
        figures.attainable = attainable(figures, &known);
    }
    all
}

/// Roofs by initiator, limit, variant and kernel: bytes/s, or FLOP/s of arithmetic.
type Known = HashMap<(u32, Roof, String, String), f64>;

fn figures_of(
    place: &RoofCoordinates,
    case: CaseFigures<'_>,
    initiators: &[Initiator],
) -> RoofFigures {
    let actor = place.actor as usize;
    let moved = |summary: &CaseSummary| summary.sum.median > 0.0;
    let is_compute = place.roof == Roof::Compute;
    let bandwidth = case.bandwidth(Part::Actor(actor)).filter(|_| !is_compute);
    let flops = case.flops(Part::Actor(actor)).filter(|flops| is_compute || moved(flops));
    let per_cycle = |summary: Option<&CaseSummary>, work| {
        summary.and_then(|_| case.work_per_cycle(actor, work))
    };
    let own = initiators.iter().find(|initiator| initiator.index == place.initiator);
    let is_local = match place.roof {
        Roof::Memory { node } | Roof::Contended { node, .. } | Roof::AllLocal { node } => {
            Some(own.is_some_and(|initiator| initiator.memory_nodes.contains(node)))
        }
        _ => None,
    };
    RoofFigures {
        case: case.planned(),
        place: place.clone(),
        is_local,
        bytes_per_cycle: per_cycle(bandwidth.as_ref(), Work::UsefulBytes),
        flops_per_cycle: per_cycle(flops.as_ref(), Work::Flops),
        intensity: flops.as_ref().zip(bandwidth.as_ref()).and_then(|(flops, bytes)| {
            let intensity = flops.sum.median / bytes.sum.median;
            intensity.is_finite().then_some(intensity)
        }),
        bandwidth,
        flops,
        core_ghz: case.core_ghz(actor),
        attainable: None,
    }
}

/// Caches first, then nodes, then what several initiators do at once.
fn rank(figures: &RoofFigures) -> u8 {
    match (figures.place.roof, figures.is_local) {
        (Roof::Compute, _) => 0,
        (Roof::Cache { .. }, _) => 1,
        (Roof::Memory { .. }, Some(true)) => 2,
        (Roof::Memory { .. }, _) => 3,
        (Roof::Interleaved { .. }, _) => 4,
        (Roof::Contended { .. }, _) => 5,
        (Roof::AllLocal { .. }, _) => 6,
        (Roof::Congested { .. }, _) => 7,
    }
}

/// What the roofs of the same initiator, in the same variant, say of a point.
fn attainable(point: &RoofFigures, known: &Known) -> Option<Attainable> {
    if point.place.purpose != RoofPurpose::Validation {
        return None;
    }
    let (flops, intensity) = (point.flops.as_ref()?.sum.median, point.intensity?);
    let roof = |kernel: &str, limit: Roof| {
        let RoofCoordinates { initiator, variant, .. } = &point.place;
        known.get(&(*initiator, limit, variant.clone(), kernel.to_string())).copied()
    };
    let (accesses, arithmetic) = parts_of(&point.place.kernel)?;
    let bandwidth = roof(accesses, point.place.roof)?;
    let most = arithmetic.iter().find_map(|name| roof(name, Roof::Compute))?;
    let attainable = (intensity * bandwidth).min(most);
    let ratio = flops / attainable;
    ratio.is_finite().then_some(Attainable { flops: FlopsPerSecond(attainable), ratio })
}

/// The kernel whose bandwidth bounds a mix with arithmetic (`1l_4fma`), and the arithmetic whose
/// roof does, the first that is there: without fused instructions a multiplication and an
/// addition stand for one.
fn parts_of(mix: &str) -> Option<(&str, &'static [&'static str])> {
    let (accesses, operations) = mix.split_once('_')?;
    let is_load =
        accesses.strip_suffix('l').is_some_and(|count| count.bytes().all(|b| b.is_ascii_digit()));
    let bounds: &[&str] = match operations.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "fma" => &["fma_dp", "mul_add_dp"],
        "add" => &["add_dp"],
        _ => return None,
    };
    Some((if is_load { "load" } else { accesses }, bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roofs_of_a_mix_follow_from_its_name() {
        assert_eq!(parts_of("1l_4fma"), Some(("load", &["fma_dp", "mul_add_dp"][..])));
        assert_eq!(parts_of("16l_1add"), Some(("load", &["add_dp"][..])));
        assert_eq!(parts_of("2l1s_8fma"), Some(("2l1s", &["fma_dp", "mul_add_dp"][..])));
        assert_eq!(parts_of("2l1s"), None);
        assert_eq!(parts_of("2l_1sqrt"), None);
    }
}
