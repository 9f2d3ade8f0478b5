//! Runs of simulated machines, and what other programs are installed for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub const NEARFAR: &str = env!("CARGO_BIN_EXE_nearfar");

/// A machine that takes no time.
pub const MACHINE: [&str; 8] =
    ["--simulate", "amd-4p", "--only", "pairs", "--kernel", "triad", "--samples", "5"];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command prints and says; it must succeed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// A program of the Python packages that `scripts/reframe-packages` installs.
pub fn python(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("reframe/bin").join(name);
    assert!(path.exists(), "{} is missing: scripts/reframe-packages", path.display());
    path
}

/// A machine's file with a slow memory.
pub fn slow(folder: &Path) -> String {
    let path = folder.join("slow.toml");
    let file = "extends = \"amd-4p\"\nname = \"slow\"\ntitle = \"a slow module\"\n\
                [[fault]]\nkind = \"slow_memory\"\nnode = 6\nfactor = 0.8\n";
    fs::write(&path, file).unwrap();
    path.to_str().unwrap().into()
}

pub fn measure(folder: &Path, name: &str, machine: &str, seed: u32) {
    let mut command = Command::new(NEARFAR);
    command.args([
        "characterize",
        "--simulate",
        machine,
        "--only",
        "pairs",
        "--kernel",
        "triad",
        "--samples",
        "5",
    ]);
    // With the seed 2 something disturbs a cell of a sound machine.
    run(command.args(["--seed", &(20 + seed).to_string(), "--machine", name, "--run"]).arg(folder));
}

/// What `fleet plan` prints for these arguments.
pub fn plan(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(NEARFAR);
    command
        .args(["--quiet", "fleet", "plan", "--run"])
        .arg(folder)
        .args(arguments)
        .arg("--")
        .args(MACHINE);
    run(&mut command)
}

/// What all elements of an array say in a field.
pub fn all<'a>(array: &'a Value, field: &str) -> BTreeSet<&'a str> {
    array.as_array().unwrap().iter().map(|it| it[field].as_str().unwrap()).collect()
}

pub fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// The status and the JSON of `fleet compare`.
pub fn compared(folder: &Path) -> (i32, Value) {
    let output =
        Command::new(NEARFAR).args(["fleet", "compare", "--json"]).arg(folder).output().unwrap();
    let json = serde_json::from_slice(&output.stdout);
    (
        output.status.code().unwrap(),
        json.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr))),
    )
}
