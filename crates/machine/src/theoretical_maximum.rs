//! What a memory channel, a stack or a link can carry at most, by its standard.
//!
//! Conventions: a DDR channel has 64 data bits, also that of DDR5, which splits it in
//! two; an HBM stack has 1024. A link's figure is what remains after its line code:
//! 8b/10b for PCIe 1.0 and 2.0, 128b/130b for 3.0 to 5.0, and for 6.0 the 242 of a
//! flit's 256 bytes that are neither checksum (8) nor error correction (6). Headers of
//! packets are not taken off: they depend on the size of the packets.

use std::fmt::Write as _;

use nearfar_units::{
    BytesPerSecond, QuantityError, excerpt, format_significant, serialize_gb_per_s, words,
};
use serde::{Deserialize, Serialize};

/// A theoretical maximum: its name, what it is the maximum of, and how much.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TheoreticalMaximum {
    /// `DDR3-2133`, `DDR4-3200x8`, `PCIe 2.0 x16`, `braithwaite2012`, `given`.
    pub name: String,
    pub scope: Scope,
    /// Which way the bytes go.
    #[serde(skip)]
    pub direction: Direction,
    /// How much.
    #[serde(rename = "gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub bytes_per_s: f64,
    /// Where the figure is from: a standard, the machine's firmware, the user.
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One memory channel.
    Channel,
    /// One stack of high-bandwidth memory.
    Stack,
    /// All channels or stacks of a memory node.
    Node,
    /// A PCIe link.
    Link,
    /// What the user meant by the figure given.
    Given,
}

/// Which way the bytes of a theoretical maximum go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Reads and writes share it (a memory bus).
    Shared,
    /// As much each way at the same time (a PCIe link).
    EachWay,
}

/// Transfers per second of a standard's speed by its label, in thirds of a MT/s: the rates are
/// multiples of 100/3 MHz (DDR3-2133 makes 2133 1/3 MT/s), so thirds are whole.
fn third_mt_per_s(label: u32) -> u32 {
    // 1066, 1333, 1866, 2133, 2666 and 2933 are cut off or rounded multiples of 133 1/3.
    label * 3
        + match label % 100 {
            33 => 1,
            66 => 2,
            _ => 0,
        }
}

struct DdrGeneration {
    name: &'static str,
    standard: &'static str,
    /// Labels.
    speeds: &'static [u32],
}

const DDR: [DdrGeneration; 3] = [
    DdrGeneration {
        name: "DDR3",
        standard: "JEDEC JESD79-3F",
        speeds: &[800, 1066, 1333, 1600, 1866, 2133],
    },
    DdrGeneration {
        name: "DDR4",
        standard: "JEDEC JESD79-4",
        speeds: &[1600, 1866, 2133, 2400, 2666, 2933, 3200],
    },
    DdrGeneration {
        name: "DDR5",
        standard: "JEDEC JESD79-5C",
        speeds: &[
            3200, 3600, 4000, 4400, 4800, 5200, 5600, 6000, 6400, 6800, 7200, 7600, 8000, 8400,
            8800,
        ],
    },
];

/// Name, Gbit/s of a pin, standard. Each is the highest rate of its document.
const HBM: [(&str, f64, &str); 3] = [
    ("HBM2", 2.4, "JEDEC JESD235B"),
    ("HBM2E", 3.2, "JEDEC JESD235C"),
    ("HBM3", 6.4, "JEDEC JESD238"),
];

/// Generation, GT/s of a lane, payload and length of its line code.
pub(crate) const PCIE: [(u32, f64, f64, f64); 6] = [
    (1, 2.5, 8.0, 10.0),
    (2, 5.0, 8.0, 10.0),
    (3, 8.0, 128.0, 130.0),
    (4, 16.0, 128.0, 130.0),
    (5, 32.0, 128.0, 130.0),
    (6, 64.0, 242.0, 256.0),
];

pub(crate) const LANES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Most channels or stacks that a memory node is taken to have; more is a slip of
/// the finger.
const MAX_CHANNELS: u32 = 64;

/// Why a text names no theoretical maximum, and what would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' {why}", excerpt(text))]
pub struct TheoreticalMaximumError {
    text: String,
    why: String,
}

impl TheoreticalMaximumError {
    fn new(text: &str, why: impl Into<String>) -> Self {
        Self { text: text.into(), why: why.into() }
    }

    /// A memory standard where a link is asked for.
    pub(crate) fn no_link(text: &str) -> Self {
        let why = "is a memory standard, and a link's theoretical maximum is asked for; write for \
                   example PCIe 4.0 x16";
        Self::new(text, why)
    }
}

