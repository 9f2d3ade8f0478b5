//! Files that the program writes as a whole: what stands at their path stays what it is.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{nearfar, refuse, run, text};

/// A line of shell in a folder with the record `r.jsonl`, where `$nearfar` is the program.
fn sh(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("timeout");
    command
        .args(["120", "bash", "-c", line])
        .current_dir(folder)
        .env("nearfar", env!("CARGO_BIN_EXE_nearfar"));
    let output = run(&mut command);
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    output
}

fn folder_with_record() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    sh(
        folder.path(),
        "$nearfar characterize --simulate joe0 --only pairs --kernel load,triad --samples 1 --out \
         r.jsonl",
    );
    folder
}

#[test]
fn every_command_writes_through_links_pipes_and_open_files() {
    let folder = folder_with_record();
    let at = |name: &str| folder.path().join(name);
    for (command, name) in [
        ("report r.jsonl -o", "report.md"),
        ("compare r.jsonl r.jsonl -o", "comparison.md"),
        ("topo r.jsonl --export-xml", "machine.xml"),
        ("profile --out", "profile.json"),
    ] {
        let program = if name == "profile.json" { "-- true" } else { "" };
        fs::write(at("plain"), "old").unwrap();
        fs::set_permissions(at("plain"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("plain", at(name)).unwrap();
        sh(folder.path(), &format!("$nearfar {command} {name} {program}"));
        assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), "{name}");
        assert_eq!(fs::metadata(at("plain")).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::metadata(at("plain")).unwrap().len() > 100, "{name}");

        fs::remove_file(at(name)).unwrap();
        // A pipe holds 64 KiB for its reader.
        assert!(fs::metadata(at("plain")).unwrap().len() < 60_000, "{name}");
        let line = format!(
            "mkfifo {name}; exec 3<>{name}; $nearfar {command} {name} {program} && head -c 100 <&3 \
             > piped && test -p {name} && rm {name}"
        );
        sh(folder.path(), &line);
        assert_eq!(fs::metadata(at("piped")).unwrap().len(), 100, "{name}");
    }
    let exported = "$nearfar topo r.jsonl --export-xml /dev/stdout --json 2>&1";
    sh(folder.path(), &format!("{{ echo before; {exported}; echo after; }} > log"));
    let log = fs::read_to_string(at("log")).unwrap();
    assert!(log.starts_with("before\n<?xml") && log.ends_with("after\n"), "{log}");
    assert!(log.contains("</topology>\n{"), "{log}");
    sh(
        folder.path(),
        "$nearfar profile --out >(cat > piped; echo > end) -- true; \
        until test -e end; do sleep 0.01; done",
    );
    assert!(fs::read_to_string(at("piped")).unwrap().starts_with('{'));
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let folder = folder_with_record();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder.md")).unwrap();
    symlink("nowhere.md", at("dangling.md")).unwrap();
    symlink("/dev/full", at("full.md")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe.md")).status().unwrap().success());
    let report = |name: &str, words: &[&str]| {
        let mut command = nearfar();
        command.arg("report").arg(at("r.jsonl")).arg("-o").arg(at(name));
        refuse(&mut command, 2, &[&["cannot write", name][..], words].concat());
    };
    report("folder.md", &["it is a folder"]);
    report("dangling.md", &["nowhere.md, which is not there"]);
    report("full.md", &["No space left"]);
    report("pipe.md", &["nobody reads this pipe"]);
    report("missing/r.md", &["make the folder"]);
    // The program that is watched is not started for a profile that nobody could write.
    let mut profile = nearfar();
    profile
        .arg("profile")
        .arg("--out")
        .arg(at("folder.md"))
        .args(["--", "touch"])
        .arg(at("started"));
    refuse(&mut profile, 125, &["it is a folder"]);
    assert!(!at("started").exists());
}

/// Root writes for others, and users write files in folders that are not theirs.
#[test]
fn owners_stay_owners() {
    let folder = folder_with_record();
    if folder.path().metadata().unwrap().uid() != 0 {
        // Past the test runner, which hides what passing tests print.
        std::io::Write::write_all(&mut std::io::stderr(), b"skipped: only root has other owners\n")
            .unwrap();
        return;
    }
    let at = |name: &str| folder.path().join(name);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_nearfar"), at("nearfar")).unwrap();
    fs::write(at("theirs.md"), "old").unwrap();
    chown(at("theirs.md"), Some(65534), Some(65534)).unwrap();
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all";
    for writer in ["", nobody] {
        fs::write(at("theirs.md"), "old").unwrap();
        sh(folder.path(), &format!("{writer} ./nearfar report r.jsonl -o theirs.md"));
        let written = fs::metadata(at("theirs.md")).unwrap();
        assert_eq!((written.uid(), written.gid()), (65534, 65534), "{writer}");
        assert!(written.len() > 100, "{writer}");
    }
}
