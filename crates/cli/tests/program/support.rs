//! Running the program as a user does.

use std::process::{Command, Output};

pub fn nearfar() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearfar"));
    command.env_remove("XDG_STATE_HOME");
    command
}

/// Runs it, while nobody else measures.
pub fn run(command: &mut Command) -> Output {
    nearfar_lab::run_in_turn(|| command.output().unwrap())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program must end with this status and say this on standard error.
pub fn refuse(command: &mut Command, status: i32, words: &[&str]) {
    let output = run(command);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert_said_once(&said);
    for word in words {
        assert!(said.contains(word), "'{said}' does not say '{word}'");
    }
}

/// No part of a message is said twice.
pub fn assert_said_once(said: &str) {
    let parts: Vec<&str> = said.trim_end().split(": ").flat_map(|part| part.split("; ")).collect();
    for (number, part) in parts.iter().enumerate() {
        assert!(!parts[number + 1..].contains(part), "'{part}' is said twice in '{said}'");
    }
}
