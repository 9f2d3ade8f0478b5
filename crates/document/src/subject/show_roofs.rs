//! The roofs of clusters as `show` prints them.

use nearfar_machine::{CpuSet, MemoryKind};
use nearfar_model::{PlannedCase, RecordFigures, RoofFigures};
use nearfar_record::{CaseSummary, RoofPurpose};
use serde::Serialize;

use super::roofline_place::RoofPlaceView;

/// A roof of one cluster, or a point below one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofView {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// The cluster whose roof it is.
    pub cluster: u32,
    /// What limits it: `compute`, `cache`, `memory`, `interleaved`, `contended`,
    /// `all_local`, `congested`.
    pub limit: &'static str,
    /// The cache's level, or null.
    pub level: Option<u8>,
    /// The memory node, or null.
    pub node: Option<u32>,
    /// Whether the node is the cluster's own, or null.
    pub is_local: Option<bool>,
    /// Clusters that use the node at once, or null.
    pub clusters: Option<u32>,
    /// The kind of memory whose nodes take turns, or null.
    pub memory_kind: Option<MemoryKind>,
    /// Kernel, mix or arithmetic.
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Threads of the cluster.
    pub threads: u32,
    /// Whether it is a roof or a point below one.
    pub purpose: RoofPurpose,
    /// Useful bytes, or null.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub bandwidth: Option<CaseSummary>,
    /// Floating-point operations, or null.
    #[serde(rename = "gflop_per_s")]
    pub flops: Option<CaseSummary>,
    /// Median clock of the cores, or null.
    pub core_ghz: Option<f64>,
    /// Useful bytes of one thread in a cycle, median over threads and samples, or null.
    pub bytes_per_cycle: Option<f64>,
    /// Operations of one thread in a cycle, median over threads and samples, or null.
    pub flops_per_cycle: Option<f64>,
    /// Operations / bytes that the cores request, or null.
    pub flops_per_byte: Option<f64>,
    /// Of a point, the lower of the roof of arithmetic and intensity x the roof of bandwidth, or
    /// null.
    pub attainable_gflop_per_s: Option<f64>,
    /// Of a point, measured / attainable, or null.
    pub attainable_ratio: Option<f64>,
    /// What limits, in words: `contended node 0, 4 clusters`.
    #[serde(skip)]
    pub name: String,
    /// The cluster's CPUs, for headings.
    #[serde(skip)]
    pub cpus: CpuSet,
    /// The actor of the case that it is of, by its position.
    #[serde(skip)]
    pub actor: usize,
}

/// The roofs and points of a record.
pub(crate) fn roof_views(figures: &RecordFigures<'_>) -> Vec<RoofView> {
    let clusters = figures.record().header.machine.clusters();
    let cpus = |index| {
        let of = clusters.iter().find(|cluster| cluster.index == index);
        of.map_or_else(CpuSet::new, |cluster| cluster.cpus.clone())
    };
    figures.roofs().iter().map(|roof| view(roof, cpus(roof.place.cluster))).collect()
}

fn view(figures: &RoofFigures, cpus: CpuSet) -> RoofView {
    let place = figures.place.clone();
    let RoofPlaceView { name, limit, level, node, is_local, clusters, memory_kind } =
        RoofPlaceView::new(place.roof, figures.is_local);
    RoofView {
        case: figures.case.clone(),
        cluster: place.cluster,
        limit,
        level,
        node,
        is_local,
        clusters,
        memory_kind,
        kernel: place.kernel,
        variant: place.variant,
        threads: place.threads,
        purpose: place.purpose,
        bandwidth: figures.bandwidth.clone(),
        flops: figures.flops.clone(),
        core_ghz: figures.core_ghz,
        bytes_per_cycle: figures.bytes_per_cycle,
        flops_per_cycle: figures.flops_per_cycle,
        flops_per_byte: figures.intensity,
        attainable_gflop_per_s: figures.attainable.map(|attainable| attainable.flops / 1e9),
        attainable_ratio: figures.attainable.map(|attainable| attainable.ratio),
        name,
        cpus,
        actor: place.actor as usize,
    }
}
