//! Memory channels, counted by the names of the sockets with a module in them.
//!
//! Assumes that a board names its sockets by one rule. Fails when a name says
//! something else than it seems to: what is in doubt is not counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{Machine, MemoryNode};
use crate::memory_module::MemoryModule;
use crate::module_name::{ChannelName, Rule};

impl Machine {
    /// The number of memory channels with a module of ordinary memory in them, by the
    /// names of their sockets.
    ///
    /// # Errors
    /// Why they cannot be counted: the modules are not known, or their names do not
    /// tell the channel.
    pub fn memory_channels(&self) -> Result<usize, String> {
        self.channel_names().map(|names| names.len())
    }

    /// The number of channels of every memory node that has CPUs of its own. It is
    /// known only where each package is one such node and all packages have equally
    /// many channels: over several nodes of a package the firmware divides its
    /// channels, or spreads each node over all of them, and nothing says which.
    pub(crate) fn channels_of_a_node(&self) -> Result<usize, String> {
        let names = self.channel_names()?;
        self.check_one_node_a_package()?;
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for name in &names {
            *counts.entry(name.package()).or_default() += 1;
        }
        let packages = self.packages.len().max(1);
        let unnamed = counts.contains_key(&None);
        if packages > 1 && unnamed {
            return Err("the names of the memory modules do not tell their package".into());
        }
        if counts.len() != packages {
            return Err(format!(
                "packages by the names of the memory modules: {}, in the machine: {packages}",
                counts.len()
            ));
        }
        let different: BTreeSet<usize> = counts.values().copied().collect();
        match different.iter().copied().collect::<Vec<usize>>().as_slice() {
            [channels] => Ok(*channels),
            several => {
                let several: Vec<String> = several.iter().map(usize::to_string).collect();
                Err(format!("the packages have {} channels in use", several.join(" and ")))
            }
        }
    }

    fn check_one_node_a_package(&self) -> Result<(), String> {
        let owners: Vec<&MemoryNode> =
            self.nodes.iter().filter(|node| !node.cpus.is_empty() && node.has_memory()).collect();
        let packages = self.packages.len().max(1);
        let one_each = owners.len() == packages
            && owners.iter().all(|node| node.kind.may_be_ordinary())
            && self.packages.iter().all(|package| {
                owners.iter().filter(|node| node.cpus.is_subset(&package.cpus)).count() == 1
            });
        if one_each {
            return Ok(());
        }
        Err(format!(
            "packages: {packages}, memory nodes with CPUs: {}; only where each package is one node \
             of ordinary memory are its channels known to be the node's",
            owners.len()
        ))
    }

    /// The channels in use, each once.
    fn channel_names(&self) -> Result<BTreeSet<ChannelName>, String> {
        self.modules_by_channel().map(|channels| channels.into_keys().collect())
    }

    /// How many modules of ordinary memory each channel in use has.
    pub(crate) fn modules_by_channel(&self) -> Result<BTreeMap<ChannelName, usize>, String> {
        let modules = self.ordinary_modules()?;
        let mut seen = BTreeSet::new();
        for module in &modules {
            if !seen.insert((module.bank.as_deref(), module.locator.as_str())) {
                return Err(format!(
                    "two memory modules have the same name, {}, so that their names do not tell \
                     their channels",
                    module.name()
                ));
            }
        }
        let packages = self.packages.len().max(1);
        let mut readings = Rule::ALL.into_iter().filter_map(|rule| {
            let sure = |found: &BTreeMap<ChannelName, usize>| {
                rule != Rule::Letter || letters_are_channels(found, packages)
            };
            read_all(rule, &modules).filter(sure).map(|found| (rule, found))
        });
        let named = || modules.first().map_or_else(String::new, |module| module.name());
        let Some((_, found)) = readings.next() else {
            return Err(format!(
                "the names of the memory modules ({}) do not tell their channels",
                named()
            ));
        };
        // Letters alone may stand for the same channels of every package.
        let other =
            readings.find(|(rule, other)| *rule != Rule::Letter && other.len() != found.len());
        if let Some((_, other)) = other {
            return Err(format!(
                "the names of the memory modules ({}) contradict each other; channels by their \
                 banks: {}, by their sockets: {}",
                named(),
                found.len(),
                other.len()
            ));
        }
        Ok(found)
    }

    pub(crate) fn ordinary_modules(&self) -> Result<Vec<&MemoryModule>, String> {
        let Some(modules) = &self.memory_modules else {
            return Err(self
                .memory_modules_unknown
                .clone()
                .unwrap_or_else(|| "the memory modules are not known".into()));
        };
        if let Some(module) = modules.iter().find(|module| module.is_of_unsaid_kind()) {
            return Err(format!(
                "the firmware does not say the kind of the memory module {}",
                module.name()
            ));
        }
        let ordinary: Vec<&MemoryModule> =
            modules.iter().filter(|module| module.is_ordinary()).collect();
        if ordinary.is_empty() {
            return Err("the firmware lists no modules of ordinary memory (DDR)".into());
        }
        Ok(ordinary)
    }
}

/// The channels with the number of modules on each, where one rule reads all names and
/// all use the same words.
fn read_all(rule: Rule, modules: &[&MemoryModule]) -> Option<BTreeMap<ChannelName, usize>> {
    let mut found: BTreeMap<ChannelName, usize> = BTreeMap::new();
    for module in modules {
        let name = rule.read(module.bank.as_deref().unwrap_or_default(), &module.locator)?;
        if found.first_key_value().is_some_and(|(first, _)| !first.is_like(&name)) {
            return None;
        }
        *found.entry(name).or_default() += 1;
    }
    Some(found)
}

/// Whether the letters of `DIMM_A1` cannot be processors: the processor is named
/// beside them, or there are more letters than packages and their sockets look like
/// those of channels. Two letters with a socket each may be anything.
fn letters_are_channels(found: &BTreeMap<ChannelName, usize>, packages: usize) -> bool {
    let beside_package = found.keys().all(|name| name.package().is_some());
    let many = found.len() >= 3 || found.values().all(|&sockets| sockets >= 2);
    beside_package || (found.len() > packages && many)
}
