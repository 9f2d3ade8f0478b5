//! How the program is linked: so that it starts soon, because `run` starts others.

use std::path::Path;
use std::process::Command;

/// The compiler's unwinder as an archive.
const UNWINDER: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a fixed address: to move 16,000 pointers takes 0.2 ms at every start.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // The unwinder's shared library takes 0.1 ms to load. clang alone comes without the archive.
    let found = Command::new("cc").arg(format!("-print-file-name={UNWINDER}")).output();
    let path = found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if path.is_ok_and(|path| Path::new(&path).is_absolute()) {
        println!("cargo::rustc-link-lib=dylib:+verbatim={UNWINDER}");
    }
}
