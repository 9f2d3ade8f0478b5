//! The TOML file of a simulated machine: its keys.
//! `docs/simulated-machines.md` says what each key means.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use nearfar_machine::{Backend, MemoryKind, Relation};
use nearfar_units::excerpt;
use serde::Deserialize;

use crate::bounds::{self, BadKey};
use crate::fault::Fault;
use crate::noise::Noise;
use crate::origin::Source;

/// The keys of a file, over those of the one that it extends.
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
    pub exchange: ExchangeEntry,
    pub queue: QueueEntry,
    pub curve: Vec<CurveEntry>,
    pub overlap: Vec<OverlapEntry>,
    pub hub: Vec<HubEntry>,
    pub device: Vec<DeviceEntry>,
    pub noise: Noise,
    pub clock: ClockEntry,
    pub fault: Vec<Fault>,
    pub matrix: MatrixEntry,
    pub source: Vec<Source>,
    pub assumed: BTreeMap<String, String>,
    pub left_out: Vec<String>,
}

/// Figures of many pairs as they are printed: rows are nodes with cores, columns memory nodes, both ascending. A
/// row may end early.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MatrixEntry {
    pub latency_ns: Option<Vec<Vec<f64>>>,
    /// GB/s.
    pub all_threads: Option<Vec<Vec<f64>>>,
    /// By kernel, GB/s of traffic. Nothing is simulated by it.
    pub traffic: BTreeMap<String, f64>,
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    #[serde(default)]
    pub interference: f64,
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
pub(crate) struct ExchangeEntry {
    pub same_core_ns: Option<f64>,
    pub same_l3_ns: Option<f64>,
    pub same_node_ns: Option<f64>,
    pub same_package_ns: Option<f64>,
    pub other_package_ns: Option<f64>,
    pub compare_swap: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QueueEntry {
    pub service_ns: Option<f64>,
    pub most_ns: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CurveEntry {
    pub pairs: BTreeSet<(u32, u32)>,
    /// Read share, GB/s of traffic, ns.
    pub points: Vec<[f64; 3]>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverlapEntry {
    /// Fast and slow node.
    pub memory: BTreeSet<(u32, u32)>,
    pub cpu_nodes: Option<BTreeSet<u32>>,
    pub gb_per_s: ByAccess<f64>,
    /// Those beside the one that takes longest.
    pub fast_loads: ByAccess<Option<f64>>,
    pub fast_stores: ByAccess<Option<f64>>,
    pub slow_loads: ByAccess<Option<f64>>,
    pub slow_stores: ByAccess<Option<f64>>,
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

/// Something of each kind of access to a fast and a slow memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByAccess<T> {
    pub fast_loads: T,
    pub fast_stores: T,
    pub slow_loads: T,
    pub slow_stores: T,
}

impl<T> ByAccess<T> {
    pub(crate) fn each(self) -> [T; 4] {
        [self.fast_loads, self.fast_stores, self.slow_loads, self.slow_stores]
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClockEntry {
    pub real_time: Option<f64>,
}

/// Refuses names of variants that the machine does not have.
pub(crate) fn check_variants<'n>(
    key: &str,
    mut names: impl Iterator<Item = &'n String>,
    variants: &[String],
) -> Result<(), BadKey> {
    let Some(strange) = names.find(|name| !variants.contains(name)) else { return Ok(()) };
    let (name, known) = (excerpt(strange), variants.join(", "));
    Err(BadKey::new(key, format!("names the variant \"{name}\"; there are {known}")))
}

pub(crate) fn required<T>(key: &str, value: Option<T>) -> Result<T, BadKey> {
    value.ok_or_else(|| BadKey::new(key, "is missing; a machine cannot be without it"))
}

impl ByVariant {
    /// The figure, where it is one for all variants.
    pub fn of_all(&self) -> Option<f64> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(_) => None,
        }
    }

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
                check_variants(key, values.keys(), variants)?;
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
