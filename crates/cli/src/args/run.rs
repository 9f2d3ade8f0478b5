//! What the user typed after `run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use nearfar_machine::CpuSet;
use nearfar_place::Placement;

use super::advise::DemandArguments;
use super::choice::placements_or_auto;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar run --placement interleave -- ./solver input.dat
  nearfar run --placement weighted:0=3,2=1 --cpus 0-7 -- ./solver input.dat
  nearfar run --near nvme0 -- ./reader
  srun nearfar run --near rank -- ./solver input.dat
  nearfar run --placement local:1 --report -- make test
  nearfar run --each-node --output server-{index}.log -- ./server --port 808{index}
  nearfar run --placement spread --follow --report=where.json -- ./threads

Placements:
  auto                  what `nearfar advise` recommends by a record of this machine
  local                 memory near whichever thread touches it first
  local:NODES           the same, on the CPUs near these nodes
  spread                threads evenly over the CPUs, neighbours together; memory near them
  compact, scatter      threads as near to each other, or as far from each other, as can be
  preferred:NODE        memory on this node while it has room
  bind:NODES            memory on these nodes only: a program that needs more is killed
  interleave[:NODES]    pages in turn over these nodes, or over all
  weighted:NODE=W,..    pages in turn, W at a time on each node
  first-touch, parallel-init, round-robin, memory-bind
                        the strategies of ribeiro2010 (docs/running.md)

nearfar sets CPUs and memory policy and becomes the program, as numactl and taskset do. With
--report, --follow or --verify, and for weights that the kernel does not have, it stays as its
parent.

Exit status: the program's own, of several instances that of the first that failed. Of nearfar: 125
where the program was not started (wrong options, a placement that cannot be had), 126 where it
cannot be executed, 127 where there is none; 1 with --verify where the placement is slower.";

/// What says otherwise where a program runs, or what is told of it.
const NOT_OF_INSTANCES: [&str; 5] = ["placement", "near", "record", "set_kernel_weights", "verify"];

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Where its threads and memory are to be; see below [default: local, or the memory policy that
    /// nearfar itself was started under, by numactl for example]
    #[arg(short, long, value_name = "PLACEMENT", value_parser = placements_or_auto(),
          hide_possible_values = true)]
    pub placement: Option<PlacementChoice>,
    /// On the CPUs next to this device, memory near them: an accelerator (cuda:0), the system's name for it
    /// (nic:eth0, nvme0) or its PCIe address; or `rank`: each of a launcher's processes on this machine on
    /// its part of the nodes
    #[arg(long, value_name = "DEVICE", conflicts_with = "placement")]
    pub near: Option<String>,
    /// With `auto` and `--near`: the record that it goes by; without it the newest one of this host
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Only on these CPUs: 0-3,8
    #[arg(long, value_name = "LIST", value_parser = parse_cpus)]
    pub cpus: Option<CpuSet>,
    /// Start the program also where a part of the placement cannot be had, and say which
    #[arg(long)]
    pub best_effort: bool,
    /// With weights of nodes: make them the kernel's own, for the whole system and until they are set
    /// again (root, Linux 6.9); what was written and how to restore it is said. Status 125 where the
    /// kernel refuses
    #[arg(long)]
    pub set_kernel_weights: bool,
    /// Before it starts, put what is in memory of the files that its arguments name (of 16 MiB and more)
    /// where the placement has pages, as `nearfar files --place` does; without it, it is said where
    /// they lie against it
    #[arg(long)]
    pub files: bool,
    /// Say at its end what was asked for and where its memory and threads were seen, or write that
    /// to FILE as JSON (docs/schema/nearfar.run-2.json; of instances nearfar.run-instances-1.json)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub report: Option<Option<PathBuf>>,
    /// Say all of that, and not the first screen alone
    #[arg(long, requires = "report")]
    pub full: bool,
    /// Trace it (ptrace): each thread is pinned where the placement says before it touches memory,
    /// each process counted when it ends. Costs each thread and process a fraction of a millisecond
    #[arg(long)]
    pub follow: bool,
    /// Run it in turns with the placement and without it, up to 30 times each, and say whether it is
    /// faster; what it prints is dropped, its input is empty. Status 1 when it is slower
    #[arg(long)]
    pub verify: bool,
    /// An instance of the program for each node with CPUs, on these and its memory: `{node}`, `{cpus}` and
    /// `{index}` in its arguments, NEARFAR_NODE, NEARFAR_CPUS and NEARFAR_INDEX in its environment; input is
    /// empty, lines of output begin with its index, and how each ended is told
    #[arg(long, group = "each", conflicts_with_all = NOT_OF_INSTANCES)]
    pub each_node: bool,
    /// The same for each package
    #[arg(long, group = "each", conflicts_with_all = NOT_OF_INSTANCES)]
    pub each_package: bool,
    /// Of instances: what each prints goes to a file of its own, with `{index}`, `{node}` or `{cpus}` in its
    /// name
    #[arg(long, value_name = "FILE", requires = "each")]
    pub output: Option<OsString>,
    /// Of instances: those that run go on when one fails, in place of being told to end (SIGTERM)
    #[arg(long, requires = "each")]
    pub keep_going: bool,
    /// Say nothing beside the report
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    // Last, since what follows stands below its heading.
    #[command(flatten, next_help_heading = "What the program asks, for auto")]
    pub demand: DemandArguments,
}

impl RunArguments {
    /// An option that says nothing where it is, and what it is for.
    pub fn without_effect(&self) -> Option<(&'static str, &'static str)> {
        let is_auto = matches!(self.placement, Some(PlacementChoice::Auto)) && self.near.is_none();
        let DemandArguments { working_set, threads, load_share, pattern } = &self.demand;
        let of_auto = [
            ("--working-set", working_set.is_some()),
            ("--threads", threads.is_some()),
            ("--load-share", load_share.is_some()),
            ("--pattern", pattern.is_some()),
        ];
        let of_auto = of_auto.into_iter().find(|&(_, is_given)| is_given && !is_auto);
        let has_record = self.record.is_some() && !is_auto && self.near.is_none();
        of_auto
            .map(|(option, _)| (option, "is for `--placement auto`"))
            .or(has_record.then_some(("--record", "is for `--placement auto` and `--near`")))
    }
}

/// A placement by its text, or the advised one.
#[derive(Debug, Clone)]
pub enum PlacementChoice {
    /// As it is named.
    Named(Placement),
    /// As the record's models advise.
    Auto,
}

impl FromStr for PlacementChoice {
    type Err = <Placement as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Named) }
    }
}

fn parse_cpus(text: &str) -> Result<CpuSet, String> {
    let cpus: CpuSet = text.parse().map_err(|error| format!("{error}"))?;
    if cpus.is_empty() { Err("it names no CPU".into()) } else { Ok(cpus) }
}
