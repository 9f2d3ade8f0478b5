//! The program that copies as others do, compiled when it is needed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use tempfile::TempDir;

const SOURCE: &str = include_str!("yardstick.c");

/// The compiled program, in a folder that goes with it.
#[derive(Debug)]
pub struct Yardstick {
    folder: TempDir,
    /// The compiler, as it says itself.
    pub compiler: String,
}

impl Yardstick {
    /// Compiles it by gcc for this CPU.
    ///
    /// # Errors
    /// When there is no gcc, or it refuses the source.
    pub fn compile() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("yardstick.c");
        std::fs::write(&source, SOURCE)?;
        let version = Command::new("gcc").arg("--version").output().context("cannot start gcc")?;
        let version = String::from_utf8_lossy(&version.stdout);
        let compiler = version.lines().next().unwrap_or("gcc").to_string();
        let made = Command::new("gcc")
            .args(["-O3", "-march=native", "-o"])
            .arg(folder.path().join("yardstick"))
            .arg(source)
            .output()?;
        ensure!(made.status.success(), "gcc: {}", String::from_utf8_lossy(&made.stderr));
        Ok(Self { folder, compiler })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("yardstick")
    }

    /// Bytes/s of a kernel on a CPU, over so many bytes of all arrays, this many times.
    ///
    /// # Errors
    /// When it fails, or finds that its result is wrong.
    pub fn run(&self, kernel: &str, cpu: u32, bytes: u64, passes: u64) -> anyhow::Result<f64> {
        let arguments = [kernel.into(), cpu.to_string(), bytes.to_string(), passes.to_string()];
        let output = Command::new(self.path()).args(&arguments).output()?;
        ensure!(output.status.success(), "yardstick {}: {}", arguments.join(" "), output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().with_context(|| format!("yardstick said {text:?}"))
    }
}
