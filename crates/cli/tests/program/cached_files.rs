//! `nearfar files` on this machine, whatever it has. What it does on several nodes is tried in guests.

use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;

use crate::schema::hold;
use crate::support::{nearfar, refuse, run, text};

const BYTES: u64 = 4 << 20;

fn written(folder: &Path, name: &str) {
    let path = folder.join(name);
    fs::write(&path, vec![7; 4 << 20]).unwrap();
    File::open(path).unwrap().sync_all().unwrap();
}

/// The view and the status of a run on a folder.
fn list(folder: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = run(nearfar().arg("files").arg(folder).arg("--json").args(arguments));
    let list: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    assert_eq!(hold(&list), "nearfar.files/1");
    (list, output.status.code())
}

fn in_memory(list: &Value) -> u64 {
    let files = list["files"].as_array().unwrap();
    let by_node = files.iter().flat_map(|file| file["in_memory"]["bytes_by_node"].as_object());
    by_node.flat_map(|nodes| nodes.values()).map(|bytes| bytes.as_u64().unwrap()).sum()
}

#[test]
fn files_are_looked_at_placed_and_evicted() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "a");
    written(folder.path(), "b");
    let (seen, status) = list(folder.path(), &[]);
    assert_eq!((in_memory(&seen), status), (2 * BYTES, Some(0)), "{seen:#}");
    let said = run(nearfar().arg("files").arg(folder.path()));
    assert!(text(&said.stdout).starts_with("All of 2 files in memory (8 MiB)"), "{said:?}");

    let (placed, status) = list(folder.path(), &["--place", "interleave"]);
    assert_eq!((in_memory(&placed), status), (2 * BYTES, Some(0)), "{placed:#}");
    for file in placed["files"].as_array().unwrap() {
        assert!(file["change"]["largest_deviation"].as_f64().unwrap() <= 0.01, "{file:#}");
        assert_eq!(file["change"]["stayed"].as_array().unwrap().len(), 0, "{file:#}");
    }
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), vec![7; 4 << 20]);

    let is_copy = placed["files"][0]["kind"] == "storage";
    let (evicted, status) = list(folder.path(), &["--evict"]);
    match is_copy {
        true => assert_eq!((in_memory(&evicted), status), (0, Some(0)), "{evicted:#}"),
        false => assert_eq!((in_memory(&evicted), status), (2 * BYTES, Some(1)), "{evicted:#}"),
    }
}

/// What is mapped stays, and who maps it is said: this test's own program.
#[test]
fn what_a_process_maps_is_told_and_stays() {
    let program = std::env::current_exe().unwrap();
    let (evicted, status) = list(&program, &["--evict"]);
    assert_eq!(status, Some(1), "{evicted:#}");
    let file = &evicted["files"][0];
    assert!(in_memory(&evicted) > 0, "{file:#}");
    let mut users = file["mapped_by"].as_array().unwrap().iter();
    assert!(users.any(|user| user["pid"] == std::process::id()), "{file:#}");
    assert_eq!(file["change"]["stayed"][0]["why"], "mapped", "{file:#}");
}

#[test]
fn what_cannot_be_is_refused() {
    let files = |arguments: &[&str]| {
        let mut command = nearfar();
        command.arg("files").args(arguments);
        command
    };
    refuse(&mut files(&["/no/such/file"]), 2, &["no '/no/such/file'"]);
    refuse(&mut files(&["/no/such/*.gguf"]), 2, &["no '/no/such/*.gguf'"]);
    refuse(&mut files(&["/bin", "--place", "local"]), 2, &["names no nodes"]);
    refuse(&mut files(&["/bin", "--place", "everywhere"]), 2, &["not a placement"]);
    refuse(&mut files(&["/bin", "--place", "bind:0", "--evict"]), 2, &["--evict"]);
    refuse(
        &mut files(&["/bin", "--place", "bind:1000"]),
        3,
        &["bind:1000: cannot have", "; try --place bind:"],
    );
}

/// More files than may be open at once.
#[test]
fn thousands_of_files_are_looked_at_under_a_usual_limit() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..600 {
        fs::write(folder.path().join(number.to_string()), [7; 5000]).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_nearfar");
    let limited = |arguments: &str| {
        let line = format!("ulimit -n 64; exec {program} files . {arguments}");
        let mut command = std::process::Command::new("sh");
        run(command.args(["-c", &line]).current_dir(folder.path()))
    };
    let seen = limited("");
    assert_eq!(seen.status.code(), Some(0), "{}", text(&seen.stderr));
    let said = text(&seen.stdout);
    // Two pages of each are in memory, more than its own bytes.
    assert!(said.starts_with("All of 600 files in memory (4.69 MiB)"), "{said}");
    let list: Value = serde_json::from_slice(&limited("--evict --json").stdout).unwrap();
    for file in list["files"].as_array().unwrap() {
        assert!(file["absent"].is_null() && !file["change"].is_null(), "{file:#}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_named_and_keeps_nothing_else_back() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "a");
    let pipe = folder.path().join("pipe");
    assert!(run(std::process::Command::new("mkfifo").arg(&pipe)).status.success());
    let paths = [folder.path().join("a"), pipe, "/dev/null".into()];
    let output = run(nearfar().arg("files").args(&paths).arg("--evict"));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("dropped from memory: 1 file; 2 others could not be looked at"),
        "{said}"
    );
    for words in [
        "pipe: it cannot be looked at: it is a pipe",
        "/dev/null: it cannot be looked at: it is a device",
    ] {
        assert!(said.replace("\n", " ").contains(words), "{words}: {said}");
    }
}
