//! The roofs of clusters as `show` prints them.

use nearfar_machine::CpuSet;
use nearfar_model::{RecordFigures, RoofFigures};
use nearfar_record::{Roof, RoofPurpose};
use serde::Serialize;

use super::roofline::roof_words;
use super::show_figure::{BandwidthView, CaseView, FlopsView};

/// A roof of one cluster, or a point below one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofView {
    #[serde(flatten)]
    pub case: CaseView,
    /// The cluster whose roof it is.
    pub cluster: u32,
    /// What limits.
    pub roof: Roof,
    /// Whether the node is the cluster's own, or null.
    pub is_local: Option<bool>,
    /// Kernel, mix or arithmetic.
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Threads of the cluster.
    pub threads: u32,
    /// Whether it is a roof or a point below one.
    pub purpose: RoofPurpose,
    /// Useful bytes, or null.
    pub bandwidth: Option<BandwidthView>,
    /// Floating-point operations, or null.
    pub flops: Option<FlopsView>,
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
    /// The cluster's CPUs, for headings.
    #[serde(skip)]
    pub cpus: CpuSet,
    /// The actor of the case that it is of, by its position.
    #[serde(skip)]
    pub actor: usize,
}

impl RoofView {
    /// What limits, in words.
    pub(crate) fn name(&self) -> String {
        roof_words(self.roof, self.is_local)
    }
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
    RoofView {
        case: CaseView::new(&figures.case),
        cluster: place.cluster,
        roof: place.roof,
        is_local: figures.is_local,
        kernel: place.kernel,
        variant: place.variant,
        threads: place.threads,
        purpose: place.purpose,
        bandwidth: BandwidthView::of(figures.bandwidth.as_ref()),
        flops: figures.flops.as_ref().map(FlopsView::new),
        core_ghz: figures.core_ghz,
        bytes_per_cycle: figures.bytes_per_cycle,
        flops_per_cycle: figures.flops_per_cycle,
        flops_per_byte: figures.intensity,
        attainable_gflop_per_s: figures.attainable.map(|attainable| attainable.flops / 1e9),
        attainable_ratio: figures.attainable.map(|attainable| attainable.ratio),
        cpus,
        actor: place.actor as usize,
    }
}
