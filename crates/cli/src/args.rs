//! What the user typed.

mod model;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use nearfar_machine::{InitiatorKind, TheoreticalMaximum};
use nearfar_record::{Pages, Suite};
use nearfar_units::{Bytes, QuantityError, parse_duration};

pub use model::{ClassArguments, ModelArguments, ModelName, PredictArguments, ReproduceArguments};

const EXIT_STATUS: &str = "Exit status:
  0        done: all was measured, or omitted with its reason
  1        a check or a comparison failed
  2        wrong usage or input, or another nearfar is measuring
  3        the machine refused at least one case, or the disk was full; the rest is
           in the record
  130, 143 interrupted; the record is kept";

/// Measures how far memory is: the bandwidth with which every group of cores
/// reaches every memory node, with proof of where the pages were.
#[derive(Debug, Parser)]
#[command(name = "nearfar", version, after_help = EXIT_STATUS)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What the machine is: nodes, clusters, caches, distances, devices
    #[command(after_help = "Example: nearfar topo --xml lstopo-output.xml --json")]
    Topo(TopoArguments),
    /// What would disturb a measurement here; or which part of a machine falls short, by its record
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar doctor                                 this machine, before measuring\n",
        "  nearfar doctor r.jsonl --gamma DDR4-3200x8     a record: which part falls short of its twins\n",
        "Status 1 when something cannot be measured, or a part falls short or is unsteady. Where\n",
        "nothing could be compared (JSON: cells_compared 0) a record gives 0, and 'unknown' says why.",
    ))]
    Doctor(DoctorArguments),
    /// Measure this machine and write a record
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar characterize                          a first look, in about 15 s on a small machine\n",
        "  nearfar characterize --suite full --out r.jsonl\n",
        "  nearfar characterize --resume --out r.jsonl   go on after an interruption\n",
        "  nearfar characterize --simulate amd-2p --suite standard --out r.jsonl",
    ))]
    Characterize(Box<CharacterizeArguments>),
    /// Show a record in tables
    #[command(
        after_help = "Example: nearfar show r.jsonl\nWithout RECORD: the newest one of this host."
    )]
    Show(ShowArguments),
    /// What a record means: bandwidth classes and their alphas
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar model r.jsonl classes --gamma DDR3-2133\n",
        "  nearfar model r.jsonl classes --threads all --kernel load --json\n",
        "  nearfar model classes                          the newest record of this host",
    ))]
    Model(Box<ModelArguments>),
    /// What a program gets whose accesses are shared out over classes
    #[command(after_help = concat!(
        "Examples, all of braithwaite2012 (equations 4.10, 4.11, 4.17):\n",
        "  nearfar predict --alpha 0.5449,0.3281,0.1816 --share 0.5,0.5,0 --share 0.5,0.25,0.25\n",
        "      half of the accesses to class 0; and the rest to one class or to two\n",
        "  nearfar predict --alpha 0.5156,0.4141,0.1797 --reach 0,1,2,2 --reach 0,1,2,2\n",
        "      two processes, each with a GPU that nodes 0 to 3 reach in classes 0, 1, 2, 2:\n",
        "      what each choice of nodes gives, the best for the slowest process first\n",
        "  nearfar predict r.jsonl --data 0 --data 0\n",
        "      two processes with their data on node 0\n",
        "Alphas of a record are those of the whole machine's classes; for a single initiator's,\n",
        "give those that `nearfar model --per-initiator` prints by --alpha.",
    ))]
    Predict(Box<PredictArguments>),
    /// A paper's tables: as printed, ours, the error
    #[command(after_help = concat!(
        "Example: nearfar reproduce braithwaite2012\n",
        "Status 1 when a value differs for no known reason.",
    ))]
    Reproduce(ReproduceArguments),
    /// Print the shell's completions
    #[command(after_help = "Example: nearfar completions bash >/etc/bash_completion.d/nearfar")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all pages into a folder
    #[command(after_help = "Example: nearfar man | man -l -")]
    Man {
        /// Folder for the pages of all commands
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Reads a foreign topology in a process of its own (used by `topo`)
    #[command(hide = true)]
    ReadTopology(MachineSource),
}

