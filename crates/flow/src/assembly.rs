//! A machine made of the keys of its file.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use nearfar_machine::Machine;

use crate::bounds::{self, BadKey, FACTORS, FRACTION, REMAINDER};
use crate::calibration::calibrate;
use crate::capacities::Capacities;
use crate::layout::lay_out_machine;
use crate::machine_file::{KernelBehaviour, KernelEntry, MachineFile, check_variants, required};
use crate::pair_selection::Pairs;
use crate::simulated_machine::SimulatedMachine;
use crate::{cache_roof, exchange, hybrid, latency, origin, simulated_device};

/// From below what any core runs at to above it.
const GHZ: RangeInclusive<f64> = 0.01..=100.0;

/// The machine, with what its file says and nothing else.
pub(crate) fn assemble(file: MachineFile, text: &str) -> Result<SimulatedMachine, BadKey> {
    let name = required("name", file.name.clone())?;
    bounds::name("name", &name)?;
    let title = required("title", file.title.clone())?;
    bounds::line("title", &title)?;
    if let Some(paper) = &file.paper {
        bounds::name("paper", paper)?;
    }
    let mut machine = lay_out_machine(&name, &file)?;
    let variants = variants(&file)?;
    let kernels = kernels(&file, &variants)?;
    let pairs = Pairs::of(&file, &machine);
    let mut capacities = calibrate(&file, &machine, &pairs, &variants)?;
    let saturation = capacities[0].saturation;
    apply_faults(&file, &machine, &mut capacities)?;
    let core_ghz = file.core_ghz.map(|ghz| bounds::number("core_ghz", ghz, &GHZ)).transpose()?;
    file.noise.check()?;
    let real_time = file.clock.real_time.unwrap_or(0.0);
    bounds::number("clock.real_time", real_time, &FRACTION)?;
    let hubs = simulated_device::hubs(&file)?;
    let (devices, on_bus) = simulated_device::devices(&file, &machine, &hubs)?.into_iter().unzip();
    machine.devices = on_bus;
    Ok(SimulatedMachine {
        name,
        title,
        roofs: cache_roof::roofs(&file, &machine, &variants, saturation)?,
        flops: flops(&file, &variants)?,
        core_ghz,
        exchange: exchange::hand_overs(&file)?,
        latency: latency::latency(&file, &machine, &pairs)?,
        overlaps: hybrid::overlaps(&file, &machine)?,
        hubs,
        devices,
        machine,
        variants,
        kernels,
        capacities,
        real_time,
        origin: origin::origin(&file)?,
        published: origin::published(&file),
        paper: file.paper,
        noise: file.noise,
        faults: file.fault,
        text: text.into(),
    })
}

fn apply_faults(
    file: &MachineFile,
    machine: &Machine,
    capacities: &mut [Capacities],
) -> Result<(), BadKey> {
    let cpu_nodes: Vec<Option<u32>> =
        machine.initiators().into_iter().map(|initiator| initiator.cpu_node).collect();
    for (key, fault) in bounds::entries("fault", &file.fault)? {
        if let Some(factor) = fault.factor() {
            bounds::number(&format!("{key}.factor"), factor, &REMAINDER)?;
        }
        for of_variant in &mut *capacities {
            fault.apply(of_variant, &cpu_nodes).map_err(|why| BadKey::new(&key, why))?;
        }
    }
    Ok(())
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
    bounds::at_most("kernels", file.kernels.len(), bounds::MOST_ENTRIES)?;
    let mut kernels = BTreeMap::new();
    for (name, entry) in &file.kernels {
        bounds::name("a key of kernels", name)?;
        let behaviour = match entry {
            KernelEntry::Factor(factor) => KernelBehaviour { factor: *factor, variants: None },
            KernelEntry::Behaviour(behaviour) => behaviour.clone(),
        };
        bounds::number(&format!("kernels.{name}"), behaviour.factor, &FACTORS)?;
        let key = format!("kernels.{name}.variants");
        check_variants(&key, behaviour.variants.iter().flatten(), variants)?;
        if behaviour.variants.as_ref().is_some_and(Vec::is_empty) {
            return Err(BadKey::new(key, "is empty; leave it out for all variants"));
        }
        kernels.insert(name.clone(), behaviour);
    }
    Ok(kernels)
}

/// The loops that a file can speak of: operations on registers in double and single
/// precision.
const LOOPS: [&str; 10] = [
    "add_dp",
    "add_sp",
    "fma_add_dp",
    "fma_add_sp",
    "fma_dp",
    "fma_sp",
    "mul_add_dp",
    "mul_add_sp",
    "mul_dp",
    "mul_sp",
];
const PER_CYCLE: RangeInclusive<f64> = 1e-3..=1e5;

/// FLOPs that a core does in a cycle, by the name of the loop, in each variant.
fn flops(
    file: &MachineFile,
    variants: &[String],
) -> Result<BTreeMap<String, Vec<Option<f64>>>, BadKey> {
    let mut rates = BTreeMap::new();
    for (name, entry) in &file.flops {
        let key = format!("flops.{}", name.chars().take(80).collect::<String>());
        if !LOOPS.contains(&name.as_str()) {
            return Err(BadKey::new(key, format!("is no loop; there are {}", LOOPS.join(", "))));
        }
        let per_cycle = entry.of_variants(&key, variants, &PER_CYCLE)?;
        rates.insert(name.clone(), per_cycle);
    }
    if !rates.is_empty() && file.core_ghz.is_none() {
        let why = "is given in FLOPs per cycle, and core_ghz says not how long one is";
        return Err(BadKey::new("flops", why));
    }
    Ok(rates)
}
