//! What the fit is made from: sets of streams that ran together and what each moved.

use std::collections::BTreeSet;

use nearfar_flow::Load;
use nearfar_machine::MemoryKind;
use nearfar_record::Experiment;

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
    /// Number of initiators.
    pub initiators: usize,
    /// Memory nodes by their numbers.
    pub nodes: Vec<u32>,
    /// What several paths share beside controllers and issue limits.
    pub links: Vec<FlowLink>,
    /// Kernels by their names, the one that capacities are of first.
    pub kernels: Vec<String>,
}

/// Something that several paths share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLink {
    pub ends: LinkEnds,
    /// The paths over it: initiator and node.
    pub crosses: BTreeSet<(u32, u32)>,
}

/// What paths have in common that share something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEnds {
    /// The initiators of a package on the memory of another.
    Packages {
        /// The package of the cores.
        from: u32,
        /// The package of the memory.
        to: u32,
    },
    /// One of several initiators of its package on the memory of another package.
    InitiatorToPackage {
        initiator: u32,
        /// The package of the memory.
        to: u32,
    },
    /// All memory of a kind in a package, whoever uses it: several nodes can share channels.
    Channels { package: u32, kind: MemoryKind },
}

impl FlowCase {
    /// Initiator, node and threads of a stream that runs alone on one node.
    pub(crate) fn as_pair(&self) -> Option<(u32, u32, u32)> {
        let [only] = self.streams.as_slice() else { return None };
        let [(node, _)] = only.load.shares.as_slice() else { return None };
        Some((only.load.initiator, *node, only.load.threads))
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
