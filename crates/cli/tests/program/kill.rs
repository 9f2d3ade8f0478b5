//! kill -9 at random points: what was written stays, and `--resume` completes the record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nearfar_record::{Record, read_record};

use crate::support::{nearfar, refuse, run, text};

const KILLS: usize = 100;
const SEED: u64 = 9;

/// Its record has 96 samples of 50 ms: 0.5 s at a tenth of the machine's own time.
const MACHINE: &str = "\
name = \"slow\"
title = \"two nodes and a full one, on a slow clock\"
node = [{ cores = 2 }, { cores = 2 }, { kind = \"cxl\" }]
bandwidth = [{ one_thread = 9, all_threads = 15 }]
noise = { between_rounds = 0.01, within_round = 0.004, disturbed = { share = 0.1, by = \"stolen\", lowered_by = [0.1, 0.2] } }
fault = [{ kind = \"full_memory\", node = 2 }]
";

pub fn machine(folder: &Path, real_time: f64) -> PathBuf {
    let path = folder.join(format!("slow-{real_time}.toml"));
    fs::write(&path, format!("{MACHINE}clock = {{ real_time = {real_time} }}\n")).unwrap();
    path
}

pub fn new_record(path: &Path, machine: &Path) -> std::process::Command {
    let mut command = nearfar();
    command.args(["characterize", "--suite", "quick", "--kernel", "load,triad"]);
    command.args(["--samples", "6", "--seed", "3"]);
    command.arg("--simulate").arg(machine).arg("--out").arg(path);
    command
}

pub fn resume(path: &Path) -> std::process::Command {
    let mut command = nearfar();
    command.args(["characterize", "--resume", "--out"]).arg(path);
    command
}

fn start(command: &mut std::process::Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// What does not tell when, or in how many runs of the program, it was measured.
fn content(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    for case in &record.cases {
        lines.push(format!("{case:?}"));
    }
    for sample in &record.samples {
        let (round, window) = (sample.round, sample.window);
        let rest = (&sample.actors, &sample.disturbances, sample.window_ns);
        lines.push(format!("{} {round} {window} {rest:?}", sample.case));
    }
    for absent in &record.absent {
        lines.push(format!("{absent:?}"));
    }
    lines.extend(record.warnings.iter().map(|warning| format!("{warning:?}")));
    lines.sort();
    lines
}

/// The lines that were whole before a run of the program are there after it, unchanged.
struct Kept {
    lines: Vec<u8>,
}

impl Kept {
    fn check(&mut self, path: &Path) {
        let now = fs::read(path).unwrap_or_default();
        assert!(now.starts_with(&self.lines), "a line that was there is gone or changed");
        let end = now.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.lines = now[..end].to_vec();
    }
}

#[test]
fn a_hundred_kills_lose_no_sample_and_resume_completes_each() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.jsonl");
    let output = run(&mut new_record(&whole, &machine(folder.path(), 0.0)));
    let status = output.status.code();
    assert_eq!(status, Some(3), "node 2 is full: {}", text(&output.stderr));
    let whole = read_record(&fs::read(&whole).unwrap()[..]).unwrap();

    let mut random = fastrand::Rng::with_seed(SEED);
    let slow = machine(folder.path(), 0.1);
    let (mut kills, mut records, mut torn, mut in_header) = (0, 0, 0, 0);
    while kills < KILLS {
        let path = folder.path().join(format!("r{records}.jsonl"));
        records += 1;
        let mut kept = Kept { lines: Vec::new() };
        let mut command = new_record(&path, &slow);
        let ended = loop {
            let mut child = start(&mut command);
            // Every other one early, when the header is written or the record is read again; the
            // rest long enough to get somewhere, and short enough to need many for a record.
            let longest = if random.bool() { 15_000 } else { 200_000 };
            let time = Duration::from_micros(random.u64(500..longest));
            let killed = kill_after(&mut child, time);
            kept.check(&path);
            match killed {
                Some(status) => break status,
                None => kills += 1,
            }
            match read_record(&kept.lines[..]) {
                Ok(_) => {
                    torn +=
                        usize::from(fs::metadata(&path).unwrap().len() > kept.lines.len() as u64);
                    command = resume(&path);
                }
                Err(_) => {
                    // Killed before there was a header: nothing was measured, begin anew.
                    assert!(kept.lines.is_empty());
                    in_header += 1;
                    command = new_record(&path, &slow);
                    command.arg("--force");
                }
            }
        };
        assert_eq!(ended, Some(3), "the record {records} did not end as the whole one");
        let record = read_record(&fs::read(&path).unwrap()[..]).unwrap();
        assert!(!record.torn && record.finished.is_some());
        assert_eq!(content(&record), content(&whole), "after {kills} kills");
    }
    let words = format!(
        "kill -9: {kills} kills over {records} records of {} samples, seed {SEED}; {in_header} before \
         the header, {torn} with a torn line; every record complete and as if never killed\n",
        whole.samples.len()
    );
    std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes()).unwrap();
}

/// Of a compressed one the last second may be gone; what there is can be read and continued.
#[test]
fn a_compressed_record_is_gone_on_with_after_kills() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.jsonl");
    run(&mut new_record(&whole, &machine(folder.path(), 0.0)));
    let whole = read_record(&fs::read(&whole).unwrap()[..]).unwrap();
    let slow = machine(folder.path(), 0.1);
    let path = folder.path().join("r.jsonl.zst");
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut command = new_record(&path, &slow);
    let ended = loop {
        let mut child = start(&mut command);
        if let Some(status) = kill_after(&mut child, Duration::from_millis(random.u64(20..300))) {
            break status;
        }
        command = match fs::read(&path).map(|bytes| read_record(&bytes[..])) {
            Ok(Ok(_)) => resume(&path),
            _ => {
                let mut anew = new_record(&path, &slow);
                anew.arg("--force");
                anew
            }
        };
    };
    assert_eq!(ended, Some(3));
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    assert_eq!(content(&read_record(&bytes[..]).unwrap()), content(&whole));
}

/// Kills the program after some time; its status where it had ended by itself before.
fn kill_after(child: &mut Child, time: Duration) -> Option<Option<i32>> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    // It may have ended between the last look and the kill.
    status.code().map(Some)
}

/// The same at every length that a file can be torn at: a kill falls where it falls.
#[test]
fn a_record_torn_anywhere_is_gone_on_with_or_says_how_to_begin_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let fast = machine(folder.path(), 0.0);
    assert_eq!(run(&mut new_record(&path, &fast)).status.code(), Some(3));
    let whole = fs::read(&path).unwrap();
    let expected = content(&read_record(&whole[..]).unwrap());
    let header = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut random = fastrand::Rng::with_seed(SEED);

    for length in [0, 1, header / 2, header - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        refuse(&mut resume(&path), 2, &["r.jsonl", "begin"]);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes, &whole[..length], "a refused record was changed");
        assert_eq!(run(new_record(&path, &fast).arg("--force")).status.code(), Some(3));
        assert_eq!(content(&read_record(&fs::read(&path).unwrap()[..]).unwrap()), expected);
    }
    let anywhere = (0..20).map(|_| random.usize(header..whole.len()));
    for length in [header, header + 1, whole.len() - 1, whole.len()].into_iter().chain(anywhere) {
        fs::write(&path, &whole[..length]).unwrap();
        let output = run(&mut resume(&path));
        assert_eq!(output.status.code(), Some(3), "{length}: {}", text(&output.stderr));
        let record = read_record(&fs::read(&path).unwrap()[..]).unwrap();
        assert_eq!(content(&record), expected, "torn at {length}");
    }
}
