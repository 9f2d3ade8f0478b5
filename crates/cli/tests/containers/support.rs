//! Running the program in a container's circumstances.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearfar_lab::{SyscallFilter, run_in_turn};
pub use nearfar_lab::{measuring, skip};
use nearfar_record::{Absence, Reason, Record, read_record};

/// How long one line of shell may take, in seconds: many times what any does.
const LONGEST_RUN: &str = "120";

/// Options of `characterize` that make it small: a check of placement, not of speed.
pub const SMALL: &str =
    "characterize --suite quick --window 5ms --samples 1 --working-set 8MiB --kernel triad";

/// A folder that every user may enter and write to, with a copy of the program in it:
/// where the program was built other users may have no way in.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_nearfar"), folder.path().join("nearfar")).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a line of shell in the folder, while nobody else measures.
    pub fn sh(&self, line: &str) -> Output {
        self.sh_under(None, line)
    }

    /// As [`sh`](Self::sh), under a filter. Without one, `sh` runs as it is.
    pub fn sh_under(&self, filter: Option<&str>, line: &str) -> Output {
        run_in_turn(|| {
            let mut command = Command::new("timeout");
            command.args(["-k", "5", LONGEST_RUN, "bash", "-c", line]);
            command.current_dir(self.folder.path());
            command.env_remove("XDG_STATE_HOME");
            let output = match filter {
                Some(filter) => under_filter(filter, &mut command),
                None => command.output().unwrap(),
            };
            let of_timeout = matches!(output.status.code(), Some(124 | 137));
            assert!(!of_timeout, "not ended in {LONGEST_RUN} s: {line}");
            output
        })
    }

    /// Measures into a new record, under a filter, and reads the record.
    pub fn measure_under(&self, filter: Option<&str>) -> (Output, Record) {
        let output =
            self.sh_under(filter, &format!("exec ./nearfar {SMALL} --force --out r.jsonl"));
        let record = self.record(&output);
        (output, record)
    }

    pub fn record(&self, output: &Output) -> Record {
        let file = fs::File::open(self.path("r.jsonl"));
        let file = file.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
        read_record(file).unwrap()
    }
}

/// A filter belongs to the thread that takes it and to what that thread starts.
fn under_filter(filter: &str, command: &mut Command) -> Output {
    let filter: SyscallFilter = filter.parse().unwrap();
    std::thread::scope(|scope| {
        let run = || {
            filter.install().unwrap();
            command.output().unwrap()
        };
        scope.spawn(run).join().unwrap()
    })
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program must have ended with this status and said these words, wherever lines break.
pub fn assert_said(output: &Output, status: i32, words: &[&str]) {
    let said = text(&output.stderr) + &text(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let folded = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(folded.contains(word), "'{said}' does not say '{word}'");
    }
}

/// The reasons of a record's refusals.
pub fn refusals(record: &Record) -> Vec<&Reason> {
    let refused = record.absent.iter().filter(|absent| absent.absence == Absence::Refused);
    refused.map(|absent| &absent.reason).collect()
}

/// Every case has samples.
pub fn assert_all_measured(record: &Record) {
    assert!(!record.cases.is_empty());
    for case in &record.cases {
        assert!(record.samples.iter().any(|sample| sample.case == case.id), "{}", case.id);
    }
    assert_eq!(refusals(record), Vec::<&Reason>::new());
}

/// Whether this machine lets the tests do it; says so where not.
pub fn can(what: &str, command: &str) -> bool {
    let output = Command::new("bash").args(["-c", command]).output().unwrap();
    if !output.status.success() {
        skip(&format!("{what} is not possible here: {}", text(&output.stderr).trim()));
    }
    output.status.success()
}

/// Whether the tests run as root, who alone can become somebody else.
pub fn is_root() -> bool {
    let is = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is {
        skip("only root can become another user");
    }
    is
}

/// How many memory nodes the kernel lets this process use.
pub fn node_count() -> usize {
    nearfar_sys::nodes_by_kernel().unwrap().map_or(1, |nodes| nodes.len())
}

/// What this machine refuses before any filter of ours, where the tests themselves run
/// in a container: names of calls as `nearfar doctor` gives them.
pub fn refused_by_host() -> BTreeSet<&'static str> {
    let nodes = nearfar_sys::usable_nodes(Path::new("/")).unwrap();
    let calls = nearfar_sys::probe_calls(&nodes).into_iter();
    calls.filter(|(_, outcome)| outcome.is_err()).map(|(name, _)| name).collect()
}

/// As nobody, without any capability or a way to gain one.
pub const AS_NOBODY: &str =
    "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --no-new-privs";
