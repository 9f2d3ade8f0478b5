//! Nothing that was measured is lost, however the program ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use crate::support::{measuring, nearfar, run, text};
use nearfar_record::{Record, read_record};

const ROUNDS: u32 = 60;

fn start(path: &Path) -> Child {
    let mut command = nearfar();
    command
        .args(["characterize", "--working-set", "8MiB", "--window", "5ms", "--samples"])
        .arg(ROUNDS.to_string())
        .arg("--out")
        .arg(path);
    loop {
        let mut child = command.spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            if samples_in(path) >= 20 {
                return child;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // It ended before twenty samples: another measurement holds the host's lock.
        assert!(samples_in(path) == 0, "the measurement ended by itself");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn samples_in(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("{\"sample\"")).count()
}

fn read(path: &Path) -> Record {
    read_record(fs::File::open(path).unwrap()).unwrap()
}

fn send(child: &Child, signal: &str) {
    // The shell's own kill: the program of that name is not everywhere.
    let kill = format!("kill {signal} {}", child.id());
    let status = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(status.success());
}

fn assert_complete(record: &Record) {
    let windows: BTreeSet<(&str, u32, u32)> =
        record.samples.iter().map(|s| (s.case.as_str(), s.round, s.window)).collect();
    assert_eq!(windows.len(), record.samples.len(), "a window stands there twice");
    assert_eq!(windows.len(), record.cases.len() * ROUNDS as usize, "a window is missing");
}

#[test]
fn killed_with_a_torn_line_then_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let _one = measuring();
    let mut child = start(&path);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = read(&path);
    assert!(before.finished.is_none());
    let whole = fs::read(&path).unwrap()[..usize::try_from(before.length).unwrap()].to_vec();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"sample\":{\"case\":\"pairs/clu").unwrap();
    drop(file);

    let shown = run(nearfar().arg("show").arg(&path));
    assert!(shown.status.success());
    assert!(text(&shown.stderr).contains("last line is torn"));
    assert!(text(&shown.stdout).contains("unfinished"));

    let resumed = run(nearfar().args(["characterize", "--resume", "--out"]).arg(&path));
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let after = read(&path);
    assert!(fs::read(&path).unwrap().starts_with(&whole), "a line that was there has changed");
    assert_eq!(&after.samples[..before.samples.len()], before.samples.as_slice());
    assert!(after.resumed[0].torn_line_dropped);
    assert_complete(&after);

    // Nothing is missing now: resuming again adds no sample.
    let again = run(nearfar().args(["characterize", "--resume", "--out"]).arg(&path));
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(read(&path).samples.len(), after.samples.len());
}

#[test]
fn a_signal_keeps_the_record_and_tells_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let _one = measuring();
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let path = folder.path().join(format!("r{status}.jsonl"));
        let mut child = start(&path);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(status));
        let record = read(&path);
        assert!(!record.torn);
        assert_eq!(record.finished.unwrap().interrupted_by, Some(status - 128));
        let resumed = run(nearfar().args(["characterize", "--resume", "--out"]).arg(&path));
        assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
        assert_complete(&read(&path));
    }
}
