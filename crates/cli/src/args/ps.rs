//! What the user typed after `ps`.

use std::time::Duration;

use clap::Args;
use nearfar_units::parse_duration;

use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar ps                   who runs far from its memory, the most of it first
  sudo nearfar ps              the same of all users
  nearfar ps --pid 4711        where the memory of this process is, and where it runs
  nearfar ps --all --json

Memory is far where no CPU time near it accounts for it: of a process whose threads are all on node
0, what is on other nodes; of one whose threads are on two nodes alike, half of what is on one alone.
docs/running.md says how that is counted. Nothing is changed: the commands that mend it are printed.";

#[derive(Debug, Args)]
pub struct PsArguments {
    /// Only these processes, whether their memory is far or not: 4711,4712
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub pid: Vec<u32>,
    /// Also processes that are small, or whose memory is near
    #[arg(long)]
    pub all: bool,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Begin no look at another process after this time; the largest ones are looked at first
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub budget: Duration,
    /// Print JSON (docs/schema/nearfar.ps-1.json)
    #[arg(long)]
    pub json: bool,
}

impl PsArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}
