//! Messages over loopback: a record, its model, a peer that goes away in the middle and comes back.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nearfar_record::{Absence, ReasonCode, Record, read_record};
use serde_json::Value;

use crate::support::{SMALL, measuring, nearfar, run, text, wait_for_turn};

/// A server of this test, killed with it.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(token: &Path, listen: &str) -> Self {
        let mut command = nearfar();
        command.args(["serve", "--listen", listen, "--token-file"]).arg(token);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.strip_prefix("nearfar serves at ").unwrap().to_string();
        // What it tells must be read, or it would wait for a reader.
        std::thread::spawn(move || lines.count());
        Self { child, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn token(folder: &Path) -> PathBuf {
    let path = folder.join("token");
    fs::write(&path, "a token of the tests of this host\n").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

fn characterize(address: &str, token: &Path, record: &Path, samples: &str) -> Command {
    let mut command = nearfar();
    command.args(["characterize", "--only", "network", "--peer", address, "--token-file"]);
    command.arg(token).arg("--out").arg(record).args(["--samples", samples]).args(SMALL);
    command
}

fn read(path: &Path) -> Option<Record> {
    read_record(fs::File::open(path).ok()?).ok()
}

fn refused(record: &Record) -> usize {
    record.absent.iter().filter(|absent| absent.absence == Absence::Refused).count()
}

#[test]
fn messages_over_loopback_are_a_record_with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (token, path) = (token(folder.path()), folder.path().join("r.jsonl"));
    measuring(|| {
        let served = Served::start(&token, "127.0.0.1:0");
        let output =
            run(characterize(&served.address, &token, &path, "2").args(["--suite", "standard"]));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let record = read(&path).unwrap();
        assert!(!record.samples.is_empty() && refused(&record) == 0, "{:?}", record.absent);
        let network = record.header.inputs.network.as_ref().unwrap();
        assert_eq!(network.peer.as_ref(), Some(&served.address));
        assert!(network.adapter.as_ref().unwrap().is_loopback, "{network:?}");
        for sample in &record.samples {
            assert!(sample.actors[0].proof.is_some() && sample.actors[0].messages.is_some());
        }
        let model = run(nearfar().args(["model", "--json"]).arg(&path).arg("network"));
        let model: Value = serde_json::from_slice(&model.stdout).unwrap();
        assert_eq!(model["schema"], "nearfar.network/1");
        assert_eq!(model["link_gb_per_s"]["unknown"], "lo: loopback has no link");
        for (command, words) in
            [("show", "It is loopback:"), ("model", "The peer is this machine:")]
        {
            let mut asked = nearfar();
            asked.arg(command).arg(&path).args((command == "model").then_some("network"));
            let told = text(&run(&mut asked).stdout);
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains("Messages to the peer") && told.contains(words), "{told}");
        }
    });
}

/// What was measured stays, the rest is refused, and `--resume` goes on.
#[test]
fn a_peer_that_goes_away_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (token, path) = (token(folder.path()), folder.path().join("r.jsonl"));
    measuring(|| {
        let served = Served::start(&token, "127.0.0.1:0");
        let address = served.address.clone();
        let mut measuring = characterize(&address, &token, &path, "40");
        measuring.stdout(Stdio::null()).stderr(Stdio::null());
        let samples = || read(&path).map_or(0, |record| record.samples.len());
        let begun = Instant::now();
        let mut running = loop {
            let mut running = measuring.spawn().unwrap();
            while samples() < 4 && running.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            if path.exists() {
                break running;
            }
            // Another measurement holds the host's lock.
            wait_for_turn(begun);
        };
        drop(served);
        assert_eq!(running.wait().unwrap().code(), Some(3));
        let cut = read(&path).unwrap();
        assert!(cut.samples.len() >= 4 && refused(&cut) > 0);
        let of_peer =
            |absent: &nearfar_record::Absent| absent.reason.code == ReasonCode::PeerFailed;
        assert!(cut.absent.iter().all(of_peer), "{:?}", cut.absent);

        let _again = Served::start(&token, &address);
        let mut resume = nearfar();
        resume.args(["characterize", "--resume", "--out"]).arg(&path);
        let without = run(&mut resume);
        assert_eq!(without.status.code(), Some(2));
        assert!(text(&without.stderr).contains("--token-file"), "{}", text(&without.stderr));
        let output = run(resume.arg("--token-file").arg(&token));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let whole = read(&path).unwrap();
        assert_eq!(whole.samples.len(), 40 * whole.cases.len());
        assert_eq!(whole.samples[..cut.samples.len()], cut.samples[..]);
    });
}

#[test]
fn a_peer_that_has_another_token_is_an_error_and_leaves_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let (token, path) = (token(folder.path()), folder.path().join("r.jsonl"));
    let other = folder.path().join("other");
    fs::write(&other, "another token of these tests\n").unwrap();
    fs::set_permissions(&other, Permissions::from_mode(0o600)).unwrap();
    measuring(|| {
        let served = Served::start(&token, "127.0.0.1:0");
        let output = run(&mut characterize(&served.address, &other, &path, "1"));
        assert_eq!(output.status.code(), Some(2));
        let told = text(&output.stderr);
        assert!(told.contains("it refuses the token; both machines' token files"), "{told}");
        assert!(!path.exists());
        let output = run(&mut characterize(&served.address, &token, &path, "1"));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let record = read(&path).unwrap();
        assert!(!record.samples.is_empty() && record.absent.is_empty(), "{:?}", record.absent);
        // The same again adds nothing.
        let samples = record.samples.len();
        let mut append = nearfar();
        append.args(["characterize", "--append"]).arg(&path).args(["--only", "network"]);
        append.args(["--peer", &served.address, "--token-file"]).arg(&token);
        let output = run(append.args(["--samples", "1"]).args(SMALL));
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(read(&path).unwrap().samples.len(), samples);
    });
}
