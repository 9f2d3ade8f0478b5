//! Absence is data: what was not measured, and why.

use serde::{Deserialize, Serialize};

use crate::coordinates::Coordinates;

/// Something that has no samples, or that failed in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The case, by its id.
    pub case: String,
    /// Where it would stand.
    pub coordinates: Vec<Coordinates>,
    /// Not asked for, or asked for and denied.
    pub absence: Absence,
    /// Why.
    pub reason: Reason,
    /// The round in which it was refused; null when it was never begun.
    pub round: Option<u32>,
}

/// The two ways of not being measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Not asked for, or not applicable on this machine.
    Omitted,
    /// The machine said no.
    Refused,
}

/// Why something is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// For programs.
    pub code: ReasonCode,
    /// For people: what happened, and what to do about it where something can be done.
    pub text: String,
}

/// Why something is absent, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The machine has one memory node: nothing is remote.
    OneNode,
    /// The machine has one cluster: nothing can be shared, and no memory is another's.
    OneCluster,
    /// The machine has one package: it has no link to another.
    OnePackage,
    /// There is one core: nothing can run beside another.
    OneCore,
    /// The machine has one kind of memory.
    OneMemoryKind,
    /// No working set is both larger than the caches before it and smaller than the cache.
    NoWindow,
    /// The size of a cache is not known.
    UnknownCache,
    /// What it follows from was not measured.
    UnmeasuredInput,
    /// No ratio of small numbers comes near enough to what is wanted.
    NoRatio,
    /// Only the suite `full`, or the full grid, measures it.
    FullSuiteOnly,
    /// The CPU lacks the instructions, or the kernel has no such variant.
    NoVariant,
    /// Another variant of the kernel was faster where both were tried.
    ScreenedOut,
    /// The process may not use the node.
    NodeNotAllowed,
    /// The process may use none of the initiator's CPUs.
    CpusNotAllowed,
    /// The budget ended first.
    Budget,
    /// The working set does not fit in a quarter of the memory that is available.
    NoRoom,
    /// The kernel refused a call.
    Denied,
    /// Pages were not where they were asked for.
    Misplaced,
    /// There was no way to find out where the pages were.
    Unproven,
    /// The arrays did not hold what the kernel should have left there.
    WrongData,
    /// Threads could not be started or did not get ready.
    Threads,
    /// A simulated machine cannot answer the case.
    NotSimulated,
    /// What was counted in a window contradicts itself.
    Contradiction,
    /// A copy of that size would need more than a quarter of the memory that is free.
    TooLarge,
    /// No device that data could be copied to was found.
    NoDevice,
    /// Another programming interface that shows the same device is measured.
    OtherInterface,
    /// The device failed, is gone, or has no room.
    DeviceFailed,
    /// The host's pages could not be locked to their place.
    NotPinned,
    /// The program could not be started, or ended in failure.
    CommandFailed,
    /// The program ran longer than it may.
    TimedOut,
    /// The program's output does not hold the metric.
    NoMetric,
}

impl ReasonCode {
    /// The only kind of absence that has this reason; `None` where both have it.
    #[must_use]
    pub fn absence(self) -> Option<Absence> {
        match self {
            Self::OneNode
            | Self::OneCluster
            | Self::OnePackage
            | Self::OneCore
            | Self::OneMemoryKind
            | Self::NoWindow
            | Self::UnknownCache
            | Self::UnmeasuredInput
            | Self::NoRatio
            | Self::FullSuiteOnly
            | Self::ScreenedOut
            | Self::NodeNotAllowed
            | Self::CpusNotAllowed
            | Self::TooLarge
            | Self::NoDevice
            | Self::OtherInterface
            | Self::Budget => Some(Absence::Omitted),
            Self::NoVariant => None,
            Self::NoRoom
            | Self::Denied
            | Self::Misplaced
            | Self::Unproven
            | Self::WrongData
            | Self::Threads
            | Self::NotSimulated
            | Self::Contradiction
            | Self::DeviceFailed
            | Self::NotPinned
            | Self::CommandFailed
            | Self::TimedOut
            | Self::NoMetric => Some(Absence::Refused),
        }
    }

    /// The code as it stands in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OneNode => "one_node",
            Self::OneCluster => "one_cluster",
            Self::OnePackage => "one_package",
            Self::OneCore => "one_core",
            Self::OneMemoryKind => "one_memory_kind",
            Self::NoWindow => "no_window",
            Self::UnknownCache => "unknown_cache",
            Self::UnmeasuredInput => "unmeasured_input",
            Self::NoRatio => "no_ratio",
            Self::FullSuiteOnly => "full_suite_only",
            Self::NoVariant => "no_variant",
            Self::ScreenedOut => "screened_out",
            Self::NodeNotAllowed => "node_not_allowed",
            Self::CpusNotAllowed => "cpus_not_allowed",
            Self::Budget => "budget",
            Self::NoRoom => "no_room",
            Self::Denied => "denied",
            Self::Misplaced => "misplaced",
            Self::Unproven => "unproven",
            Self::WrongData => "wrong_data",
            Self::Threads => "threads",
            Self::NotSimulated => "not_simulated",
            Self::Contradiction => "contradiction",
            Self::TooLarge => "too_large",
            Self::NoDevice => "no_device",
            Self::OtherInterface => "other_interface",
            Self::DeviceFailed => "device_failed",
            Self::NotPinned => "not_pinned",
            Self::CommandFailed => "command_failed",
            Self::TimedOut => "timed_out",
            Self::NoMetric => "no_metric",
        }
    }
}