#[derive(Debug, Args)]
pub struct TopoArguments {
    #[command(flatten)]
    pub source: MachineSource,
    /// Print JSON (docs/schema/nearfar.topo-1.json; of the list nearfar.machines-1.json)
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct MachineSource {
    /// Read a file that lstopo wrote, instead of this machine
    #[arg(long, value_name = "FILE")]
    pub xml: Option<PathBuf>,
    /// Read hwloc's synthetic text, for example 'node:4 core:4 pu:1'
    #[arg(long, value_name = "TEXT")]
    pub synthetic: Option<String>,
    /// Show a simulated machine: a built-in one ('list' names them) or a file
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub simulate: Option<String>,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Look over a record instead of this machine; - is standard input
    pub record: Option<PathBuf>,
    /// What a memory node can carry at most, which no figure may exceed: DDR4-3200x8,
    /// 204.8GB/s; without it, by the record's memory modules
    #[arg(long, value_name = "NAME", value_parser = TheoreticalMaximum::memory, requires = "record")]
    pub gamma: Option<TheoreticalMaximum>,
    /// Print JSON (docs/schema/nearfar.doctor-1.json, nearfar.record-doctor-1.json)
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The record; - is standard input
    pub record: Option<PathBuf>,
    /// Print JSON (docs/schema/nearfar.show-1.json)
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuiteName {
    /// load, triad and triad_nt, widest instructions, one and all threads
    Quick,
    /// also copy and copy_nt, the best two instruction sets, four thread counts
    Standard,
    /// all kernels, all instruction sets, all thread counts
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExperimentName {
    /// every group of cores against every memory node
    Pairs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InitiatorName {
    /// CPUs with the same local memory
    Cluster,
    /// CPUs that share a last-level cache
    L3,
    /// single cores
    Core,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PagesName {
    /// base pages only (4 KiB on x86-64)
    Small,
    /// transparent huge pages
    Transparent,
    /// 2 MiB pages from the reserved pool (hugetlb)
    Huge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Noise {
    /// none: every figure is what the capacities give
    #[value(name = "0")]
    Off,
    /// what the machine's file says
    Auto,
}

#[derive(Debug, Args)]
pub struct CharacterizeArguments {
    /// How much to measure
    #[arg(long, value_enum, default_value = "quick", conflicts_with = "resume")]
    pub suite: SuiteName,
    /// Only these experiments
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "EXPERIMENT",
        conflicts_with = "resume"
    )]
    pub only: Vec<ExperimentName>,
    /// Begin no round that would end after this time, for example 60s; with --simulate time
    /// of the machine's own clock
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Where to write the record; - is standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Go on with an existing record: --out, or the newest one of this host
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Overwrite an existing record
    #[arg(long)]
    pub force: bool,
    /// Say what would be measured and how long it takes at most, and end
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// How CPUs are grouped
    #[arg(long, value_enum, default_value = "cluster", conflicts_with = "resume")]
    pub initiator: InitiatorName,
    /// Kernels instead of the suite's own; 'list' names them all with their variants, those
    /// of the simulated machine with --simulate
    #[arg(long, value_delimiter = ',', value_name = "KERNEL", conflicts_with = "resume")]
    pub kernel: Vec<String>,
    /// Force one instruction set: avx512, avx2, sse2 or portable; of a simulated machine
    /// one of its variants
    #[arg(long, value_name = "ISA", conflicts_with = "resume")]
    pub isa: Option<String>,
    /// Shortest window of a sample, for example 100ms
    #[arg(long, value_parser = parse_window, value_name = "TIME", conflicts_with = "resume")]
    pub window: Option<Duration>,
    /// Bytes of all arrays, instead of four times the caches; smaller sets check
    /// placement, not speed
    #[arg(long, value_parser = parse_working_set, value_name = "BYTES", conflicts_with = "resume")]
    pub working_set: Option<Bytes>,
    /// Rounds of each case, one sample each, instead of measuring until the interval is narrow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume")]
    pub samples: Option<u32>,
    /// Pages to ask for
    #[arg(long, value_enum, default_value = "transparent", conflicts_with = "resume")]
    pub pages: PagesName,
    /// Seed of the cases' order and of the data
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub seed: Option<u64>,
    /// Work the figures out for a simulated machine instead of measuring this one: a
    /// built-in one ('list' names them) or a file (docs/simulated-machines.md)
    #[arg(long, value_name = "NAME|FILE.toml", conflicts_with = "resume")]
    pub simulate: Option<String>,
    /// Noise of the simulated machine: what its file says, or none
    #[arg(long, value_enum, default_value = "auto", requires = "simulate")]
    pub noise: Noise,
    /// Print JSON (docs/schema/nearfar.characterize-1.json, nearfar.dry-run-1.json; of the
    /// lists nearfar.kernels-1.json, nearfar.machines-1.json)
    #[arg(long)]
    pub json: bool,
}

impl From<SuiteName> for Suite {
    fn from(name: SuiteName) -> Self {
        match name {
            SuiteName::Quick => Self::Quick,
            SuiteName::Standard => Self::Standard,
            SuiteName::Full => Self::Full,
        }
    }
}

impl From<InitiatorName> for InitiatorKind {
    fn from(name: InitiatorName) -> Self {
        match name {
            InitiatorName::Cluster => Self::Cluster,
            InitiatorName::L3 => Self::L3,
            InitiatorName::Core => Self::Core,
        }
    }
}

impl From<PagesName> for Pages {
    fn from(name: PagesName) -> Self {
        match name {
            PagesName::Small => Self::Small,
            PagesName::Transparent => Self::Transparent,
            PagesName::Huge => Self::Huge,
        }
    }
}

/// A window must hold many blocks, each with two readings of the clock.
fn parse_window(text: &str) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_secs(60);
    let window = parse_duration(text).map_err(|error| error.to_string())?;
    if (SHORTEST..=LONGEST).contains(&window) {
        Ok(window)
    } else {
        Err("a window lasts from 1ms to 60s".into())
    }
}

/// Every thread's slice of every array takes a page at least.
fn parse_working_set(text: &str) -> Result<Bytes, String> {
    const SMALLEST: Bytes = Bytes(64 << 10);
    let bytes: Bytes = text.parse().map_err(|error: QuantityError| error.to_string())?;
    if bytes >= SMALLEST { Ok(bytes) } else { Err(format!("give at least {SMALLEST}")) }
}
