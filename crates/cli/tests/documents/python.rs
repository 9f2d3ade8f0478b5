//! The Python that reads reports, and the programs beside this file that it runs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A document that says what a report holds.
pub fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Runs a program on files; what it printed.
pub fn run(program: &str, arguments: &[&Path]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    // Without the environment's: -I, and UTF-8 in any locale.
    let mut command = Command::new(target.join("python/bin/python"));
    command.args(["-I", "-X", "utf8", "-W", "error", "-c", program]).args(arguments);
    let output = command.output().expect("scripts/python-packages installs Python's programs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
