//! Where measuring this machine cannot begin or go on: what is said, with what to do about it and
//! the documented status.

use std::fs;

use crate::support::{SMALL, measuring, nearfar, refuse, run, text};

#[test]
fn a_budget_too_small_says_how_much_is_needed() {
    let _one = measuring();
    refuse(
        nearfar().args(["characterize", "--budget", "10ms", "--out", "/dev/null", "--force"]),
        2,
        &["budget of 10.0 ms is too small", "--budget", "--samples"],
    );
}

#[test]
fn an_existing_record_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    fs::write(&path, "precious").unwrap();
    let _one = measuring();
    refuse(
        nearfar().arg("characterize").args(SMALL).arg("--out").arg(&path),
        2,
        &["exists already", "--resume", "--force", "--out"],
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_path_that_cannot_be_written_says_so_before_measuring() {
    let _one = measuring();
    refuse(
        nearfar().arg("characterize").args(SMALL).args(["--out", "/proc/nowhere/r.jsonl"]),
        2,
        &["cannot create the record /proc/nowhere/r.jsonl", "--out"],
    );
}

/// /dev/full takes an open and refuses every write with "no space left": the header as well.
#[test]
fn a_full_disk_is_told_before_anything_is_measured() {
    let _one = measuring();
    refuse(
        nearfar().arg("characterize").args(SMALL).args(["--force", "--out", "/dev/full"]),
        3,
        &["cannot write the record", "No space left", "nothing of it was kept", "make room"],
    );
}

/// The record is on a disk of 64 KiB: some samples fit, the rest does not.
#[test]
fn a_disk_that_fills_up_keeps_every_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let _one = measuring();
    // A limit on the file's size stands for the disk's: the write comes back short.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_nearfar"), "characterize"]);
    command.args(SMALL).args(["--samples", "40"]).arg("--out").arg(&path);
    refuse(&mut command, 3, &["cannot append", "are kept", "--resume"]);
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.ends_with('\n') && kept.lines().count() > 8, "{} bytes kept", kept.len());
    let shown = run(nearfar().args(["show", "--json"]).arg(&path));
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let resumed = run(nearfar().args(["characterize", "--resume", "--out"]).arg(&path));
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    assert!(fs::read_to_string(&path).unwrap().starts_with(&kept));
}

#[test]
fn one_allowed_cpu_is_measured_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let topo = run(nearfar().args(["topo", "--json"]));
    let machine: serde_json::Value = serde_json::from_slice(&topo.stdout).unwrap();
    let allowed = machine["allowed_cpus"].as_str().unwrap();
    let first = allowed.split(['-', ',']).next().unwrap();
    let _one = measuring();
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", first, env!("CARGO_BIN_EXE_nearfar"), "characterize"]);
    command.args(SMALL).args(["--samples", "1", "--out"]).arg(&path);
    let output = run(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&run(nearfar().arg("show").arg(&path)).stdout);
    if allowed != first {
        assert!(shown.contains(&format!("may use the CPUs {first} of")), "{shown}");
    }
    assert!(!shown.contains("all threads, sum"), "one CPU has no matrix of several: {shown}");
}

/// A record of the same model of machine, but not of this one, is not gone on with.
#[test]
fn a_record_of_another_host_or_version_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let _one = measuring();
    let mut command = nearfar();
    command.arg("characterize").args(SMALL).args(["--samples", "1", "--out"]).arg(&path);
    assert_eq!(run(&mut command).status.code(), Some(0));
    let record = fs::read_to_string(&path).unwrap();
    let field = |name: &str| {
        let at = record.find(&format!("\"{name}\":\"")).unwrap() + name.len() + 4;
        record[at..].split('"').next().unwrap().to_string()
    };
    for (name, what) in [("host", "another host"), ("nearfar", "another nearfar")] {
        let own = format!("\"{name}\":\"{}\"", field(name));
        let edited = record.replacen(&own, &format!("\"{name}\":\"other\""), 1);
        // Without seals, which would tell of the edit before anything else is looked at.
        let unsealed = |line: &str| format!("{}}}\n", &line[..line.rfind(",\"seal\"").unwrap()]);
        let edited: String = edited.lines().map(unsealed).collect();
        fs::write(&path, &edited).unwrap();
        refuse(
            nearfar().args(["characterize", "--resume", "--out"]).arg(&path),
            2,
            &[what, "begin a new record"],
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), edited, "a refused record was changed");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let _one = measuring();
    let mut command = std::process::Command::new("bash");
    let script =
        "set -o pipefail; \"$0\" characterize --working-set 8MiB --window 5ms --out - | head -1";
    let output = run(command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_nearfar")));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("{\"header\""));
}

#[test]
fn a_second_measurement_waits_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let _one = measuring();
    let mut first = nearfar();
    first.arg("characterize").args(SMALL).args(["--samples", "400", "--out"]);
    let mut first = first.arg(folder.path().join("first.jsonl")).spawn().unwrap();
    // It holds the lock once its record is there.
    while !folder.path().join("first.jsonl").exists() {
        if let Some(status) = first.try_wait().unwrap() {
            // Somebody outside these tests is measuring: then the lock has been shown too.
            assert_eq!(status.code(), Some(2));
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let second = nearfar()
        .arg("characterize")
        .args(SMALL)
        .arg("--out")
        .arg(folder.path().join("second.jsonl"))
        .output()
        .unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("another nearfar is measuring"));
}
