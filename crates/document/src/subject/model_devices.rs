//! What copies to and from devices mean, as `model` prints it.

use std::collections::BTreeMap;

use nearfar_machine::{Backend, HostMemory, TransferDirection};
use nearfar_model::{
    DeviceClassRule, DeviceClasses, DeviceLeftOut, DevicePair, Devices, KeptShare, TransferLoss,
    TransferPlace, TransferTime, UntimedTransfer, alphas,
};
use nearfar_record::{Record, TransferBeside};
use serde::Serialize;

use super::classes::GammaView;
use super::measured::MeasuredView;

/// What gives the theoretical maximum of a link where the record does not.
pub(crate) const PHI_REMEDY: &str =
    "give the link's theoretical maximum by --phi, for example 'PCIe 4.0 x16' or 25GB/s";

/// What copies to and from devices mean: classes of devices and memory nodes (braithwaite2012),
/// times over sizes, and who loses what; `model RECORD devices --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicesModelView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// A class spans at most this fraction of its maximum, and what noise explains.
    pub class_span: f64,
    /// The devices by their ids, with their names.
    pub devices: BTreeMap<String, String>,
    /// Classes of devices and memory nodes, by interface and way.
    pub class_sets: Vec<DeviceClassSetView>,
    /// The time of a copy over its size, by place.
    pub times: Vec<TransferTimeView>,
    /// Places with several sizes and no law.
    pub times_unknown: Vec<UntimedTransferView>,
    /// What copies, and what runs beside them, keep.
    pub losses: Vec<TransferLossView>,
}

/// The classes of the copies of one interface, one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceClassSetView {
    /// The programming interface.
    pub backend: Backend,
    /// Which way.
    pub direction: TransferDirection,
    /// Smallest copy that a pair is judged by, bytes each way.
    pub least_bytes: u64,
    /// Largest.
    pub most_bytes: u64,
    /// The theoretical maximum of all ways, or null.
    pub phi: Option<GammaView>,
    /// Why there is none, or null when there is.
    pub phi_unknown: Option<String>,
    /// What gives one, or null when there is.
    pub phi_remedy: Option<&'static str>,
    /// Relative standard deviation of a pair's rounds, or null with one round each.
    pub noise: Option<f64>,
    /// Relative standard error of a pair's best round, or null as above.
    pub standard_error: Option<f64>,
    /// Fewest rounds that a pair has.
    pub fewest_rounds: usize,
    /// The classes, the fastest first.
    pub classes: Vec<DeviceClassView>,
    /// Pairs that are in no class.
    pub left_out: Vec<DeviceLeftOutView>,
    /// What to know about them.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceClassView {
    /// 0 is the fastest.
    pub class: usize,
    /// Best value of its pairs, GB/s of all ways.
    pub max_gb_per_s: f64,
    /// Lowest best value of its pairs, GB/s of all ways.
    pub min_gb_per_s: f64,
    /// Maximum / theoretical maximum, or null when that is unknown.
    pub alpha: Option<f64>,
    /// Maximum / maximum of class 0.
    pub alpha_relative: f64,
    /// Whether it spans more than ten percent.
    pub wide: bool,
    /// Whether noise makes it wider than the span.
    pub widened_by_noise: bool,
    /// Whether the next slower class is nearer than the noise.
    pub border_within_noise: bool,
    pub pairs: Vec<DevicePairView>,
}

/// A device and a memory node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePairView {
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// The cluster of the host's thread.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// Bytes of one copy, each way.
    pub bytes: u64,
    /// Best round, GB/s.
    pub gb_per_s: f64,
    /// Median over rounds, GB/s.
    pub median_gb_per_s: f64,
    pub interval_gb_per_s: [f64; 2],
    pub rounds: usize,
}

/// A pair that is in no class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLeftOutView {
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// Why the machine refused it, or null when it was not measured so.
    pub refused: Option<String>,
}

