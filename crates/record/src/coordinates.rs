//! Where a case stands in an experiment.

use nearfar_machine::{GroupBy, MemoryKind, PlacementStrategy};
use nearfar_units::words;
use serde::{Deserialize, Deserializer, Serialize};

use crate::case::Pages;
use crate::device_coordinates::DeviceCoordinates;
use crate::exchange::HandOver;
use crate::experiment::Experiment;
use crate::messages::NetworkCoordinates;

/// A case's place in an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "experiment", rename_all = "snake_case")]
pub enum Coordinates {
    /// One group of CPUs on one memory node.
    Pairs(PairCoordinates),
    /// One run of all threads of the machine.
    Scaling(ScalingCoordinates),
    /// Local and remote threads on one memory node.
    Sharing(SharingCoordinates),
    /// All initiators of a package, or one of them, on the memory of another package.
    Links(LinkCoordinates),
    /// A roof, or a point below one.
    Roofs(RoofCoordinates),
    /// Loads and stores shared out over a fast and a slow memory.
    Hybrid(HybridCoordinates),
    /// A random set of streams.
    Mixes(MixCoordinates),
    /// The time of an access.
    Latency(LatencyCoordinates),
    /// A line that two CPUs hand to each other.
    Exchange(ExchangeCoordinates),
    /// Transfers to and from devices.
    Devices(DeviceCoordinates),
    /// Messages to and from another machine.
    Network(NetworkCoordinates),
    /// A program at a placement.
    Commands(CommandCoordinates),
    /// One of the papers' programs at a placement.
    Workloads(WorkloadCoordinates),
}

impl Coordinates {
    pub fn experiment(&self) -> Experiment {
        match self {
            Self::Pairs(_) => Experiment::Pairs,
            Self::Scaling(_) => Experiment::Scaling,
            Self::Sharing(_) => Experiment::Sharing,
            Self::Links(_) => Experiment::Links,
            Self::Roofs(_) => Experiment::Roofs,
            Self::Hybrid(_) => Experiment::Hybrid,
            Self::Mixes(_) => Experiment::Mixes,
            Self::Latency(_) => Experiment::Latency,
            Self::Exchange(_) => Experiment::Exchange,
            Self::Devices(_) => Experiment::Devices,
            Self::Network(_) => Experiment::Network,
            Self::Commands(_) => Experiment::Commands,
            Self::Workloads(_) => Experiment::Workloads,
        }
    }

    /// The place in the pairs matrix, where it is in that.
    pub fn as_pair(&self) -> Option<&PairCoordinates> {
        match self {
            Self::Pairs(pair) => Some(pair),
            _ => None,
        }
    }
}

/// One group of CPUs reads or writes one memory node (braithwaite2012, algorithm 1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PairCoordinates {
    pub group_by: GroupBy,
    /// The CPU group's number among its kind, from 0.
    pub index: u32,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    pub threads: u32,
    pub stage: Stage,
}

/// Rounds by which variants are screened; the choice needs an order, not an interval.
pub const SCREENING_ROUNDS: u32 = 3;

/// What a case's samples are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finds the best variants of a kernel on a few pairs.
    Screening,
    /// Part of the result.
    Matrix,
}

/// A line that two CPUs hand to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExchangeCoordinates {
    /// The CPU that begins.
    pub first_cpu: u32,
    /// The CPU that answers.
    pub second_cpu: u32,
    /// The node whose memory the line is in.
    pub memory_node: u32,
    pub by: HandOver,
}

/// Threads over the whole machine, on memory that they touched first (vladimirov2012).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScalingCoordinates {
    pub affinity: Affinity,
    pub threads: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
}

/// How threads are spread over the machine; the names are those of `KMP_AFFINITY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Affinity {
    /// Anywhere: the operating system decides.
    Unbound,
    /// As near to each other as can be: all PUs of a core, then the next core.
    Compact,
    /// As far from each other as can be: in turn over packages, nodes and cores.
    Scatter,
}

/// n threads near a memory node beside m threads far from it (saad2022). The actors are the
/// groups that have threads, the local one first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharingCoordinates {
    /// The node whose memory both groups use.
    pub memory_node: u32,
    /// The initiator near it.
    pub local_initiator: u32,
    pub remote_initiator: u32,
    /// n, 0 for none.
    pub local_threads: u32,
    /// m, 0 for none.
    pub remote_threads: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
}

/// All initiators of one package on the memory of another, or one of them alone. Actors are the
/// initiators of the first package, then, both ways, those of the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkCoordinates {
    /// The package whose cores move data.
    pub from_package: u32,
    /// The package whose memory they use.
    pub to_package: u32,
    /// The initiator of `from_package` that moves data while the others rest; null: all of them do.
    #[serde(default)]
    pub initiator: Option<u32>,
    pub way: Way,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// Threads of `from_package`.
    pub threads: u32,
}

/// Directions of a link in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// One package uses the other's memory.
    OneWay,
    /// Each uses the other's.
    BothWays,
}

/// What an initiator reaches (denoyelle2019, section 4). A case with several initiators at once has
/// such a place for each, `actor` being the position of the initiator's actor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoofCoordinates {
    /// The initiator whose roof it is.
    pub initiator: u32,
    /// Position of its actor in the case, from 0.
    pub actor: u32,
    pub roof: Roof,
    /// Kernel, mix or arithmetic by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// Threads of the initiator.
    pub threads: u32,
    pub purpose: RoofPurpose,
}

