//! What `compare -o` writes, read as its readers read it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::hostile_record::hostile_record;
use crate::page::open;
use crate::reports::simulate;
use crate::tex::compile;

/// A record of joe0 whose initiator 0 gets less of node 1.
fn slower(folder: &Path) -> PathBuf {
    let machine = folder.join("slower.toml");
    let slow = "[[bandwidth]]\npairs = [[0, 1]]\none_thread = 3.3\nall_threads = 15.4\n";
    let named = "extends = \"joe0\"\nname = \"slower\"\ntitle = \"t\"\n";
    fs::write(&machine, format!("{named}{slow}")).unwrap();
    let record = simulate(folder, machine.to_str().unwrap());
    assert!(record.exists());
    record
}

/// Writes the comparison as a file of this ending beside B; what it holds, and the file.
fn compare(a: &Path, b: &Path, ending: &str, status: i32) -> (String, PathBuf) {
    let path = b.with_extension(format!("compared.{ending}"));
    let output = Command::new(env!("CARGO_BIN_EXE_nearfar"))
        .arg("compare")
        .args([a, b])
        .arg("-o")
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(said.contains("comparison: "), "{said}");
    (fs::read_to_string(&path).unwrap(), path)
}

#[test]
fn every_form_tells_of_the_slower_path() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (simulate(folder.path(), "joe0"), slower(folder.path()));
    let finding = "path from CPUs 0-6 to node 1";
    let (markdown, _) = compare(&a, &b, "md", 1);
    assert!(markdown.contains(&format!("Worse: {finding}")), "{markdown}");
    assert!(markdown.contains("SIMULATED: the figures of A and of B were computed"), "{markdown}");
    let (json, _) = compare(&a, &b, "json", 1);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["schema"], "nearfar.compare/2");
    let (_, tex) = compare(&a, &b, "tex", 1);
    let words = compile(&tex).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("Worse: {finding}")), "{words}");
    let (_, page) = compare(&a, &b, "html", 1);
    let (output, told) = open(&[page]);
    assert_eq!(told[0]["problems"], json!([]));
    assert_eq!(told[0]["first"]["tiles"], json!(["Worse", "Better", "Same"]));
    let charts = told[0]["charts"].as_object().unwrap();
    for chart in ["compared-bandwidth", "compared-arithmetic", "compared-times"] {
        assert!(charts[chart]["points"].as_u64() > Some(3), "{charts:?}");
    }
    assert!(output.status.success());
}

#[test]
fn markup_of_strangers_is_text() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = hostile_record(folder.path());
    let b = folder.path().join("b.jsonl");
    fs::copy(&hostile, &b).unwrap();
    let (_, tex) = compare(&hostile, &b, "tex", 0);
    compile(&tex);
    let (markdown, _) = compare(&hostile, &b, "md", 0);
    assert!(!markdown.contains("<script") && !markdown.contains('\u{1b}'), "{markdown}");
    let (text, page) = compare(&hostile, &b, "html", 0);
    for markup in ["<script>alert", "<img", "\u{202e}", "\u{1b}"] {
        assert!(!text.contains(markup), "the page holds {markup:?}");
    }
    let (_, told) = open(&[page]);
    assert_eq!(told[0]["problems"], json!([]));
}
