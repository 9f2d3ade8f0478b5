//! What was typed after `--`.

use clap::{Parser, ValueEnum};

/// All threads, which are not judged, run in one of this many rounds: a full bench then
/// ends within 20 minutes, and they still see all of its time.
pub const ROUNDS_PER_ROUND_OF_ALL: u32 = 3;

/// Kernels, copies, arithmetic and chase beside other programs, the counters, lstopo and a quick suite.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p nearfar-measure --bench likwid --")]
pub struct Options {
    /// Rounds with one thread; with all threads, which are not judged, a third of them
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    pub part: Vec<Part>,
    /// Given by cargo bench, and not by cargo test, which must not measure
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// What is compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The kernels of the catalog beside likwid-bench and the CPU's counters.
    Catalog,
    /// load, copy_nt and triad_nt from memory, in order and by pages in turn, beside likwid-bench, STREAM's
    /// loops and glibc's memcpy.
    Turns,
    /// Generated arithmetic beside likwid-bench's peakflops.
    Arithmetic,
    /// The chase beside a plain loop of dependent loads.
    Chase,
    /// `nearfar topo` beside lstopo, and what a quick suite costs.
    Tools,
}

impl Options {
    pub fn wants(&self, part: Part) -> bool {
        self.part.is_empty() || self.part.contains(&part)
    }
}
