//! What the user typed after `workload`.

use std::str::FromStr;

use clap::Args;
use nearfar_machine::PlacementStrategy;
use nearfar_place::Placement;
use nearfar_units::{excerpt, from_word};
use nearfar_workloads::{Class, DeviceWorkload, NoWorkload, ProblemSize, WorkloadName};

use super::choice::{Choice, one_of, placements, workloads_or_list};
use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar workload list
  nearfar workload cg --class A --init round-robin
  nearfar workload cg.A --threads 4 --placement local:1
  nearfar workload mg --class S --json
  nearfar workload fft --device opencl0 --size 2
  nearfar workload fft --device opencl0 --each-node
  nearfar workload cg.S --threads 1 --misses

Each thread is tied to a CPU. Without --init and --placement each thread touches first what it
computes on; a memory policy that numactl or nearfar run set holds. docs/workloads.md says what each
workload does, touches first and is bound by.

Those of devices are computed by one that OpenCL shows (nearfar doctor lists devices), with their arrays
on the memory node next to it unless --placement, or numactl, says otherwise.

Exit status: 1 where the result is not the known one, 2 where what was asked for cannot be had here, as
a node that is not there, 3 where the machine refused.";

const CLASSES: [Choice<Class>; 5] = [
    (Class::S, "a sample, within caches"),
    (Class::W, "a workstation of 1995"),
    (Class::A, "the least that goes beyond most caches"),
    (Class::B, "four times A, about"),
    (Class::C, "four times B, about"),
];

const STRATEGIES: [Choice<PlacementStrategy>; 4] = [
    (PlacementStrategy::FirstTouch, "the first thread writes all"),
    (PlacementStrategy::ParallelInit, "each thread writes what it computes on"),
    (PlacementStrategy::RoundRobin, "page by page over the threads' nodes"),
    (PlacementStrategy::MemoryBind, "hot arrays bound, and moved, to the nodes of their threads"),
];

#[derive(Debug, Args)]
pub struct WorkloadArguments {
    /// Which one, with or without its size (cg, cg.A, bfs.18); `list` shows all
    #[arg(value_name = "NAME|list", value_parser = workloads_or_list(), hide_possible_values = true)]
    pub workload: WorkloadChoice,
    /// Its size
    #[arg(long, value_name = "CLASS", value_parser = one_of(&CLASSES, Class::as_str))]
    pub class: Option<Class>,
    /// Threads, each on a CPU of its own; without it one on each core
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Who initialises its arrays (ribeiro2010)
    #[arg(long, value_name = "STRATEGY", value_parser = one_of(&STRATEGIES, PlacementStrategy::as_str))]
    pub init: Option<PlacementStrategy>,
    /// CPUs of its threads and policy of all its pages, as of `nearfar run`: local:1, bind:0,
    /// interleave, compact
    #[arg(short, long, value_name = "PLACEMENT", value_parser = placements(), hide_possible_values = true)]
    pub placement: Option<Placement>,
    /// Device that computes it, of a workload for devices: opencl0
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Its size on a device, 1 to 4 [default: 1]
    #[arg(long, value_name = "SIZE", requires = "device", value_parser = problem_size)]
    pub size: Option<ProblemSize>,
    /// Run it with its arrays on each memory node in turn, the nearest first
    #[arg(long, requires = "device", conflicts_with = "placement")]
    pub each_node: bool,
    /// Tell the miss rate of the last-level cache too: counted, or where counters do not count
    /// simulated by Valgrind, which takes some hundred times as long
    #[arg(long, conflicts_with = "device")]
    pub misses: bool,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.workload-1.json; on a device nearfar.device-workload-1.json, of the
    /// list nearfar.workloads-1.json)
    #[arg(long)]
    pub json: bool,
}

impl WorkloadArguments {
    /// The first option that is given and says how something is run.
    pub fn of_runs(&self) -> Option<&'static str> {
        let given = [
            ("--class", self.class.is_some()),
            ("--threads", self.threads.is_some()),
            ("--init", self.init.is_some()),
            ("--placement", self.placement.is_some()),
            ("--device", self.device.is_some()),
            ("--misses", self.misses),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// A workload by its name, or the list of them.
#[derive(Debug, Clone)]
pub enum WorkloadChoice {
    List,
    /// With the text of its size where it has one.
    Named(WorkloadName, Option<String>),
    /// One that a device computes, likewise.
    OnDevice(DeviceWorkload, Option<String>),
}

/// A size of a workload for devices.
pub fn problem_size(text: &str) -> Result<ProblemSize, String> {
    let size = text.parse().ok().and_then(ProblemSize::new);
    size.ok_or_else(|| format!("'{}' is no size: there are 1, 2, 3 and 4", excerpt(text)))
}

impl FromStr for WorkloadChoice {
    type Err = NoWorkload;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "list" {
            return Ok(Self::List);
        }
        let (name, size) = match text.split_once('.') {
            Some((name, size)) => (name, Some(size.into())),
            None => (text, None),
        };
        Ok(match from_word(name) {
            Some(of_devices) => Self::OnDevice(of_devices, size),
            None => Self::Named(name.parse()?, size),
        })
    }
}
