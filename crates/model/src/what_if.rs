//! What would become of a machine's figures with other memory, other modes or another link.
//! Units: useful bytes/s of reads, ns.
//! Source: ours. A figure is the least of what cores, ways and memory carry (the hard limit of the flow
//! law, `flow.rs`): what does not limit can change without a trace, and what limits is known from its own
//! figure. A node over several channels of a package has the mean of their latencies, and pages in turn
//! over them; so a mode that joins nodes follows from the record, and one that divides them does so in part.
//! Fails when: firmware runs other speeds with other numbers of modules, or a mode changes clocks.
//! Pinned by: `benches/what_if.rs` of `reproduce` (a published machine in two modes, simulated machines
//! with and without the change).

mod change;
mod memory;
mod modes;
mod seen;

use nearfar_machine::TheoreticalMaximum;
use nearfar_record::{Estimate, Outcome};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

pub use self::change::{Change, ChangeError};
use self::seen::Seen;
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What a change would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// As it was asked: `channels=6`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub change: Change,
    /// What it changes from, in a few words.
    pub from: String,
    /// The kernel that all bandwidths are of.
    pub kernel: String,
    pub bandwidth: Vec<ChangedBandwidth>,
    pub latency: Vec<ChangedLatency>,
}

/// A bandwidth before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedBandwidth {
    pub of: BandwidthOf,
    /// Null where the record has none.
    #[serde(rename = "now_gb_per_s")]
    pub now: Option<Estimate<BytesPerSecond>>,
    #[serde(rename = "then_gb_per_s")]
    pub then: Outcome<Then<BytesPerSecond>>,
}

/// A latency before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedLatency {
    pub of: LatencyOf,
    /// Null where the record has none.
    #[serde(rename = "now_ns")]
    pub now: Option<Estimate<Nanoseconds>>,
    #[serde(rename = "then_ns")]
    pub then: Outcome<Then<Nanoseconds>>,
}

/// What a figure would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Then<U> {
    #[serde(flatten)]
    pub figure: Estimate<U>,
    pub because: Because,
}

/// Bandwidths that are asked about. Of several nodes or pairs the one in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BandwidthOf {
    /// All threads of a memory node on its own memory.
    OwnNode,
    /// All threads of the machine, each on memory of its own.
    AllOwn,
    /// All threads of a node on a node of the other package.
    OtherPackage,
    /// All threads of the node that is nearest to it on a CXL node.
    Cxl,
}

/// Idle latencies that are asked about, likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LatencyOf {
    Own,
    OtherPackage,
    Cxl,
}

/// Why a figure would be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// The memory limits it, and carries more or less then.
    MemoryLimits,
    /// The memory comes to limit it.
    MemoryThenLimits,
    /// Cores, or their ways to the memory, limit it, and stay.
    CoresLimit,
    /// The way between packages limits it, and stays.
    LinkLimits,
    /// The memory limits it, and from where on cores would was not measured.
    CoresUnknown,
    /// A line takes as long as before but for its transfer.
    TransferOfALine,
    /// It is the mean over the nodes that become one.
    MeanOfNodes,
    /// By the flow law, with pages in turn over the nodes that become one.
    FlowLaw,
    /// All cores did the same with pages in turn over the nodes that become one.
    MeasuredInTurn,
    /// The same channels, in parts.
    SameChannels,
    /// The parts' mean is what the whole had, and the own part is the nearest.
    NearestPart,
    /// The link limits it, and carries more or less then.
    CxlLinkLimits,
    /// Whether the link or the device limits it is not known.
    LinkOrDevice,
    /// The change does not concern it.
    Untouched,
}

/// What a change would do to the figures of a record. `maximum` is what a memory node can carry at most now,
/// `link` what a CXL node's link can; why, where they are not known.
///
/// # Errors
/// Where the record has no bandwidths or lacks what the change asks for.
pub fn what_if(
    figures: &RecordFigures<'_>,
    change: &Change,
    maximum: &Result<TheoreticalMaximum, String>,
    link: Option<&TheoreticalMaximum>,
) -> Result<WhatIf, Inapplicable> {
    let seen = Seen::of(figures)?;
    let answer = match change {
        Change::Channels(_) | Change::Modules(_) => memory::changed(&seen, change, maximum),
        Change::NodesPerPackage(count) => modes::changed(figures, &seen, change, *count),
        Change::CxlLink(to) => memory::changed_link(&seen, change, to, link),
    }?;
    if answer.bandwidth.is_empty() && answer.latency.is_empty() {
        let why = "the record has no figure of memory of that kind that the change concerns".into();
        return Err(Inapplicable { why, remedy: None });
    }
    Ok(answer)
}

impl WhatIf {
    /// Questions of which nothing is known.
    pub fn refused(&self) -> usize {
        let bandwidth = self.bandwidth.iter().filter(|it| it.then.found().is_none()).count();
        bandwidth + self.latency.iter().filter(|it| it.then.found().is_none()).count()
    }
}
