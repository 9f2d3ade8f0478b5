//! Programs of the lab in C: one that touches memory and says itself where it lies, linked in the
//! ways that programs are linked (`lab/programs/toucher.c`), one that does what programs do with
//! processes, threads and memory (`load.c`), and one that checks what it wrote (`keeper.c`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::host_program::call;

const TOUCHER: &str = include_str!("../../../lab/programs/toucher.c");
const LOAD: &str = include_str!("../../../lab/programs/load.c");
const KEEPER: &str = include_str!("../../../lab/programs/keeper.c");
const KINDS: &str = include_str!("../../../lab/programs/kinds.c");
const PEAK: &str = include_str!("../../../lab/programs/peak.c");

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
pub fn build_touchers(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    PROGRAMS.iter().map(|(name, options)| compile(TOUCHER, folder, name, options)).collect()
}

/// Compiles `load` into a folder; its path.
///
/// # Errors
/// When there is no C compiler.
pub fn build_load(folder: &Path) -> anyhow::Result<PathBuf> {
    compile(LOAD, folder, "load", &["-pthread"])
}

/// Compiles `keeper` into a folder; its path.
///
/// # Errors
/// When there is no C compiler.
pub fn build_keeper(folder: &Path) -> anyhow::Result<PathBuf> {
    compile(KEEPER, folder, "keeper", &["-pthread"])
}

/// Compiles the program that maps memory of one kind and says where it is, `kinds`, into a folder.
///
/// # Errors
/// When `cc` fails.
pub fn build_kinds(folder: &Path) -> anyhow::Result<PathBuf> {
    compile(KINDS, folder, "kinds", &[])
}

/// Compiles the program that reads how much memory others have, `peak`, into a folder.
///
/// # Errors
/// When `cc` fails.
pub fn build_peak(folder: &Path) -> anyhow::Result<PathBuf> {
    compile(PEAK, folder, "peak", &[])
}

fn compile(text: &str, folder: &Path, name: &str, options: &[&str]) -> anyhow::Result<PathBuf> {
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&source, text)?;
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(&source).args(options);
    call(&mut cc)?;
    Ok(program)
}
