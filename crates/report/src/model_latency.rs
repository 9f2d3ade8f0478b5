//! The times of an access as `model RECORD latency` prints them.

use nearfar_model::{
    FactorSpan, Latency, LatencyKnee, LatencyQueue, LevelLatency, LoadedCurve, LoadedPoint,
    NumaFactor, UsableBandwidth,
};
use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;
use crate::model_latency_advice::advice;
use crate::model_latency_text::text;
use crate::show_latency::TimeView;

/// Times of an access of a record: NUMA factors, by size, beside traffic (ribeiro2010); `model
/// RECORD latency --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyModelView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Each cluster on each node.
    pub factors: Vec<NumaFactorView>,
    /// The NUMA factors of remote nodes together, or null.
    pub span: Option<FactorSpanView>,
    /// Why `span` is null, or null.
    pub span_unknown: Option<String>,
    /// By size.
    pub levels: Vec<LevelLatencyView>,
    /// Beside traffic.
    pub curves: Vec<LoadedCurveView>,
    /// What to do with it, in sentences.
    pub advice: Vec<String>,
}

/// A cluster on a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaFactorView {
    pub case: String,
    /// The cluster of the chase.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Whether the node is one of the cluster's own.
    pub is_local: bool,
    /// Time of an idle access, or null.
    pub latency: Option<TimeView>,
    /// Whether caches answered a part of the accesses.
    pub is_short: bool,
    /// That time / the least of the cluster's own nodes, or null.
    pub numa_factor: Option<f64>,
    /// What the intervals of both leave room for, or null.
    pub numa_factor_interval: Option<[f64; 2]>,
    /// Why it is null, or null.
    pub numa_factor_unknown: Option<String>,
    /// The firmware's distance / 10, or null.
    pub firmware_factor: Option<f64>,
    /// That / the measured one - 1, or null.
    pub firmware_error: Option<f64>,
    /// Whether what the firmware says is not so, or null.
    pub is_firmware_wrong: Option<bool>,
}

/// The NUMA factors of remote nodes together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactorSpanView {
    pub least_numa_factor: f64,
    pub most_numa_factor: f64,
    pub most_numa_factor_interval: [f64; 2],
    /// Cluster of the pair with the most.
    pub worst_cluster: u32,
    pub worst_memory_node: u32,
    /// Pairs of a cluster and a remote node that have a factor.
    pub pairs: usize,
}

/// Time of an access that one level answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelLatencyView {
    /// The cluster of the chase.
    pub cluster: u32,
    /// The node behind the caches.
    pub memory_node: u32,
    /// The cache, or null for memory.
    pub level: Option<u32>,
    /// Bytes that are walked through.
    pub working_set_bytes: u64,
    /// Median over rounds.
    pub median_ns: f64,
    pub interval_ns: [f64; 2],
}

/// A cluster on a node beside one kind of traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedCurveView {
    /// The cluster of the chase and of the threads beside it.
    pub cluster: u32,
    /// The node that all access.
    pub memory_node: u32,
    /// Whether the node is one of the cluster's own.
    pub is_local: bool,
    /// Kernel of the threads beside the chase.
    pub kernel: String,
    /// Its instruction-set variant.
    pub variant: String,
    /// How many they are.
    pub threads: u32,
    /// Time of the same access without them, or null.
    pub unloaded_ns: Option<f64>,
    /// Its interval, or null.
    pub unloaded_interval_ns: Option<[f64; 2]>,
    /// From the least load to the most.
    pub points: Vec<LoadedPointView>,
    /// Points of the plan without figures.
    pub missing: usize,
    /// Time of an access at its longest / without load, or null.
    pub most_rise: Option<f64>,
    /// Where the curve bends, or null.
    pub knee: Option<LatencyKneeView>,
    /// Why it is null, or null.
    pub knee_unknown: Option<String>,
    /// What may be moved beside accesses of 1.5 times the idle latency, or null.
    pub usable: Option<UsableBandwidthView>,
    /// Why it is null, or null.
    pub usable_unknown: Option<String>,
    /// The law of a queue, or null.
    pub queue: Option<LatencyQueueView>,
    /// Why it is null, or null.
    pub queue_unknown: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedPointView {
    /// Cycles that each thread pauses after every KiB of each array.
    pub pause_cycles: u32,
    /// Time of an access, median over rounds.
    pub median_ns: f64,
    pub interval_ns: [f64; 2],
    /// What the threads move, median over rounds.
    pub traffic_gb_per_s: f64,
    pub traffic_interval_gb_per_s: [f64; 2],
    /// Time of an access there by the law of the queue, or null.
    pub queue_ns: Option<f64>,
}

/// Where a loaded curve bends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyKneeView {
    pub traffic_gb_per_s: f64,
    /// Traffic at the neighbouring points.
    pub traffic_interval_gb_per_s: [f64; 2],
    /// Time of an access there.
    pub loaded_ns: f64,
    /// How far it lies below the straight line, a fraction of the rise.
    pub distance: f64,
}

/// What may be moved beside accesses that must not take too long.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsableBandwidthView {
    /// Time of an access there / the idle one.
    pub rise: f64,
    pub traffic_gb_per_s: f64,
    /// The least by the intervals of the latencies.
    pub least_gb_per_s: f64,
    /// The most, or null where it may lie beyond what was measured.
    pub most_gb_per_s: Option<f64>,
}

