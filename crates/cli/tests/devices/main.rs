//! The program with devices that data is copied to, which PoCL makes of the CPUs (`make devices`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod copies;
mod doctor;
mod workloads;

use std::process::{Command, Output};
use std::time::Duration;

fn nearfar() -> Command {
    Command::new(env!("CARGO_BIN_EXE_nearfar"))
}

/// Runs it, which must end well; waits while another measurement holds the host's lock.
fn run(command: &mut Command) -> Output {
    loop {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if !said.contains("another nearfar is measuring") {
            assert!(output.status.success(), "{said}");
            return output;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
