//! How a machine's memory channels are populated.

use std::collections::BTreeMap;

use crate::machine::Machine;

/// Modules of ordinary memory and the channels that they are on. Each pair is from the least to the most.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// How its channels of ordinary memory are populated.
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
