//! A fast and a slow memory as `model` prints them.

use nearfar_machine::MemoryKind;
use nearfar_model::{
    HeldOutErrors, HeldOutPoint, Hybrid, HybridLeftOut, HybridOverlap, HybridPair, OverlapBounds,
};
use nearfar_record::{Record, TransferKind};
use serde::Serialize;

use super::measured::MeasuredView;
use super::model_hybrid_answer::HybridAnswerView;

/// Loads and stores over a fast and a slow memory (denoyelle2019); `model RECORD hybrid --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridModelView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// `not_negative` or `none`.
    pub bounds: &'static str,
    /// The clusters with two memories each.
    pub pairs: Vec<HybridPairView>,
    /// Those that have no model.
    pub left_out: Vec<HybridLeftOutView>,
    /// What to know, in sentences.
    pub notes: Vec<String>,
}

/// A cluster with two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPairView {
    pub cluster: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub fast_kind: MemoryKind,
    /// Its size, or null.
    pub fast_memory_bytes: Option<u64>,
    pub slow_node: u32,
    pub slow_kind: MemoryKind,
    /// Where pages come to lie by themselves, or null.
    pub default_node: Option<u32>,
    pub threads: u32,
    /// Instruction-set variant.
    pub variant: String,
    /// Rounds of the case with the fewest.
    pub fewest_rounds: usize,
    /// Each kind alone.
    pub corners: Vec<HybridCornerView>,
    /// The twelve ordered pairs of kinds.
    pub overlaps: Vec<OverlapView>,
    /// How far the model is off, or null.
    pub errors: Option<HybridErrorsView>,
    /// Why that is not known, or null.
    pub errors_unknown: Option<String>,
    /// What was measured and never fitted.
    pub held_out: Vec<HeldOutView>,
    /// What the model gives over shares of loads and of fast pages.
    pub surface: Vec<HybridSurfaceView>,
    /// What programs get, and what to do.
    pub answers: Vec<HybridAnswerView>,
}

/// A kind alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridCornerView {
    pub of: TransferKind,
    /// Mean of the rounds without outliers.
    pub gb_per_s: f64,
    /// Its interval, or null.
    pub interval_gb_per_s: Option<[f64; 2]>,
}

/// What of one kind's time does not overlap with another's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlapView {
    /// The kind that takes longest.
    pub dominating: TransferKind,
    pub beside: TransferKind,
    /// The overlap, or null.
    pub overlap_theta: Option<f64>,
    /// Its interval, or null.
    pub interval: Option<[f64; 2]>,
    /// That of the fit without bounds, or null.
    pub standard_error: Option<f64>,
    /// The fit without bounds, or null.
    pub unbounded: Option<f64>,
    /// Whether it is above 1.
    pub interference: bool,
    /// Why it is not known, or null.
    pub unknown: Option<String>,
}

/// How far the model is off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridErrorsView {
    pub points: usize,
    /// The paper's measure.
    pub paper_measure: f64,
    /// The true relative root mean square.
    pub relative_rms: f64,
    /// The farthest off, predicted / measured - 1.
    pub worst: f64,
    /// What a gain must be above to be claimed.
    pub room: f64,
}

/// A point that was measured and never fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldOutView {
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of what is read that was found in the fast memory, or null.
    pub load_fast_share: Option<f64>,
    /// Share of what is written that was found there, or null.
    pub store_fast_share: Option<f64>,
    /// Mean of the rounds without outliers.
    pub measured_gb_per_s: f64,
    /// By the model, or null.
    pub predicted_gb_per_s: Option<f64>,
    /// predicted / measured - 1, or null.
    pub error: Option<f64>,
}

/// What the model gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridSurfaceView {
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of all buffers in the fast memory.
    pub fast_share: f64,
    /// By the model, or null.
    pub gb_per_s: Option<f64>,
}

/// A cluster with two memories that has no model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridLeftOutView {
    pub cluster: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    pub why: String,
}

/// Shares of loads that answers are given for: reads only, two reads for a write (STREAM's triad
/// and add), one for one (copy, scale), writes only.
const PROGRAMS: [f64; 4] = [1.0, 2.0 / 3.0, 0.5, 0.0];

/// Steps of the surface from 0 to 1.
const STEPS: u32 = 5;

impl HybridModelView {
    /// The view of a record's model.
    pub fn new(record: &Record, model: &Hybrid) -> Self {
        let left_out = model.left_out.iter().map(|it| {
            let HybridLeftOut { cluster, fast_node, slow_node, why } = it.clone();
            HybridLeftOutView { cluster, fast_node, slow_node, why }
        });
        Self {
            schema: "nearfar.hybrid/1",
            measured: MeasuredView::new(record),
            bounds: match model.bounds {
                OverlapBounds::NotNegative => "not_negative",
                OverlapBounds::None => "none",
            },
            pairs: model.pairs.iter().map(|it| pair_view(it, record)).collect(),
            left_out: left_out.collect(),
            notes: notes(model),
        }
    }
}