impl TheoreticalMaximum {
    /// Reads what memory accesses are compared with (gamma): `DDR4-3200`,
    /// `DDR4-3200x8` for a node of eight channels, `HBM3`, `braithwaite2012` (17.066
    /// GB/s), `51.2` or `51.2GB/s`. Case and spaces do not matter. A link is none: a
    /// figure says what memory behind it can give.
    ///
    /// # Errors
    /// When the text is none of these; the message lists what there is.
    pub fn memory(text: &str) -> Result<Self, TheoreticalMaximumError> {
        if plain(text) == THESIS {
            return Ok(Self {
                name: THESIS.into(),
                scope: Scope::Channel,
                direction: Direction::Shared,
                bytes_per_s: 17.066e9,
                source: "braithwaite2012, section 4.1: DDR3-2133, one channel, rounded".into(),
            });
        }
        let found = find(text, &memory_names)?;
        match found.scope {
            Scope::Channel | Scope::Stack | Scope::Node | Scope::Given => Ok(found),
            Scope::Link => Err(TheoreticalMaximumError::new(
                text,
                "is a link, and a memory's theoretical maximum is asked for; for memory behind a \
                 link (CXL) give the figure, for example 50GB/s",
            )),
        }
    }

    /// Reads what transfers to devices are compared with (phi): `PCIe 4.0 x16`,
    /// `braithwaite2012` (12.8 GB/s), `25` or `25GB/s`. Case and spaces do not matter.
    ///
    /// # Errors
    /// When the text is none of these; the message lists what there is.
    pub fn link(text: &str) -> Result<Self, TheoreticalMaximumError> {
        if plain(text) == THESIS {
            return Ok(Self {
                name: THESIS.into(),
                scope: Scope::Link,
                // 16 lanes of PCIe 2.0 carry 8.0 GB/s each way; the thesis takes 0.8 of
                // the 16 GB/s of both ways together.
                direction: Direction::Shared,
                bytes_per_s: 12.8e9,
                source: "braithwaite2012, section 4.1: PCIe 2.0 x16, both directions, 8b/10b"
                    .into(),
            });
        }
        let found = find(text, &link_names)?;
        match found.scope {
            Scope::Link | Scope::Given => Ok(found),
            Scope::Channel | Scope::Stack | Scope::Node => {
                Err(TheoreticalMaximumError::no_link(text))
            }
        }
    }

    /// Of a PCIe link with this many transfers a second and lane, 1e9/s; `None` where no generation
    /// has these, or no link this many lanes.
    pub fn of_link(gt_per_s: f64, lanes: u32) -> Option<Self> {
        // Systems print 2.5, 5.0, 8.0 and so on.
        let generation = PCIE.into_iter().find(|it| (it.1 - gt_per_s).abs() < 0.05)?;
        LANES.contains(&lanes).then(|| link(generation, lanes))
    }

    /// Every standard that has a name here: channels, stacks, links.
    pub fn list() -> Vec<Self> {
        let mut all = Vec::new();
        for generation in &DDR {
            all.extend(generation.speeds.iter().map(|&speed| generation.channel(speed)));
        }
        all.extend(
            HBM.iter().map(|&(name, gbit_per_s, standard)| stack(name, gbit_per_s, standard)),
        );
        for generation in PCIE {
            all.extend(LANES.map(|lanes| link(generation, lanes)));
        }
        all
    }

    /// A channel of ordinary memory of this kind at this speed in 1e6 transfers/s,
    /// which may be rounded.
    pub(crate) fn of_channel(kind: &str, mt_per_s: u32) -> Result<Self, String> {
        let Some(generation) = DDR.iter().find(|generation| generation.name == kind) else {
            let known = DDR.map(|generation| generation.name).join(", ");
            return Err(format!("the memory is {kind}; known are channels of {known}"));
        };
        // Thirds: 2666 and 2667 are both 8000/3 MT/s.
        let is_near =
            |&&speed: &&u32| mt_per_s.saturating_mul(3).abs_diff(third_mt_per_s(speed)) < 3;
        let found = generation.speeds.iter().find(is_near).map(|&speed| generation.channel(speed));
        found.ok_or_else(|| {
            let standard = generation.standard;
            format!(
                "the memory modules run at {mt_per_s} MT/s, which is no speed of {kind} by \
                 {standard}"
            )
        })
    }

    /// A node of this many channels or stacks; `None` where a node cannot have this many.
    pub(crate) fn times(&self, count: u32) -> Option<Self> {
        (1..=MAX_CHANNELS).contains(&count).then(|| Self {
            name: format!("{}x{count}", self.name),
            scope: Scope::Node,
            bytes_per_s: self.bytes_per_s * f64::from(count),
            ..self.clone()
        })
    }

    /// The channels or stacks that its name counts (`DDR4-3200x8`: 8); `None` where it counts none.
    pub fn channels(&self) -> Option<u32> {
        match self.scope {
            Scope::Channel | Scope::Stack => Some(1),
            Scope::Node => self.name.rsplit_once('x')?.1.parse().ok(),
            Scope::Link | Scope::Given => None,
        }
    }

    /// One channel of each slower speed of its standard, the slowest first; none where it is of no
    /// standard of channels.
    pub fn slower_speeds(&self) -> Vec<Self> {
        let Some(generation) = DDR.iter().find(|it| self.name.starts_with(it.name)) else {
            return Vec::new();
        };
        let one = self.bytes_per_s / f64::from(self.channels().unwrap_or(1));
        let all = generation.speeds.iter().map(|&speed| generation.channel(speed));
        all.filter(|channel| channel.bytes_per_s < one * 0.999).collect()
    }

