//! Files that the program writes as a whole: what stands at their path stays what it is.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output};

use nearfar_machine::Machine;

use crate::support::{nearfar, refuse, run, text};

/// A line of shell in a folder with the record `r.jsonl`, where `$nearfar` is the program.
fn sh(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("timeout");
    command
        .args(["120", "bash", "-c", line])
        .current_dir(folder)
        .env("nearfar", env!("CARGO_BIN_EXE_nearfar"));
    let output = run(&mut command);
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(output.status.success(), "{line}: {said}");
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
        std::io::stderr().write_all(b"skipped: only root has other owners\n").unwrap();
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

/// Names in records, and those of files, are strangers' text.
#[test]
fn nothing_is_sent_that_terminals_obey() {
    const NAME: &str = "Joe\u{9b}2J\u{202e}\u{7f}";
    let folder = folder_with_record();
    let file = format!("{NAME}.jsonl");
    let record = fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    let (header, samples) = record.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    let machine = header["header"]["machine"].take();
    let mut machine: Machine = serde_json::from_value(machine).unwrap();
    machine.packages.iter_mut().for_each(|package| package.model = Some(NAME.into()));
    header["header"]["fingerprint"] = machine.fingerprint().into();
    header["header"]["host"] = NAME.into();
    header["header"]["machine"] = serde_json::to_value(machine).unwrap();
    fs::write(folder.path().join(&file), format!("{header}\n{samples}")).unwrap();
    let mut export = nearfar();
    export.arg("topo").arg(folder.path().join(&file)).arg("--export-xml").arg("/dev/null");
    refuse(&mut export, 2, &["a name in it holds the character U+009B"]);
    let characterized =
        "characterize --simulate joe0 --only pairs --kernel load --samples 1 --force --json --out";
    for (command, then) in [
        ("show", "--json"),
        ("model", ""),
        ("model", "--json"),
        ("model", "classes --json"),
        ("compare --json -o c.json r.jsonl", "&& cat c.json"),
        ("report --out report.json", "&& cat report.json"),
        (characterized, ""),
    ] {
        let line = format!("$nearfar {command} '{file}' {then} 2>&1");
        let said = text(&sh(folder.path(), &line).stdout);
        assert!(said.contains("Joe"), "{command} {then}: {said}");
        let obeyed = said.chars().find(|&c| c != '\n' && nearfar_document::is_obeyed(c));
        assert_eq!(obeyed, None, "{command} {then}: {said}");
    }
}

/// What takes time before the first sample, here a machine's file that comes slowly, is not kept,
/// and there is a word for it.
#[test]
fn a_signal_before_the_record_begins_is_told_and_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let (machine, path) = (folder.path().join("m.toml"), folder.path().join("r.jsonl"));
    assert!(Command::new("mkfifo").arg(&machine).status().unwrap().success());
    let mut command = nearfar();
    command.args(["characterize", "--simulate"]).arg(&machine).arg("--out").arg(&path);
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // It opens once the program does, which waits for its content.
    let mut slow = fs::OpenOptions::new().write(true).open(&machine).unwrap();
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    slow.write_all(b"extends = 'joe0'\nname = 'slow'\ntitle = 'slow'\n").unwrap();
    drop(slow);
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("signal 2 before anything was measured"), "{said}");
    assert!(!path.exists());
}

/// A disk that is full at a record's first line leaves nothing that stands in the way later.
#[test]
fn a_record_without_room_for_its_header_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let small = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let measure = |command: &mut Command| {
        run(command
            .args(["characterize", "--simulate", "joe0", "--only", "pairs", "--out"])
            .arg(&path))
    };
    let refused = measure(Command::new("bash").args(["-c", small, env!("CARGO_BIN_EXE_nearfar")]));
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("File too large") && said.contains("choose another file"), "{said}");
    assert!(!said.contains("--resume") && !path.exists(), "{said}");
    assert!(measure(&mut nearfar()).status.success());
    // What stands there and is no file of its own stays.
    symlink("/dev/full", folder.path().join("full")).unwrap();
    let mut full = nearfar();
    full.args(["characterize", "--simulate", "joe0", "--force", "--out"]);
    let full = run(full.arg(folder.path().join("full")));
    assert_eq!(full.status.code(), Some(3), "{}", text(&full.stderr));
    assert!(fs::symlink_metadata(folder.path().join("full")).unwrap().is_symlink());
}
