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

fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_nearfar")).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A command's arguments are described when it is given, after the command itself.
#[test]
fn every_command_describes_itself_as_the_list_does() {
    let list = help(&["--help"]);
    let commands = list.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let mut seen = 0;
    for line in commands.lines().filter(|line| !line.starts_with("   ")) {
        let (name, about) = line.trim().split_once("  ").unwrap();
        let beginning: String = about.trim().chars().take(25).collect();
        let own = help(&[name, "--help"]);
        assert!(name == "help" || own.starts_with(&beginning), "{name}: {own}");
        seen += 1;
    }
    assert!(seen >= 15, "{list}");
}

/// It is loaded when a machine's description is read: `topology/src/hwloc_library.rs` lists the
/// functions. The name of one that is missing there: `nm -D` of the program tells it.
#[test]
fn the_program_starts_without_hwloc() {
    let libraries = libraries();
    assert!(libraries.iter().any(|name| name.starts_with("libc.so")), "{libraries:?}");
    assert!(!libraries.iter().any(|name| name.contains("hwloc")), "{libraries:?}");
}
