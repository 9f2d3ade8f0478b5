//! The TOML file of a simulated machine: its keys.
//! `docs/simulated-machines.md` says what each key means.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use nearfar_machine::{Backend, MemoryKind, Relation};
use nearfar_units::excerpt;
use serde::{Deserialize, Serialize};

use crate::bounds::{self, BadKey};
use crate::fault::Fault;
use crate::noise::NoiseEntry;

/// The keys of a file; every one may be missing where another file is extended.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MachineFile {
    pub extends: Option<String>,
    pub name: Option<String>,
    pub title: Option<String>,
    pub paper: Option<String>,
    pub cpu_model: Option<String>,
    pub threads_per_core: Option<u32>,
    pub core_ghz: Option<f64>,
    pub node: Option<Vec<NodeEntry>>,
    pub cache: CacheEntry,
    pub distances: Option<Vec<Vec<u64>>>,
    pub variants: Option<Vec<String>>,
    pub kernels: BTreeMap<String, KernelEntry>,
    pub saturation: Option<f64>,
    pub fairness: Option<f64>,
    pub bandwidth: Vec<BandwidthEntry>,
    pub controller: Vec<ControllerEntry>,
    pub issue: Vec<IssueEntry>,
    pub link: Vec<LinkEntry>,
    pub pressure: Vec<PressureEntry>,
    pub roof: Vec<RoofEntry>,
    pub flops: BTreeMap<String, ByVariant>,
    pub latency: Vec<LatencyEntry>,
    pub chase: ChaseEntry,
    pub queue: QueueEntry,
    pub overlap: Vec<OverlapEntry>,
    pub hub: Vec<HubEntry>,
    pub device: Vec<DeviceEntry>,
    pub noise: NoiseEntry,
    pub clock: ClockEntry,
    pub fault: Vec<Fault>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeEntry {
    pub number: Option<u32>,
    #[serde(default)]
    pub package: u32,
    pub kind: Option<MemoryKind>,
    pub memory: Option<String>,
    pub memory_side_cache: Option<String>,
    #[serde(default)]
    pub cores: u32,
    pub l3_domains: Option<u32>,
    pub near: Option<BTreeSet<u32>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CacheEntry {
    pub l1: Option<String>,
    pub l2: Option<String>,
    pub l3: Option<String>,
    pub line: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a factor such as 0.9, or { factor = 0.9, variants = [\"..\"] }"
)]
pub(crate) enum KernelEntry {
    Factor(f64),
    Behaviour(KernelBehaviour),
}

/// How a kernel differs from the triad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelBehaviour {
    /// Its useful bytes / the triad's, in the same time on the same parts.
    pub factor: f64,
    /// Variants that exist of it, the preferred first; `None` for all.
    pub variants: Option<Vec<String>>,
}

/// One figure for all variants, or one for each.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected GB/s such as 9.3, or a table with GB/s for each variant")]
pub(crate) enum ByVariant {
    All(f64),
    Each(BTreeMap<String, f64>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BandwidthEntry {
    pub pairs: Option<BTreeSet<(u32, u32)>>,
    pub relation: Option<Relation>,
    pub distance: Option<u64>,
    pub kind: Option<MemoryKind>,
    pub one_thread: Option<ByVariant>,
    pub all_threads: Option<ByVariant>,
    /// By number of threads; a TOML key is text.
    pub threads: Option<BTreeMap<String, ByVariant>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControllerEntry {
    pub nodes: Option<BTreeSet<u32>>,
    pub kind: Option<MemoryKind>,
    pub gb_per_s: f64,
    pub interference: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssueEntry {
    pub cpu_nodes: Option<BTreeSet<u32>>,
    pub gb_per_s: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkEntry {
    pub name: String,
    pub gb_per_s: f64,
    pub crosses: Option<BTreeSet<(u32, u32)>>,
    pub from_package: Option<u32>,
    pub from_nodes: Option<BTreeSet<u32>>,
    pub to_package: Option<u32>,
    pub to_nodes: Option<BTreeSet<u32>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PressureEntry {
    pub nodes: Option<BTreeSet<u32>>,
    pub a: f64,
    pub b: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoofEntry {
    pub level: u8,
    pub kernels: Option<BTreeSet<String>>,
    pub one_core: ByVariant,
    pub all_cores: Option<ByVariant>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LatencyEntry {
    pub pairs: Option<BTreeSet<(u32, u32)>>,
    pub relation: Option<Relation>,
    pub distance: Option<u64>,
    pub kind: Option<MemoryKind>,
    pub ns: f64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChaseEntry {
    pub l1_ns: Option<f64>,
    pub l2_ns: Option<f64>,
    pub l3_ns: Option<f64>,
    pub memory_side_ns: Option<f64>,
    pub base_pages_ns: Option<f64>,
    pub huge_pages_ns: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QueueEntry {
    pub service_ns: Option<f64>,
    pub most_ns: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverlapEntry {
    /// Fast and slow node.
    pub memory: BTreeSet<(u32, u32)>,
    pub cpu_nodes: Option<BTreeSet<u32>>,
    pub gb_per_s: ByAccess,
    pub fast_loads: BesideEntry,
    pub fast_stores: BesideEntry,
    pub slow_loads: BesideEntry,
    pub slow_stores: BesideEntry,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HubEntry {
    pub name: String,
    pub gb_per_s: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceEntry {
    pub bus_id: String,
    pub name: String,
    pub backend: Option<Backend>,
    pub memory: Option<String>,
    /// Those next to it.
    pub nodes: BTreeSet<u32>,
    pub link: Option<String>,
    pub hub: Option<String>,
    /// GB/s, by memory node.
    pub to_device: Vec<f64>,
    pub to_host: Vec<f64>,
    pub both_ways: Option<f64>,
    pub pageable: Option<f64>,
    pub latency_us: Option<f64>,
}

/// A number for each kind of access.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ByAccess {
    pub fast_loads: f64,
    pub fast_stores: f64,
    pub slow_loads: f64,
    pub slow_stores: f64,
}

/// A number for each kind of access but one.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BesideEntry {
    pub fast_loads: Option<f64>,
    pub fast_stores: Option<f64>,
    pub slow_loads: Option<f64>,
    pub slow_stores: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClockEntry {
    pub real_time: Option<f64>,
}

impl MachineFile {
    /// These keys where they are given, else those of `base`. Entries of repeated
    /// tables come after those of the base and so prevail over them; only `node` and the values of
    /// plain keys are replaced as a whole.
    pub fn over(self, base: Self) -> Self {
        Self {
            extends: None,
            name: self.name,
            title: self.title,
            paper: self.paper.or(base.paper),
            cpu_model: self.cpu_model.or(base.cpu_model),
            threads_per_core: self.threads_per_core.or(base.threads_per_core),
            core_ghz: self.core_ghz.or(base.core_ghz),
            node: self.node.or(base.node),
            cache: CacheEntry {
                l1: self.cache.l1.or(base.cache.l1),
                l2: self.cache.l2.or(base.cache.l2),
                l3: self.cache.l3.or(base.cache.l3),
                line: self.cache.line.or(base.cache.line),
            },
            distances: self.distances.or(base.distances),
            variants: self.variants.or(base.variants),
            kernels: base.kernels.into_iter().chain(self.kernels).collect(),
            saturation: self.saturation.or(base.saturation),
            fairness: self.fairness.or(base.fairness),
            bandwidth: joined(base.bandwidth, self.bandwidth),
            controller: joined(base.controller, self.controller),
            issue: joined(base.issue, self.issue),
            link: joined(base.link, self.link),
            pressure: joined(base.pressure, self.pressure),
            roof: joined(base.roof, self.roof),
            flops: base.flops.into_iter().chain(self.flops).collect(),
            latency: joined(base.latency, self.latency),
            chase: ChaseEntry {
                l1_ns: self.chase.l1_ns.or(base.chase.l1_ns),
                l2_ns: self.chase.l2_ns.or(base.chase.l2_ns),
                l3_ns: self.chase.l3_ns.or(base.chase.l3_ns),
                memory_side_ns: self.chase.memory_side_ns.or(base.chase.memory_side_ns),
                base_pages_ns: self.chase.base_pages_ns.or(base.chase.base_pages_ns),
                huge_pages_ns: self.chase.huge_pages_ns.or(base.chase.huge_pages_ns),
            },
            queue: QueueEntry {
                service_ns: self.queue.service_ns.or(base.queue.service_ns),
                most_ns: self.queue.most_ns.or(base.queue.most_ns),
            },
            overlap: joined(base.overlap, self.overlap),
            hub: joined(base.hub, self.hub),
            device: joined(base.device, self.device),
            noise: NoiseEntry {
                between_rounds: self.noise.between_rounds.or(base.noise.between_rounds),
                within_round: self.noise.within_round.or(base.noise.within_round),
                outliers: self.noise.outliers.or(base.noise.outliers),
                disturbed: self.noise.disturbed.or(base.noise.disturbed),
                drift_per_round: self.noise.drift_per_round.or(base.noise.drift_per_round),
                modes: self.noise.modes.or(base.noise.modes),
                unbound: self.noise.unbound.or(base.noise.unbound),
            },
            clock: ClockEntry { real_time: self.clock.real_time.or(base.clock.real_time) },
            fault: joined(base.fault, self.fault),
        }
    }
}

fn joined<T>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
    first.extend(second);
    first
}

pub(crate) fn required<T>(key: &str, value: Option<T>) -> Result<T, BadKey> {
    value.ok_or_else(|| BadKey::new(key, "is missing; a machine cannot be without it"))
}

impl ByVariant {
    /// The figure of each variant; `None` for one that the entry leaves out.
    pub fn of_variants(
        &self,
        key: &str,
        variants: &[String],
        allowed: &RangeInclusive<f64>,
    ) -> Result<Vec<Option<f64>>, BadKey> {
        match self {
            Self::All(value) => {
                Ok(vec![Some(bounds::number(key, *value, allowed)?); variants.len()])
            }
            Self::Each(values) => {
                if let Some(strange) = values.keys().find(|name| !variants.contains(name)) {
                    let why = format!(
                        "names the variant \"{}\"; there are {}",
                        excerpt(strange),
                        variants.join(", ")
                    );
                    return Err(BadKey::new(key, why));
                }
                let of_variant = |variant: &String| {
                    let value = values.get(variant);
                    let key = format!("{key}.{variant}");
                    value.map(|&value| bounds::number(&key, value, allowed)).transpose()
                };
                variants.iter().map(of_variant).collect()
            }
        }
    }
}
