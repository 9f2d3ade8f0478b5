//! What the user typed after `advise`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use nearfar_advise::{Demand, Launcher, Pattern};
use nearfar_units::{Bytes, QuantityError, parse_numbers, parse_share};

use super::choice::{Choice, one_of};
use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar advise r.jsonl --threads 16 --working-set 8GiB
  nearfar advise --initiators 0,1 --pattern private --load-share 0.67
  nearfar advise --as slurm
  nearfar advise r.jsonl --device nic:eth0
  nearfar advise r.jsonl --instances --working-set 40GB
  nearfar profile --out p.json -- ./solver && nearfar advise r.jsonl --profile p.json
  nearfar advise r.jsonl --working-set 8GiB --verify -- ./solver input.dat

A gain is recommended from 5 % and from twice the model's error on, and a smaller one where the fits that
the record leaves possible agree on it.";

#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// The record of the machine; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    #[command(flatten)]
    pub demand: DemandArguments,
    /// A profile of the program (nearfar profile --out): its threads, its data and where its
    /// accesses go without advice are taken from there, as far as no option says otherwise; - is
    /// standard input
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A program that ran beside loads (nearfar profile --pressure --out): its threads and its share of
    /// loads are taken from there, as far as no option says otherwise
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "device"])]
    pub program: Option<PathBuf>,
    /// The initiators that the program runs on; without it they are chosen
    #[arg(long, value_name = "LIST", value_parser = numbers)]
    pub initiators: Option<Initiators>,
    /// For a program that copies to and from this device (cuda0, opencl0 or its PCIe address), or sends and
    /// receives through this network adapter (nic:eth0): the memory nodes by what the record measured of that
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["initiators", "working_set", "threads", "load_share", "profile", "verify"])]
    pub device: Option<String>,
    /// One instance of the program and several, by where its data lies: what each gets, the memory of all
    /// copies, and whether they fit (nearfar predict --bytes-per-step: the same as steps a second)
    #[arg(long, conflicts_with_all = ["device", "initiators", "profile", "program", "pattern", "verify",
          "launcher"])]
    pub instances: bool,
    /// How many placements to show for each use, beside the default and the recommended one
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "full")]
    pub top: usize,
    /// All placements that were compared
    #[arg(long)]
    pub full: bool,
    /// What is recommended, in the words of another launcher; what it cannot express is said
    #[arg(long = "as", value_parser = one_of(&LAUNCHERS, Launcher::as_str), value_name = "LAUNCHER",
          conflicts_with_all = ["json", "verify", "full"])]
    pub launcher: Option<Launcher>,
    /// Run the program in turns under what is recommended and without it, up to 30 times each, and
    /// say whether it is faster; what it prints is dropped, its input is empty. Status 1 when it is
    /// slower
    #[arg(long, requires = "command")]
    pub verify: bool,
    /// Print JSON (docs/schema/nearfar.advise-3.json; of --device nearfar.advise-device-3.json, of --instances
    /// nearfar.instances-1.json)
    #[arg(long)]
    pub json: bool,
    /// With --verify: the program and its arguments
    #[arg(last = true, requires = "verify", value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl AdviseArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// Initiators by their numbers: 0-3,8.
#[derive(Debug, Clone)]
pub struct Initiators(pub Vec<u32>);

fn numbers(text: &str) -> Result<Initiators, QuantityError> {
    parse_numbers(text).map(Initiators)
}

/// What a program asks of memory.
#[derive(Debug, Clone, Args)]
pub struct DemandArguments {
    /// Bytes of all the program's data; without it no placement is known to fit
    #[arg(long, value_name = "BYTES", value_parser = working_set)]
    pub working_set: Option<Bytes>,
    /// Threads, one on a core; without it one on every core of the initiators
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Share of loads in all bytes that the program moves: 0.67 or 67%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub load_share: Option<f64>,
    /// How threads use the data; without it both private and shared are looked at
    #[arg(long, value_parser = one_of(&PATTERNS, Pattern::as_str), value_name = "PATTERN")]
    pub pattern: Option<Pattern>,
}

/// How threads use a program's data.
const PATTERNS: [Choice<Pattern>; 4] = [
    (Pattern::Shared, "all threads use all data, which one thread wrote first"),
    (Pattern::Private, "each thread or process has data of its own"),
    (Pattern::Regular, "each thread keeps to its part of the data, which one thread wrote first"),
    (Pattern::Irregular, "all threads use all data in no order, which one thread wrote first"),
];

/// What starts programs and can be told where.
const LAUNCHERS: [Choice<Launcher>; 7] = [
    (Launcher::Numactl, "a command before the program"),
    (Launcher::Openmp, "variables of the program's environment"),
    (Launcher::Slurm, "options of srun"),
    (Launcher::Systemd, "a drop-in of a unit"),
    (Launcher::Docker, "options of docker run"),
    (Launcher::Kubernetes, "a pod's specification"),
    (Launcher::Libvirt, "elements of a domain's XML"),
];

impl DemandArguments {
    /// The ways to use the data that are looked at: the one that is named, else all that it may be.
    pub fn patterns(&self) -> Vec<Pattern> {
        self.pattern.map_or_else(|| Pattern::UNKNOWN.to_vec(), |only| vec![only])
    }

    /// What is asked of these initiators, or of any.
    pub fn demand(&self, initiators: Option<Vec<u32>>) -> Demand {
        Demand {
            threads: self.threads,
            initiators,
            working_set_bytes: self.working_set.map(|bytes| bytes.0),
            load_share: self.load_share,
            pattern: self.pattern.unwrap_or(Pattern::Private),
            seen: None,
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
