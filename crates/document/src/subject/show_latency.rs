//! The time of an access as `show` prints it.

use std::collections::HashSet;

use nearfar_model::{AccessTime, ChaseFigures, RecordFigures, chases, idle_matrix};
use nearfar_record::{ChaseWalk, Pages};
use serde::Serialize;

use super::show_figure::{BandwidthView, CaseView};

/// One chase.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyView {
    #[serde(flatten)]
    pub case: CaseView,
    /// The cluster of the thread.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Bytes that are walked through.
    pub working_set_bytes: u64,
    pub pages: Pages,
    pub walk: ChaseWalk,
    /// Whether it stands in the idle matrix.
    pub in_matrix: bool,
    /// Time of an access, or null.
    pub latency: Option<AccessTime>,
    /// Whether a round had no access, and so the case has no time: words for the text.
    #[serde(skip)]
    pub has_empty_round: bool,
    /// What translating addresses adds, by noise less than nothing, or null.
    pub translation_ns: Option<f64>,
    /// From the least to the most that it can be by the intervals of both walks, or null.
    pub translation_interval_ns: Option<[f64; 2]>,
    /// Whether the intervals leave room for none.
    #[serde(skip)]
    pub is_translation_noise: bool,
    /// Median clock of its core, or null.
    pub core_ghz: Option<f64>,
    /// What loaded the memory beside it; null where it was idle.
    pub load: Option<LoadView>,
}

/// Threads that load the memory beside a chase.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadView {
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    pub threads: u32,
    /// Cycles that each pauses after every 1024 bytes of each array.
    pub pause_cycles: u32,
    /// What they moved, or null.
    pub bandwidth: Option<BandwidthView>,
}

/// The chases of a record.
pub(crate) fn latency_views(figures: &RecordFigures<'_>) -> Vec<LatencyView> {
    let all = chases(figures);
    let matrix: HashSet<&str> =
        idle_matrix(&all).into_iter().map(|one| one.case.id.as_str()).collect();
    all.iter().map(|one| view(one, matrix.contains(one.case.id.as_str()))).collect()
}

fn view(figures: &ChaseFigures, in_matrix: bool) -> LatencyView {
    let place = figures.place.clone();
    LatencyView {
        case: CaseView::new(&figures.case),
        cluster: place.cluster,
        cpu_node: place.cpu_node,
        memory_node: place.memory_node,
        working_set_bytes: place.working_set_bytes,
        pages: place.pages,
        walk: place.walk,
        in_matrix,
        latency: figures.time.clone(),
        has_empty_round: figures.has_empty_round,
        translation_ns: figures.translation.map(|translation| translation.ns),
        translation_interval_ns: figures.translation.map(|translation| translation.interval.into()),
        is_translation_noise: figures.translation.is_some_and(|it| it.is_within_noise()),
        core_ghz: figures.core_ghz,
        load: place.load.map(|load| LoadView {
            kernel: load.kernel,
            variant: load.variant,
            threads: load.threads,
            pause_cycles: load.pause_cycles,
            bandwidth: BandwidthView::of(figures.load.as_ref()),
        }),
    }
}
