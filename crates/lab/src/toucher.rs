//! Programs that touch memory and say themselves where it lies (`lab/programs/toucher.c`):
//! one source, linked in the ways that programs are linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::LabError;

const SOURCE: &str = include_str!("../../../lab/programs/toucher.c");

/// The programs by their names, and what the compiler is told for each.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("toucher", &["-pthread"]),
    ("toucher-static", &["-pthread", "-static"]),
    ("toucher-openmp", &["-fopenmp"]),
];

/// Compiles `toucher` (threads of pthreads), `toucher-static` (without libraries) and
/// `toucher-openmp` into a folder; their paths.
///
/// # Errors
/// When there is no C compiler, or it lacks what a program needs (OpenMP, libraries to link
/// statically).
pub fn build_touchers(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let source = folder.join("toucher.c");
    fs::write(&source, SOURCE).map_err(LabError::file(&source))?;
    PROGRAMS
        .iter()
        .map(|(name, options)| {
            let program = folder.join(name);
            let output = Command::new("cc")
                .env("LC_ALL", "C")
                .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
                .arg(&program)
                .arg(&source)
                .args(*options)
                .output()
                .map_err(|_| LabError::Missing("cc (gcc, libc6-dev)"))?;
            match output.status.success() {
                true => Ok(program),
                false => Err(LabError::Failed {
                    what: format!("compiling {name}"),
                    said: String::from_utf8_lossy(&output.stderr).into_owned(),
                }),
            }
        })
        .collect()
}
