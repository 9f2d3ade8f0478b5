//! One file per command: arguments in, library calls, a view out.

mod advise;
mod advised_placement;
mod characterize;
mod compare;
mod compared_runs;
mod completions;
mod device_workload;
mod doctor;
mod files;
mod fleet;
mod fleet_report;
mod list;
mod man;
mod model;
mod move_memory;
mod named_program;
mod near;
mod overview;
mod predict;
mod pressure;
mod profile;
mod ps;
mod record;
mod report;
mod reproduce;
mod run;
mod run_files;
mod run_instances;
mod run_member;
mod sensitivity;
mod serve;
mod show;
mod topo;
mod topology_export;
mod workload;

use anyhow::anyhow;
use nearfar_model::Inapplicable;

use crate::args::Command;
use crate::exit_status::ExitStatus;
use crate::{foreign_machine, live_accelerators};

pub fn run(command: Option<Command>) -> anyhow::Result<ExitStatus> {
    let Some(command) = command else { return overview::run() };
    match command {
        Command::Topo(arguments) => topo::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Characterize(arguments) => characterize::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Model(arguments) => model::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Files(arguments) => files::run(&arguments),
        Command::Move(arguments) => move_memory::run(&arguments),
        Command::Ps(arguments) => ps::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Record(command) => record::run(&command),
        Command::Fleet(command) => fleet::run(&command),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Run(arguments) => Ok(run::run(&arguments)),
        Command::Sensitivity(arguments) => sensitivity::run(&arguments),
        Command::Workload(arguments) => workload::run(&arguments),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { out } => man::run(out.as_deref()),
        Command::ReadTopology(source) => foreign_machine::serve(&source),
        Command::ReadDevices { backend } => live_accelerators::serve(&backend),
    }
}

/// Why there is no model of this name, and the command that would add what it lacks.
fn no_model(name: &'static str) -> impl Fn(Inapplicable) -> anyhow::Error {
    move |without| anyhow!(without.without_model(name))
}
