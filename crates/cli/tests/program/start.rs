//! How the program starts.

use std::process::Command;

/// Libraries that the system's loader finds for the program before it starts.
fn libraries() -> Vec<String> {
    let output = Command::new("readelf").args(["-d", env!("CARGO_BIN_EXE_nearfar")]).output();
    let output = output.expect("readelf (binutils) comes with every linker");
    let text = String::from_utf8(output.stdout).unwrap();
    let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
    needed.map(|line| line.split(['[', ']']).nth(1).unwrap().into()).collect()
}

/// It is loaded when a machine's description is read: `topology/src/hwloc_library.rs` lists the
/// functions. The name of one that is missing there: `nm -D` of the program tells it.
#[test]
fn the_program_starts_without_hwloc() {
    let libraries = libraries();
    assert!(libraries.iter().any(|name| name.starts_with("libc.so")), "{libraries:?}");
    assert!(!libraries.iter().any(|name| name.contains("hwloc")), "{libraries:?}");
}