/// The law of a queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyQueueView {
    /// Time of an access without traffic.
    pub base_ns: f64,
    /// What the wait is a multiple of.
    pub service_ns: f64,
    /// Where the wait would have no end.
    pub capacity_gb_per_s: f64,
    /// Root mean square of (the law's / measured - 1).
    pub error: f64,
    /// The largest of these, without its sign.
    pub worst_error: f64,
    /// Points that it was fitted to.
    pub points: usize,
}

impl LatencyModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, model: &Latency) -> Self {
        Self {
            schema: "nearfar.latency/1",
            measured: MeasuredView::new(record),
            factors: model.factors.iter().map(NumaFactorView::new).collect(),
            span: model.span.as_ref().ok().map(FactorSpanView::new),
            span_unknown: model.span.as_ref().err().cloned(),
            levels: model.levels.iter().map(LevelLatencyView::new).collect(),
            curves: model.curves.iter().map(LoadedCurveView::new).collect(),
            advice: advice(model),
        }
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        text(self)
    }
}

fn pair(interval: (f64, f64)) -> [f64; 2] {
    [interval.0, interval.1]
}

fn giga(interval: (f64, f64)) -> [f64; 2] {
    [interval.0 / 1e9, interval.1 / 1e9]
}

impl NumaFactorView {
    fn new(pair_of: &NumaFactor) -> Self {
        let factor = pair_of.factor.as_ref().ok();
        Self {
            case: pair_of.case.clone(),
            cluster: pair_of.cluster,
            cpu_node: pair_of.cpu_node,
            memory_node: pair_of.memory_node,
            is_local: pair_of.is_local,
            latency: pair_of.time.as_ref().map(TimeView::from),
            is_short: pair_of.is_short,
            numa_factor: factor.map(|factor| factor.value),
            numa_factor_interval: factor.map(|factor| pair(factor.interval)),
            numa_factor_unknown: pair_of.factor.as_ref().err().cloned(),
            firmware_factor: pair_of.firmware,
            firmware_error: pair_of.firmware_error(),
            is_firmware_wrong: pair_of.is_firmware_wrong(),
        }
    }
}

impl FactorSpanView {
    fn new(span: &FactorSpan) -> Self {
        Self {
            least_numa_factor: span.least,
            most_numa_factor: span.most.value,
            most_numa_factor_interval: pair(span.most.interval),
            worst_cluster: span.worst_cluster,
            worst_memory_node: span.worst_node,
            pairs: span.pairs,
        }
    }
}

impl LevelLatencyView {
    fn new(level: &LevelLatency) -> Self {
        Self {
            cluster: level.cluster,
            memory_node: level.memory_node,
            level: level.level,
            working_set_bytes: level.working_set_bytes,
            median_ns: level.ns.median,
            interval_ns: pair(level.ns.interval),
        }
    }
}

impl LoadedCurveView {
    fn new(curve: &LoadedCurve) -> Self {
        Self {
            cluster: curve.cluster,
            memory_node: curve.memory_node,
            is_local: curve.is_local,
            kernel: curve.kernel.clone(),
            variant: curve.variant.clone(),
            threads: curve.threads,
            unloaded_ns: curve.idle.map(|idle| idle.median),
            unloaded_interval_ns: curve.idle.map(|idle| pair(idle.interval)),
            points: curve.points.iter().map(|point| LoadedPointView::new(curve, point)).collect(),
            missing: curve.missing,
            most_rise: curve.most_rise(),
            knee: curve.knee.as_ref().ok().map(LatencyKneeView::new),
            knee_unknown: curve.knee.as_ref().err().cloned(),
            usable: curve.usable.as_ref().ok().map(UsableBandwidthView::new),
            usable_unknown: curve.usable.as_ref().err().cloned(),
            queue: curve.queue.as_ref().ok().map(LatencyQueueView::new),
            queue_unknown: curve.queue.as_ref().err().cloned(),
        }
    }
}

impl LoadedPointView {
    fn new(curve: &LoadedCurve, point: &LoadedPoint) -> Self {
        let queue = curve.queue.as_ref().ok();
        Self {
            pause_cycles: point.pause_cycles,
            median_ns: point.ns.median,
            interval_ns: pair(point.ns.interval),
            traffic_gb_per_s: point.bytes_per_s.median / 1e9,
            traffic_interval_gb_per_s: giga(point.bytes_per_s.interval),
            queue_ns: queue.and_then(|queue| queue.ns(point.bytes_per_s.median)),
        }
    }
}

impl LatencyKneeView {
    fn new(knee: &LatencyKnee) -> Self {
        Self {
            traffic_gb_per_s: knee.bytes_per_s / 1e9,
            traffic_interval_gb_per_s: giga(knee.interval),
            loaded_ns: knee.ns,
            distance: knee.distance,
        }
    }
}

impl UsableBandwidthView {
    fn new(usable: &UsableBandwidth) -> Self {
        Self {
            rise: usable.rise,
            traffic_gb_per_s: usable.bytes_per_s / 1e9,
            least_gb_per_s: usable.interval.0 / 1e9,
            most_gb_per_s: usable.interval.1.map(|most| most / 1e9),
        }
    }
}

impl LatencyQueueView {
    fn new(queue: &LatencyQueue) -> Self {
        Self {
            base_ns: queue.idle_ns,
            service_ns: queue.service_ns,
            capacity_gb_per_s: queue.capacity / 1e9,
            error: queue.error,
            worst_error: queue.worst_error,
            points: queue.points,
        }
    }
}
