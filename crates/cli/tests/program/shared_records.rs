//! Records that are given away: what `record scrub` leaves of them, and those that users gave.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::records::record;
use crate::support::{nearfar, run, text};

fn given() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "zst")).collect()
}

#[test]
fn each_that_was_given_is_read_modelled_and_reported() {
    let folder = TempDir::new().unwrap();
    let records = given();
    println!("{} records", records.len());
    assert!(!records.is_empty());
    for record in records {
        let name = record.display();
        for command in ["show", "model", "advise", "doctor"] {
            let output = run(nearfar().arg(command).arg(&record));
            // A machine may fall short.
            let may_fail = command == "doctor" && output.status.code() == Some(1);
            assert!(output.status.success() || may_fail, "{name}: {}", text(&output.stderr));
            assert!(!output.stdout.is_empty(), "{name}: {command}");
            // It is of no host, and could not be gone on with.
            let said = text(&output.stdout);
            let goes_on = said.contains("--append") || said.contains("--resume");
            assert!(!goes_on, "{name}: {command}: {said}");
        }
        let report = folder.path().join("report.md");
        let output = run(nearfar().arg("report").arg(&record).arg("-o").arg(&report));
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let again = folder.path().join("again.jsonl");
        let scrub =
            run(nearfar().args(["record", "scrub", "--force", "-o"]).args([&again, &record]));
        let said = text(&scrub.stdout);
        assert!(said.contains("nothing: it names nobody"), "{name} was not scrubbed: {said}");
    }
}

/// Who has the copy alone was told to resume it, which is refused.
#[test]
fn nothing_goes_on_with_a_copy_that_ends_early() {
    let folder = TempDir::new().unwrap();
    let (part, copy) = (folder.path().join("part.jsonl"), folder.path().join("copy.jsonl"));
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record/pairs");
    let whole = fs::read_to_string(corpus).unwrap();
    let lines = whole.split_inclusive('\n').filter(|line| !line.starts_with("{\"finished\""));
    fs::write(&part, lines.take(4).collect::<String>()).unwrap();
    let scrub = run(nearfar().args(["record", "scrub", "-o"]).args([&copy, &part]));
    assert!(scrub.status.success(), "{}", text(&scrub.stderr));
    for command in ["show", "model", "doctor", "advise"] {
        let output = run(nearfar().arg(command).arg(&copy));
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!said.contains("--resume") && !said.contains("--append"), "{command}: {said}");
    }
}

#[test]
fn a_copy_says_the_same_of_the_machine() {
    let folder = TempDir::new().unwrap();
    let record = &record("amd-2p");
    let scrub = |options: &[&str]| {
        let mut command = nearfar();
        run(command.current_dir(folder.path()).args(["record", "scrub"]).arg(record).args(options))
    };
    let output = scrub(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the host's name (once)"), "{}", text(&output.stdout));
    // Behind the line that names the host.
    let models = |record: &Path| {
        let told =
            text(&run(nearfar().arg("model").arg("-").stdin(File::open(record).unwrap())).stdout);
        told.lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    let scrubbed = folder.path().join("scrubbed.jsonl.zst");
    assert_eq!(models(record), models(&scrubbed));

    for (options, status) in [
        (&[][..], 2),
        (&["--force"], 0),
        (&["-o", "/nowhere/x"], 2),
        (&["-o", record.to_str().unwrap(), "--force"], 2),
    ] {
        let output = scrub(options);
        assert_eq!(output.status.code(), Some(status), "{options:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_record_that_was_changed_is_not_sealed_again() {
    let folder = TempDir::new().unwrap();
    let edited = folder.path().join("edited.jsonl");
    let original = fs::read_to_string(record("amd-2p")).unwrap();
    fs::write(&edited, original.replacen("\"window\":0", "\"window\":0 ", 1)).unwrap();
    let out = folder.path().join("out.jsonl");
    let output = run(nearfar().args(["record", "scrub", "-o"]).args([&out, &edited]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("changed after it was measured"),
        "{}",
        text(&output.stderr)
    );
    assert!(!out.exists());
}
