//! Absence is data: what was not measured, and why.

use nearfar_units::{from_word, words};
use serde::{Deserialize, Serialize};

use crate::coordinates::Coordinates;
use crate::experiment::Experiment;

/// Something that has no samples, or that failed in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The case, or the group of cases, by its id.
    pub case: String,
    /// Where it would stand, as of a case; empty for a group of cases.
    pub coordinates: Vec<Coordinates>,
    pub absence: Absence,
    pub reason: Reason,
    /// The round in which it was refused, from 0; null when it was never begun.
    pub round: Option<u32>,
}

impl Absent {
    /// The experiment that it is of; `None` where the record does not say.
    pub fn experiment(&self) -> Option<Experiment> {
        let of_case = self.coordinates.first().map(Coordinates::experiment);
        // A group of cases has no coordinates: its id begins with its experiment.
        of_case.or_else(|| from_word(self.case.split('/').next()?))
    }
}

/// The two ways of not being measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Not asked for, or not applicable.
    Omitted,
    /// The machine said no.
    Refused,
}

/// Why something is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// For programs.
    pub code: ReasonCode,
    /// For people: what happened, and what to do about it where something can be done.
    pub text: String,
}

/// Why something is absent, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// Omitted: the machine has one memory node, so that nothing is remote.
    OneNode,
    /// Omitted: one initiator can be used, or memory is local to all: nothing is shared, and no
    /// memory is another's.
    OneInitiator,
    /// Omitted: the machine has one package, and so no link to another.
    OnePackage,
    /// Omitted: one core can be used, so that nothing can run beside it.
    OneCore,
    /// Omitted: the machine has one kind of memory.
    OneMemoryKind,
    /// Omitted: no working set is both larger than the caches before it and smaller than the
    /// cache.
    NoWindow,
    /// Omitted: the size of a cache is not known.
    UnknownCache,
    /// Omitted: what the case follows from was not measured.
    UnmeasuredInput,
    /// Omitted: no ratio of small numbers comes near enough to what is wanted.
    NoRatio,
    /// Omitted: only the suite `full`, or the full grid, measures it.
    FullSuiteOnly,
    /// The CPU lacks the instructions, or the kernel is not written for this variant.
    NoVariant,
    /// Omitted: other variants of the kernel were faster where all were tried.
    ScreenedOut,
    /// Omitted: the process may not place pages on the node.
    NodeNotAllowed,
    /// Omitted: the process may use none of the CPU group's CPUs.
    CpusNotAllowed,
    /// Omitted: the time of `--budget` ended before the case was begun.
    Budget,
    /// Refused: the working set does not fit in a quarter of the memory that is available, or the
    /// node is full.
    NoRoom,
    /// Refused: the operating system refused a call that is needed.
    Denied,
    /// Refused: pages were not on the nodes asked for.
    Misplaced,
    /// Refused: there was no way to find out where the pages were.
    Unproven,
    /// Refused: the arrays did not hold what the kernel should have left there.
    WrongData,
    /// Refused: threads could not be started, or did not get ready.
    Threads,
    /// Refused: a simulated machine cannot answer the case.
    NotSimulated,
    /// Refused: what was counted in a window contradicts itself or what stands in the record, or
    /// the clock went back; also where a CPU or node came online after the record was begun.
    Contradiction,
    /// Omitted: a copy of that size would need more than a quarter of the memory that the node or
    /// the device has free.
    TooLarge,
    /// Omitted: no device that data could be copied to was found; the text says why of each
    /// interface.
    NoDevice,
    /// Omitted: another programming interface that shows the same device is measured.
    OtherInterface,
    /// Refused: the device failed, is gone, or has no room.
    DeviceFailed,
    /// Omitted: no other machine was named, or it could not be asked; the text says why.
    NoPeer,
    /// Refused: the other machine refused, or the connection to it was cut.
    PeerFailed,
    /// Refused: the host's pages could not be locked to their place.
    NotPinned,
    /// Refused: the program could not be started, or ended with another status than 0, or by a
    /// signal; what it printed last stands in the text.
    CommandFailed,
    /// Refused: the program ran longer than it may, and was ended.
    TimedOut,
    /// Refused: nothing in the program's output matches the metric's pattern, or what does is no
    /// number.
    NoMetric,
    /// Refused: a workload's result was not the known one.
    NotVerified,
}

impl ReasonCode {
    /// Whether it says that the machine said no.
    pub(crate) fn is_of_refusals(self) -> bool {
        matches!(
            self,
            Self::NoRoom
                | Self::Denied
                | Self::Misplaced
                | Self::Unproven
                | Self::WrongData
                | Self::Threads
                | Self::NotSimulated
                | Self::Contradiction
                | Self::DeviceFailed
                | Self::PeerFailed
                | Self::NotPinned
                | Self::CommandFailed
                | Self::TimedOut
                | Self::NoMetric
                | Self::NotVerified
        )
    }
}

words!(ReasonCode);