    /// Its name; of what the user gave the bandwidth.
    pub fn label(&self) -> String {
        match self.scope {
            Scope::Given => format!("{} GB/s", format_significant(self.gb_per_s(), 3)),
            _ => self.name.clone(),
        }
    }

    /// In GB/s, 1e9 bytes/s.
    pub fn gb_per_s(&self) -> f64 {
        self.bytes_per_s / 1e9
    }
}

const THESIS: &str = "braithwaite2012";

impl DdrGeneration {
    fn channel(&self, speed: u32) -> TheoreticalMaximum {
        TheoreticalMaximum {
            name: format!("{}-{speed}", self.name),
            scope: Scope::Channel,
            direction: Direction::Shared,
            bytes_per_s: f64::from(third_mt_per_s(speed)) * 8e6 / 3.0,
            source: self.standard.into(),
        }
    }
}

fn stack(name: &str, gbit_per_s: f64, standard: &str) -> TheoreticalMaximum {
    TheoreticalMaximum {
        name: name.into(),
        scope: Scope::Stack,
        direction: Direction::Shared,
        bytes_per_s: gbit_per_s * 1024.0 / 8.0 * 1e9,
        source: standard.into(),
    }
}

fn link(
    (generation, gt_per_s, payload, length): (u32, f64, f64, f64),
    lanes: u32,
) -> TheoreticalMaximum {
    TheoreticalMaximum {
        name: format!("PCIe {generation}.0 x{lanes}"),
        scope: Scope::Link,
        direction: Direction::EachWay,
        bytes_per_s: gt_per_s * 1e9 / 8.0 * (payload / length) * f64::from(lanes),
        source: format!("PCI Express Base Specification {generation}.0"),
    }
}

/// Lower case without spaces.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// `names` lists what there is, for the message.
fn find(
    text: &str,
    names: &dyn Fn() -> String,
) -> Result<TheoreticalMaximum, TheoreticalMaximumError> {
    let asked = plain(text);
    if asked.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return figure(text);
    }
    let mut all = TheoreticalMaximum::list();
    if let Some(found) = all.iter().position(|entry| plain(&entry.name) == asked) {
        return Ok(all.swap_remove(found));
    }
    let unknown = || {
        let why = format!("names no theoretical maximum; there are {}", names());
        TheoreticalMaximumError::new(text, why)
    };
    let (name, count) = asked.rsplit_once('x').ok_or_else(unknown)?;
    let one = all
        .into_iter()
        .find(|entry| entry.scope != Scope::Link && plain(&entry.name) == name)
        .ok_or_else(unknown)?;
    count.parse().ok().and_then(|count| one.times(count)).ok_or_else(|| {
        let count = excerpt(count);
        let why = format!("asks for {count} channels; a memory node has 1 to {MAX_CHANNELS}");
        TheoreticalMaximumError::new(text, why)
    })
}

/// `51.2` (GB/s) or `51.2GB/s`.
fn figure(text: &str) -> Result<TheoreticalMaximum, TheoreticalMaximumError> {
    let refused = || {
        let why = "is no bandwidth above 0 and below 1000 TB/s; a plain number is GB/s";
        TheoreticalMaximumError::new(text, why)
    };
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let with_unit = if unit.is_empty() { format!("{text} GB/s") } else { text.into() };
    let bytes_per_s = match with_unit.parse::<BytesPerSecond>() {
        Ok(bandwidth) => bandwidth.0,
        Err(QuantityError::Unit { .. }) => {
            let why = format!(
                "has the unit {}, which is none here; use GB/s (1e9 bytes/s), MB/s or TB/s, or a \
                 plain number of GB/s",
                excerpt(unit)
            );
            return Err(TheoreticalMaximumError::new(text, why));
        }
        Err(_) => return Err(refused()),
    };
    if !(bytes_per_s > 0.0 && bytes_per_s < 1e15) {
        return Err(refused());
    }
    Ok(TheoreticalMaximum {
        name: "given".into(),
        scope: Scope::Given,
        direction: Direction::Shared,
        bytes_per_s,
        source: format!("given as {text}"),
    })
}

/// What memory accesses can be compared with, in short.
fn memory_names() -> String {
    let mut names = String::new();
    for generation in &DDR {
        let speeds: Vec<String> = generation.speeds.iter().map(u32::to_string).collect();
        // Writing to a String cannot fail.
        _ = write!(names, "{}-{}, ", generation.name, speeds.join("/"));
    }
    names.push_str("each a channel, with xN a node of N channels; ");
    names.push_str(&HBM.map(|(name, ..)| name).join(", "));
    names
        .push_str(", each a stack, with xN a node of N stacks; braithwaite2012; or a figure such ");
    names + "as 51.2GB/s"
}

/// What transfers to devices can be compared with, in short.
fn link_names() -> String {
    "PCIe 1.0 to 6.0 with x1 to x32, such as PCIe 4.0 x16; braithwaite2012; or a figure such as \
     25GB/s"
        .into()
}

words!(Scope);
