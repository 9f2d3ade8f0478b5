//! Figures of real servers (`machines/normal.toml`) and the envelopes that follow from them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use nearfar_machine::TheoreticalMaximum;
use serde::{Deserialize, Serialize};

use super::FEWEST_MACHINES;

/// A published server, or its memory of one kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    pub name: String,
    pub vendor: String,
    /// `DDR4`, `CXL`; `unknown` where the source does not say.
    pub memory: String,
    #[serde(default = "one")]
    pub nodes_per_package: u32,
    pub maximum: Option<String>,
    /// What of the maximum or the memory the source does not say.
    assumed: Option<String>,
    /// By read share.
    #[serde(default)]
    gb_per_s: BTreeMap<String, f64>,
    #[serde(default)]
    cores_limit: bool,
    latency_ns: Option<f64>,
    remote_latency_ns: Option<f64>,
    remote_gb_per_s: Option<f64>,
    /// Remote / own bandwidth, where only that is known.
    remote_share: Option<f64>,
    #[serde(default)]
    simulated: Vec<String>,
    source: String,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedFile {
    machine: Vec<Published>,
}

pub(super) static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| {
    let file: Result<PublishedFile, _> = toml::from_str(include_str!("normal.toml"));
    // A test reads it.
    file.map_or_else(|_| Vec::new(), |file| file.machine)
});

/// What is held against an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    /// Traffic of all threads on their own memory at this read share / its theoretical maximum.
    ShareOfMaximum { read_share: ReadShare },
    /// Of an access to own memory, alone, ns.
    Latency,
    /// Remote / own.
    RemoteLatency,
    /// Remote / own reads, by all threads.
    RemoteReads,
}

/// Of the traffic at a memory what is read, where figures were published of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadShare {
    /// Reads alone.
    Reads,
    /// Two bytes read for one written.
    TwoReadsOneWrite,
    /// As many written as read.
    OneReadOneWrite,
}

impl ReadShare {
    fn key(self) -> &'static str {
        match self {
            Self::Reads => "1",
            Self::TwoReadsOneWrite => "0.67",
            Self::OneReadOneWrite => "0.5",
        }
    }
}

impl Published {
    /// What a machine reaches; `None` where it was not published, and of bandwidth where its cores
    /// limit it.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::ShareOfMaximum { read_share } => {
                let maximum = TheoreticalMaximum::memory(self.maximum.as_ref()?).ok()?;
                let rate = self.gb_per_s.get(read_share.key())?;
                (!self.cores_limit).then_some(rate / maximum.gb_per_s())
            }
            Quantity::Latency => self.latency_ns,
            Quantity::RemoteLatency => Some(self.remote_latency_ns? / self.latency_ns?),
            Quantity::RemoteReads => {
                let own = self.gb_per_s.get(ReadShare::Reads.key());
                let share = || Some(self.remote_gb_per_s? / own?);
                self.remote_share.or_else(share)
            }
        }
    }
}

/// From the least to the most that published servers of a kind reach.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// Of which servers: `DDR5`, `DDR4 of Intel`.
    pub of: String,
    pub least: f64,
    pub most: f64,
    /// The server in the middle.
    pub middle: f64,
    /// The servers and where their figures were published.
    pub machines: Vec<PublishedMachine>,
}

/// A server of an envelope.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedMachine {
    pub name: String,
    pub source: String,
    /// What of its memory the source does not say; null: nothing.
    pub assumed: Option<String>,
}

/// Which servers a figure is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind<'a> {
    /// `DDR5`; `None` for ordinary memory of a kind that is not known.
    pub memory: Option<&'a str>,
    pub vendor: Option<&'a str>,
    pub nodes_per_package: u32,
    /// The simulated machine that the record is of.
    pub simulated: Option<&'a str>,
}

const ORDINARY: [&str; 5] = ["DDR4", "DDR5", "MRDIMM", "LPDDR5", "unknown"];

