//! A fast and a slow memory as `show` prints them.

use nearfar_machine::MemoryKind;
use nearfar_model::{
    HybridFigures, PlannedCase, RecordFigures, fast_share, hybrid_points, load_share,
};
use nearfar_record::{CaseSummary, HybridPoint, PageSplit, TransferKind};
use serde::Serialize;

use super::relations::Relations;

/// Loads and stores shared out over two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridView {
    #[serde(flatten)]
    pub case: PlannedCase,
    pub cluster: u32,
    pub fast_node: u32,
    pub fast_kind: MemoryKind,
    pub slow_node: u32,
    pub slow_kind: MemoryKind,
    /// `corner`, `pair` or `surface`.
    pub point: &'static str,
    /// The kind of a corner, or null.
    pub of: Option<TransferKind>,
    /// The kind of a pair that takes longer, or null.
    pub dominating: Option<TransferKind>,
    /// The other kind of a pair, or null.
    pub beside: Option<TransferKind>,
    /// Loads for each `stores`.
    pub loads: u32,
    /// Stores for each `loads`.
    pub stores: u32,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of the fast memory in all bytes, as asked for.
    pub fast_share: f64,
    /// Share of the read pages that was to be in the fast memory, or null.
    pub asked_load_fast_share: Option<f64>,
    /// Share of the read pages that was found there, or null.
    pub found_load_fast_share: Option<f64>,
    /// Share of the written pages that was to be in the fast memory, or null.
    pub asked_store_fast_share: Option<f64>,
    /// Share of the written pages that was found there, or null.
    pub found_store_fast_share: Option<f64>,
    /// Mix.
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    pub threads: u32,
    /// All bytes, or null.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub bandwidth: Option<CaseSummary>,
    /// Of a pair, t of the kind beside / t of the dominating one, or null.
    pub time_ratio: Option<f64>,
}

/// The points of a record.
pub(crate) fn hybrid_views(figures: &RecordFigures<'_>) -> Vec<HybridView> {
    let relations = Relations::new(&figures.record().header.machine);
    hybrid_points(figures).iter().map(|point| view(point, &relations)).collect()
}

fn view(figures: &HybridFigures, relations: &Relations<'_>) -> HybridView {
    let place = &figures.place;
    let (point, of, dominating, beside) = match place.point {
        HybridPoint::Corner { of } => ("corner", Some(of), None, None),
        HybridPoint::Pair { dominating, beside } => ("pair", None, Some(dominating), Some(beside)),
        HybridPoint::Surface => ("surface", None, None, None),
    };
    HybridView {
        case: figures.case.clone(),
        cluster: place.cluster,
        fast_node: place.fast_node,
        fast_kind: relations.kind(place.fast_node),
        slow_node: place.slow_node,
        slow_kind: relations.kind(place.slow_node),
        point,
        of,
        dominating,
        beside,
        loads: place.loads,
        stores: place.stores,
        load_share: load_share(place),
        fast_share: fast_share(place),
        asked_load_fast_share: place.load_pages.map(PageSplit::fast_share),
        found_load_fast_share: figures.load_fast_share,
        asked_store_fast_share: place.store_pages.map(PageSplit::fast_share),
        found_store_fast_share: figures.store_fast_share,
        kernel: place.kernel.clone(),
        variant: place.variant.clone(),
        threads: place.threads,
        bandwidth: figures.total.clone(),
        time_ratio: figures.time_ratio,
    }
}
