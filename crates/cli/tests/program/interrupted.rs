//! What is written when the program is killed or the disk is full, at any moment: no sample and no old
//! output is lost, no record is unreadable, no file is left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use nearfar_record::{Record, read_record};

use crate::kill::{machine, new_record, resume};
use crate::support::{nearfar, run, text};

/// Trials in `cargo test`, and in `make outer`.
const TRIALS: u64 = 60;
const MANY_TRIALS: u64 = 600;
/// Limits of a file's size for each way of writing.
const SIZES: u64 = 4;
const MANY_SIZES: u64 = 40;

/// Ways of writing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Create,
    Resume,
    Append,
    Force,
    Scrub,
    Report,
}

const WAYS: [Way; 6] = [Way::Create, Way::Resume, Way::Append, Way::Force, Way::Scrub, Way::Report];

/// A folder with what is there before.
struct Stage {
    folder: tempfile::TempDir,
    slow: std::path::PathBuf,
    /// Records by name: whole ones, plain and compressed.
    plain: Vec<u8>,
    packed: Vec<u8>,
    report: Vec<u8>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let fast = machine(folder.path(), 0.0);
        for name in ["whole.jsonl", "whole.jsonl.zst"] {
            let output = run(&mut new_record(&at(name), &fast));
            assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        }
        let report = ["report", "whole.jsonl", "-o", "whole.md"];
        assert!(run(nearfar().current_dir(folder.path()).args(report)).status.success());
        let [plain, packed, report] =
            ["whole.jsonl", "whole.jsonl.zst", "whole.md"].map(|name| fs::read(at(name)).unwrap());
        fs::remove_file(at("whole.jsonl.zst")).unwrap();
        let slow = machine(folder.path(), 0.02);
        Self { folder, slow, plain, packed, report }
    }

    /// The command of one trial, the file that it writes, and what is there before; nothing where it is new.
    fn set(&self, way: Way, random: &mut Rng) -> (Command, std::path::PathBuf, Option<Vec<u8>>) {
        let is_packed = random.bool();
        let folder = self.folder.path();
        let name = match way {
            Way::Report => "r.md",
            _ if is_packed => "r.jsonl.zst",
            _ => "r.jsonl",
        };
        let path = folder.join(name);
        fs::remove_file(&path).ok();
        let whole = if is_packed { &self.packed } else { &self.plain };
        let before = match way {
            Way::Create => None,
            // Torn behind its header.
            Way::Resume => Some(whole[..random.usize(whole.len() / 2..whole.len())].to_vec()),
            Way::Append | Way::Force => Some(whole.clone()),
            Way::Scrub => random.bool().then(|| whole.clone()),
            Way::Report => random.bool().then(|| b"an old report".to_vec()),
        };
        if let Some(before) = &before {
            fs::write(&path, before).unwrap();
        }
        let mut command = match way {
            Way::Create => new_record(&path, &self.slow),
            Way::Resume => resume(&path),
            Way::Append => {
                let mut command = nearfar();
                command.args(["characterize", "--only", "mixes", "--samples", "2", "--append"]);
                command.arg(&path);
                command
            }
            Way::Force => {
                let mut command = new_record(&path, &self.slow);
                command.arg("--force");
                command
            }
            Way::Scrub => {
                let mut command = nearfar();
                command.args(["record", "scrub", "--force"]).arg(folder.join("whole.jsonl"));
                command.arg("-o").arg(&path);
                command
            }
            Way::Report => {
                let mut command = nearfar();
                command.arg("report").arg(folder.join("whole.jsonl")).arg("-o").arg(&path);
                command
            }
        };
        command.current_dir(folder);
        (command, path, before)
    }

    /// Nothing that was there is lost, and what is there is whole.
    fn check(&self, way: Way, path: &Path, before: Option<&[u8]>, what: &str) {
        let after = fs::read(path).ok();
        let read = |bytes: &[u8]| -> Record {
            read_record(bytes).unwrap_or_else(|error| panic!("{what}: {error}"))
        };
        match (way, before, after) {
            (_, None, None) => {}
            (_, Some(_), None) => panic!("{what}: the file is gone"),
            (Way::Report, before, Some(after)) => {
                let is_new = after == self.report || text(&after).ends_with('\n');
                let is_whole = is_new && after.len() >= self.report.len() / 2;
                assert!(before == Some(&after[..]) || is_whole, "{what}: a part of a report");
            }
            (Way::Create, _, Some(after)) => drop(read(&after)),
            (Way::Resume | Way::Append, Some(before), Some(after)) => {
                let (before, after) = (read(before), read(&after));
                let count = before.samples.len();
                assert!(after.samples.len() >= count, "{what}: samples are gone");
                assert_eq!(after.samples[..count], before.samples[..], "{what}");
            }
            (Way::Force, Some(before), Some(after)) => {
                assert!(
                    after == before || !read(&after).samples.is_empty(),
                    "{what}: nothing there"
                );
            }
            (_, before, Some(after)) => {
                let is_whole = || read(&after).samples.len() == read(&self.plain).samples.len();
                assert!(before == Some(&after[..]) || is_whole(), "{what}: a part of a copy");
            }
        }
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with('.'), "{what}: {name} is left");
        }
    }
}