impl Kind<'_> {
    fn holds(self, it: &Published) -> bool {
        self.memory
            .map_or_else(|| ORDINARY.contains(&it.memory.as_str()), |memory| it.memory == memory)
            && self.simulated.is_none_or(|name| !it.simulated.iter().any(|known| known == name))
    }

    /// The envelope of the servers that are most alike, of those groups of them that are large enough.
    ///
    /// # Errors
    /// How many were published, where they are too few.
    pub fn envelope(self, quantity: Quantity) -> Result<Envelope, usize> {
        let all = || PUBLISHED.iter().filter(|it| self.holds(it));
        let memory = self.memory.unwrap_or("ordinary memory");
        // How far the other package is depends on how a package is divided, and not on its memory.
        if matches!(quantity, Quantity::RemoteReads | Quantity::RemoteLatency) {
            let is_divided = self.nodes_per_package > 1;
            let alike = Kind { memory: None, ..self };
            let alike = PUBLISHED
                .iter()
                .filter(|it| alike.holds(it) && (it.nodes_per_package > 1) == is_divided);
            let of = if is_divided { "packages of several nodes" } else { "packages of one node" };
            return envelope(alike, quantity, of.into());
        }
        if let Some(vendor) = self.vendor {
            let own = all().filter(|it| it.vendor == vendor);
            let found = envelope(own, quantity, format!("{memory} of {vendor}"));
            // How long an access takes depends on the vendor's fabric more than on the memory.
            if found.is_ok() || quantity == Quantity::Latency {
                return found;
            }
        }
        envelope(all(), quantity, memory.into())
    }
}

fn envelope<'a>(
    of: impl Iterator<Item = &'a Published>,
    quantity: Quantity,
    name: String,
) -> Result<Envelope, usize> {
    let mut found: Vec<(f64, &Published)> =
        of.filter_map(|it| Some((it.value(quantity)?, it))).collect();
    if found.len() < FEWEST_MACHINES {
        return Err(found.len());
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let machine = |it: &Published| PublishedMachine {
        name: it.name.clone(),
        source: it.source.clone(),
        assumed: it.assumed.clone(),
    };
    Ok(Envelope {
        of: name,
        least: found[0].0,
        most: found[found.len() - 1].0,
        middle: found[found.len() / 2].0,
        machines: found.iter().map(|(_, it)| machine(it)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_published_is_read_and_lies_below_its_maximum() {
        assert!(PUBLISHED.len() >= 25, "{}", PUBLISHED.len());
        for it in PUBLISHED.iter() {
            for read_share in
                [ReadShare::Reads, ReadShare::TwoReadsOneWrite, ReadShare::OneReadOneWrite]
            {
                let share = it.value(Quantity::ShareOfMaximum { read_share });
                assert!(share.is_none_or(|share| (0.4..1.0).contains(&share)), "{it:?}");
            }
            if let Some(maximum) = &it.maximum {
                TheoreticalMaximum::memory(maximum).unwrap();
            }
            for key in it.gb_per_s.keys() {
                assert!(["1", "0.67", "0.5"].contains(&key.as_str()), "{it:?}");
            }
        }
    }

    #[test]
    fn no_machine_is_held_against_itself() {
        let kind = |simulated| Kind {
            memory: Some("DDR4"),
            vendor: Some("Intel"),
            nodes_per_package: 1,
            simulated,
        };
        let reads = Quantity::ShareOfMaximum { read_share: ReadShare::Reads };
        let all = kind(None).envelope(reads).unwrap();
        let others = kind(Some("xeon-gold-5218")).envelope(reads).unwrap();
        assert_eq!(all.machines.len(), others.machines.len() + 1);
        // It is the least of all.
        assert!(all.least < others.least, "{} {}", all.least, others.least);
        assert_eq!(all.of, "DDR4 of Intel");
    }

    #[test]
    fn few_machines_make_no_envelope_and_others_stand_in_for_a_vendor() {
        let of = |memory, vendor| Kind {
            memory: Some(memory),
            vendor,
            nodes_per_package: 1,
            simulated: None,
        };
        let reads = Quantity::ShareOfMaximum { read_share: ReadShare::Reads };
        assert_eq!(of("LPDDR5", None).envelope(reads), Err(1));
        assert_eq!(of("DDR4", Some("AMD")).envelope(reads).unwrap().of, "DDR4");
        assert_eq!(of("DDR4", Some("AMD")).envelope(Quantity::Latency), Err(1));
    }
}
