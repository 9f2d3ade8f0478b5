//! Programs in C, compiled against the header and the libraries that this build made.

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/nearfar.h")
}

/// A library of this build; cargo leaves it beside the tests.
pub fn library(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().join(name);
    assert!(path.exists(), "{} was not built", path.display());
    path
}

/// Compiles a program and links it with the static library.
pub fn compile(source: &Path, program: &Path) {
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(header().parent().unwrap())
        .arg(source)
        .arg(library("libnearfar_c.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