fn pair_view(pair: &HybridPair, record: &Record) -> HybridPairView {
    let in_gb = |(low, high): (f64, f64)| [low / 1e9, high / 1e9];
    let corners = TransferKind::ALL.into_iter().zip(pair.rates);
    let steps = || (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let cells = steps().flat_map(|loads| steps().map(move |fast| (loads, fast)));
    let answers = PROGRAMS.iter().filter_map(|&loads| pair.answer(loads, &[]));
    HybridPairView {
        cluster: pair.cluster,
        fast_node: pair.fast_node,
        fast_kind: record.header.machine.memory_kind(pair.fast_node),
        fast_memory_bytes: record
            .header
            .machine
            .node(pair.fast_node)
            .and_then(|it| it.memory_bytes),
        slow_node: pair.slow_node,
        slow_kind: record.header.machine.memory_kind(pair.slow_node),
        default_node: pair.default_node,
        threads: pair.threads,
        variant: pair.variant.clone(),
        fewest_rounds: pair.fewest_rounds,
        corners: corners
            .map(|(of, rate)| HybridCornerView {
                of,
                gb_per_s: rate.bandwidth / 1e9,
                interval_gb_per_s: rate.interval.map(in_gb),
            })
            .collect(),
        overlaps: pair.overlaps.iter().map(overlap_view).collect(),
        errors: pair.errors.map(errors_view),
        errors_unknown: errors_unknown(pair),
        held_out: pair.held_out.iter().map(held_out_view).collect(),
        surface: cells
            .map(|(load_share, fast_share)| HybridSurfaceView {
                load_share,
                fast_share,
                gb_per_s: pair.bandwidth(load_share, fast_share).map(|it| it / 1e9),
            })
            .collect(),
        answers: answers.map(|answer| HybridAnswerView::new(&answer, pair)).collect(),
    }
}

fn overlap_view(overlap: &HybridOverlap) -> OverlapView {
    let known = overlap.value.as_ref().ok();
    OverlapView {
        dominating: overlap.dominating,
        beside: overlap.beside,
        overlap_theta: known.map(|it| it.overlap_theta),
        interval: known.and_then(|it| it.interval).map(|(low, high)| [low, high]),
        standard_error: known.and_then(|it| it.standard_error),
        unbounded: known.map(|it| it.unbounded),
        interference: known.is_some_and(|it| it.is_interference),
        unknown: overlap.value.as_ref().err().cloned(),
    }
}

pub(crate) fn errors_view(errors: HeldOutErrors) -> HybridErrorsView {
    let HeldOutErrors { points, paper_measure, relative_rms, worst } = errors;
    HybridErrorsView { points, paper_measure, relative_rms, worst, room: errors.room() }
}

/// Why the model's error is not known.
pub(crate) fn errors_unknown(pair: &HybridPair) -> Option<String> {
    pair.errors.is_none().then(|| {
        format!(
            "{} of the surface could be compared, and fewer than four tell no error; the twelve \
             points of pairs are fitted exactly and tell none; `{}` measures six",
            match pair.held_out.iter().filter(|point| point.predicted.is_some()).count() {
                1 => "1 point".into(),
                count => format!("{count} points"),
            },
            pair.remedy
        )
    })
}

fn held_out_view(point: &HeldOutPoint) -> HeldOutView {
    let shares = point.shares;
    HeldOutView {
        load_share: shares.load_share,
        load_fast_share: (shares.load_share > 0.0).then_some(shares.load_fast_share),
        store_fast_share: (shares.load_share < 1.0).then_some(shares.store_fast_share),
        measured_gb_per_s: point.measured / 1e9,
        predicted_gb_per_s: point.predicted.map(|predicted| predicted / 1e9),
        error: point.error(),
    }
}

fn notes(model: &Hybrid) -> Vec<String> {
    let mut notes = vec![
        "Two memories at a time are modelled, used by one cluster while the others are idle; what \
         more memories or more clusters at once give is for the model flow."
            .to_string(),
    ];
    for pair in &model.pairs {
        let HybridPair { cluster, fast_node, slow_node, fewest_rounds, rates, remedy, .. } = pair;
        let of = format!("cluster {cluster}, nodes {fast_node} and {slow_node}");
        if rates[0].bandwidth <= rates[2].bandwidth {
            notes.push(format!(
                "{of}: loads from node {fast_node}, which should be the faster, are not faster: \
                 \"fast\" and \"slow\" are names here."
            ));
        }
        if rates[0].interval.is_none() {
            notes.push(format!(
                "{of}: {fewest_rounds} rounds of a case are too few for intervals (5 are needed); \
                 times nearer than 5 % are taken as equally long, and no gain is claimed. `{remedy}` \
                 measures more."
            ));
        }
    }
    notes
}
