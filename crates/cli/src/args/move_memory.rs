//! What the user typed after `move`.

use clap::Args;
use nearfar_place::Placement;
use nearfar_units::BytesPerSecond;

use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar move --pid 4711 interleave             over all nodes in turn
  nearfar move --pid 4711 local:1 --threads      to node 1, and its threads there
  nearfar move --pid 4711 bind:0 --rate 500MB/s --files

The process goes on meanwhile. SIGINT and SIGTERM move back what was moved. What it allocates later
follows its own policy; the kernel's NUMA balancing, where it is on, may move pages again. What other
processes map too stays. Of processes of other users only root moves memory.

Exit status: 0 its memory is where it was asked for, all but 1 %; 1 more of it is not; 2 there is no
such process, or it ended; 3 it may not be moved, or the placement cannot be had; 129, 130, 143 interrupted.";

#[derive(Debug, Args)]
pub struct MoveArguments {
    /// Where its memory is to be: interleave[:NODES], bind:NODES, preferred:NODE, local:NODES or
    /// weighted:NODE=W,.. (as of `nearfar run`)
    #[arg(value_name = "PLACEMENT")]
    pub placement: Placement,
    /// The process
    #[arg(long, value_name = "PID")]
    pub pid: u32,
    /// Move no more than this in a second
    #[arg(long, value_name = "RATE", default_value = "2GB/s", value_parser = parse_rate)]
    pub rate: BytesPerSecond,
    /// Also files and shared memory that it maps and no other process does
    #[arg(long)]
    pub files: bool,
    /// Also give its threads the placement's CPUs
    #[arg(long)]
    pub threads: bool,
    /// Print JSON (docs/schema/nearfar.move-1.json)
    #[arg(long)]
    pub json: bool,
}

impl MoveArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm::short(self.json)
    }
}

/// A rate at which a huge page moves within seconds.
fn parse_rate(text: &str) -> Result<BytesPerSecond, String> {
    const LEAST: f64 = 1e6;
    let rate: BytesPerSecond = text.parse().map_err(|error| format!("{error}"))?;
    match rate.0 >= LEAST && rate.0.is_finite() {
        true => Ok(rate),
        false => Err("give 1MB/s or more, for example 500MB/s".into()),
    }
}
