//! What was typed after `--`.

use clap::{Parser, ValueEnum};

use crate::level::Level;

/// All threads, which are not judged, run in one of so many rounds: a full bench then
/// ends within 20 minutes, and they still see all of its time.
pub const ROUNDS_PER_ROUND_OF_ALL: u32 = 3;

/// Kernels, arithmetic and chase beside other programs, the counters, lstopo and a quick suite.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p nearfar-measure --bench likwid --")]
pub struct Options {
    /// Rounds with one thread; with all threads, which are not judged, a third of them
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Only these levels
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LEVEL")]
    pub only: Vec<Level>,
    /// Only these kernels
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    pub kernel: Vec<String>,
    /// Only with so many threads
    #[arg(long, value_enum)]
    pub threads: Option<Threads>,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    pub part: Vec<Part>,
    /// Leave out lstopo and the quick suite
    #[arg(long)]
    pub skip_tools: bool,
    /// Given by cargo bench, and not by cargo test, which must not measure
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// What is compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The kernels of the catalog beside likwid-bench and the CPU's counters.
    Catalog,
    /// Generated arithmetic beside likwid-bench's peakflops.
    Arithmetic,
    /// The chase beside a plain loop of dependent loads.
    Chase,
    /// `nearfar topo` beside lstopo, and what a quick suite costs.
    Tools,
}

/// How many threads run a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Threads {
    /// One.
    #[value(name = "1")]
    One,
    /// One on every core.
    All,
}

impl Options {
    pub fn wants(&self, part: Part) -> bool {
        let wanted = self.part.is_empty() || self.part.contains(&part);
        wanted && !(part == Part::Tools && self.skip_tools)
    }

    pub fn wants_level(&self, level: Level) -> bool {
        self.only.is_empty() || self.only.contains(&level)
    }

    pub fn wants_kernel(&self, name: &str) -> bool {
        self.kernel.is_empty() || self.kernel.iter().any(|wanted| wanted == name)
    }

    pub fn wants_threads(&self, threads: Threads) -> bool {
        self.threads.is_none_or(|wanted| wanted == threads)
    }
}
