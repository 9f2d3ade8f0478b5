//! What a user asks for: where a program's threads and memory are to be, in a few words.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use nearfar_machine::{BindingError, MemoryPolicy, NodeSet, PlacementStrategy};
use nearfar_units::{excerpt, nearest_name};

/// Where a program is to run and its memory to be. Its text form names no CPUs or nodes that the
/// machine knows itself: `interleave` is over all nodes that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// On the CPUs near these nodes, memory near whichever thread touches it first; on all CPUs
    /// where no nodes are named.
    Local(Option<NodeSet>),
    /// Threads evenly over all CPUs, neighbours together; memory near them.
    Spread,
    /// Threads as near to each other as can be, memory near them.
    Compact,
    /// Threads as far from each other as can be, memory near them.
    Scatter,
    /// Memory by this policy, threads anywhere. Never first-touch.
    Memory(MemoryPolicy),
    /// Memory in turn over all nodes that may be used, threads anywhere.
    InterleaveAll,
    /// As ribeiro2010 names it.
    Strategy(PlacementStrategy),
}

/// Why a placement's text could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// There is none of this name, or it lacks its nodes.
    #[error(
        "'{}' is not a placement; {}there are local[:NODES], spread, compact, scatter, bind:NODES, \
         preferred:NODE, interleave[:NODES], weighted:NODE=WEIGHT,.., first-touch, parallel-init, \
         round-robin and memory-bind",
        excerpt(.0), meant(.0)
    )]
    NotAPlacement(String),
    /// Its nodes or weights cannot be read.
    #[error(transparent)]
    Nodes(#[from] BindingError),
}

/// The placement that a text may have been meant to be, in words.
fn meant(text: &str) -> String {
    const NAMES: [&str; 8] =
        ["local", "spread", "compact", "scatter", "bind", "preferred", "interleave", "weighted"];
    let names = NAMES.into_iter().chain(PlacementStrategy::ALL.map(PlacementStrategy::as_str));
    let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
    let nearest = nearest_name(name, names).filter(|nearest| *nearest != name);
    nearest.map_or_else(String::new, |name| {
        format!("did you mean '{}'? ", excerpt(&(name.to_owned() + rest)))
    })
}

impl Placement {
    /// The share of the program's memory that is to be on each node, where that is asked for.
    pub fn asked_shares(&self, policy: &MemoryPolicy) -> Option<BTreeMap<u32, f64>> {
        match (self, policy) {
            // The nearest memory of a node that has none.
            (_, MemoryPolicy::Preferred(node)) => Some(BTreeMap::from([(*node, 1.0)])),
            (Self::Local(Some(nodes)), _) | (_, MemoryPolicy::Bind(nodes)) => {
                let only = nodes.first().filter(|_| nodes.len() == 1);
                only.map(|node| BTreeMap::from([(node, 1.0)]))
            }
            (_, MemoryPolicy::FirstTouch) => None,
            (_, MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_)) => {
                policy.interleave_shares()
            }
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(None) => out.write_str("local"),
            Self::Local(Some(nodes)) => write!(out, "local:{nodes}"),
            Self::Spread => out.write_str("spread"),
            Self::Compact => out.write_str("compact"),
            Self::Scatter => out.write_str("scatter"),
            Self::Memory(policy) => policy.fmt(out),
            Self::InterleaveAll => out.write_str("interleave"),
            Self::Strategy(strategy) => out.write_str(strategy.as_str()),
        }
    }
}

impl FromStr for Placement {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        match text {
            "local" => return Ok(Self::Local(None)),
            "spread" => return Ok(Self::Spread),
            "compact" => return Ok(Self::Compact),
            "scatter" => return Ok(Self::Scatter),
            "interleave" => return Ok(Self::InterleaveAll),
            _ => {}
        }
        if let Some(strategy) = PlacementStrategy::ALL.into_iter().find(|it| it.as_str() == text) {
            return Ok(Self::Strategy(strategy));
        }
        let unknown = || PlacementError::NotAPlacement(text.into());
        if let Some(nodes) = text.strip_prefix("local:") {
            let nodes: NodeSet = nodes.parse().map_err(BindingError::from)?;
            return if nodes.is_empty() { Err(unknown()) } else { Ok(Self::Local(Some(nodes))) };
        }
        text.parse().map(Self::Memory).map_err(|error| match error {
            BindingError::List(_) | BindingError::NotAWeight(_) => PlacementError::Nodes(error),
            _ => unknown(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [&str; 15] = [
        "local",
        "local:0,2-3",
        "spread",
        "compact",
        "scatter",
        "bind:0-1",
        "preferred:3",
        "interleave",
        "interleave:1,3",
        "weighted:0=3",
        "weighted:0=4,1=2,2=1,3=255",
        "first-touch",
        "parallel-init",
        "round-robin",
        "memory-bind",
    ];

    #[test]
    fn text_form_reads_what_it_prints() {
        for text in ALL {
            assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_placement_is_refused_with_all_that_are() {
        for text in ["", "local:", "bind", "bind:", "preferred:0,1", "auto", "Local", "spread:0"] {
            let said = text.parse::<Placement>().unwrap_err().to_string();
            for name in ALL.map(|name| name.split(':').next().unwrap()) {
                assert!(said.contains(name), "'{said}' does not name {name}");
            }
        }
        for (text, meant) in
            [("interleav:0-1", "'interleave:0-1'"), ("spred", "'spread'"), ("Local", "'local'")]
        {
            let said = text.parse::<Placement>().unwrap_err().to_string();
            assert!(said.contains(&format!("did you mean {meant}?")), "{said}");
        }
        for text in ["bind:x", "local:0-", "interleave:4-2", "weighted:0=0", "weighted:0=256,1=1"] {
            assert!(text.parse::<Placement>().is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_those_that_were_asked_for() {
        let shares = |text: &str, policy: &str| {
            text.parse::<Placement>().unwrap().asked_shares(&policy.parse().unwrap())
        };
        for (text, policy, expected) in [
            ("weighted:0=4,1=2,3=2", "weighted:0=4,1=2,3=2", vec![(0, 0.5), (1, 0.25), (3, 0.25)]),
            ("interleave", "interleave:0-1", vec![(0, 0.5), (1, 0.5)]),
            ("preferred:2", "preferred:2", vec![(2, 1.0)]),
            ("bind:2", "bind:2", vec![(2, 1.0)]),
            ("local:1", "preferred:1", vec![(1, 1.0)]),
        ] {
            assert_eq!(shares(text, policy), Some(expected.into_iter().collect()), "{text}");
        }
        for (text, policy) in
            [("local", "first-touch"), ("bind:0-1", "bind:0-1"), ("local:0-1", "first-touch")]
        {
            assert_eq!(shares(text, policy), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_or_refused(text in "[a-z:=,0-9 -]{0,24}|(bind|local|weighted|interleave|preferred):[0-9=,-]{0,12}") {
            if let Ok(placement) = text.parse::<Placement>() {
                let printed = placement.to_string();
                prop_assert_eq!(printed.parse::<Placement>(), Ok(placement));
            }
        }
    }
}
