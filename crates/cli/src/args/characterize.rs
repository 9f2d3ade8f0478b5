//! What the user typed after `characterize`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use nearfar_machine::GroupBy;
use nearfar_network::PeerName;
use nearfar_record::{Experiment, Grid, Inputs, Pages, Suite};
use nearfar_units::{Bytes, QuantityError, parse_duration};

use super::choice::{Choice, kernels_or_list, machines, one_of, variants};

const SUITES: [Choice<Suite>; 3] = [
    (
        Suite::Quick,
        "pairs by load, triad and triad_nt, widest instructions, one and all threads; latency",
    ),
    (
        Suite::Standard,
        "every experiment: the best two instruction sets, four thread counts, sparse grids",
    ),
    (Suite::Full, "every experiment in full: all kernels, instruction sets, thread counts, grids"),
];

pub const EXPERIMENTS: [Choice<Experiment>; 12] = [
    (Experiment::Pairs, "every group of cores against every memory node"),
    (Experiment::Scaling, "bandwidth against thread count and affinity, over many runs"),
    (Experiment::Sharing, "local and remote threads together on one memory node"),
    (Experiment::Links, "all cores of one package on the memory of another"),
    (Experiment::Roofs, "caches, memory and arithmetic: the roofs of the roofline model"),
    (Experiment::Hybrid, "loads and stores over a fast and a slow memory"),
    (Experiment::Mixes, "random sets of streams"),
    (Experiment::Latency, "the time of an access, alone and under load"),
    (
        Experiment::Exchange,
        "how long two CPUs take to hand a cache line to each other; in no suite: --only",
    ),
    (Experiment::Devices, "copies between every memory node and every device (CUDA, HIP, OpenCL)"),
    (Experiment::Network, "messages to and from another machine (--peer); in no suite: --only"),
    (
        Experiment::Workloads,
        "the papers' programs by class of placement and by strategy; in no suite: --only",
    ),
];

const GRIDS: [Choice<Grid>; 2] =
    [(Grid::Sparse, "the cells that a model needs"), (Grid::Full, "all cells")];

const GROUPINGS: [Choice<GroupBy>; 3] = [
    (GroupBy::Memory, "CPUs with the same local memory"),
    (GroupBy::L3, "CPUs that share a last-level cache"),
    (GroupBy::Core, "single cores"),
];

