//! Programs that are run under bindings: what was asked for, and what was seen of a run.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::counter::{RunCount, TriedCounter};
use crate::sample::{ActorSample, PageNodes};

/// A program under a binding: an actor that moves data in its own way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The name that it goes by among the record's programs.
    pub label: String,
    /// A path, or a name that is looked for where `PATH` says.
    pub program: String,
    pub arguments: Vec<String>,
    /// Variables that it is given beside those that nearfar has itself.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// CPUs that its threads may use, and policy of its pages.
    pub binding: Binding,
}

impl Command {
    /// The name of its variant in views: it has one.
    pub const VARIANT: &'static str = "command";
}

/// What the cases of `commands` are made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandInputs {
    /// The programs, in the order in which they were given.
    pub programs: Vec<CommandProgram>,
    /// Where each of them is run.
    pub placements: Vec<CommandPlacement>,
    /// What is read in a run's output of programs without a metric of their own; null where its time
    /// counts.
    pub metric: Option<Metric>,
    /// Time after which a run is ended and its case refused; null for none.
    pub timeout_ns: Option<u64>,
    /// Counters that were to be read of every run, as they were tried out before; null where
    /// nobody asked for them.
    pub counters: Option<Vec<TriedCounter>>,
    /// What each program runs beside, in turns with runs alone; programs that knew none left it out.
    #[serde(default)]
    pub pressures: Vec<Pressure>,
}

/// Threads of ours that load a program's memory while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pressure {
    /// Kernel, or a mix, by its name.
    pub kernel: String,
    /// As of a stream.
    pub pause_cycles: u32,
    /// The CPUs of its threads, one on each.
    pub cpus: CpuSet,
}

/// A program that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandProgram {
    /// The name that it goes by, its own.
    pub label: String,
    /// A path, or a name that is looked for where `PATH` says.
    pub program: String,
    pub arguments: Vec<String>,
    /// Variables that it is given beside those that nearfar has itself.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What is read in its output; null for what the inputs say of all.
    #[serde(default)]
    pub metric: Option<Metric>,
    /// A regular expression that its output must match for a run to count; null for none.
    #[serde(default)]
    pub must_print: Option<String>,
}

impl CommandProgram {
    /// A program that is judged as the inputs say.
    pub fn new(
        label: impl Into<String>,
        program: impl Into<String>,
        arguments: Vec<String>,
    ) -> Self {
        Self {
            label: label.into(),
            program: program.into(),
            arguments,
            environment: BTreeMap::new(),
            metric: None,
            must_print: None,
        }
    }
}

/// Where programs are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandPlacement {
    /// The initiator of its CPUs.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node that its memory is asked for on; null where pages are dealt out over several.
    pub memory_node: Option<u32>,
    /// CPUs that threads may use and policy of pages.
    pub binding: Binding,
}

impl CommandPlacement {
    /// CPUs of an initiator with the memory on one node, which is preferred and not forced: a
    /// program that does not fit is not killed.
    pub fn on_node(initiator: u32, cpu_node: Option<u32>, cpus: CpuSet, node: u32) -> Self {
        let binding = Binding { cpus, memory: MemoryPolicy::Preferred(node) };
        Self { initiator, cpu_node, memory_node: Some(node), binding }
    }
}

/// A figure that a program prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// A regular expression; the first group of its last match is the figure.
    pub pattern: String,
    /// Its unit, as the user named it; null where that was not said.
    pub unit: Option<String>,
    /// Which figures are good.
    pub better: Better,
}

/// Which of two figures is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The higher: work a second.
    Higher,
    /// The lower: time.
    Lower,
}

impl CommandInputs {
    /// What is read in the output of the program with this label; `None` where its time counts.
    pub fn metric_of(&self, label: &str) -> Option<&Metric> {
        let program = self.programs.iter().find(|program| program.label == label);
        program.and_then(|program| program.metric.as_ref()).or(self.metric.as_ref())
    }
}

/// What was seen of one run of a program; its time is the sample's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandRun {
    /// The metric that it printed, in its unit; null where its time counts.
    pub metric: Option<f64>,
    /// Its anonymous pages, with those of its children, at the look that found most of them;
    /// null where none was seen.
    pub pages: Option<PageNodes>,
    /// Why `pages` is null; null where it is not.
    pub pages_unknown: Option<String>,
    /// Files and shared memory that it maps, by node, at the look that found most of them, bytes: of each what
    /// the process with most of it maps. Null where nobody looked; programs that never did left it out.
    #[serde(default)]
    pub shared_bytes_by_node: Option<BTreeMap<u32, u64>>,
    /// CPUs on which its threads were seen; empty where nobody could look.
    pub cpus_seen: CpuSet,
    /// What the believed counters of the header counted, in their order; programs that knew none
    /// left the list out.
    #[serde(default)]
    pub counts: Vec<RunCount>,
    /// What the streams beside it moved just before it started; null for a run alone.
    #[serde(default)]
    pub before: Option<StreamsAlone>,
}

/// The streams of a case over a window without its program, in which the same threads run on the same
/// pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamsAlone {
    /// Length of the window, ns.
    pub window_ns: u64,
    /// As the sample's.
    pub actors: Vec<ActorSample>,
}

words!(Better);