/// What limits an initiator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "limit", rename_all = "snake_case", deny_unknown_fields)]
pub enum Roof {
    /// Arithmetic on registers.
    #[serde(deserialize_with = "no_fields")]
    Compute,
    /// A cache of the CPU, each thread with its part.
    Cache {
        /// 1 is the one next to the core.
        level: u8,
    },
    /// A memory node, the rest of the machine idle.
    Memory { node: u32 },
    /// All nodes of a kind, page by page in turn, the rest of the machine idle.
    Interleaved { kind: MemoryKind },
    /// A memory node that several initiators use at once.
    Contended {
        node: u32,
        /// How many initiators, this one among them.
        initiators: u32,
    },
    /// Its own node while every other initiator uses its own.
    AllLocal {
        /// The initiator's own node.
        node: u32,
    },
    /// All nodes of a kind, page by page in turn, all initiators at once.
    Congested { kind: MemoryKind },
}

/// What a case of `roofs` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoofPurpose {
    Roof,
    /// A point with loads and arithmetic that the roofs must predict.
    Validation,
}

/// Loads and stores over a fast and a slow memory (denoyelle2019, section 6).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HybridCoordinates {
    pub initiator: u32,
    pub fast_node: u32,
    pub slow_node: u32,
    pub point: HybridPoint,
    /// Elements loaded in a step of the mix; 0 where nothing is read.
    pub loads: u32,
    /// Elements stored in a step of the mix; 0 where nothing is written.
    pub stores: u32,
    /// Pages of the array that is read; null where nothing is.
    pub load_pages: Option<PageSplit>,
    /// Pages of the array that is written; null where nothing is.
    pub store_pages: Option<PageSplit>,
    /// Mix by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    pub threads: u32,
}

/// Of this many pages in turn those in the fast and those in the slow memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PageSplit {
    pub fast: u32,
    pub slow: u32,
}

impl PageSplit {
    /// Share of the pages in the fast memory, 0 to 1.
    pub fn fast_share(self) -> f64 {
        f64::from(self.fast) / (f64::from(self.fast) + f64::from(self.slow))
    }
}

/// One kind of transfer of the hybrid model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TransferKind {
    /// Loads from the fast memory.
    #[serde(rename = "lf")]
    FastLoad,
    /// Stores to the fast memory.
    #[serde(rename = "sf")]
    FastStore,
    /// Loads from the slow memory.
    #[serde(rename = "ls")]
    SlowLoad,
    /// Stores to the slow memory.
    #[serde(rename = "ss")]
    SlowStore,
}

impl TransferKind {
    /// All, in the order of the paper.
    pub const ALL: [Self; 4] = [Self::FastLoad, Self::FastStore, Self::SlowLoad, Self::SlowStore];
}

/// What a case of `hybrid` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "point", rename_all = "snake_case", deny_unknown_fields)]
pub enum HybridPoint {
    /// One kind alone: its bandwidth b.
    Corner { of: TransferKind },
    /// Two kinds, of which one takes a little longer: their overlap.
    Pair {
        /// The one that takes longer.
        dominating: TransferKind,
        beside: TransferKind,
    },
    /// A point of the surface that the fitted model is validated by.
    #[serde(deserialize_with = "no_fields")]
    Surface,
}

/// A variant that has nothing but its name: serde would let it pass with any fields beside.
fn no_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoFields {}
    NoFields::deserialize(deserializer).map(|NoFields {}| ())
}

/// A random set of streams.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MixCoordinates {
    /// Its number, from 0.
    pub index: u32,
}

/// Dependent loads by one thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyCoordinates {
    /// The initiator of the thread.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Memory that is walked through.
    pub working_set_bytes: u64,
    pub pages: Pages,
    pub walk: ChaseWalk,
    /// What loads the memory beside it, the second actor; null where nothing does.
    pub load: Option<LatencyLoad>,
}

/// In which order a chase visits its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChaseWalk {
    /// Pages that lie together are visited one after the other: addresses are translated by
    /// what the translation caches hold.
    PageGroups,
    /// Anywhere in the whole set: most accesses miss the translation caches as well.
    Anywhere,
}

/// What loads the memory beside a chase; the second actor of the case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyLoad {
    /// Kernel or mix by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    pub threads: u32,
    /// As of a stream.
    pub pause_cycles: u32,
    /// Elements that the kernel loads in a step; 0 with no stores: an old record does not say.
    #[serde(default)]
    pub loads: u32,
    /// Elements that it stores in a step.
    #[serde(default)]
    pub stores: u32,
}

/// A program on the CPUs of one initiator, with its memory on one node or dealt out over several
/// (braithwaite2012, chapter 6).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandCoordinates {
    /// The program's label.
    pub command: String,
    /// The initiator of its CPUs.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node that its memory is asked for on; null where pages are dealt out over several.
    pub memory_node: Option<u32>,
    /// Threads that load the same memory beside it; null for a run alone.
    #[serde(default)]
    pub load: Option<LatencyLoad>,
}

/// One of the papers' programs: on one node's memory by the threads of one initiator
/// (braithwaite2012, chapter 6), or by a strategy over the machine (ribeiro2010, section 5).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkloadCoordinates {
    /// Its name and size, as `cg.A`.
    pub workload: String,
    /// The initiator of its threads; null where they are spread over the machine.
    pub initiator: Option<u32>,
    /// The lowest node with CPUs of that initiator; null: it has none, or threads are spread.
    pub cpu_node: Option<u32>,
    /// The node of all its pages; null where a strategy places them.
    pub memory_node: Option<u32>,
    /// The strategy that places them; null where they are on one node.
    pub strategy: Option<PlacementStrategy>,
    pub threads: u32,
}

words!(Affinity, Way, TransferKind, ChaseWalk);
