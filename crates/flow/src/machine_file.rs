//! The TOML file of a simulated machine: its keys, and a machine made of them.
//! `docs/simulated-machines.md` says what each key means.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{MemoryKind, Relation};
use nearfar_units::excerpt_of;
use serde::Deserialize;

use crate::bounds::{self, BadKey, FACTORS, FRACTION, REMAINDER};
use crate::builtin;
use crate::calibration::calibrate;
use crate::error::FlowError;
use crate::fault::Fault;
use crate::layout::lay_out_machine;
use crate::noise::{Disturbed, Mode, Noise, Outliers};
use crate::simulated_machine::{KernelBehaviour, SimulatedMachine};

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
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControllerEntry {
    pub nodes: Option<BTreeSet<u32>>,
    pub kind: Option<MemoryKind>,
    pub gb_per_s: f64,
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

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NoiseEntry {
    pub between_rounds: Option<f64>,
    pub within_round: Option<f64>,
    pub outliers: Option<Outliers>,
    pub disturbed: Option<Disturbed>,
    pub drift_per_round: Option<f64>,
    pub modes: Option<Vec<Mode>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClockEntry {
    pub real_time: Option<f64>,
}

/// Reads a machine from the text of a file, whose name is for messages.
///
/// # Errors
/// [`FlowError::TooLarge`] above 1 MiB, [`FlowError::NotAMachine`] with the line for
/// text that is not TOML or has unknown keys, [`FlowError::Key`] with the key for a value
/// that is not allowed, [`FlowError::UnknownBase`] when it extends a machine that is not
/// built in.
pub fn parse_machine(file: &str, text: &str) -> Result<SimulatedMachine, FlowError> {
    let file = file.escape_debug().to_string();
    if text.len() > LARGEST_FILE {
        return Err(FlowError::TooLarge { file, limit_bytes: LARGEST_FILE });
    }
    let keys = read_keys(&file, text)?;
    assemble(keys, text).map_err(|BadKey { key, why }| FlowError::Key { file, key, why })
}

/// The most that is read of a file; the built-in ones have 1 to 4 KB.
pub(crate) const LARGEST_FILE: usize = 1 << 20;

/// Of what the TOML reader says so much is passed on: it repeats keys and values, and lists the
/// keys that there are.
const LONGEST_REASON: usize = 600;

/// Of a name that is not known so much is repeated.
const LONGEST_NAME: usize = 80;

/// The keys of a file over those of the machines that it extends.
fn read_keys(file: &str, text: &str) -> Result<MachineFile, FlowError> {
    let keys: MachineFile = toml::from_str(text).map_err(|error| FlowError::NotAMachine {
        file: file.into(),
        line: error.span().map(|span| line_at(text, span.start)),
        why: excerpt_of(error.message().trim_end(), LONGEST_REASON),
    })?;
    match keys.extends.clone() {
        None => Ok(keys),
        // Only built-in machines can be extended, so that no file opens others and none
        // extends itself; the built-in ones are tested to come to an end.
        Some(base) => {
            let text = builtin::text_of(&base).ok_or_else(|| FlowError::UnknownBase {
                file: file.into(),
                name: base.chars().take(LONGEST_NAME).collect(),
                known: builtin::known_names(),
            })?;
            Ok(keys.over(read_keys(&base, text)?))
        }
    }
}

fn line_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count()
}

impl MachineFile {
    /// These keys where they are given, else those of `base`. Entries of repeated
    /// tables come after those of the base and so prevail over them; only `node` and the values of
    /// plain keys are replaced as a whole.
    fn over(self, base: Self) -> Self {
        Self {
            extends: None,
            name: self.name,
            title: self.title,
            paper: self.paper.or(base.paper),
            cpu_model: self.cpu_model.or(base.cpu_model),
            threads_per_core: self.threads_per_core.or(base.threads_per_core),
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
            noise: NoiseEntry {
                between_rounds: self.noise.between_rounds.or(base.noise.between_rounds),
                within_round: self.noise.within_round.or(base.noise.within_round),
                outliers: self.noise.outliers.or(base.noise.outliers),
                disturbed: self.noise.disturbed.or(base.noise.disturbed),
                drift_per_round: self.noise.drift_per_round.or(base.noise.drift_per_round),
                modes: self.noise.modes.or(base.noise.modes),
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

fn assemble(file: MachineFile, text: &str) -> Result<SimulatedMachine, BadKey> {
    let name = required("name", file.name.clone())?;
    bounds::name("name", &name)?;
    let title = required("title", file.title.clone())?;
    bounds::line("title", &title)?;
    if let Some(paper) = &file.paper {
        bounds::name("paper", paper)?;
    }
    let machine = lay_out_machine(&name, &file)?;
    let variants = variants(&file)?;
    let kernels = kernels(&file, &variants)?;
    let mut capacities = calibrate(&file, &machine, &variants)?;
    let cpu_nodes: Vec<Option<u32>> =
        machine.clusters().into_iter().map(|cluster| cluster.cpu_node).collect();
    bounds::entries("fault", &file.fault)?;
    for (index, fault) in file.fault.iter().enumerate() {
        let key = format!("fault[{index}]");
        if let Some(factor) = fault.factor() {
            bounds::number(&format!("{key}.factor"), factor, &REMAINDER)?;
        }
        for of_variant in &mut capacities {
            fault.apply(of_variant, &cpu_nodes).map_err(|why| BadKey::new(&key, why))?;
        }
    }
    Ok(SimulatedMachine {
        name,
        title,
        machine,
        variants,
        kernels,
        capacities,
        noise: Noise::of_file(&file.noise)?,
        real_time: bounds::number(
            "clock.real_time",
            file.clock.real_time.unwrap_or(0.0),
            &FRACTION,
        )?,
        paper: file.paper,
        faults: file.fault,
        text: text.into(),
    })
}

pub(crate) fn required<T>(key: &str, value: Option<T>) -> Result<T, BadKey> {
    value.ok_or_else(|| BadKey::new(key, "is missing; a machine cannot be without it"))
}

/// A machine without named variants has one, so that cases can name it.
const ONLY_VARIANT: &str = "simulated";
const MOST_VARIANTS: usize = 16;

fn variants(file: &MachineFile) -> Result<Vec<String>, BadKey> {
    let variants = file.variants.clone().unwrap_or_else(|| vec![ONLY_VARIANT.into()]);
    if variants.is_empty() || variants.len() > MOST_VARIANTS {
        let why = format!("has {} names; allowed is 1 to {MOST_VARIANTS}", variants.len());
        return Err(BadKey::new("variants", why));
    }
    for (index, variant) in variants.iter().enumerate() {
        bounds::name("variants", variant)?;
        if variants[..index].contains(variant) {
            return Err(BadKey::new("variants", format!("names {variant:?} twice")));
        }
    }
    Ok(variants)
}

fn kernels(
    file: &MachineFile,
    variants: &[String],
) -> Result<BTreeMap<String, KernelBehaviour>, BadKey> {
    if file.kernels.len() > bounds::MOST_ENTRIES {
        return Err(BadKey::new(
            "kernels",
            format!("has more than {} entries", bounds::MOST_ENTRIES),
        ));
    }
    let mut kernels = BTreeMap::new();
    for (name, entry) in &file.kernels {
        bounds::name("a key of kernels", name)?;
        let behaviour = match entry {
            KernelEntry::Factor(factor) => KernelBehaviour { factor: *factor, variants: None },
            KernelEntry::Behaviour(behaviour) => behaviour.clone(),
        };
        bounds::number(&format!("kernels.{name}"), behaviour.factor, &FACTORS)?;
        let own = behaviour.variants.as_deref().unwrap_or_default();
        if let Some(strange) = own.iter().find(|variant| !variants.contains(variant)) {
            let why = format!("names the variant {strange:?}; there are {}", variants.join(", "));
            return Err(BadKey::new(format!("kernels.{name}.variants"), why));
        }
        if behaviour.variants.as_ref().is_some_and(Vec::is_empty) {
            let why = "is empty; leave it out for all variants";
            return Err(BadKey::new(format!("kernels.{name}.variants"), why));
        }
        kernels.insert(name.clone(), behaviour);
    }
    Ok(kernels)
}
