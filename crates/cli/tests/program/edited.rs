//! What the program says of a record that was edited by hand.

use std::fs;
use std::path::Path;

use crate::records::copy;
use crate::support::{nearfar, refuse, run, text};
use serde_json::Value;

/// The commands that make something of a record.
const VIEWS: [&[&str]; 4] =
    [&["show"], &["model"], &["predict", "--share", "0.5,0.3,0.2"], &["doctor"]];

fn view(words: &[&str], path: &Path, json: bool) -> (Option<i32>, String) {
    let mut command = nearfar();
    command.arg(words[0]).arg(path).args(&words[1..]);
    if json {
        command.arg("--json");
    }
    let output = run(&mut command);
    assert!(!output.stdout.is_empty(), "{words:?}: {}", text(&output.stderr));
    (output.status.code(), text(&output.stdout))
}

/// What a view says by JSON of the record's seals.
fn sealing(words: &[&str], path: &Path) -> Value {
    // `model` prints a line for each model.
    let lines = view(words, path, true).1;
    let mut views = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = views.next().unwrap()["sealing"].clone();
    assert!(views.all(|view| view["sealing"] == first), "{lines}");
    first
}

/// The words of a text, however its lines are folded.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_view_of_an_edited_record_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = copy("amd-2p", folder.path());
    let honest = fs::read_to_string(&path).unwrap();
    for words in VIEWS {
        assert_eq!(sealing(words, &path)["seals"], "fit");
        let (status, said) = view(words, &path, false);
        assert_eq!(status, Some(0), "{said}");
        assert!(!said.contains("WARNING") && !said.contains("was changed"), "{said}");
    }
    // Somebody takes the host's name out of a record before it is given away.
    fs::write(&path, honest.replacen("\"host\":\"simulated-", "\"host\":\"", 1)).unwrap();
    for words in VIEWS {
        assert_eq!(
            sealing(words, &path),
            serde_json::json!({"seals": "edited", "lines": [1], "count": 1})
        );
        let (status, said) = view(words, &path, false);
        assert_eq!(status, Some(i32::from(words[0] == "doctor")), "{said}");
        let warning = "the record was changed after it was measured, at line 1:";
        assert!(in_one_line(&said).contains(warning), "{words:?}: {said}");
    }
}

#[test]
fn a_record_without_seals_is_said_to_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = copy("amd-2p", folder.path());
    let unsealed = |line: &str| format!("{}}}\n", &line[..line.rfind(",\"seal\"").unwrap()]);
    let lines: String = fs::read_to_string(&path).unwrap().lines().map(unsealed).collect();
    fs::write(&path, lines).unwrap();
    for words in VIEWS {
        assert_eq!(sealing(words, &path)["seals"], "absent");
        let (status, said) = view(words, &path, false);
        assert_eq!(status, Some(0), "{said}");
        assert!(in_one_line(&said).contains("the record is not sealed"), "{words:?}: {said}");
    }
    let output = run(nearfar().args(["characterize", "--resume", "--out"]).arg(&path));
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("the record is not sealed").count(), 1, "{said}");
}

#[test]
fn an_edited_record_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = copy("amd-2p", folder.path());
    let honest = fs::read_to_string(&path).unwrap();
    let resume = || {
        let mut command = nearfar();
        command.args(["characterize", "--resume", "--out"]).arg(&path);
        command
    };
    fs::write(&path, honest.replacen("\"seconds\":", "\"seconds\":1", 1)).unwrap();
    let edited = fs::read(&path).unwrap();
    refuse(&mut resume(), 2, &["was changed after it was measured", "begin a new one"]);
    assert_eq!(fs::read(&path).unwrap(), edited, "a refused record was written to");
    fs::write(&path, honest).unwrap();
    assert!(run(&mut resume()).status.success());
}
