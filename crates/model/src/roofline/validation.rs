//! How near points of known arithmetic intensity come to what the roofs predict.

use std::collections::HashMap;

use nearfar_record::{Estimate, Roof, RoofPurpose};
use nearfar_units::FlopsPerSecond;
use serde::Serialize;

use crate::roofs::RoofFigures;

/// The points below one roof.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofValidation {
    /// The initiator whose points they are.
    pub initiator: u32,
    /// The roof of bandwidth.
    pub roof: Roof,
    /// Whether the node is the initiator's own; null for a roof that is not one node's.
    pub is_local: Option<bool>,
    /// The variant of the points.
    pub variant: String,
    /// Points that were planned; those without a figure, or without a roof, are not in `points`.
    pub planned: usize,
    /// By intensity.
    pub points: Vec<ValidationPoint>,
    /// What the points come to; null without points.
    pub errors: Option<RoofErrors>,
}

/// A loop of known intensity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidationPoint {
    /// The mix by its name.
    pub kernel: String,
    #[serde(rename = "flops_per_byte")]
    pub intensity: f64,
    /// What was measured.
    #[serde(rename = "gflop_per_s")]
    pub flops: Estimate<FlopsPerSecond>,
    /// What the lower roof allows.
    #[serde(rename = "attainable_gflop_per_s")]
    pub attainable: FlopsPerSecond,
    /// Measured / attainable.
    pub ratio: f64,
    /// Whether it lies above the roof by more than 2 % and more than the intervals of both explain:
    /// then that is no roof.
    pub exceeds: bool,
}

/// What the points below a roof come to, fractions of what is attainable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofErrors {
    /// The paper's: `1/n sqrt(sum r^2)`, r = measured / attainable - 1. Smaller than the true one
    /// by the square root of n.
    pub paper: f64,
    /// The true relative RMS: `sqrt(1/n sum r^2)`.
    pub relative_rms: f64,
    /// The mean of r with its sign.
    pub mean: f64,
    /// Position of the point with the largest r.
    pub worst: usize,
    /// Whether the points are so far off that the roof predicts nothing.
    pub refutes: bool,
}

/// Points that are farther off their roof than this by relative RMS say that the roof, or they,
/// were measured while something disturbed: only figures that differ by twice as much, half of the
/// roof, could be told apart by it.
const MOST_ERROR: f64 = 0.25;

impl RoofValidation {
    /// The point that is farthest off, and what all come to; `None` without points.
    pub fn worst(&self) -> Option<(&ValidationPoint, RoofErrors)> {
        let errors = self.errors?;
        Some((self.points.get(errors.worst)?, errors))
    }
}

/// Of many points one or two lie above by chance; differences below this are no finding.
const LEAST_EXCESS: f64 = 0.02;

/// The errors of points by measured / attainable; `None` without any, or where one is no number.
/// Source: denoyelle2019, footnotes 5 and 10 (`paper`).
pub fn roof_errors(ratios: &[f64]) -> Option<RoofErrors> {
    let n = ratios.len() as f64;
    let off = || ratios.iter().map(|ratio| ratio - 1.0);
    let (worst, _) = off().enumerate().max_by(|one, other| {
        let (one, other) = (one.1.abs(), other.1.abs());
        one.total_cmp(&other)
    })?;
    let squares: f64 = off().map(|off| off * off).sum();
    let relative_rms = (squares / n).sqrt();
    let errors = RoofErrors {
        paper: squares.sqrt() / n,
        relative_rms,
        mean: off().sum::<f64>() / n,
        worst,
        refutes: relative_rms > MOST_ERROR,
    };
    squares.is_finite().then_some(errors)
}

/// The points of an initiator by roof and variant, in the order of the figures.
pub(super) fn validations(figures: &[&RoofFigures]) -> Vec<RoofValidation> {
    let mut all: Vec<RoofValidation> = Vec::new();
    let mut known: HashMap<(Roof, &String), usize> = HashMap::new();
    for of in figures.iter().filter(|of| of.place.purpose == RoofPurpose::Validation) {
        let place = &of.place;
        let next = all.len();
        let position = *known.entry((place.roof, &place.variant)).or_insert(next);
        if position == next {
            all.push(RoofValidation {
                initiator: place.initiator,
                roof: place.roof,
                is_local: of.is_local,
                variant: place.variant.clone(),
                points: Vec::new(),
                planned: 0,
                errors: None,
            });
        }
        if let Some(validation) = all.get_mut(position) {
            validation.planned += 1;
            validation.points.extend(point(of, figures));
        }
    }
    for validation in &mut all {
        validation.points.sort_by(|one, other| one.intensity.total_cmp(&other.intensity));
        let ratios: Vec<f64> = validation.points.iter().map(|point| point.ratio).collect();
        validation.errors = roof_errors(&ratios);
    }
    all
}

fn point(of: &RoofFigures, figures: &[&RoofFigures]) -> Option<ValidationPoint> {
    let (flops, intensity, attainable) = (of.flops.as_ref()?, of.intensity?, of.attainable?);
    let low = flops.sum.interval.0 / attainable.flops.0;
    let is_above = low > highest_roof(of, attainable.flops.0 / intensity, figures);
    Some(ValidationPoint {
        kernel: of.place.kernel.clone(),
        intensity,
        flops: Estimate::of_rounds(&flops.sum, &of.case.id),
        attainable: attainable.flops,
        ratio: attainable.ratio,
        exceeds: is_above && attainable.ratio > 1.0 + LEAST_EXCESS,
    })
}

/// The upper end of the interval of the roof that limits a point / its median: that roof of
/// bandwidth whose median is `bandwidth`; 1 where arithmetic limits.
fn highest_roof(of: &RoofFigures, bandwidth: f64, figures: &[&RoofFigures]) -> f64 {
    let same = |roof: &&RoofFigures| {
        roof.place.purpose == RoofPurpose::Roof
            && (roof.place.roof, &roof.place.variant) == (of.place.roof, &of.place.variant)
    };
    let roofs = figures.iter().copied().filter(same).filter_map(|roof| roof.bandwidth.as_ref());
    let limiting =
        roofs.map(|roof| roof.sum).find(|sum| (sum.median / bandwidth - 1.0).abs() < 1e-9);
    limiting.map_or(1.0, |sum| sum.interval.1 / sum.median)
}
