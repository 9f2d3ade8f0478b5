//! A machine made of the keys of its file.

use std::collections::BTreeMap;

use nearfar_machine::Machine;
use nearfar_units::excerpt;

use crate::bounds::{self, BadKey, FACTORS, FRACTION, REMAINDER};
use crate::calibration::calibrate;
use crate::capacities::Capacities;
use crate::layout::lay_out_machine;
use crate::machine_file::{self, KernelBehaviour, KernelEntry, MachineFile};
use crate::noise::Noise;
use crate::simulated_machine::SimulatedMachine;
use crate::{arithmetic, cache_roof, hybrid, latency, simulated_device};

/// From below what any core runs at to above it.
const GHZ: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// The machine, with what its file says and nothing else.
pub(crate) fn assemble(file: MachineFile, text: &str) -> Result<SimulatedMachine, BadKey> {
    let name = machine_file::required("name", file.name.clone())?;
    bounds::name("name", &name)?;
    let title = machine_file::required("title", file.title.clone())?;
    bounds::line("title", &title)?;
    if let Some(paper) = &file.paper {
        bounds::name("paper", paper)?;
    }
    let mut machine = lay_out_machine(&name, &file)?;
    let variants = variants(&file)?;
    let kernels = kernels(&file, &variants)?;
    let mut capacities = calibrate(&file, &machine, &variants)?;
    let saturation = capacities[0].saturation;
    apply_faults(&file, &machine, &mut capacities)?;
    let core_ghz = file.core_ghz.map(|ghz| bounds::number("core_ghz", ghz, &GHZ)).transpose()?;
    let hubs = simulated_device::hubs(&file)?;
    let (devices, on_bus) = simulated_device::devices(&file, &machine, &hubs)?.into_iter().unzip();
    machine.devices = on_bus;
    Ok(SimulatedMachine {
        name,
        title,
        roofs: cache_roof::roofs(&file, &machine, &variants, saturation)?,
        flops: arithmetic::flops(&file, &variants)?,
        core_ghz,
        latency: latency::latency(&file, &machine)?,
        overlaps: hybrid::overlaps(&file, &machine)?,
        hubs,
        devices,
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

fn apply_faults(
    file: &MachineFile,
    machine: &Machine,
    capacities: &mut [Capacities],
) -> Result<(), BadKey> {
    let cpu_nodes: Vec<Option<u32>> =
        machine.initiators().into_iter().map(|initiator| initiator.cpu_node).collect();
    bounds::entries("fault", &file.fault)?;
    for (index, fault) in file.fault.iter().enumerate() {
        let key = format!("fault[{index}]");
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
            let why = format!(
                "names the variant \"{}\"; there are {}",
                excerpt(strange),
                variants.join(", ")
            );
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
