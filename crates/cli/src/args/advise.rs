//! What the user typed after `advise`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nearfar_advise::{Demand, Pattern};
use nearfar_units::Bytes;

use super::predict::share;

#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// The record of the machine; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    #[command(flatten)]
    pub demand: DemandArguments,
    /// The clusters that the program runs on; without it they are chosen
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pub clusters: Option<Vec<u32>>,
    /// For a program that copies to and from this device (cuda0, opencl0 or its PCIe address):
    /// the memory nodes by what the record measured of such copies
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["clusters", "working_set", "threads", "load_share"])]
    pub device: Option<String>,
    /// So many candidates, beside the default and what is recommended
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub top: usize,
    /// Print JSON (docs/schema/nearfar.advise-1.json)
    #[arg(long)]
    pub json: bool,
}

/// What a program asks of memory.
#[derive(Debug, Args)]
pub struct DemandArguments {
    /// Bytes of all the program's data; without it no placement is known to fit
    #[arg(long, value_name = "BYTES", value_parser = working_set)]
    pub working_set: Option<Bytes>,
    /// Threads, one on a core; without it one on every core of the clusters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Share of loads in all bytes that the program moves, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub load_share: Option<f64>,
    /// How threads use the data
    #[arg(long, value_enum, value_name = "PATTERN", default_value_t = PatternName::Shared)]
    pub pattern: PatternName,
}

/// How threads use a program's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PatternName {
    /// all threads use all data, which one thread wrote first
    Shared,
    /// each thread or process has data of its own
    Private,
    /// each thread keeps to its part of the data, which one thread wrote first
    Regular,
    /// all threads use all data in no order, which one thread wrote first
    Irregular,
}

impl DemandArguments {
    /// What is asked of these clusters, or of any.
    pub fn demand(&self, clusters: Option<Vec<u32>>) -> Demand {
        Demand {
            threads: self.threads,
            clusters,
            working_set_bytes: self.working_set.map(|bytes| bytes.0),
            load_share: self.load_share,
            pattern: match self.pattern {
                PatternName::Shared => Pattern::Shared,
                PatternName::Private => Pattern::Private,
                PatternName::Regular => Pattern::Regular,
                PatternName::Irregular => Pattern::Irregular,
            },
        }
    }
}

fn working_set(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err("a program without data has nothing to place".into()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}
