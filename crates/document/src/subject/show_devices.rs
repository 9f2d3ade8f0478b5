//! Copies between memory and devices as `show` prints them.

use std::collections::BTreeMap;

use nearfar_machine::{Accelerator, HostMemory, TransferDirection};
use nearfar_model::{BesideFigures, RecordFigures, TransferFigures, transfers};
use nearfar_record::TransferBeside;
use serde::Serialize;

use super::show_figure::{BandwidthView, CaseView};

/// Copies of one size at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferView {
    #[serde(flatten)]
    pub case: CaseView,
    /// The device, by interface and number.
    pub device: String,
    /// Its name, or null.
    pub device_name: Option<String>,
    /// The cluster of the host's thread.
    pub cluster: u32,
    /// The node of the host's pages; null between devices.
    pub memory_node: Option<u32>,
    /// Which way.
    pub direction: TransferDirection,
    /// What the host's pages are; null between devices.
    pub host_memory: Option<HostMemory>,
    /// The device that is copied to; null for the host.
    pub peer: Option<String>,
    /// Bytes of one copy, each way.
    pub bytes: u64,
    /// By the host's clock, all ways together, or null.
    pub bandwidth: Option<BandwidthView>,
    /// By the device's own clock while it copied, or null.
    pub device_clock_gb_per_s: Option<f64>,
    /// Time of one copy by the host's clock, or null.
    pub copy_us: Option<f64>,
    /// What runs at the same time, or null.
    pub beside: Option<BesideView>,
    /// The actor of the case that it is, by its position.
    #[serde(skip)]
    pub actor: usize,
    /// Whether the device's memory is the host's.
    #[serde(skip)]
    pub shares_host_memory: bool,
}

/// What runs at the same time as copies, and what both lose.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BesideView {
    /// The other device; null beside streams.
    pub device: Option<String>,
    /// Kernel of the streams; null beside a device.
    pub kernel: Option<String>,
    /// Instruction-set variant of the streams; null beside a device.
    pub variant: Option<String>,
    /// Threads of the streams; null beside a device.
    pub threads: Option<u32>,
    /// What it gets at the same time, or null.
    pub bandwidth: Option<BandwidthView>,
    /// What it gets alone, or null.
    pub alone: Option<BandwidthView>,
    /// What the copies get alone, or null.
    pub copies_alone: Option<BandwidthView>,
}

/// Of each way, memory and place, beside nothing, the largest copies that were measured; where none
/// were, the largest that the record knows, which say why not.
pub fn largest_transfers(views: &[TransferView]) -> Vec<&TransferView> {
    let alone = views.iter().filter(|view| view.beside.is_none());
    let place = |view: &TransferView| {
        let (device, node) = (view.device.clone(), view.memory_node);
        (view.direction, view.host_memory, node, device, view.peer.clone(), view.cluster)
    };
    let mut largest: BTreeMap<_, &TransferView> = BTreeMap::new();
    for view in alone {
        let known = largest.entry(place(view)).or_insert(view);
        let size = |view: &TransferView| (view.bandwidth.is_some(), view.bytes);
        if size(view) > size(known) {
            *known = view;
        }
    }
    largest.into_values().collect()
}

pub(crate) fn transfer_views(figures: &RecordFigures<'_>) -> Vec<TransferView> {
    let devices = figures.record().header.inputs.devices.as_ref();
    let known = |id: &str| {
        let all = devices.map_or(&[][..], |devices| &devices.accelerators);
        all.iter().find(|device| device.id == id)
    };
    let view_of = |transfer: &TransferFigures| view(transfer, known(&transfer.place.device));
    transfers(figures).iter().map(view_of).collect()
}

fn view(transfer: &TransferFigures, device: Option<&Accelerator>) -> TransferView {
    let place = transfer.place.clone();
    TransferView {
        case: CaseView::new(&transfer.case),
        device_name: device.map(|device| device.name.clone()),
        shares_host_memory: device.is_some_and(|device| device.shares_host_memory),
        device: place.device,
        cluster: place.cluster,
        memory_node: place.memory_node,
        direction: place.direction,
        host_memory: place.host_memory,
        actor: usize::try_from(place.actor).unwrap_or(usize::MAX),
        peer: place.peer,
        bytes: place.bytes,
        bandwidth: BandwidthView::of(transfer.by_host.as_ref()),
        device_clock_gb_per_s: transfer.by_device.map(|rate| rate / 1e9),
        copy_us: transfer.seconds().map(|seconds| seconds * 1e6),
        beside: place.beside.zip(transfer.beside.as_ref()).map(|(what, got)| beside(what, got)),
    }
}

fn beside(what: TransferBeside, got: &BesideFigures) -> BesideView {
    let (device, kernel, variant, threads) = match what {
        TransferBeside::Streams { kernel, variant, threads } => {
            (None, Some(kernel), Some(variant), Some(threads))
        }
        TransferBeside::Device { device } => (Some(device), None, None, None),
    };
    BesideView {
        device,
        kernel,
        variant,
        threads,
        bandwidth: BandwidthView::of(got.beside.as_ref()),
        alone: BandwidthView::of(got.alone.as_ref().map(|(alone, _)| alone)),
        copies_alone: BandwidthView::of(got.transfer_alone.as_ref().map(|(alone, _)| alone)),
    }
}
