//! How memory modules are dealt out over a machine's channels, and what is uneven about it.

use std::collections::BTreeMap;

use nearfar_units::Bytes;
use serde::Serialize;

use crate::machine::Machine;

/// Modules of ordinary memory and the channels that they are on. Each pair is from the least to the most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModulePopulation {
    pub modules: usize,
    /// Channels with a module.
    pub channels: usize,
    pub modules_per_channel: (usize, usize),
    /// Channels with a module of each package; null where the modules' names do not tell it.
    pub channels_per_package: Option<(usize, usize)>,
    /// Sizes; null where one is not said.
    pub bytes: Option<(u64, u64)>,
    /// Speeds at which they run, 1e6 transfers/s; null where one is not said.
    pub mt_per_s: Option<(u32, u32)>,
    /// Whether a module runs below the speed that it could.
    pub runs_below_its_speed: bool,
}

impl Machine {
    /// How its modules are dealt out.
    ///
    /// # Errors
    /// Why it is not known: the modules are not, or their names do not tell their channels.
    pub fn module_population(&self) -> Result<ModulePopulation, String> {
        let modules = self.ordinary_modules()?;
        let channels = self.modules_by_channel()?;
        let mut packages: BTreeMap<_, usize> = BTreeMap::new();
        for name in channels.keys() {
            *packages.entry(name.package()).or_default() += 1;
        }
        let named = packages.len() == self.packages.len().max(1) && !packages.contains_key(&None);
        let span = |counts: &mut dyn Iterator<Item = usize>| {
            counts.fold((usize::MAX, 0), |(low, high), it| (low.min(it), high.max(it)))
        };
        Ok(ModulePopulation {
            modules: modules.len(),
            channels: channels.len(),
            modules_per_channel: span(&mut channels.values().copied()),
            channels_per_package: named.then(|| span(&mut packages.values().copied())),
            bytes: ends(modules.iter().map(|module| module.bytes)),
            mt_per_s: ends(modules.iter().map(|module| module.configured_mt_per_s)),
            runs_below_its_speed: modules.iter().any(|module| {
                let speeds = module.configured_mt_per_s.zip(module.max_mt_per_s);
                // Firmware rounds 2666 and 2667.
                speeds.is_some_and(|(now, most)| now + 1 < most)
            }),
        })
    }
}

/// `None` where there is none, or one is not known.
fn ends<T: Ord + Copy>(of: impl Iterator<Item = Option<T>>) -> Option<(T, T)> {
    let all: Vec<T> = of.collect::<Option<_>>()?;
    Some((*all.iter().min()?, *all.iter().max()?))
}

impl ModulePopulation {
    /// `16 modules on 16 channels, 8 a package, each of 32 GiB at 4800 MT/s`.
    pub fn words(&self) -> String {
        let packages = match self.channels_per_package {
            Some((low, high)) if low == high => format!(", {low} a package"),
            _ => String::new(),
        };
        let size = match self.bytes {
            Some((low, high)) if low == high => format!(" of {}", Bytes(low)),
            _ => String::new(),
        };
        let speed = match self.mt_per_s {
            Some((low, high)) if low == high => format!(" at {low} MT/s"),
            _ => String::new(),
        };
        let each = if size.is_empty() && speed.is_empty() { "" } else { ", each" };
        let noun = if self.modules == 1 { "module" } else { "modules" };
        format!(
            "{} {noun} on {} channels{packages}{each}{size}{speed}",
            self.modules, self.channels
        )
    }

    /// What is uneven, each in a clause; empty where nothing is.
    pub fn unevenness(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some((low, high)) = self.channels_per_package.filter(|(low, high)| low < high) {
            found.push(format!("packages have {low} to {high} channels with modules"));
        }
        let (low, high) = self.modules_per_channel;
        if low < high {
            found.push(format!("channels have {low} to {high} modules"));
        }
        if let Some((low, high)) = self.bytes.filter(|(low, high)| low < high) {
            found.push(format!("modules have {} to {}", Bytes(low), Bytes(high)));
        }
        if let Some((low, high)) = self.mt_per_s.filter(|(low, high)| low < high) {
            found.push(format!("modules run at {low} to {high} MT/s"));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_module::MemoryModule;
    use crate::{CpuSet, Package, Source};

    fn module(locator: &str, gib: u64) -> MemoryModule {
        MemoryModule {
            locator: locator.into(),
            bank: None,
            kind: Some("DDR4".into()),
            bytes: Some(gib << 30),
            configured_mt_per_s: Some(2933),
            max_mt_per_s: Some(2933),
            data_bits: Some(64),
            manufacturer: None,
            part_number: None,
        }
    }

    fn machine(modules: Vec<MemoryModule>) -> Machine {
        let package = |os_index| Package { os_index, cpus: CpuSet::single(os_index), model: None };
        Machine {
            source: Source::Live,
            packages: vec![package(0), package(1)],
            nodes: Vec::new(),
            cores: Vec::new(),
            caches: Vec::new(),
            distances: None,
            firmware_figures: Vec::new(),
            devices: Vec::new(),
            allowed_cpus: CpuSet::default(),
            allowed_nodes: crate::NodeSet::default(),
            interleave_weights: None,
            memory_modules: Some(modules),
            empty_memory_sockets: None,
            memory_modules_unknown: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn even_modules_are_told_and_uneven_ones_found() {
        let even: Vec<MemoryModule> = ["A1", "B1", "C1"]
            .iter()
            .flat_map(|name| [0, 1].map(|cpu| module(&format!("P{cpu}_DIMM_{name}"), 32)))
            .collect();
        let population = machine(even.clone()).module_population().unwrap();
        let words = "6 modules on 6 channels, 3 a package, each of 32 GiB at 2933 MT/s";
        assert_eq!(population.words(), words);
        assert_eq!(population.unevenness(), Vec::<String>::new());

        let mut uneven = even;
        uneven.pop();
        uneven.push(module("P0_DIMM_A2", 16));
        let population = machine(uneven).module_population().unwrap();
        assert_eq!(
            population.unevenness(),
            [
                "packages have 2 to 3 channels with modules",
                "channels have 1 to 2 modules",
                "modules have 16 GiB to 32 GiB",
            ]
        );
    }

    #[test]
    fn without_modules_there_is_a_reason() {
        let unknown = Machine {
            memory_modules: None,
            memory_modules_unknown: Some("only root may read them".into()),
            ..machine(Vec::new())
        };
        assert_eq!(unknown.module_population().unwrap_err(), "only root may read them");
    }
}
