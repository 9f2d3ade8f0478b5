//! Memory modules ("DIMMs") as the firmware lists them, and what memory of them can
//! carry at most.
//! Source: DMTF DSP0134 (SMBIOS reference specification), structure type 17.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use nearfar_units::excerpt;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::theoretical_maximum::TheoreticalMaximum;

/// A populated memory socket, by the firmware's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MemoryModule {
    /// The socket's name as it is printed on the board: `DIMM_A1`.
    pub locator: String,
    /// The bank's name: `P0 CHANNEL A`; null where the firmware gives none.
    pub bank: Option<String>,
    /// What it is made of: `DDR4`, `HBM2`, `NVDIMM`, `CXL`; null where not said.
    pub kind: Option<String>,
    /// Its size, 1 to 2^50; null where not said.
    pub bytes: Option<u64>,
    /// The speed at which it runs, 1e6 transfers/s, 10 to 100000; null where not said.
    pub configured_mt_per_s: Option<u32>,
    /// The highest speed that it can run at, 1e6 transfers/s, 10 to 100000; null where not said.
    pub max_mt_per_s: Option<u32>,
    /// Width of its data path without check bits, 1 to 4096; null where not said.
    pub data_bits: Option<u32>,
    /// Null where not said.
    pub manufacturer: Option<String>,
    /// Null where not said.
    pub part_number: Option<String>,
}

/// What a module can be, far beyond those that exist. Firmware that knows nothing
/// writes zeros and ones.
const BYTES: RangeInclusive<u64> = 1..=1 << 50;
const MT_PER_S: RangeInclusive<u32> = 10..=100_000;
const DATA_BITS: RangeInclusive<u32> = 1..=4096;

impl MemoryModule {
    /// Socket and bank as one name; of long ones the begin.
    pub fn name(&self) -> String {
        match &self.bank {
            Some(bank) => format!("'{}' in '{}'", excerpt(&self.locator), excerpt(bank)),
            None => format!("'{}'", excerpt(&self.locator)),
        }
    }

    /// The module without figures that no module has: 0 or 4294967295 MT/s.
    pub fn without_absurd_figures(mut self) -> Self {
        self.bytes = self.bytes.filter(|bytes| BYTES.contains(bytes));
        self.configured_mt_per_s = self.configured_mt_per_s.filter(|at| MT_PER_S.contains(at));
        self.max_mt_per_s = self.max_mt_per_s.filter(|at| MT_PER_S.contains(at));
        self.data_bits = self.data_bits.filter(|bits| DATA_BITS.contains(bits));
        self
    }

    /// What in its figures no module has, in words; `None` when they are sound.
    pub fn absurdity(&self) -> Option<String> {
        let sound = self.clone().without_absurd_figures();
        let what = if sound.bytes != self.bytes {
            format!("a size of {} bytes", self.bytes.unwrap_or_default())
        } else if sound.data_bits != self.data_bits {
            format!("{} data bits", self.data_bits.unwrap_or_default())
        } else if sound.configured_mt_per_s != self.configured_mt_per_s {
            format!("{} MT/s", self.configured_mt_per_s.unwrap_or_default())
        } else if sound.max_mt_per_s != self.max_mt_per_s {
            format!("{} MT/s at most", self.max_mt_per_s.unwrap_or_default())
        } else {
            return None;
        };
        Some(format!("the memory module {} has {what}", self.name()))
    }

    /// Whether it is ordinary memory on a channel of a processor.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.kind
            .as_deref()
            .is_some_and(|kind| kind.starts_with("DDR") || kind.starts_with("LPDDR"))
    }

    /// Whether it may be ordinary memory for all that the firmware says.
    pub(crate) fn is_of_unsaid_kind(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| matches!(kind, "DRAM" | "RAM"))
    }
}

impl TheoreticalMaximum {
    /// What the user gave, else that of the machine's memory.
    ///
    /// # Errors
    /// As of [`TheoreticalMaximum::of_memory`], where nothing was given.
    pub fn given_or_of_memory(given: Option<Self>, machine: &Machine) -> Result<Self, String> {
        given.map_or_else(|| Self::of_memory(machine), Ok)
    }

    /// What the machine's ordinary memory can carry at most, by its modules: of a node
    /// with CPUs of its own where its channels are known (`DDR4-3200x4`), else of one
    /// channel (`DDR4-3200`) with the reason in [`TheoreticalMaximum::source`]. The
    /// speed is the one at which the modules run, not the one that they could run at.
    /// The name is one that [`TheoreticalMaximum::memory`] reads, as the same figure.
    ///
    /// # Errors
    /// Why it is not known, in words: the modules are not known, differ, or say what
    /// no standard has.
    pub fn of_memory(machine: &Machine) -> Result<Self, String> {
        let channel = channel(&machine.ordinary_modules()?)?;
        let of_node = machine.channels_of_a_node().and_then(|channels| {
            let of_node = u32::try_from(channels).ok().and_then(|channels| channel.times(channels));
            of_node.ok_or_else(|| format!("{channels} channels are more than a node can have"))
        });
        Ok(match of_node {
            Ok(of_node) => Self {
                source: "the machine's memory modules, for the memory nodes with CPUs of their own"
                    .into(),
                ..of_node
            },
            Err(why) => Self {
                source: format!("the machine's memory modules, one channel: {why}"),
                ..channel
            },
        })
    }
}

/// One channel of the standard that all modules are of and run at.
fn channel(modules: &[&MemoryModule]) -> Result<TheoreticalMaximum, String> {
    let kinds: BTreeSet<&str> =
        modules.iter().filter_map(|module| module.kind.as_deref()).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let [kind] = kinds.as_slice() else {
        return Err(format!("the memory modules are of several kinds: {}", kinds.join(", ")));
    };
    let mt_per_s = common(modules, "speed", "MT/s", |module| module.configured_mt_per_s)?;
    let data_bits = common(modules, "width", "bits", |module| module.data_bits)?;
    let channel = TheoreticalMaximum::of_channel(kind, mt_per_s)?;
    // 32 may be a subchannel of DDR5 or half of a module, 72 counts the check bits.
    if data_bits != 64 {
        return Err(format!(
            "the firmware gives the memory modules {data_bits} data bits, where a channel of \
             {kind} has 64"
        ));
    }
    for module in modules {
        check_transfers(module, kind, mt_per_s)?;
    }
    Ok(channel)
}

/// Some firmware writes the clock, at which two transfers are made, for the speed at
/// which a module runs: half of its highest speed may be either.
fn check_transfers(module: &MemoryModule, kind: &str, mt_per_s: u32) -> Result<(), String> {
    let twice = mt_per_s.saturating_mul(2);
    let may_be_clock = match module.max_mt_per_s {
        Some(max) => max.abs_diff(twice) <= 2,
        None => TheoreticalMaximum::of_channel(kind, twice).is_ok(),
    };
    if may_be_clock {
        return Err(format!(
            "the memory module {} runs at {mt_per_s} MT/s by the firmware, which may be its clock \
             with twice as many transfers",
            module.name()
        ));
    }
    Ok(())
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