const PAGES: [Choice<Pages>; 3] = [
    (Pages::Small, "base pages only (4 KiB on x86-64)"),
    (Pages::Transparent, "transparent huge pages"),
    (Pages::Huge, "2 MiB pages from the reserved pool (hugetlb)"),
];

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
    /// How much to measure [default: quick; with --simulate, which takes no time, standard]
    #[arg(long, value_parser = one_of(&SUITES, Suite::as_str))]
    suite: Option<Suite>,
    /// Only these experiments
    #[arg(
        long,
        value_parser = one_of(&EXPERIMENTS, Experiment::as_str),
        value_delimiter = ',',
        value_name = "EXPERIMENT"
    )]
    pub only: Vec<Experiment>,
    /// Begin no round that would end after this time, for example 60s or 5m; with --simulate time
    /// of the machine's own clock
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Where to write the record; - is standard output; one that ends in .zst is compressed
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Measure as one machine of many, into this folder: a record and a summary under the machine's name,
    /// also where it fails (docs/fleet.md). --budget ends it by itself then
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "resume", "append", "force", "dry_run"])]
    pub run: Option<PathBuf>,
    /// The machine's name in the run [default: SLURMD_NODENAME, NODE_NAME, PMIX_HOSTNAME, or the host's]
    #[arg(long, value_name = "NAME", requires = "run")]
    pub machine: Option<String>,
    /// Measure even where this process may use a part of the machine alone; no whole one is compared with it
    #[arg(long, requires = "run")]
    pub allow_partial: bool,
    /// Go on with an existing record: --out, or the newest one of this host. Other options may be
    /// repeated as it was begun
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Add to an existing record what --only, --suite and others ask for, on the same machine and
    /// under the same Linux and nearfar
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["resume", "force", "out"])]
    pub append: Option<PathBuf>,
    /// Overwrite an existing record
    #[arg(long)]
    pub force: bool,
    /// Say what would be measured and how long it takes at most, and end
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// How CPUs are grouped [default: memory]
    #[arg(long, value_parser = one_of(&GROUPINGS, GroupBy::as_str))]
    pub group_by: Option<GroupBy>,
    /// Kernels instead of the suite's own; 'list' names them all with their variants, those
    /// of the simulated machine with --simulate
    #[arg(long, value_delimiter = ',', value_name = "KERNEL", value_parser = kernels_or_list(),
          hide_possible_values = true)]
    pub kernel: Vec<String>,
    /// Force one instruction set: avx512, avx2, sse2 or portable, on ARM sve, neon or portable,
    /// or avx512-pages4 and its like, which take pages in turn; of a simulated machine one of its
    /// variants
    #[arg(long, value_name = "ISA", value_parser = variants(), hide_possible_values = true)]
    pub isa: Option<String>,
    /// Shortest window of a sample, for example 100ms
    #[arg(long, value_parser = parse_window, value_name = "TIME")]
    pub window: Option<Duration>,
    /// Bytes of all arrays, instead of a multiple of the caches; smaller sets check
    /// placement, not speed
    #[arg(long, value_parser = parse_working_set, value_name = "BYTES")]
    pub working_set: Option<Bytes>,
    /// How many times the caches all arrays have together, instead of the smallest of 4, 8, 16 and 32 that
    /// is as fast as twice its size; with --run 16
    #[arg(long, value_parser = parse_cache_multiple, value_name = "N", conflicts_with = "working_set")]
    pub cache_multiple: Option<u32>,
    /// Rounds of each case, one sample each, instead of measuring until the interval is narrow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Inputs::MAX_ROUNDS)))]
    pub samples: Option<u32>,
    /// Runs of each case of scaling, each with fresh threads and memory that they touch first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Cells of sharing, by default the suite's own choice
    #[arg(long, value_parser = one_of(&GRIDS, Grid::as_str))]
    pub grid: Option<Grid>,
    /// Pages to ask for [default: transparent]
    #[arg(long, value_parser = one_of(&PAGES, Pages::as_str))]
    pub pages: Option<Pages>,
    /// The other machine of network, where `nearfar serve` runs; port 7420 unless told
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "simulate")]
    pub peer: Option<PeerName>,
    /// The file with the token of `nearfar serve` there, that its owner alone may read
    #[arg(long, value_name = "FILE", conflicts_with = "simulate")]
    pub token_file: Option<PathBuf>,
    /// Seed of the cases' order and of the data
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Work the figures out for a simulated machine instead of measuring this one: a
    /// built-in one ('list' names them) or a file (docs/simulated-machines.md)
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = machines(), hide_possible_values = true)]
    pub simulate: Option<String>,
    /// Noise of the simulated machine: what its file says, or none [default: auto]
    #[arg(long, value_enum, requires = "simulate")]
    pub noise: Option<Noise>,
    /// Print JSON (docs/schema/nearfar.characterize-1.json, nearfar.dry-run-1.json; of the
    /// lists nearfar.kernels-1.json, nearfar.machines-1.json)
    #[arg(long)]
    pub json: bool,
}

impl CharacterizeArguments {
    /// The suite that was asked for by name.
    pub fn given_suite(&self) -> Option<Suite> {
        self.suite
    }

    /// The suite that was asked for, or the one that answers most in no time.
    pub fn suite(&self) -> Suite {
        let is_of_many = self.run.is_some();
        let takes_no_time = self.simulate.is_some() && !is_of_many;
        let of_executor = if takes_no_time { Suite::Standard } else { Suite::Quick };
        self.suite.unwrap_or(of_executor)
    }
}

/// A window must hold many blocks, each with two readings of the clock.
fn parse_window(text: &str) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_nanos(Inputs::MAX_WINDOW_NS);
    let window = parse_duration(text).map_err(|error| error.to_string())?;
    if (SHORTEST..=LONGEST).contains(&window) {
        Ok(window)
    } else {
        Err("a window lasts from 1ms to 60s".into())
    }
}

fn parse_cache_multiple(text: &str) -> Result<u32, String> {
    let (number, multiples) = (text.parse().ok(), 4..=Inputs::MAX_MULTIPLE);
    let known =
        number.filter(|number: &u32| number.is_power_of_two() && multiples.contains(number));
    known.ok_or_else(|| format!("give a power of two from 4 to {}", Inputs::MAX_MULTIPLE))
}

fn parse_working_set(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: QuantityError| error.to_string())?;
    let (smallest, largest) = (Bytes(Inputs::MIN_WORKING_SET), Bytes(Inputs::MAX_WORKING_SET));
    if (smallest..=largest).contains(&bytes) {
        return Ok(bytes);
    }
    Err(format!("give from {smallest} to {largest}"))
}
