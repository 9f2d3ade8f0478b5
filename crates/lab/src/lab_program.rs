//! The lab's own programs, for tests of other packages.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::LabError;

/// Builds a program of this package by cargo, in the profile and folder of the program
/// `beside`; its path. Cargo builds programs only for the tests of their own package.
///
/// # Errors
/// When it cannot be built.
pub fn build_lab_program(name: &str, beside: &Path) -> Result<PathBuf, LabError> {
    let built = beside.with_file_name(name);
    let folder = beside.parent().unwrap_or(Path::new("."));
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", name])
        .args(["--profile", profile, "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap_or(folder))
        .output()
        .map_err(|_| LabError::Missing("cargo"))?;
    if output.status.success() && built.is_file() {
        return Ok(built);
    }
    Err(LabError::Failed {
        what: format!("building {}", built.display()),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