fn kill_at_random_moments(trials: u64) {
    let stage = Stage::new();
    for (trial, way) in (0..trials).zip(WAYS.into_iter().cycle()) {
        let random = &mut Rng::with_seed(trial);
        let (mut command, path, before) = stage.set(way, random);
        // SIGKILL or SIGTERM.
        let signal = if random.bool() { 9 } else { 15 };
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.u64(500..40_000)));
        // It may have ended by now, and is still to be waited for.
        nearfar_sys::send_signal(child.id(), signal).ok();
        child.wait().unwrap();
        stage.check(way, &path, before.as_deref(), &format!("trial {trial}, {way:?}, {signal}"));
    }
}

fn limit_sizes(sizes: u64) {
    let stage = Stage::new();
    for way in WAYS {
        for step in 0..sizes {
            let random = &mut Rng::with_seed(step);
            let (command, path, before) = stage.set(way, random);
            let words: Vec<String> = std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(|word| format!("'{}'", word.to_str().unwrap()))
                .collect();
            // Blocks of 512 bytes.
            let blocks = stage.plain.len() as u64 / 512 * step / sizes;
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec {}", words.join(" "));
            let mut limited = Command::new("sh");
            limited.args(["-c", &line]).current_dir(stage.folder.path());
            let output = limited.output().unwrap();
            let said = text(&output.stderr);
            let what = format!("{way:?}, {blocks} blocks: {said}");
            assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{what}");
            assert!(way != Way::Scrub || !said.contains("--resume"), "{what}");
            stage.check(way, &path, before.as_deref(), &what);
        }
    }
}

#[test]
fn kills_lose_nothing() {
    kill_at_random_moments(TRIALS);
}

#[test]
#[ignore = "make outer: a minute"]
fn many_kills_lose_nothing() {
    kill_at_random_moments(MANY_TRIALS);
}

#[test]
fn limits_of_file_sizes_lose_nothing() {
    limit_sizes(SIZES);
}

#[test]
#[ignore = "make outer: a minute"]
fn many_limits_of_file_sizes_lose_nothing() {
    limit_sizes(MANY_SIZES);
}

/// A simulated machine disturbs nobody, so that no lock of the host keeps two apart: the record's does.
#[test]
fn of_two_that_go_on_with_a_record_one_does() {
    let stage = Stage::new();
    let path = stage.folder.path().join("r.jsonl");
    // A part of it is yet to be measured, on a clock that takes its time.
    let slow = machine(stage.folder.path(), 0.03);
    let mut command = new_record(&path, &slow);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fs::read(&path).is_ok_and(|bytes| !text(&bytes).contains("{\"sample\"")) || !path.exists()
    {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = fs::read(&path).unwrap();
    for _ in 0..20 {
        fs::write(&path, &begun).unwrap();
        let go_on = || {
            let mut command = resume(&path);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let both = [go_on(), go_on()].map(|child| child.wait_with_output().unwrap());
        let mut statuses = both.each_ref().map(|output| output.status.code());
        statuses.sort_unstable();
        let said = both.map(|output| text(&output.stderr)).concat();
        assert_eq!(statuses, [Some(2), Some(3)], "{said}");
        let of_the_other = ["another nearfar writes", "was written to since it was read"];
        assert!(of_the_other.iter().any(|words| said.contains(words)), "{said}");
        let record = read_record(&fs::read(&path).unwrap()[..]).unwrap();
        assert!(record.finished.is_some() && !record.torn);
    }
}
