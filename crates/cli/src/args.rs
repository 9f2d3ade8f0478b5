//! What the user typed.

mod advise;
mod characterize;
mod choice;
mod compare;
mod files;
mod fleet;
mod help_text;
mod model;
mod move_memory;
mod predict;
mod profile;
mod ps;
mod record;
mod run;
mod sensitivity;
mod serve;
mod workload;

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand};
use clap_complete::Shell;
use nearfar_document::Format;
use nearfar_machine::TheoreticalMaximum;
use nearfar_record::Experiment;

use self::choice::{Choice, machines, one_of};

pub use advise::AdviseArguments;
use characterize::EXPERIMENTS;
pub use characterize::{CharacterizeArguments, Noise};
pub use compare::CompareArguments;
pub use files::FilesArguments;
pub use fleet::{
    FleetCommand, FleetCompareArguments, FleetDriftArguments, FleetFormat, FleetPlanArguments,
    FleetReportArguments, FleetVerdictArguments,
};
pub use model::{ModelArguments, ReproduceArguments};
pub use move_memory::MoveArguments;
pub use predict::{LatencyQuestion, Point, PredictArguments, Split, StepQuestion};
pub use profile::{PressureKind, ProfileArguments};
pub use ps::PsArguments;
pub use record::{RecordCommand, RecordScrubArguments};
pub use run::{PlacementChoice, RunArguments};
pub use sensitivity::SensitivityArguments;
pub use serve::ServeArguments;
pub use workload::{WorkloadArguments, WorkloadChoice, problem_size};

use crate::output::AnswerForm;

const EXIT_STATUS: &str = "Exit status:
  0        done: all was measured, or omitted with its reason
  1        a check or a comparison failed
  2        wrong usage or input, or another nearfar is measuring
  3        the machine refused at least one case, or the disk was full;
           the rest is in the record
  129, 130, 143
           interrupted; the record is kept";

/// Options of every command stand behind its own, and before --help.
const GLOBAL: usize = 900;

