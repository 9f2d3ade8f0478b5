//! A program that was watched: where its memory was, where it ran, and what counters said of it.
//! One JSON object; `docs/profiling.md` describes it.

use std::collections::BTreeMap;

use nearfar_machine::CpuSet;
use serde::{Deserialize, Serialize};

use crate::environment::Cpu;

/// Name and version of the format.
pub const PROFILE_SCHEMA: &str = "nearfar.profile/1";

/// What was seen of a program: where its memory was, where its threads ran, and what counters said
/// of it (docs/profiling.md); `profile --out FILE` writes it and `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub schema: String,
    /// Version of the program that made it.
    pub nearfar: String,
    /// Name of the host.
    pub host: String,
    /// When watching began, UTC, RFC 3339.
    pub started: String,
    pub program: ProfiledProgram,
    pub cpu: Cpu,
    /// The initiators of the machine.
    pub initiators: Vec<ProfiledInitiator>,
    /// Seconds between the first and the last look.
    pub wall_seconds: f64,
    /// CPU seconds that it used with its children: of a started program by its end, of one that was
    /// attached to by the ticks (10 ms) of its looks.
    pub cpu_seconds: f64,
    /// The most threads that a look saw.
    pub most_threads: u32,
    /// The most bytes that a look saw; null where pages could not be looked at.
    pub most_bytes: Option<u64>,
    /// Looks, in order.
    pub looks: Vec<ProfileLook>,
    /// Which share of its accesses goes where; null where pages or threads could not be seen.
    pub access: Option<AccessShares>,
    /// Why `access` is null; null where it is not.
    pub access_unknown: Option<String>,
    /// The same by the classes of a record; null where no record was given or `access` is null.
    pub classes: Option<ClassShares>,
    pub counters: Vec<ProfileCounter>,
    /// What follows from them.
    pub figures: ProfileFigures,
    /// What was odd, in sentences.
    pub notes: Vec<String>,
}

/// The program that was watched. Its arguments are nobody's business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfiledProgram {
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Whether it ran before watching began.
    pub attached: bool,
    /// How it ended; null while it runs, and for one that was attached to.
    pub end: Option<ProgramEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProgramEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// An initiator: where threads are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfiledInitiator {
    /// Its number.
    pub index: u32,
    pub cpus: CpuSet,
    /// The lowest of its nodes that has CPUs; null for an initiator without one.
    pub cpu_node: Option<u32>,
    /// Its own memory nodes.
    pub memory_nodes: Vec<u32>,
}

/// One look at the program, with its children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileLook {
    /// Seconds since watching began.
    pub at_seconds: f64,
    pub processes: u32,
    pub threads: u32,
    /// CPU seconds since the look before, by the initiator of the CPU that each thread ran on last.
    pub cpu_seconds: BTreeMap<u32, f64>,
    /// Bytes of present pages by memory node; null where this look was at threads alone.
    pub bytes: Option<BTreeMap<u32, u64>>,
}

/// Shares of accesses: the share of the threads' CPU time by initiator, times the share of the pages
/// by memory node. It takes every page for equally hot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessShares {
    /// The share that goes to an initiator's own memory nodes.
    pub local_share: f64,
    /// CPU time by initiator, as shares.
    pub cpu_time: BTreeMap<u32, f64>,
    /// Pages by memory node, as shares, averaged over CPU time.
    pub pages: BTreeMap<u32, f64>,
    pub pairs: Vec<PairShare>,
}

/// The accesses of an initiator's threads to a memory node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PairShare {
    pub initiator: u32,
    pub memory_node: u32,
    /// The share of all accesses.
    pub share: f64,
}

/// Access shares by the classes of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassShares {
    pub record_host: String,
    /// When its measuring began, UTC, RFC 3339.
    pub record_started: String,
    /// Each class, the fastest first.
    pub shares: Vec<ClassShare>,
    /// The share of accesses to pairs that are in no class.
    pub unclassed_share: f64,
}

/// The accesses that go to a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassShare {
    /// 0 is the fastest.
    pub class: u32,
    /// Its maximum / that of class 0.
    pub alpha_relative: f64,
    /// The share of all accesses.
    pub share: f64,
}