/// Where copies are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferPlaceView {
    pub device: String,
    /// The node of the host's pages; null between devices.
    pub memory_node: Option<u32>,
    /// Which way.
    pub direction: TransferDirection,
    /// What the host's pages are; null between devices.
    pub host_memory: Option<HostMemory>,
    /// The device that is copied to; null for the host.
    pub peer: Option<String>,
}

/// The time of a copy of x bytes: latency + x / bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferTimeView {
    /// Where.
    #[serde(flatten)]
    pub place: TransferPlaceView,
    /// What a copy takes beside the time of its bytes.
    pub latency_us: f64,
    /// Of long copies, all ways.
    pub bandwidth_gb_per_s: f64,
    /// Bytes of a copy that gets half of that.
    pub half_bandwidth_bytes: f64,
    /// Largest |law / measured - 1| over the sizes.
    pub worst_error: f64,
    /// The size where that is.
    pub worst_error_bytes: u64,
    /// How many sizes were measured.
    pub sizes: usize,
    /// The smallest, each way.
    pub least_bytes: u64,
    /// The largest, each way.
    pub most_bytes: u64,
    /// The law from the smallest to the largest: bytes each way, and GB/s of all ways.
    #[serde(skip)]
    pub curve: Vec<[f64; 2]>,
}

/// A place with several sizes and no law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UntimedTransferView {
    /// Where.
    #[serde(flatten)]
    pub place: TransferPlaceView,
    pub why: String,
}

/// What copies, and what runs beside them, keep of what each moves alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferLossView {
    /// Where.
    #[serde(flatten)]
    pub place: TransferPlaceView,
    /// The other device; null beside streams.
    pub beside_device: Option<String>,
    /// Kernel of the streams; null beside a device.
    pub kernel: Option<String>,
    /// Instruction-set variant of the streams; null beside a device.
    pub variant: Option<String>,
    /// Threads of the streams; null beside a device.
    pub threads: Option<u32>,
    /// Share that the copies keep, or null.
    pub copies_kept: Option<f64>,
    /// Its interval, or null.
    pub copies_kept_interval: Option<[f64; 2]>,
    /// Share that the other keeps, or null.
    pub other_kept: Option<f64>,
    /// Its interval, or null.
    pub other_kept_interval: Option<[f64; 2]>,
}

impl DevicesModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, model: &Devices, rule: &DeviceClassRule) -> Self {
        let inputs = record.header.inputs.devices.as_ref();
        let accelerators = inputs.map_or(&[][..], |inputs| &inputs.accelerators);
        Self {
            schema: "nearfar.devices/1",
            measured: MeasuredView::new(record),
            class_span: rule.span,
            devices: accelerators.iter().map(|it| (it.id.clone(), it.name.clone())).collect(),
            class_sets: model.classes.iter().map(class_set).collect(),
            times: model.times.fitted.iter().map(time).collect(),
            times_unknown: model.times.unfitted.iter().map(untimed).collect(),
            losses: model.losses.iter().map(loss).collect(),
        }
    }
}

fn class_set(classes: &DeviceClasses) -> DeviceClassSetView {
    let alphas = alphas(&classes.set, classes.phi.clone());
    let of_classes = classes.set.classes.iter().zip(&alphas.relative).enumerate();
    let views = of_classes.map(|(position, (class, &alpha_relative))| DeviceClassView {
        class: class.class,
        max_gb_per_s: class.max / 1e9,
        min_gb_per_s: class.min / 1e9,
        alpha: alphas.absolute.as_ref().and_then(|all| all.get(position).copied()),
        alpha_relative,
        wide: class.wide,
        widened_by_noise: class.widened_by_noise,
        border_within_noise: class.border_within_noise,
        pairs: class.pairs.iter().map(pair).collect(),
    });
    DeviceClassSetView {
        backend: classes.backend,
        direction: classes.direction,
        least_bytes: classes.bytes.0,
        most_bytes: classes.bytes.1,
        phi: classes.phi.as_ref().ok().map(GammaView::new),
        phi_unknown: classes.phi.as_ref().err().cloned(),
        phi_remedy: classes.phi.as_ref().err().map(|_| PHI_REMEDY),
        noise: classes.noise,
        standard_error: classes.standard_error,
        fewest_rounds: classes.fewest_rounds,
        classes: views.collect(),
        left_out: classes.left_out.iter().map(left_out).collect(),
        notes: classes.notes.clone(),
    }
}