/// Measures how far memory is: the bandwidth with which every group of cores
/// reaches every memory node, with proof of where the pages were.
#[derive(Debug, Parser)]
#[command(name = "nearfar", version, after_help = EXIT_STATUS)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Whether to colour what is printed
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = GLOBAL)]
    pub color: ColorChoice,
    /// Print the answer and what went wrong, and nothing else: no progress, notes or next command
    #[arg(short, long, global = true, display_order = GLOBAL + 1)]
    pub quiet: bool,
    /// Print more where there is more (with `characterize --dry-run`, every case by its id)
    #[arg(short, long, global = true, conflicts_with = "quiet", display_order = GLOBAL + 2)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What the machine is: nodes, initiators, caches, distances, devices
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar topo --xml lstopo-output.xml --json\n",
        "  nearfar topo r.jsonl                           the machine of that record\n",
        "  nearfar topo --export-xml here.xml             what the newest record of this host measured,\n",
        "                                                 for hwloc-bind, Open MPI and others\n",
        "  nearfar topo r.jsonl --export-xml there.xml    the same of that record",
    ))]
    Topo(Box<TopoArguments>),
    /// What would disturb a measurement here; or which part of a machine falls short, by its record
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar doctor                                 this machine, before measuring\n",
        "  nearfar doctor r.jsonl --gamma DDR4-3200x8     a record, beside its twins and its kind\n",
        "Status 1 when this machine cannot be measured, or a part of RECORD falls short or is\n",
        "unsteady. Where nothing could be compared (JSON: cells_compared 0) it is 0, and 'unknown'\n",
        "says why.",
    ))]
    Doctor(Box<DoctorArguments>),
    /// Measure this machine and write a record
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar characterize                          a first look, in about 15 s on a small machine\n",
        "  nearfar characterize --suite full --out r.jsonl\n",
        "  nearfar characterize --resume --out r.jsonl   go on after an interruption\n",
        "  nearfar characterize --append r.jsonl --only mixes   add to a record\n",
        "  nearfar characterize --simulate amd-2p --suite standard --out r.jsonl",
    ))]
    Characterize(Box<CharacterizeArguments>),
    /// Answer the messages of another machine that measures its network (characterize --only network)
    #[command(after_help = serve::AFTER_HELP)]
    Serve(Box<ServeArguments>),
    /// Show a record in tables
    #[command(
        after_help = "Examples:\n  nearfar show r.jsonl\n  nearfar show                    the newest record of this host"
    )]
    Show(Box<ShowArguments>),
    /// The records of a folder, the newest first
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar list                                   the records that nobody gave a name\n",
        "  nearfar list results --json\n",
        "A record is known by what stands in it, whatever its file is called. Its first and last lines are\n",
        "read, which does not tell whether it was changed since it was measured: `nearfar show` does.",
    ))]
    List(Box<ListArguments>),
    /// What a record means: the models of the papers, fitted, with their errors
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar model r.jsonl classes --gamma DDR3-2133\n",
        "  nearfar model r.jsonl classes --threads all --kernel load --json\n",
        "  nearfar model classes                          the newest record of this host\n",
        "  nearfar model r.jsonl                          every model\n",
        "  nearfar characterize --simulate e5520 --suite standard --out - | nearfar model - sharing",
    ))]
    Model(Box<ModelArguments>),
    /// What a program gets: by classes, by sharing, by a fast and a slow memory, below roofs,
    /// among other streams
    #[command(after_help = concat!(
        "Examples, the first two of braithwaite2012 (equations 4.10, 4.11, 4.17):\n",
        "  nearfar predict --alpha 0.5449,0.3281,0.1816 --share 0.5,0.5,0 --share 0.5,0.25,0.25\n",
        "      half of the accesses to class 0; and the rest to one class or to two\n",
        "  nearfar predict --alpha 0.5156,0.4141,0.1797 --reach 0,1,2,2 --reach 0,1,2,2\n",
        "      two processes, each with a GPU that nodes 0 to 3 reach in classes 0, 1, 2, 2:\n",
        "      what each choice of nodes gives, the best for the slowest process first\n",
        "  nearfar predict r.jsonl --data 0 --data 0\n",
        "      two processes with their data on node 0\n",
        "  nearfar predict r.jsonl --curve --read-share 0.8 --bandwidth 120GB/s\n",
        "      how long an access takes beside traffic, four fifths of which are reads\n",
        "Alphas of a record are those of the whole machine's classes; for a single group's,\n",
        "give those that `nearfar model --per-group` prints by --alpha.",
    ))]
    Predict(Box<PredictArguments>),
    /// Where a program's threads and pages belong, what that gains, and the command for it
    #[command(after_help = advise::AFTER_HELP)]
    Advise(Box<AdviseArguments>),
    /// Where a program's memory is, where it runs, and how much it moves
    #[command(after_help = profile::AFTER_HELP)]
    Profile(Box<ProfileArguments>),
    /// Write a record as a document, in the form that the file's ending names
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar report r.jsonl -o report.html\n",
        "  nearfar report r.jsonl -o report.md\n",
        "  nearfar report -o report.json                  the newest record of this host\n",
        "  nearfar report r.jsonl -o - --format csv | xz >samples.csv.xz",
    ))]
    Report(Box<ReportArguments>),
    /// What differs between two records, and whether it matters
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar compare before.jsonl after.jsonl\n",
        "  nearfar compare node17.jsonl node18.jsonl --floor 3%\n",
        "  nearfar compare before.jsonl after.jsonl -o difference.html\n",
        "Status 1 when something is worse in B by more than the floor and than noise explains.",
    ))]
    Compare(Box<CompareArguments>),
    /// A record itself: a copy that can be given away
    #[command(subcommand)]
    Record(RecordCommand),
    /// Many machines: how to measure them, who falls short of its peers, a line for health checks
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Start a program under a placement of its threads and memory, and say what became of it
    #[command(after_help = run::AFTER_HELP)]
    Run(Box<RunArguments>),
    /// Running processes whose memory lies far from where they run
    #[command(after_help = ps::AFTER_HELP)]
    Ps(Box<PsArguments>),
    /// Move the memory of a running process to the nodes of a placement, at a bounded rate
    #[command(after_help = move_memory::AFTER_HELP)]
    Move(Box<MoveArguments>),
    /// On which nodes files are in memory, who maps them, and putting them elsewhere
    #[command(after_help = files::AFTER_HELP)]
    Files(Box<FilesArguments>),
    /// How much a program minds where its memory is: its time at every class of placement
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar sensitivity --record r.jsonl -- ./solver input.dat\n",
        "  nearfar sensitivity --metric 'Triad: +([0-9.]+)' --unit MB/s --matrix \\\n",
        "      --command 'gcc=./stream-gcc' --command 'clang=./stream-clang'\n",
        "      the best of two builds on every pair, and the classes that follow\n",
        "  nearfar sensitivity @cg.A @bfs.18              programs that nearfar has itself\n",
        "  nearfar sensitivity --programs npb.toml        a suite, each with its metric and check\n",
        "  nearfar sensitivity --from runs.jsonl          show runs again\n",
        "With one memory node there is nothing to choose, and nothing is run. Status 3 when a program\n",
        "failed at a placement.",
    ))]
    Sensitivity(Box<SensitivityArguments>),
    /// The papers' programs: one of them, run and verified, with proof of where its pages were
    #[command(after_help = workload::AFTER_HELP)]
    Workload(Box<WorkloadArguments>),
    /// A paper's tables: as printed, ours, the error
    #[command(after_help = concat!(
        "Example: nearfar reproduce braithwaite2012\n",
        "Status 1 when a value differs for no known reason.",
    ))]
    Reproduce(Box<ReproduceArguments>),
    /// Print the shell's completions
    #[command(after_help = "Example: nearfar completions bash >/etc/bash_completion.d/nearfar")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write all pages into a folder
    #[command(after_help = "Example: nearfar man | man -l -")]
    Man {
        /// Folder for the pages of all commands
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Reads a foreign topology in a process of its own (used by `topo`)
    #[command(hide = true)]
    ReadTopology(MachineSource),
    /// Looks for devices in a process of its own (used by `doctor` and `characterize`)
    #[command(hide = true)]
    ReadDevices {
        /// The interface: cuda, hip or opencl
        backend: String,
    },
}

