//! What the fit is made from: the parts of a machine, sets of streams that ran together and what each
//! moved.

use std::collections::BTreeSet;

use nearfar_flow::{Load, Part};
use nearfar_machine::MemoryKind;
use nearfar_record::Experiment;
use serde::Serialize;

/// Streams that ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowCase {
    pub experiment: Experiment,
    /// Its streams; each with at least one thread.
    pub streams: Vec<FlowStream>,
}

/// A stream and what it moved.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowStream {
    /// Its threads, their initiator and the shares of its pages.
    pub load: Load,
    /// Position in [`FlowLayout::kernels`].
    pub kernel: usize,
    /// What it moved, useful bytes/s; above 0.
    pub rate: f64,
    /// Standard error of that, a fraction; above 0.
    pub noise: f64,
}

/// The parts that a machine has, whatever they carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLayout {
    pub initiators: usize,
    pub nodes: Vec<u32>,
    pub links: Vec<FlowLink>,
    /// Kernels by their names, the one that capacities are of first.
    pub kernels: Vec<String>,
}

/// Something that several paths share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLink {
    /// A link of packages or of an initiator, or channels.
    pub part: MachinePart,
    /// The paths over it: initiator and node.
    pub crosses: BTreeSet<(u32, u32)>,
}

/// A part of a machine that can be full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MachinePart {
    /// From the CPUs of an initiator to a node.
    Path {
        initiator: u32,
        memory_node: u32,
    },
    Controller {
        memory_node: u32,
    },
    /// What the CPUs of an initiator can have on the way.
    Issue {
        initiator: u32,
    },
    /// From the CPUs of a package to the memory of another.
    Link {
        from_package: u32,
        to_package: u32,
    },
    /// From one of several initiators of a package to the memory of another.
    InitiatorLink {
        initiator: u32,
        to_package: u32,
    },
    /// What all memory of a kind in a package carries together.
    Channels {
        package: u32,
        memory_kind: MemoryKind,
    },
}

impl FlowLayout {
    /// `None` for a part that the machine has not.
    pub fn part(&self, part: Part) -> Option<MachinePart> {
        let node = |column: usize| self.nodes.get(column).copied();
        let number = |initiator: usize| u32::try_from(initiator).ok();
        Some(match part {
            Part::Path { initiator, column } => {
                MachinePart::Path { initiator: number(initiator)?, memory_node: node(column)? }
            }
            Part::Controller { column } => MachinePart::Controller { memory_node: node(column)? },
            Part::Issue { initiator } => MachinePart::Issue { initiator: number(initiator)? },
            Part::Link { index } => self.links.get(index)?.part,
        })
    }
}

impl FlowCase {
    /// Initiator, node and threads of a stream that runs alone on one node.
    pub(crate) fn as_pair(&self) -> Option<(u32, u32, u32)> {
        let [only] = self.streams.as_slice() else { return None };
        let [(node, _)] = only.load.shares.as_slice() else { return None };
        Some((only.load.initiator, *node, only.load.threads))
    }

    /// Predicted / measured - 1 of every stream.
    pub(crate) fn errors(&self, predicted: &[f64]) -> Vec<f64> {
        predicted.iter().zip(&self.streams).map(|(rate, stream)| rate / stream.rate - 1.0).collect()
    }

    /// What its streams of an initiator move on a node, bytes/s.
    pub(crate) fn moved(&self, is_counted: impl Fn(u32, u32) -> bool) -> f64 {
        let of_stream = |stream: &FlowStream| {
            let shares = stream.load.shares.iter();
            let counted = shares.filter(|(node, _)| is_counted(stream.load.initiator, *node));
            stream.rate * counted.map(|(_, share)| share).sum::<f64>()
        };
        self.streams.iter().map(of_stream).sum()
    }
}
