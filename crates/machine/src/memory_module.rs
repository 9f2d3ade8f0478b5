//! Memory modules ("DIMMs") as the firmware lists them, and what follows from them:
//! the number of memory channels and what a node's memory can carry at most.
//! Source: DMTF DSP0134 (SMBIOS reference specification), structure type 17.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::machine::{Machine, MemoryKind};
use crate::module_name::{ChannelName, read_channel};
use crate::theoretical_maximum::{Direction, Scope, TheoreticalMaximum};

/// A populated memory socket, by the firmware's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryModule {
    /// The socket's name as it is printed on the board: `DIMM_A1`.
    pub locator: String,
    /// The bank's name: `P0 CHANNEL A`; `None` where the firmware leaves it empty.
    pub bank: Option<String>,
    /// What it is made of: `DDR4`, `HBM2`, `NVDIMM`, `CXL`; `None` where not said.
    pub kind: Option<String>,
    /// Its size; `None` where not said.
    pub bytes: Option<u64>,
    /// The speed at which it runs, 1e6 transfers/s; `None` where not said.
    pub configured_mt_per_s: Option<u32>,
    /// The highest speed that it can run at, 1e6 transfers/s; `None` where not said.
    pub max_mt_per_s: Option<u32>,
    /// Width of its data path without check bits; `None` where not said.
    pub data_bits: Option<u32>,
    /// Who made it, where said.
    pub manufacturer: Option<String>,
    /// Its part number, where said.
    pub part_number: Option<String>,
}

/// What the modules of ordinary memory have in common.
struct Memory {
    kind: String,
    mt_per_s: u32,
    data_bits: u32,
}

impl Machine {
    /// The number of memory channels with a module of ordinary memory in them, by the
    /// names of their sockets.
    ///
    /// # Errors
    /// Why they cannot be counted: the modules are not known, or their names do not
    /// tell the channel.
    pub fn memory_channels(&self) -> Result<usize, String> {
        let modules = self.ordinary_modules()?;
        let mut seen = BTreeSet::new();
        let mut found: BTreeSet<ChannelName> = BTreeSet::new();
        for module in &modules {
            let bank = module.bank.as_deref().unwrap_or_default();
            if !seen.insert((bank, module.locator.as_str())) {
                return Err(format!(
                    "two memory modules have the same name, {}, so that their names do not tell \
                     their channels",
                    module.name()
                ));
            }
            let Some(channel) = read_channel(bank, &module.locator) else {
                return Err(unreadable(module));
            };
            found.insert(channel);
        }
        // A letter alone is the channel on some boards and the processor on others
        // (Dell's `A1`); of those there are no more than packages.
        let letters =
            found.iter().filter(|channel| matches!(channel, ChannelName::Letter(_))).count();
        let ambiguous = letters == found.len() && letters <= self.packages.len().max(1);
        if ambiguous || (letters > 0 && letters < found.len()) {
            return Err(modules.first().map_or_else(String::new, |module| unreadable(module)));
        }
        Ok(found.len())
    }

    /// Modules of ordinary memory, each once.
    fn ordinary_modules(&self) -> Result<Vec<&MemoryModule>, String> {
        let Some(modules) = &self.memory_modules else {
            return Err(self
                .memory_modules_unknown
                .clone()
                .unwrap_or_else(|| "the memory modules are not known".into()));
        };
        let ordinary: Vec<&MemoryModule> =
            modules.iter().filter(|module| module.is_ordinary()).collect();
        if ordinary.is_empty() {
            return Err("the firmware lists no modules of ordinary memory (DDR)".into());
        }
        Ok(ordinary)
    }

    fn common_memory(&self) -> Result<Memory, String> {
        let modules = self.ordinary_modules()?;
        let kinds: BTreeSet<&str> =
            modules.iter().filter_map(|module| module.kind.as_deref()).collect();
        if kinds.len() > 1 {
            let kinds: Vec<&str> = kinds.into_iter().collect();
            return Err(format!("the memory modules are of several kinds: {}", kinds.join(", ")));
        }
        let kind = kinds.into_iter().next().unwrap_or_default().to_string();
        let mt_per_s = common(&modules, "speed", "MT/s", |module| module.configured_mt_per_s)?;
        let data_bits = common(&modules, "width", "bits", |module| module.data_bits)?;
        Ok(Memory { kind, mt_per_s, data_bits })
    }
}