#[derive(Debug, Args)]
pub struct TopoArguments {
    /// The record whose machine is shown instead of this one, or whose figures --export-xml
    /// writes; without it --export-xml takes the newest one of this host
    pub record: Option<PathBuf>,
    #[command(flatten)]
    pub source: MachineSource,
    /// Write the topology as hwloc's XML, with the measured bandwidths and latencies as its
    /// memory attributes (docs/memory-attributes.md); to standard output by -
    #[arg(long, value_name = "FILE", conflicts_with = "synthetic")]
    pub export_xml: Option<PathBuf>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.topo-2.json; of the list nearfar.machines-1.json, of an
    /// export nearfar.topology-export-1.json)
    #[arg(long)]
    pub json: bool,
}

impl TopoArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct MachineSource {
    /// Read a file that lstopo wrote, instead of this machine
    #[arg(long, value_name = "FILE")]
    pub xml: Option<PathBuf>,
    /// Read hwloc's synthetic text, for example 'node:4 core:4 pu:1'
    #[arg(long, value_name = "TEXT")]
    pub synthetic: Option<String>,
    /// Show a simulated machine: a built-in one ('list' names them) or a file
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = machines(), hide_possible_values = true)]
    pub simulate: Option<String>,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Look over a record instead of this machine; - is standard input
    pub record: Option<PathBuf>,
    /// What a memory node can carry at most, which no figure may exceed: DDR4-3200x8,
    /// 204.8GB/s; without it, by the record's memory modules
    #[arg(long, value_name = "NAME", value_parser = TheoreticalMaximum::memory, requires = "record")]
    pub gamma: Option<TheoreticalMaximum>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.doctor-1.json, nearfar.record-doctor-3.json)
    #[arg(long)]
    pub json: bool,
}

impl DoctorArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The record; - is standard input
    pub record: Option<PathBuf>,
    /// These experiments alone, whole
    #[arg(long, value_delimiter = ',', value_parser = one_of(&EXPERIMENTS, Experiment::as_str))]
    pub experiment: Vec<Experiment>,
    /// What to know about the figures, and what to do about it, alone
    #[arg(long, conflicts_with_all = ["experiment", "full"])]
    pub remarks: bool,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.show-3.json)
    #[arg(long, conflicts_with_all = ["experiment", "remarks"])]
    pub json: bool,
}

impl ShowArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        let full = self.full || !self.experiment.is_empty();
        AnswerForm { as_json: self.json, full }
    }
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// The folder; without it the one of records that nobody gave a name, and its folder of records of
    /// programs
    pub folder: Option<PathBuf>,
    /// Print all, and not the newest alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.list-1.json)
    #[arg(long)]
    pub json: bool,
}

impl ListArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// Forms of a report.
const FORMATS: [Choice<Format>; 6] = [
    (Format::Html, "a page with charts, in one file"),
    (Format::Markdown, "for an issue or a wiki"),
    (Format::Tex, "for a paper (pdflatex)"),
    (Format::Json, "the document as data"),
    (Format::Csv, "every sample"),
    (Format::Metrics, "metrics for Prometheus"),
];

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The record; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    /// The file to write; one that is there is replaced; - is standard output. Its ending, or --format,
    /// says what it is: .html a
    /// page with charts, in one file that opens without a network, .md for an issue or a wiki,
    /// .tex for a paper (pdflatex), .json the document as data
    /// (docs/schema/nearfar.report-1.json), .csv every sample (docs/csv-columns.md), .prom
    /// metrics for Prometheus (docs/metrics.md)
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// The form, whatever the file is called
    #[arg(long, value_parser = one_of(&FORMATS, Format::ending))]
    pub format: Option<Format>,
    /// A program that `nearfar profile --out FILE` watched: its point among the roofs of a page
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A program that `nearfar profile --pressure --out FILE` ran, or a workload by what its loops
    /// declare (@cg.A): its predicted time at every placement, and where it lies on the curves of latency
    #[arg(long, value_name = "FILE|@WORKLOAD")]
    pub program: Option<String>,
    /// Theoretical maximum that alphas of .html, .md, .tex and .json are relative to, as for `nearfar
    /// model`: a standard (DDR4-3200x8) or a bandwidth (204.8GB/s); without it, by the record's
    /// memory modules
    #[arg(long, value_name = "NAME|GB/s", value_parser = TheoreticalMaximum::memory)]
    pub gamma: Option<TheoreticalMaximum>,
}
