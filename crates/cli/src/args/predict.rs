//! What the user typed after `predict`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use nearfar_machine::{Binding, BindingError, CpuSet, Machine, MemoryPolicy, TransferDirection};
use nearfar_model::{Change, GFLOP_RATES, INTENSITIES, MOST_COPIES, WorkSharing};
use nearfar_units::{
    Bytes, BytesPerSecond, QuantityError, excerpt, parse_duration, parse_numbers, parse_share,
};

use super::choice::{Choice, one_of};
use super::model::ClassArguments;
use crate::output::AnswerForm;

/// The options that ask something, of which one is given: `--point` may have the shares beside it.
const LONE_QUESTIONS: [&str; 13] = [
    "share",
    "reach",
    "data",
    "device",
    "processes",
    "split",
    "load_share",
    "stream",
    "profile",
    "curve",
    "program",
    "bytes_per_step",
    "what_if",
];

/// All options that ask something, but these. What belongs to a question conflicts with the others by
/// name: clap asks for no required option that conflicts with one that is given.
fn questions_but<const N: usize>(own: [&'static str; N]) -> impl Iterator<Item = &'static str> {
    let all = LONE_QUESTIONS.into_iter().chain(["point"]);
    all.filter(move |question| !own.contains(question))
}

#[derive(Debug, Args)]
#[command(override_usage = "nearfar predict [RECORD] QUESTION [OPTIONS]")]
#[command(group = clap::ArgGroup::new("lone_question").args(LONE_QUESTIONS))]
#[command(group = clap::ArgGroup::new("beside_traffic").args(["curve", "program"]))]
pub struct PredictArguments {
    /// The record whose classes give the alphas (those of the whole machine); - is standard
    /// input; without it and without --alpha the newest one of this host
    #[arg(conflicts_with = "alpha")]
    pub record: Option<PathBuf>,
    /// Alpha of each class, instead of a record's (which stand the fastest first)
    #[arg(long, value_delimiter = ',', value_name = "A,..", value_parser = parse_share,
          conflicts_with_all = ["kernel", "threads", "isa", "class_span"])]
    pub alpha: Vec<f64>,
    /// Share of the accesses that goes to each class; once for each row of the answer
    #[arg(long, value_name = "S,..", value_parser = shares)]
    pub share: Vec<List<f64>>,
    /// The class in which a process's device or data (its target) is reached from place
    /// 0, 1, ..; once for each process
    #[arg(long, value_name = "CLASS,..", value_parser = numbers, conflicts_with = "share")]
    pub reach: Vec<List<u32>>,
    /// The memory node with a process's data (its target), reached from the record's
    /// groups of CPUs, which are the places; once for each process
    #[arg(long, value_name = "NODE", conflicts_with_all = ["share", "reach", "alpha"])]
    pub data: Vec<u32>,
    /// The device that a process copies to or from (its target), by its id in the record (cuda0);
    /// the places are the memory nodes with the processes' data; once for each process
    #[arg(long, value_name = "ID",
          conflicts_with_all = ["share", "reach", "data", "alpha", "gamma", "kernel", "threads", "isa"])]
    pub device: Vec<String>,
    /// Of --device: which way the data goes
    #[arg(long, value_parser = one_of(&WAYS, way), value_name = "WAY", default_value = "to-host",
          requires = "device")]
    pub way: TransferDirection,
    #[command(flatten)]
    pub classes: ClassArguments,
    #[command(flatten)]
    pub sharing: SharingQuestion,
    #[command(flatten)]
    pub hybrid: HybridQuestion,
    #[command(flatten)]
    pub curve: LatencyQuestion,
    /// A program's arithmetic intensity, FLOPs per byte that its cores request, and where that is
    /// known what the threads of an initiator reach, GFLOP/s: where it lies below the record's roofs
    /// (with --load-share and --fast-share also below its own, over two memories)
    #[arg(long, value_name = "INTENSITY[,GFLOP/s]", value_parser = point,
          conflicts_with_all = ["alpha", "share", "reach", "data", "device", "processes", "split", "stream"])]
    pub point: Vec<Point>,
    /// Threads that run at the same time, one on each CPU, and their memory: what each stream
    /// gets, for example 'cpus=0-3 mem=bind:0' or 'cpus=0-3 mem=interleave'; once for each stream
    #[arg(long, value_name = "BINDING", conflicts_with_all = ["alpha", "share", "reach", "data", "device"])]
    pub stream: Vec<AskedStream>,
    /// A program that `nearfar profile --out FILE` watched: where it lies below the record's roofs
    /// of memory, by its operational intensity
    #[arg(long, value_name = "FILE", conflicts_with_all = ["alpha", "point"])]
    pub profile: Option<PathBuf>,
    /// A program that `nearfar profile --pressure --out FILE` ran, or a workload by the traffic that its
    /// loops declare (@cg.A): its time at every placement, beside traffic of --bandwidth and --read-share
    #[arg(long, value_name = "FILE|@WORKLOAD", conflicts_with_all = ["alpha", "point"])]
    pub program: Option<String>,
    /// Of --program: how many of it run at the same time, each on as many cores of the same initiator, on one node
    #[arg(long, value_name = "N", requires = "program", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_COPIES)))]
    pub copies: u32,
    #[command(flatten)]
    pub step: StepQuestion,
    /// What would become of the figures with another memory, mode or link: channels=6,
    /// dimm=DDR5-5600 (what it has now by --gamma where the firmware does not tell), nps=4,
    /// snc=off, cxl=64GB/s (what the link is now by --phi)
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["alpha", "point"])]
    pub what_if: Option<Change>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.predict-2.json; of --processes and --split
    /// nearfar.predict-sharing-2.json, of --load-share nearfar.predict-hybrid-2.json, of --point and
    /// --profile nearfar.predict-roofline-2.json, of --stream nearfar.predict-flow-2.json, of --curve
    /// nearfar.predict-curve-1.json, of --program nearfar.predict-program-1.json, of --bytes-per-step
    /// nearfar.instances-1.json, of --what-if nearfar.predict-what-if-1.json)
    #[arg(long)]
    pub json: bool,
}

