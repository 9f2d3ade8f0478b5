//! A binding: the CPUs that threads may use and the policy by which pages are
//! placed. One value is measured, modelled, recommended and applied.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use nearfar_units::excerpt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::index_set::{CpuSet, IndexSetError, NodeSet};

/// Where threads run and where pages go. Text form: `cpus=0-3 mem=bind:1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct Binding {
    /// The CPUs that the threads may use.
    pub cpus: CpuSet,
    /// How pages are placed.
    pub memory: MemoryPolicy,
}

/// How the kernel places pages; the names are those of Linux (set_mempolicy(2)).
///
/// Text forms: `first-touch`, `bind:0,2`, `preferred:1`, `interleave:0-3`,
/// `weighted:0=3,2=1` (pages per turn of each node).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub enum MemoryPolicy {
    /// On the node of the CPU that touches the page first (`MPOL_DEFAULT`).
    FirstTouch,
    /// Only on these nodes (`MPOL_BIND`): when they are full the process is killed.
    Bind(NodeSet),
    /// On this node while it has room, then elsewhere (`MPOL_PREFERRED`).
    Preferred(u32),
    /// Page by page in turn (`MPOL_INTERLEAVE`).
    Interleave(NodeSet),
    /// In turn, this many pages on each node (`MPOL_WEIGHTED_INTERLEAVE`, Linux 6.9).
    Weighted(BTreeMap<u32, u32>),
}

/// Why a binding's text could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// Not of the form `cpus=LIST mem=POLICY`.
    #[error("'{}' is not a binding; write for example 'cpus=0-3 mem=bind:1'", excerpt(.0))]
    NotABinding(String),
    /// The policy has no known name.
    #[error(
        "'{}' is not a memory policy; there are first-touch, bind:NODES, preferred:NODE, \
         interleave:NODES and weighted:NODE=WEIGHT,..",
        excerpt(.0)
    )]
    NotAPolicy(String),
    /// A weight is missing, zero or above 255, the kernel's limit.
    #[error("'{}' is not NODE=WEIGHT with a weight from 1 to 255", excerpt(.0))]
    NotAWeight(String),
    /// Which of both weights would hold is not said.
    #[error("node {0} has two weights; give it one")]
    TwoWeights(u32),
    /// A list of CPUs or nodes is malformed.
    #[error(transparent)]
    List(#[from] IndexSetError),
}

impl MemoryPolicy {
    /// The nodes that pages may go to by this policy; `None` when it names none.
    pub fn nodes(&self) -> Option<NodeSet> {
        match self {
            Self::FirstTouch => None,
            Self::Bind(nodes) | Self::Interleave(nodes) => Some(nodes.clone()),
            Self::Preferred(node) => Some(NodeSet::single(*node)),
            Self::Weighted(weights) => Some(weights.keys().copied().collect()),
        }
    }

    /// The weight of each node; `None` where pages are not interleaved.
    pub fn interleave_weights(&self) -> Option<BTreeMap<u32, u32>> {
        match self {
            Self::Interleave(nodes) => Some(nodes.iter().map(|node| (node, 1)).collect()),
            Self::Weighted(weights) => Some(weights.clone()),
            Self::FirstTouch | Self::Bind(_) | Self::Preferred(_) => None,
        }
    }

    /// The share of the pages on each node; `None` where they are not interleaved.
    pub fn interleave_shares(&self) -> Option<BTreeMap<u32, f64>> {
        self.interleave_weights().map(|weights| shares_of(&weights))
    }
}

/// Weights as shares of their sum.
pub fn shares_of(weights: &BTreeMap<u32, u32>) -> BTreeMap<u32, f64> {
    let all: f64 = weights.values().copied().map(f64::from).sum();
    weights.iter().map(|(&node, &weight)| (node, f64::from(weight) / all)).collect()
}

impl fmt::Display for MemoryPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstTouch => out.write_str("first-touch"),
            Self::Bind(nodes) => write!(out, "bind:{nodes}"),
            Self::Preferred(node) => write!(out, "preferred:{node}"),
            Self::Interleave(nodes) => write!(out, "interleave:{nodes}"),
            Self::Weighted(weights) => {
                out.write_str("weighted:")?;
                for (turn, (node, weight)) in weights.iter().enumerate() {
                    write!(out, "{}{node}={weight}", if turn == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for MemoryPolicy {
    type Err = BindingError;

    fn from_str(text: &str) -> Result<Self, BindingError> {
        let unknown = || BindingError::NotAPolicy(text.into());
        if text == "first-touch" {
            return Ok(Self::FirstTouch);
        }
        let (name, nodes) = text.split_once(':').ok_or_else(unknown)?;
        if name == "weighted" {
            return Ok(Self::Weighted(parse_weights(nodes)?));
        }
        let nodes: NodeSet = nodes.parse()?;
        match (name, nodes.first()) {
            (_, None) => Err(unknown()),
            ("bind", _) => Ok(Self::Bind(nodes)),
            ("interleave", _) => Ok(Self::Interleave(nodes)),
            ("preferred", Some(node)) if nodes.len() == 1 => Ok(Self::Preferred(node)),
            _ => Err(unknown()),
        }
    }
}

fn parse_weights(text: &str) -> Result<BTreeMap<u32, u32>, BindingError> {
    let mut weights = BTreeMap::new();
    for entry in text.split(',') {
        let wrong = || BindingError::NotAWeight(entry.into());
        let (node, weight) = entry.split_once('=').ok_or_else(wrong)?;
        let node = node.parse::<NodeSet>()?;
        let weight: u32 = weight.parse().map_err(|_| wrong())?;
        match node.first() {
            Some(first) if node.len() == 1 && (1..=255).contains(&weight) => {
                if weights.insert(first, weight).is_some() {
                    return Err(BindingError::TwoWeights(first));
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(weights)
}

impl fmt::Display for Binding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cpus={} mem={}", self.cpus, self.memory)
    }
}

impl FromStr for Binding {
    type Err = BindingError;

    fn from_str(text: &str) -> Result<Self, BindingError> {
        let unknown = || BindingError::NotABinding(text.into());
        let (cpus, memory) = text.split_once(' ').ok_or_else(unknown)?;
        Ok(Self {
            cpus: cpus.strip_prefix("cpus=").ok_or_else(unknown)?.parse()?,
            memory: memory.strip_prefix("mem=").ok_or_else(unknown)?.parse()?,
        })
    }
}

/// Serialises as the text form, so that a record, a report and a command line
/// show the same words.
macro_rules! serialize_as_text {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
serialize_as_text!(Binding, MemoryPolicy);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_reads_what_it_prints() {
        for text in [
            "cpus=0-3 mem=weighted:0=3,2=1",
            "cpus=0 mem=first-touch",
            "cpus=1,5 mem=bind:0,2",
            "cpus=0 mem=preferred:1",
            "cpus=0-63 mem=interleave:0-3",
        ] {
            assert_eq!(text.parse::<Binding>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn malformed_bindings_are_refused() {
        for text in [
            "",
            "cpus=0",
            "mem=bind:0 cpus=0",
            "cpus=0 mem=bind:",
            "cpus=0 mem=preferred:0,1",
            "cpus=0 mem=weighted:0",
            "cpus=0 mem=weighted:0=0",
            "cpus=0 mem=weighted:0=1,1=2,0=3",
            "cpus=0 mem=weighted:0=256",
            "cpus=0 mem=weighted:0-1=2",
            "cpus=x mem=bind:0",
            "cpus=0 mem=next:1",
        ] {
            assert!(text.parse::<Binding>().is_err(), "{text:?} was read");
        }
    }
}
