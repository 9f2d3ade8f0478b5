//! The program with devices that data is copied to, which PoCL makes of the CPUs (`make devices`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod copies;
mod doctor;
mod workloads;

use std::process::{Command, Output};

fn nearfar() -> Command {
    Command::new(env!("CARGO_BIN_EXE_nearfar"))
}

/// Runs it, while nobody else measures; it must end well.
fn run(command: &mut Command) -> Output {
    let output = nearfar_lab::run_in_turn(|| command.output().unwrap());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}