impl PredictArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// Which way copies go.
const WAYS: [Choice<TransferDirection>; 3] = [
    (TransferDirection::ToHost, "from the device's memory to the host's"),
    (TransferDirection::ToDevice, "from the host's memory to the device's"),
    (TransferDirection::BothWays, "both at the same time"),
];

/// As options are written.
fn way(direction: TransferDirection) -> &'static str {
    match direction {
        TransferDirection::ToHost => "to-host",
        TransferDirection::ToDevice => "to-device",
        TransferDirection::BothWays => "both-ways",
        TransferDirection::ToPeer => "to-peer",
    }
}

/// How many processes near the data, how many far.
#[derive(Debug, Args)]
pub struct SharingQuestion {
    /// How many processes to split over the cores near their data and those of another initiator
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096),
          conflicts_with = "alpha")]
    pub processes: Option<u32>,
    /// How many processes near their data, and how many of another initiator: what each gets
    #[arg(long, value_name = "NEAR,FAR", value_parser = split, conflicts_with = "alpha")]
    pub split: Vec<Split>,
    /// How the processes share their work; without it both ways are shown
    #[arg(long, value_parser = one_of(&WORK, WorkSharing::as_str), value_name = "WORK", 
          conflicts_with_all = questions_but(["processes"]))]
    pub work: Option<WorkSharing>,
    /// The memory node with the data; without it the first that was measured
    #[arg(long, value_name = "NODE", conflicts_with_all = questions_but(["processes", "split"]))]
    pub node: Option<u32>,
}

/// How processes share their work.
const WORK: [Choice<WorkSharing>; 2] = [
    (WorkSharing::Static, "equal parts: the slowest decides"),
    (WorkSharing::Dynamic, "dynamic scheduling: the sum counts"),
];

/// Loads and stores over a fast and a slow memory.
#[derive(Debug, Args)]
pub struct HybridQuestion {
    /// Share of loads in all bytes, 0.67 or 67%: the best shares of the fast memory for it
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub load_share: Option<f64>,
    /// Share of the bytes in the fast memory: what the program gets with it
    #[arg(long, value_name = "SHARE", requires = "load_share", value_parser = parse_share)]
    pub fast_share: Vec<f64>,
}

/// An access beside traffic.
#[derive(Debug, Args)]
pub struct LatencyQuestion {
    /// How long an access takes beside traffic of --bandwidth and --read-share, by the measured
    /// curves of latency over traffic
    #[arg(long, requires_all = ["read_share", "bandwidth"], conflicts_with = "alpha")]
    pub curve: bool,
    /// Of --curve and --program: share of reads in the bytes that cross to the memory (ordinary stores
    /// read their line first: copy has 2/3)
    #[arg(long, value_name = "SHARE", value_parser = parse_share,
          requires_all = ["beside_traffic", "bandwidth"])]
    pub read_share: Option<f64>,
    /// Of --curve and --program: what crosses to the memory beside them, 120GB/s
    #[arg(long, value_name = "RATE", requires_all = ["beside_traffic", "read_share"])]
    pub bandwidth: Option<BytesPerSecond>,
    /// Of --curve: this initiator alone
    #[arg(long, value_name = "INDEX", requires = "curve")]
    pub initiator: Option<u32>,
    /// Of --curve: this memory node alone
    #[arg(long, value_name = "NODE", requires = "curve")]
    pub memory_node: Option<u32>,
}

