//! The Python that reads reports, and the programs beside this file that it runs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of scripts/python-packages, in the target folder.
fn interpreter() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python")
}

/// Runs a program on files; what it printed.
pub fn run(program: &str, arguments: &[&Path]) -> String {
    let interpreter = interpreter();
    assert!(
        interpreter.exists(),
        "there is no {}: scripts/python-packages installs it",
        interpreter.display()
    );
    // Without the environment's: -I, and UTF-8 in any locale.
    let mut command = Command::new(interpreter);
    command.args(["-I", "-X", "utf8", "-W", "error", "-c", program]).args(arguments);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
