//! Programs for AArch64 guests, which are built and linked here for there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::architecture::Architecture;
use crate::host_program::call;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Where Debian's cross compiler has its libraries.
const CROSS: &str = "/usr/aarch64-linux-gnu";

/// A program for AArch64, and where busybox and the libraries lie that go with it.
#[derive(Debug, Clone)]
pub struct Aarch64Program {
    pub program: PathBuf,
    /// Where `scripts/arm64-toolchain` unpacked Debian's packages.
    pub unpacked: PathBuf,
}

/// Builds the program for AArch64, into the target folder that the same program for this machine lies in.
///
/// # Errors
/// When it cannot be built.
pub fn build_for_aarch64(beside: &Path) -> anyhow::Result<Aarch64Program> {
    let target = beside.parent().and_then(Path::parent).context("no target folder")?;
    let name = beside.file_name().and_then(|name| name.to_str()).context("no program's name")?;
    let mut build = Command::new(Path::new(REPOSITORY).join("scripts/arm64-toolchain"));
    build.args(["cargo", "build", "--quiet", "--locked", "--package", name]);
    call(build.env("CARGO_TARGET_DIR", target))?;
    Ok(Aarch64Program {
        program: target.join("arm64/aarch64-unknown-linux-gnu/debug").join(name),
        unpacked: target.join("arm64-toolchain/unpacked"),
    })
}

impl Aarch64Program {
    pub(crate) fn busybox(&self) -> PathBuf {
        self.unpacked.join("bin/busybox")
    }

    /// The libraries and the loader that it needs, where they lie here.
    pub(crate) fn libraries(&self) -> anyhow::Result<BTreeSet<PathBuf>> {
        let folders = [
            Path::new(CROSS).join("lib"),
            self.unpacked.join("usr/lib/aarch64-linux-gnu"),
            self.unpacked.join("lib/aarch64-linux-gnu"),
        ];
        let mut found = BTreeSet::new();
        let mut to_read = vec![self.program.clone()];
        while let Some(file) = to_read.pop() {
            for name in needed(&file)? {
                let mut places = folders.iter().map(|folder| folder.join(&name));
                let Some(place) = places.find(|place| place.is_file()) else {
                    bail!("{} needs {name}, which is in none of {folders:?}", file.display());
                };
                if found.insert(place.clone()) {
                    to_read.push(place);
                }
            }
        }
        Ok(found)
    }
}

/// Names of the libraries that a program or a library names.
fn needed(file: &Path) -> anyhow::Result<Vec<String>> {
    let readelf = Architecture::Aarch64.binutils("readelf");
    let said = call(Command::new(readelf).args(["--dynamic", "--wide"]).arg(file))?;
    let lines = said.lines().filter(|line| line.contains("(NEEDED)"));
    let name = |line: &str| Some(line.split_once('[')?.1.split(']').next()?.to_owned());
    Ok(lines.filter_map(name).collect())
}