fn pair(pair: &DevicePair) -> DevicePairView {
    DevicePairView {
        device: pair.device.clone(),
        memory_node: pair.memory_node,
        cluster: pair.cluster,
        cpu_node: pair.cpu_node,
        bytes: pair.bytes,
        gb_per_s: pair.best / 1e9,
        median_gb_per_s: pair.median / 1e9,
        interval_gb_per_s: [pair.interval.0 / 1e9, pair.interval.1 / 1e9],
        rounds: pair.rounds,
    }
}

fn left_out(out: &DeviceLeftOut) -> DeviceLeftOutView {
    DeviceLeftOutView {
        device: out.device.clone(),
        memory_node: out.memory_node,
        refused: out.refused.clone(),
    }
}

fn place(place: &TransferPlace) -> TransferPlaceView {
    TransferPlaceView {
        device: place.device.clone(),
        memory_node: place.memory_node,
        direction: place.direction,
        host_memory: place.host_memory,
        peer: place.peer.clone(),
    }
}

fn time(time: &TransferTime) -> TransferTimeView {
    TransferTimeView {
        place: place(&time.place),
        latency_us: time.latency_s * 1e6,
        bandwidth_gb_per_s: time.bandwidth / 1e9,
        half_bandwidth_bytes: time.half_bandwidth_bytes,
        worst_error: time.worst_error,
        worst_error_bytes: time.worst_error_bytes,
        sizes: time.sizes.len(),
        least_bytes: time.sizes.first().copied().unwrap_or_default(),
        most_bytes: time.sizes.last().copied().unwrap_or_default(),
        curve: curve(time),
    }
}

/// The law at two sizes in each octave: more are not seen in a chart.
#[expect(clippy::cast_precision_loss, reason = "sizes are places on an axis")]
fn curve(time: &TransferTime) -> Vec<[f64; 2]> {
    let (Some(&least), Some(&most)) = (time.sizes.first(), time.sizes.last()) else {
        return Vec::new();
    };
    let (least, most) = (least.max(1) as f64, most as f64);
    let sizes = std::iter::successors(Some(least), |size| Some(size * std::f64::consts::SQRT_2));
    let sizes = sizes.take_while(|size| *size < most).chain([most]);
    sizes.map(|size| [size, time.rate(size) / 1e9]).collect()
}

fn untimed(untimed: &UntimedTransfer) -> UntimedTransferView {
    UntimedTransferView { place: place(&untimed.place), why: untimed.why.clone() }
}

fn loss(loss: &TransferLoss) -> TransferLossView {
    let (beside_device, kernel, variant, threads) = match loss.place.beside.clone() {
        Some(TransferBeside::Streams { kernel, variant, threads }) => {
            (None, Some(kernel), Some(variant), Some(threads))
        }
        Some(TransferBeside::Device { device }) => (Some(device), None, None, None),
        None => (None, None, None, None),
    };
    let interval = |kept: Option<KeptShare>| kept.map(|kept| [kept.interval.0, kept.interval.1]);
    TransferLossView {
        place: TransferPlaceView {
            device: loss.place.device.clone(),
            memory_node: loss.place.memory_node,
            direction: loss.place.direction,
            host_memory: loss.place.host_memory,
            peer: loss.place.peer.clone(),
        },
        beside_device,
        kernel,
        variant,
        threads,
        copies_kept: loss.copies_kept.map(|kept| kept.share),
        copies_kept_interval: interval(loss.copies_kept),
        other_kept: loss.other_kept.map(|kept| kept.share),
        other_kept_interval: interval(loss.other_kept),
    }
}
