//! What the user typed after `sensitivity`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};
use nearfar_record::CommandProgram;
use nearfar_units::parse_duration;
use nearfar_workloads::{Class, Workload};

use crate::output::AnswerForm;

/// The options that say how programs are run.
const RUN_OPTIONS: [&str; 15] = [
    "workload",
    "programs",
    "program",
    "label",
    "command",
    "matrix",
    "initiator",
    "rounds",
    "metric",
    "unit",
    "lower_is_better",
    "timeout",
    "counters",
    "out",
    "force",
];

#[derive(Debug, Args)]
#[command(
    override_usage = "nearfar sensitivity [OPTIONS] @WORKLOAD..|-- CMD..|--programs FILE.toml|--from FILE"
)]
#[command(group = ArgGroup::new("what").required(true).multiple(true)
    .args(["workload", "program", "command", "programs", "from"]))]
pub struct SensitivityArguments {
    /// Programs that nearfar has itself, by their names and sizes (@cg.A, @bfs.18): `nearfar workload
    /// list`
    #[arg(value_name = "@WORKLOAD", value_parser = at_workload)]
    pub workload: Vec<Workload>,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<String>,
    /// What the program is called in tables; without it, by its file's name
    #[arg(long, value_name = "NAME", requires = "program")]
    pub label: Option<String>,
    /// Another program to run side by side, its words with blanks between them; can be repeated
    #[arg(long, value_name = "LABEL=CMD..", value_parser = labelled)]
    pub command: Vec<CommandProgram>,
    /// A file of programs, each with its command, metric, what it must print to count, and variables
    /// (docs/sensitivity.md)
    #[arg(long, value_name = "FILE.toml")]
    pub programs: Option<PathBuf>,
    /// A record of this machine: one node of each of its classes is tried, and its classes say what
    /// bandwidth allows
    #[arg(long, value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// Every initiator's CPUs with every memory node, instead of one initiator's with one node of each
    /// class
    #[arg(long)]
    pub matrix: bool,
    /// The initiator on whose CPUs the program runs; without it the first
    #[arg(long, value_name = "N", conflicts_with = "matrix")]
    pub initiator: Option<u32>,
    /// Runs at each placement at most; fewer where the interval is narrow enough before
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// A figure in the program's output instead of its time: the first group of this regular
    /// expression, in its last match
    #[arg(long, value_name = "REGEX")]
    pub metric: Option<String>,
    /// The metric's unit, for example GB/s
    #[arg(long, value_name = "UNIT", requires = "metric")]
    pub unit: Option<String>,
    /// A lower metric is a better one
    #[arg(long, requires = "metric")]
    pub lower_is_better: bool,
    /// End a run that takes longer, for example 60s or 5m, and try its placement no more
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub timeout: Option<Duration>,
    /// Count misses of the last-level cache, instructions and cycles of every run, by those of the
    /// CPU's counters that first count work of ours right
    #[arg(long)]
    pub counters: bool,
    /// Where to write the record of the runs; without it, below the folder of records
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing record of runs
    #[arg(long)]
    pub force: bool,
    /// Run nothing, and show a record of runs again; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = RUN_OPTIONS)]
    pub from: Option<PathBuf>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.sensitivity-4.json)
    #[arg(long)]
    pub json: bool,
}

impl SensitivityArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// A workload behind an @; of class A where its size is not said.
fn at_workload(text: &str) -> Result<Workload, String> {
    let Some(name) = text.strip_prefix('@') else {
        return Err("a program of yours stands behind -- with its arguments; \
                    one of nearfar's begins with @, as @cg.A"
            .into());
    };
    let workload = match name.contains('.') {
        true => name.parse(),
        false => name.parse().map(|name| Workload::of_class(name, Class::A)),
    };
    workload.map_err(|error| error.to_string())
}

/// A program with the name that it goes by.
fn labelled(text: &str) -> Result<CommandProgram, String> {
    let (label, words) = text.split_once('=').unwrap_or_default();
    let mut words = words.split_ascii_whitespace().map(String::from);
    match (label.trim(), words.next()) {
        ("", _) | (_, None) => Err("write LABEL=CMD.., for example 'gcc=./stream-gcc 100'".into()),
        (label, Some(program)) => Ok(CommandProgram::new(label, program, words.collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_labelled_program_is_split_at_blanks() {
        let read = labelled("gcc -O3=./stream  100 a=b").unwrap();
        assert_eq!((&*read.label, &*read.program), ("gcc -O3", "./stream"));
        assert_eq!(read.arguments, ["100", "a=b"]);
        for text in ["", "gcc", "gcc=", "=./stream", "gcc= "] {
            assert!(labelled(text).is_err(), "{text:?}");
        }
    }
}
