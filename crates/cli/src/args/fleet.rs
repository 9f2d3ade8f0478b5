//! What the user typed after `fleet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use nearfar_fleet::{Engine, FLEET_FLOOR};
use nearfar_units::parse_duration;

use super::choice::{Choice, one_of};
use super::compare::parse_floor;
use crate::output::AnswerForm;

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Print how to measure many machines by the launcher that is there, and note who is expected
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar fleet plan --run /shared/run1 --engine slurm --machines 'n[1-400]' | sh\n",
        "  nearfar fleet plan --run /shared/run1 --engine pdsh --machines 'n[3,7]'  those again\n",
        "  nearfar fleet plan --run /shared/run1 --engine kubernetes --machines 'w[1-9]' \\\n",
        "      --image registry/nearfar --claim shared | kubectl create -f -",
    ))]
    Plan(FleetPlanArguments),
    /// Which machines of a run are missing, failed, or fall short of their peers
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar fleet compare /shared/run1\n",
        "  nearfar fleet compare /shared/run1 --target standard.jsonl\n",
        "Status 0: all are good; 1: at least one is bad; 2: none is bad, and of some it is not known\n",
        "(missing, failed, to be measured again).",
    ))]
    Compare(FleetCompareArguments),
    /// One line of one machine, by what `fleet compare` left: for health checks
    #[command(after_help = concat!(
        "Example: nearfar fleet verdict /shared/run1 --machine n7 --max-age 7d\n",
        "Status 0: good; 1: bad; 2: not known. Recipes for NHC, Slurm and Kubernetes: docs/fleet.md.",
    ))]
    Verdict(FleetVerdictArguments),
    /// Which machines changed over runs: steps and slopes of each against its peers
    #[command(after_help = concat!(
        "Example: nearfar fleet drift /shared/weekly/*\n",
        "Status 1 when a machine fell.",
    ))]
    Drift(FleetDriftArguments),
    /// Write a run as a document, in the form that the file's ending names
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar fleet report /shared/run9 -o fleet.html\n",
        "  nearfar fleet report /shared/run9 -o fleet.html --history /shared/run[1-8]\n",
        "  nearfar fleet report /shared/run9 -o results-summary.jsonl",
    ))]
    Report(FleetReportArguments),
}

/// Engines that a run is started by.
const ENGINES: [Choice<Engine>; 6] = [
    (Engine::Slurm, "one job over all machines"),
    (Engine::SlurmArray, "a job for each machine, as it becomes free"),
    (Engine::Flux, "one job over all machines"),
    (Engine::Mpirun, "Open MPI's, by ssh or within an allocation"),
    (Engine::Kubernetes, "an indexed job, as JSON for kubectl"),
    (Engine::Pdsh, "by ssh, 64 at a time"),
];

#[derive(Debug, Args)]
pub struct FleetPlanArguments {
    /// The run's folder, which all machines see by this path; it is made
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// What starts it
    #[arg(long, value_parser = one_of(&ENGINES, Engine::as_str))]
    pub engine: Engine,
    /// Machines, as Slurm lists them: 'n[1-400]', 'r[01-12]n[1-4],login' (quoted, since shells expand brackets)
    #[arg(long, value_name = "LIST")]
    pub machines: String,
    /// Time that each machine measures for [default: 2m, or that of the run when it was planned]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// The program on the machines [default: this one's path]
    #[arg(long, value_name = "PATH")]
    pub program: Option<String>,
    /// Container image that holds it (kubernetes)
    #[arg(long)]
    pub image: Option<String>,
    /// Claim of a volume that holds the folder; without it each node's own folder (kubernetes)
    #[arg(long, value_name = "NAME")]
    pub claim: Option<String>,
    /// Further arguments of `characterize`, behind --; without them those that the run was planned with
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub struct FleetCompareArguments {
    /// The run's folder
    pub folder: PathBuf,
    /// Compare with this record and not with each other: those of its kind
    #[arg(long, value_name = "RECORD")]
    pub target: Option<PathBuf>,
    /// A loss that does not matter in practice: 3%, 0.03
    #[arg(long, value_name = "PERCENT", default_value_t = FLEET_FLOOR, value_parser = parse_floor)]
    pub floor: f64,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.fleet-compare-1.json)
    #[arg(long)]
    pub json: bool,
}

impl FleetCompareArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

#[derive(Debug, Args)]
pub struct FleetVerdictArguments {
    /// The run's folder
    pub folder: PathBuf,
    /// The machine; without it this one, by the same order as `characterize --run`
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// What was measured longer ago is not known any more
    #[arg(long, value_name = "TIME", value_parser = parse_age, default_value = "7d")]
    pub max_age: Duration,
}

/// A time, also in days.
fn parse_age(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_secs(86_400 * u64::from(days))),
        None => parse_duration(text).map_err(|error| error.to_string()),
    }
}

#[derive(Debug, Args)]
pub struct FleetDriftArguments {
    /// Folders of runs, in any order
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.fleet-drift-1.json)
    #[arg(long)]
    pub json: bool,
}

impl FleetDriftArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// Forms of a report over many machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetFormat {
    Html,
    Markdown,
    Tex,
    Json,
    Csv,
    Metrics,
    SuperBench,
}

impl FleetFormat {
    pub const ALL: [Choice<Self>; 7] = [
        (Self::Html, "a page with charts, in one file"),
        (Self::Markdown, "for an issue or a wiki"),
        (Self::Tex, "for a paper (pdflatex)"),
        (Self::Json, "the comparison as data"),
        (Self::Csv, "every cell of every machine"),
        (Self::Metrics, "metrics for Prometheus"),
        (Self::SuperBench, "SuperBench's results-summary.jsonl"),
    ];

    /// The ending, without its dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Tex => "tex",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Metrics => "prom",
            Self::SuperBench => "jsonl",
        }
    }
}

#[derive(Debug, Args)]
pub struct FleetReportArguments {
    /// The run's folder
    pub folder: PathBuf,
    /// The file to write; - is standard output. Its ending, or --format, says what it is: .html a page with
    /// charts, .md, .tex, .json the comparison (docs/schema/nearfar.fleet-compare-1.json), .csv every cell of
    /// every machine, .prom metrics for Prometheus, .jsonl SuperBench's results-summary
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// The form, whatever the file is called
    #[arg(long, value_parser = one_of(&FleetFormat::ALL, FleetFormat::ending))]
    pub format: Option<FleetFormat>,
    /// Folders of earlier runs: what changed since
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub history: Vec<PathBuf>,
    /// A loss that does not matter in practice: 3%, 0.03
    #[arg(long, value_name = "PERCENT", default_value_t = FLEET_FLOOR, value_parser = parse_floor)]
    pub floor: f64,
}