/// The one value that all modules have, or why there is none.
fn common(
    modules: &[&MemoryModule],
    what: &str,
    unit: &str,
    value: impl Fn(&MemoryModule) -> Option<u32>,
) -> Result<u32, String> {
    let mut values: BTreeMap<u32, usize> = BTreeMap::new();
    for module in modules {
        let Some(value) = value(module) else {
            return Err(format!(
                "the firmware does not say the {what} of the memory module {}",
                module.name()
            ));
        };
        *values.entry(value).or_default() += 1;
    }
    if values.len() == 1
        && let Some((&value, _)) = values.first_key_value()
    {
        return Ok(value);
    }
    let listed: Vec<String> =
        values.iter().map(|(value, count)| format!("{count} at {value} {unit}")).collect();
    Err(format!(
        "the memory modules have {} different {what}s: {}",
        values.len(),
        listed.join(", ")
    ))
}

fn unreadable(module: &MemoryModule) -> String {
    format!("the names of the memory modules ({}) do not tell their channels", module.name())
}

impl MemoryModule {
    /// Socket and bank as one name.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.bank {
            Some(bank) => format!("'{}' in '{bank}'", self.locator),
            None => format!("'{}'", self.locator),
        }
    }

    /// Whether it is ordinary memory on a channel of a processor.
    fn is_ordinary(&self) -> bool {
        self.kind
            .as_deref()
            .is_some_and(|kind| kind.starts_with("DDR") || kind.starts_with("LPDDR"))
    }
}

impl TheoreticalMaximum {
    /// What the machine's ordinary memory can carry at most, by its modules: of a node
    /// where the channels are known (`DDR4-3200x4`), else of one channel (`DDR4-3200`),
    /// which [`TheoreticalMaximum::source`] then says. The speed is the one at which
    /// the modules run, not the one that they could run at.
    ///
    /// # Errors
    /// Why it is not known, in words: the modules are not known, or differ.
    pub fn of_memory(machine: &Machine) -> Result<Self, String> {
        let memory = machine.common_memory()?;
        let channel = memory.channel_bytes_per_s();
        let name = memory.name();
        let one_channel = |why: String| Self {
            name: name.clone(),
            scope: Scope::Channel,
            direction: Direction::Shared,
            bytes_per_s: channel,
            source: format!("the machine's memory modules, one channel: {why}"),
        };
        let channels = match machine.memory_channels() {
            Ok(channels) => channels,
            Err(why) => return Ok(one_channel(why)),
        };
        let nodes = machine.nodes.iter().filter(|node| {
            matches!(node.kind, MemoryKind::Dram | MemoryKind::Unknown)
                && node.memory_bytes != Some(0)
        });
        let nodes = nodes.count();
        if nodes == 0 || !channels.is_multiple_of(nodes) {
            return Ok(one_channel(format!(
                "{channels} channels do not divide evenly over {nodes} memory nodes"
            )));
        }
        let of_node = channels / nodes;
        #[expect(clippy::cast_precision_loss, reason = "a number of channels")]
        let bytes_per_s = channel * of_node as f64;
        Ok(Self {
            name: format!("{name}x{of_node}"),
            scope: Scope::Node,
            direction: Direction::Shared,
            bytes_per_s,
            source: format!(
                "the machine's memory modules: {channels} channels over {nodes} nodes, of {} bits",
                memory.data_bits
            ),
        })
    }
}

impl Memory {
    /// MT/s by the standards, which are multiples of 100/3 that the firmware rounds
    /// (JESD79-3F: 1333 is 1333.3, 2133 is 2133.3); as said where it is none of them.
    fn standard_mt_per_s(&self) -> f64 {
        let rounded = f64::from(self.mt_per_s);
        let standard = (rounded * 3.0 / 100.0).round() * 100.0 / 3.0;
        if (standard - rounded).abs() < 1.0 { standard } else { rounded }
    }

    /// Bytes/s of one channel.
    fn channel_bytes_per_s(&self) -> f64 {
        self.standard_mt_per_s() * 1e6 * f64::from(self.data_bits) / 8.0
    }

    /// As the standards call it, with the speed cut off: DDR4-2666 also where the
    /// firmware says 2667.
    fn name(&self) -> String {
        format!("{}-{:.0}", self.kind, self.standard_mt_per_s().floor())
    }
}
