//! Changes to a machine that can be asked about, as they are written.

use std::fmt;
use std::str::FromStr;

use nearfar_machine::{Scope, TheoreticalMaximum};
use nearfar_units::excerpt;
use serde::{Serialize, Serializer};

/// What would be different.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Every node of ordinary memory has this many channels.
    Channels(u32),
    /// Its channels run at this standard's speed.
    Modules(TheoreticalMaximum),
    /// Every package is divided into this many memory nodes; 0: all packages are one (AMD's NPS0).
    NodesPerPackage(u32),
    /// What the link of each CXL node carries each way.
    CxlLink(TheoreticalMaximum),
}

/// Why a change cannot be asked about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' {why}", excerpt(text))]
pub struct ChangeError {
    text: String,
    why: String,
}

const CHANGES: &str = "is no change that can be asked about: channels=6, dimm=DDR5-5600, nps=4 (nps=0: all \
                       sockets as one), snc=off, snc=2, cxl=64GB/s or cxl='PCIe 5.0 x16'";

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let error = |why: String| ChangeError { text: text.into(), why };
        let (what, to) = text.split_once('=').ok_or_else(|| error(CHANGES.into()))?;
        let (what, to) = (what.trim().to_lowercase(), to.trim());
        let number = |least: u32, most: u32| {
            let number = to.parse::<u32>().ok().filter(|it| (least..=most).contains(it));
            number.ok_or_else(|| error(format!("asks for no number from {least} to {most}")))
        };
        match what.as_str() {
            "channels" => Ok(Self::Channels(number(1, 64)?)),
            "nps" => Ok(Self::NodesPerPackage(number(0, 64)?)),
            "snc" if matches!(to, "off" | "disabled") => Ok(Self::NodesPerPackage(1)),
            "snc" => Ok(Self::NodesPerPackage(number(1, 64)?)),
            "dimm" => {
                let found = TheoreticalMaximum::memory(to).map_err(|why| error(why.to_string()))?;
                let is_channel = found.scope == Scope::Channel;
                let one = "names no speed of a channel; write for example dimm=DDR5-5600";
                is_channel.then_some(Self::Modules(found)).ok_or_else(|| error(one.into()))
            }
            "cxl" => TheoreticalMaximum::link(to)
                .map(Self::CxlLink)
                .map_err(|why| error(why.to_string())),
            _ => Err(error(CHANGES.into())),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels(count) => write!(f, "channels={count}"),
            Self::Modules(channel) => write!(f, "dimm={}", channel.name),
            Self::NodesPerPackage(count) => write!(f, "nps={count}"),
            Self::CxlLink(link) if link.scope == Scope::Given => {
                write!(f, "cxl={}GB/s", link.gb_per_s())
            }
            Self::CxlLink(link) => write!(f, "cxl={}", link.name),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        for text in
            ["channels=6", "dimm=DDR5-5600", "nps=4", "nps=0", "cxl=64GB/s", "cxl=PCIe 5.0 x16"]
        {
            assert_eq!(text.parse::<Change>().unwrap().to_string(), text);
        }
        for (text, same) in
            [("snc=off", "nps=1"), ("snc=4", "nps=4"), ("Channels= 6", "channels=6")]
        {
            assert_eq!(text.parse::<Change>().unwrap().to_string(), same);
        }
        for wrong in [
            "",
            "channels",
            "channels=0",
            "nps=-1",
            "dimm=DDR5-4800x8",
            "dimm=fast",
            "cxl=DDR5-4800",
            "x=1",
        ] {
            assert!(wrong.parse::<Change>().is_err(), "{wrong}");
        }
    }
}
