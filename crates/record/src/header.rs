//! The first line of a record: who measured what, where, with which inputs.

use nearfar_machine::{GroupBy, Machine};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::case::Pages;
use crate::command::CommandInputs;
use crate::environment::Environment;
use crate::experiment::{Experiment, Grid};
use crate::messages::NetworkInputs;
use crate::scrub::REMOVED;
use crate::size_screen::SizeScreen;
use crate::transfer::DeviceInputs;

/// Name and version of the format; the number grows when a field changes meaning.
pub const SCHEMA: &str = "nearfar.record/2";

/// The first line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub schema: String,
    /// Programs that made the record.
    pub versions: Versions,
    /// Name of the host, as the operating system says.
    pub host: String,
    /// When measuring began: RFC 3339, UTC, to the second.
    pub started: String,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
    /// The simulated machine that answered; null where a machine was measured.
    pub simulation: Option<Simulation>,
    /// What the plan was made from; with the machine they give the plan again.
    pub inputs: Inputs,
    /// Hash (FNV-1a, 64 bits) of packages, nodes, cores and caches: a resumed run must find the
    /// same.
    pub fingerprint: String,
    pub machine: Machine,
    pub environment: Environment,
}

impl Header {
    /// Whether the host that was measured is no longer told, so that nothing can go on with the record.
    pub fn is_of_no_host(&self) -> bool {
        self.executor == Executor::Native && self.host == REMOVED
    }

    /// A header of what this program measures or simulates on this machine, about whose system
    /// nothing is known yet.
    pub fn new(
        host: impl Into<String>,
        started: impl Into<String>,
        executor: Executor,
        inputs: Inputs,
        machine: Machine,
    ) -> Self {
        Self {
            schema: SCHEMA.into(),
            versions: Versions { nearfar: env!("CARGO_PKG_VERSION").into(), hwloc: None },
            host: host.into(),
            started: started.into(),
            executor,
            simulation: None,
            inputs,
            fingerprint: machine.fingerprint(),
            machine,
            environment: Environment::default(),
        }
    }
}

/// Programs that made a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Versions {
    pub nearfar: String,
    /// Interface version of the hwloc library that read the machine, as `2.9`; null: none did.
    pub hwloc: Option<String>,
}

/// Who answered the cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// This machine was measured.
    Native,
    /// Figures were computed for a simulated machine, on a virtual clock.
    Simulated,
}

/// A simulated machine: all that is needed to answer the same cases in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// The machine's name, or its file's.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// Whether the file's noise was drawn.
    pub noise: bool,
    /// The text of its file (docs/simulated-machines.md).
    pub file: String,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// A first look.
    Quick,
    /// What the models need.
    Standard,
    /// Everything.
    Full,
}

/// What a plan is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// How much is measured.
    pub suite: Suite,
    /// Experiments, in the order in which they are measured.
    pub experiments: Vec<Experiment>,
    /// How CPUs are grouped.
    pub group_by: GroupBy,
    /// Kernels that were asked for, by their names in the catalog; null for the suite's own.
    pub kernels: Option<Vec<String>>,
    /// Instruction-set variant that was forced; null for the suite's own choice.
    pub variant: Option<String>,
    pub pages: Pages,
    /// Working set that was asked for; null when it follows the caches.
    pub working_set_bytes: Option<u64>,
    /// How many times the caches involved all arrays of a case on memory have together; each array has at
    /// least four times (STREAM's rule). Null: four times for all arrays, which is enough for simulated
    /// machines, or `working_set_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_multiple: Option<u32>,
    /// The same of the lines that a chase touches; null: twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chase_multiple: Option<u32>,
    /// By what the multiples were chosen; null where they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_screen: Option<SizeScreen>,
    /// Shortest window of a sample.
    pub window_ns: u64,
    /// Windows of a case in each round; of `scaling` one.
    pub windows_per_round: u32,
    /// Runs of each case of `scaling`, each a round with one window.
    pub runs: u32,
    /// How many cells of the grid of `sharing` are measured.
    pub grid: Grid,
    /// Rounds that every case gets; of `scaling` its runs.
    pub min_rounds: u32,
    /// Rounds after which measuring ends; of `scaling` its runs.
    pub max_rounds: u32,
    /// Half-width of a case's 95 % interval, as a fraction of its median, at which it is done.
    pub target: f64,
    /// Time after which no round is begun; null for none.
    pub budget_ns: Option<u64>,
    /// Seed of the cases' order and of the data.
    pub seed: u64,
    /// Programs of the user and where they are run; null where `commands` is not measured.
    pub commands: Option<CommandInputs>,
    /// Devices that copies were planned for; null where `devices` is not measured.
    pub devices: Option<DeviceInputs>,
    /// Peer and adapter of `network`; null where it is not measured, or a machine is simulated.
    pub network: Option<NetworkInputs>,
}

impl Inputs {
    /// Rounds at most, and runs, and windows of a round; the engine makes room for them.
    pub const MAX_ROUNDS: u32 = 10_000;
    /// A window at most, ns.
    pub const MAX_WINDOW_NS: u64 = 60_000_000_000;
    /// Of working sets that are asked for, bytes: every thread's slice of every array takes a page at least.
    pub const MIN_WORKING_SET: u64 = 64 << 10;
    /// What 52 bits address, bytes.
    pub const MAX_WORKING_SET: u64 = 1 << 52;
    /// Of the caches at most.
    pub const MAX_MULTIPLE: u32 = 256;
}

words!(Suite, Executor);
