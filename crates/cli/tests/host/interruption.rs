//! Nothing that was measured is lost or mixed with figures of others, and one program measures at a
//! time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nearfar_record::{Record, read_record};

use crate::support::{SMALL, measuring, nearfar, refuse, run, text, wait_for_turn};

const ROUNDS: u32 = 60;

fn start(path: &Path) -> Child {
    let mut command = nearfar();
    command.arg("characterize").args(SMALL).args(["--samples", &ROUNDS.to_string(), "--out"]);
    command.arg(path);
    let begun = Instant::now();
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
        wait_for_turn(begun);
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
fn a_signal_keeps_the_record_and_tells_its_number() {
    let folder = tempfile::tempdir().unwrap();
    measuring(|| {
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
    });
}

/// A record of the same model of machine, but not of this one, is not continued.
#[test]
fn a_record_of_another_host_or_version_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    measuring(|| {
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
            let unsealed =
                |line: &str| format!("{}}}\n", &line[..line.rfind(",\"seal\"").unwrap()]);
            let edited: String = edited.lines().map(unsealed).collect();
            fs::write(&path, &edited).unwrap();
            refuse(
                nearfar().args(["characterize", "--resume", "--out"]).arg(&path),
                2,
                &[what, "begin a new record"],
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), edited, "a refused record was changed");
        }
    });
}

#[test]
fn a_second_measurement_waits_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    measuring(|| {
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
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut second = nearfar();
        second.arg("characterize").args(SMALL).arg("--out").arg(folder.path().join("second.jsonl"));
        let second = second.output().unwrap();
        first.kill().unwrap();
        first.wait().unwrap();
        assert_eq!(second.status.code(), Some(2));
        assert!(text(&second.stderr).contains("another nearfar is measuring"));
    });
}
