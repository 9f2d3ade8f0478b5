//! Programs of this machine that the lab calls.

use std::process::Command;

use anyhow::{Context, ensure};

/// Runs a program; what it printed.
pub(crate) fn call(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Words like `Depends:` are translated otherwise.
    let output = command.env("LC_ALL", "C").output().with_context(|| missing(&name))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) fn missing(program: &str) -> String {
    format!(
        "{program} is not installed; `scripts/install-packages guest` installs what guests need"
    )
}
