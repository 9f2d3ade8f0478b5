//! The lab's own programs, for tests of other packages.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::host_program::call;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The path of a program of this package beside another program: cargo builds programs
/// only for the tests of their own package. Where it is missing or older than its
/// sources it is built, in the profile and folder of `beside`.
///
/// # Errors
/// When it cannot be built.
pub fn build_lab_program(name: &str, beside: &Path) -> anyhow::Result<PathBuf> {
    let built = beside.with_file_name(name);
    if is_newer_than_sources(&built).unwrap_or(false) {
        return Ok(built);
    }
    let folder = beside.parent().unwrap_or(Path::new("."));
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    // The workspace's choice of features, so that nothing is compiled once more.
    build.args(["build", "--quiet", "--locked", "--workspace", "--bin", name]);
    build.args(["--profile", profile, "--manifest-path"]);
    build.arg(Path::new(PACKAGE).join("Cargo.toml"));
    build.arg("--target-dir").arg(folder.parent().unwrap_or(folder));
    call(&mut build)?;
    Ok(built)
}

fn is_newer_than_sources(built: &Path) -> io::Result<bool> {
    let made = fs::metadata(built)?.modified()?;
    let mut folders = vec![Path::new(PACKAGE).join("src")];
    let mut sources = vec![Path::new(PACKAGE).join("Cargo.toml")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { sources.push(path) }
        }
    }
    for source in sources {
        if fs::metadata(source)?.modified()? > made {
            return Ok(false);
        }
    }
    Ok(true)
}
