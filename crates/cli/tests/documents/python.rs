//! The Python that reads reports, and the programs beside this file that it runs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of scripts/python-packages, in the target folder.
fn interpreter() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python")
}

fn is_left_out() -> bool {
    std::env::var_os("NEARFAR_WITHOUT_PYTHON").is_some_and(|value| value == "1")
}

/// Runs a program on files; what it printed, or `None` where Python is left out.
pub fn run(program: &str, arguments: &[&Path]) -> Option<String> {
    if is_left_out() {
        #[expect(clippy::print_stderr, reason = "a check that is left out says so")]
        {
            eprintln!("NEARFAR_WITHOUT_PYTHON: left out a check of {arguments:?}");
        }
        return None;
    }
    let interpreter = interpreter();
    assert!(
        interpreter.exists(),
        "there is no {}: run scripts/python-packages, or set NEARFAR_WITHOUT_PYTHON=1 to leave out \
         the checks that need it",
        interpreter.display()
    );
    // Without the environment's: -I, and UTF-8 in any locale.
    let mut command = Command::new(interpreter);
    command.args(["-I", "-X", "utf8", "-W", "error", "-c", program]).args(arguments);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    Some(String::from_utf8(output.stdout).unwrap())
}