/// A program that streams its data step by step.
#[derive(Debug, Args)]
pub struct StepQuestion {
    /// What an instance of a program reads in each step (the active weights for a token of a language
    /// model, the data of an iteration): steps a second of one instance and of several, by where the
    /// data lies
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, conflicts_with = "alpha")]
    pub bytes_per_step: Option<Bytes>,
    /// Of --bytes-per-step: what a step computes beside, by a thread on every core of the machine
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "bytes_per_step",
          conflicts_with_all = questions_but(["bytes_per_step"]))]
    pub compute_per_step: Option<Duration>,
    /// Of --bytes-per-step: the data of which each instance, or node, has a copy (all weights), so that it
    /// is told whether copies fit; without it as much as a step reads
    #[arg(long, value_name = "SIZE", value_parser = some_bytes, requires = "bytes_per_step",
          conflicts_with_all = questions_but(["bytes_per_step"]))]
    pub replicated: Option<Bytes>,
}

/// Numbers with commas between them, as one value of an option that can be repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T>(pub Vec<T>);

/// Processes near their data, and far from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    pub near: u32,
    pub far: u32,
}

/// A program by its arithmetic intensity, FLOPs per byte, and what it reaches, GFLOP/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub intensity: f64,
    pub gflop_per_s: Option<f64>,
}

fn some_bytes(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err("a step that reads nothing takes no time of any memory".into()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

fn numbers(text: &str) -> Result<List<u32>, QuantityError> {
    parse_numbers(text).map(List)
}

fn shares(text: &str) -> Result<List<f64>, QuantityError> {
    Ok(List(text.split(',').map(parse_share).collect::<Result<_, _>>()?))
}

fn split(text: &str) -> Result<Split, String> {
    match parse_numbers(text).map_err(|error| error.to_string())?[..] {
        [near, far] => Ok(Split { near, far }),
        _ => Err("give two numbers of processes, NEAR,FAR, for example 4,2".into()),
    }
}

/// FLOPs per byte and GFLOP/s within what any program or machine has: an addition a line of 64 bytes
/// to a product of matrices that fill a node, and a process to a cluster of machines.
fn point(text: &str) -> Result<Point, String> {
    let within = |word: &str, what: &str, (least, most): (f64, f64)| {
        let number = word.trim().parse::<f64>().ok();
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            format!("'{}' is no {what}: give a number from {least} to {most}", excerpt(word))
        })
    };
    let intensity =
        |word: &str| within(word, "arithmetic intensity in FLOPs per byte", INTENSITIES);
    match text.split(',').collect::<Vec<_>>()[..] {
        [first] => Ok(Point { intensity: intensity(first)?, gflop_per_s: None }),
        [first, second] => {
            let gflop_per_s = Some(within(second, "rate in GFLOP/s", GFLOP_RATES)?);
            Ok(Point { intensity: intensity(first)?, gflop_per_s })
        }
        _ => Err("give FLOPs per byte and, behind a comma, GFLOP/s; nothing more".into()),
    }
}

/// The binding of a stream; `mem=interleave` is over all nodes of the record's machine.
#[derive(Debug, Clone)]
pub enum AskedStream {
    Binding(Binding),
    InterleavedOverAll(CpuSet),
}

impl FromStr for AskedStream {
    type Err = BindingError;

    fn from_str(text: &str) -> Result<Self, BindingError> {
        match text.strip_suffix(" mem=interleave") {
            // The CPUs are read as those of any binding.
            Some(cpus) => {
                let binding: Binding = format!("{cpus} mem=first-touch").parse()?;
                Ok(Self::InterleavedOverAll(binding.cpus))
            }
            None => text.parse().map(Self::Binding),
        }
    }
}

impl AskedStream {
    /// On this machine.
    pub fn binding(&self, machine: &Machine) -> Binding {
        match self {
            Self::Binding(binding) => binding.clone(),
            Self::InterleavedOverAll(cpus) => {
                let nodes = machine.nodes.iter().filter(|node| node.has_memory());
                let nodes = nodes.map(|node| node.os_index).collect();
                Binding { cpus: cpus.clone(), memory: MemoryPolicy::Interleave(nodes) }
            }
        }
    }
}