/// What counters count. Lines are of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountedQuantity {
    /// Cycles of the core in user mode.
    Cycles,
    /// Instructions that were retired in user mode.
    Instructions,
    /// Floating-point operations of any precision.
    Flops,
    /// Those of double precision.
    FlopsDouble,
    /// Those of single precision.
    FlopsSingle,
    /// Lines read from the memory of the own node.
    LocalDramLines,
    /// Lines read from the memory of other nodes.
    RemoteDramLines,
    /// Requests that reached the last-level cache.
    LlcRequests,
    /// Those that it did not have.
    LlcMisses,
    /// Lines on their way to the first-level cache, added up over cycles.
    MissOccupancy,
    /// Cycles in which there was one at least.
    MissCycles,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileCounter {
    pub quantity: CountedQuantity,
    /// The CPU's events behind it, by their makers' names; none where this CPU has no known one.
    pub events: Vec<String>,
    /// What they mean and what they leave out; null without events.
    pub meaning: Option<String>,
    /// Who says so; null without events.
    pub source: Option<String>,
    /// The count; null where it is not to be had or not to be believed.
    pub count: Option<f64>,
    /// The share of the program's time in which it was counted: below 1 the count is scaled up;
    /// null without a count.
    pub counted_share: Option<f64>,
    /// What it counted of work that is known; null where that was not tried.
    pub check: Option<CounterCheck>,
    /// Why there is no count; null where there is one.
    pub unavailable: Option<String>,
}

/// A counter's count of work that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CounterCheck {
    /// The work.
    pub work: String,
    /// What there was to count.
    pub expected: f64,
    pub counted: f64,
}

/// What follows from the counters; null is not known, with the reason in `unknown`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileFigures {
    /// Floating-point operations of all threads, 1e9/s of wall time.
    pub gflop_per_s: Option<f64>,
    /// Bytes read from memory by all threads, 1e9 bytes/s of wall time.
    pub dram_read_gb_per_s: Option<f64>,
    /// FLOPs per byte that the cores request.
    pub arithmetic_flops_per_byte: Option<f64>,
    /// FLOPs per byte that is read from memory.
    pub operational_flops_per_byte: Option<f64>,
    /// The part of the lines read from memory that came from the own node.
    pub local_dram_share: Option<f64>,
    /// The part of the requests to the last-level cache that it did not have.
    pub llc_miss_rate: Option<f64>,
    pub instructions_per_cycle: Option<f64>,
    /// Lines on their way to the first-level cache while there was one.
    pub memory_level_parallelism: Option<f64>,
    /// Why a field is null, by the field's name.
    pub unknown: BTreeMap<String, String>,
}

impl ProfileFigures {
    /// The figures with a value, by their fields' names.
    pub fn values(&self) -> [(&'static str, Option<f64>); 8] {
        [
            ("gflop_per_s", self.gflop_per_s),
            ("dram_read_gb_per_s", self.dram_read_gb_per_s),
            ("arithmetic_flops_per_byte", self.arithmetic_flops_per_byte),
            ("operational_flops_per_byte", self.operational_flops_per_byte),
            ("local_dram_share", self.local_dram_share),
            ("llc_miss_rate", self.llc_miss_rate),
            ("instructions_per_cycle", self.instructions_per_cycle),
            ("memory_level_parallelism", self.memory_level_parallelism),
        ]
    }
}

impl CountedQuantity {
    pub const ALL: [Self; 11] = [
        Self::Cycles,
        Self::Instructions,
        Self::Flops,
        Self::FlopsDouble,
        Self::FlopsSingle,
        Self::LocalDramLines,
        Self::RemoteDramLines,
        Self::LlcRequests,
        Self::LlcMisses,
        Self::MissOccupancy,
        Self::MissCycles,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::Flops => "floating-point operations",
            Self::FlopsDouble => "floating-point operations, double precision",
            Self::FlopsSingle => "floating-point operations, single precision",
            Self::LocalDramLines => "lines read from local memory",
            Self::RemoteDramLines => "lines read from remote memory",
            Self::LlcRequests => "requests to the last-level cache",
            Self::LlcMisses => "misses of the last-level cache",
            Self::MissOccupancy => "lines under way, over cycles",
            Self::MissCycles => "cycles with lines under way",
        }
    }
}
