//! `nearfar`: arguments in, library calls, exit status out.

mod args;
mod command;
mod exit_status;
mod foreign_machine;
mod hwloc;
mod live_accelerators;
mod live_machine;
mod near_device;
mod output;
mod profile_file;
mod progress;
mod record_file;
mod record_header;
mod written_file;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match command::run(arguments.command, &nearfar_topology::overrides()) {
        Ok(status) => status.into(),
        Err(error) => {
            let status = exit_status::of_error(&error);
            if status != exit_status::ExitStatus::Done {
                output::complain(&error);
            }
            status.into()
        }
    }
}
