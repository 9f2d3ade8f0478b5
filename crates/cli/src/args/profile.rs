//! What the user typed after `profile`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nearfar_machine::CpuSet;
use nearfar_units::parse_duration;

use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar profile -- ./solver input.dat
  nearfar profile --out p.json --pid 4711 --seconds 10
  nearfar profile p.json --record r.jsonl           show it, with the classes of a record
  nearfar predict r.jsonl --profile p.json          where it lies below the roofs of memory

Counters of the CPU are believed only after they counted work of ours right (a second or so, before
the program starts); docs/profiling.md says what they count on which CPU.

Exit status of a started program: its own; 128 and the number of the signal that ended it; 125 where
nearfar failed before it was started, 126 where it cannot be executed, 127 where there is none.";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("subject").required(true).args(["file", "pid", "command"]))]
pub struct ProfileArguments {
    /// Show a profile that --out wrote; - is standard input
    #[arg(value_name = "PROFILE")]
    pub file: Option<PathBuf>,
    /// Watch a running process of this user, and what it starts
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Watch it for so long; without it until it ends, or until Ctrl-C
    #[arg(long, value_name = "TIME", conflicts_with_all = ["file", "command"], value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// Write the profile to a file (docs/schema/nearfar.profile-1.json); one that is there is
    /// replaced
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    pub out: Option<PathBuf>,
    /// Say to which classes of this record's machine its accesses go; with --pressure the record
    /// whose latency over traffic the program is understood by, in place of this host's newest
    #[arg(long, value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// Run the program again and again, in turns alone and beside threads that load its memory, and find
    /// out what its time is made of (docs/models/programs.md); what that costs is said first
    #[arg(long, conflicts_with_all = ["file", "pid"])]
    pub pressure: bool,
    /// Of --pressure: begin no round of runs that would end after this time
    #[arg(long, value_name = "TIME", requires = "pressure", value_parser = seconds, default_value = "2m")]
    pub budget: Duration,
    /// Of --pressure: what loads the memory, a kernel and after a colon the cycles that it pauses after
    /// each KiB; once for each kind of load
    #[arg(long, value_name = "KERNEL[:CYCLES]", requires = "pressure", value_parser = pressure_kind)]
    pub beside: Vec<PressureKind>,
    /// Of --pressure: the program's CPUs, all of one initiator, whose other cores load the memory;
    /// without it half of the first initiator's cores
    #[arg(long, value_name = "CPUS", requires = "pressure")]
    pub cpus: Option<CpuSet>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.profile-1.json, with --pressure nearfar.program-1.json); what
    /// is said of a started program goes to standard error, because standard output is its own
    #[arg(long)]
    pub json: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl ProfileArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// Threads that load a program's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PressureKind {
    pub kernel: String,
    pub pause_cycles: u32,
}

fn pressure_kind(text: &str) -> Result<PressureKind, String> {
    let (kernel, pause) = text.split_once(':').unwrap_or((text, "0"));
    let pause_cycles = pause.parse().map_err(|_| "give a kernel, or KERNEL:CYCLES".to_string())?;
    Ok(PressureKind { kernel: kernel.into(), pause_cycles })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    let plain = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let duration = plain.or_else(|| parse_duration(text).ok());
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "give seconds above 0, such as 10 or 0.5, or a time such as 5m".into())
}
