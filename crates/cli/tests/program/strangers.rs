//! Files and arguments of strangers: refused with a reason, in bounded memory, or read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{nearfar, run, text};

/// What the program may map: its code, hwloc, and the largest input that it accepts.
const ADDRESS_SPACE_KIB: u32 = 1 << 20;

/// Each command that reads a file: the words before its name, and how it is called.
const READERS: [(&[&str], &str); 6] = [
    (&["show"], "record"),
    (&["model"], "record"),
    (&["doctor"], "record"),
    (&["characterize", "--resume", "--out"], "record"),
    (&["topo", "--xml"], "topology"),
    (&["topo", "--simulate"], "simulated machine"),
];

/// Runs a command on a file with little memory to take; gives what it said.
fn refused_in_little_memory(words: &[&str], file: &Path) -> String {
    let script = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec timeout 100 \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_nearfar")]).args(words).arg(file);
    let output = run(&mut command);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?} {}: {said}", file.display());
    assert!(said.starts_with("nearfar: ") && said.len() < 1500, "{words:?}: {said}");
    said
}

fn file(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn endless_and_huge_files_are_refused_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    // A file of 10 GB that takes no room on the disk; TOML's ending makes it one for --simulate.
    let huge = folder.path().join("huge.toml");
    File::create(&huge).unwrap().set_len(10 << 30).unwrap();
    for (words, _) in READERS {
        for path in [Path::new("/dev/zero"), &huge] {
            let said = refused_in_little_memory(words, path);
            assert!(
                said.contains("MiB") || said.contains("KiB"),
                "{words:?} names no limit: {said}"
            );
        }
    }
}

#[test]
fn folders_and_missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (words, _) in READERS {
        let said = refused_in_little_memory(words, folder.path());
        assert!(said.contains("directory"), "{words:?}: {said}");
        let said = refused_in_little_memory(words, &folder.path().join("none.toml"));
        assert!(said.contains("none.toml") && said.contains("No such file"), "{words:?}: {said}");
    }
}

#[test]
fn deep_and_broken_texts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let deep_json = format!("{{\"header\":{}", "[".repeat(100_000));
    let deep_object = "{\"header\":".repeat(100_000);
    let deep_toml = format!("name = {}", "[".repeat(100_000));
    let dotted = format!("{}b = 1", "a.".repeat(100_000));
    let texts: [(&str, &[u8]); 9] = [
        ("deep-list", deep_json.as_bytes()),
        ("deep-object", deep_object.as_bytes()),
        ("deep-array", deep_toml.as_bytes()),
        ("deep-key", dotted.as_bytes()),
        ("zeros", &[0; 4096]),
        ("not-utf-8", b"{\"header\":\"\xff\xfe\"}"),
        ("only-a-mark", b"\xef\xbb\xbf"),
        ("only-line-ends", b"\r\n\r\n"),
        ("escape", b"\x1b[2J\x1b]0;owned\x07"),
    ];
    for (words, what) in READERS {
        for (name, content) in texts {
            for end in ["", "\n"] {
                let content = [content, end.as_bytes()].concat();
                let path = file(folder.path(), &format!("{name}.toml"), &content);
                let said = refused_in_little_memory(words, &path);
                let plain = !said.trim_end().contains(|letter: char| letter.is_control());
                assert!(plain, "{what} {name}: {said:?}");
            }
        }
    }
}

/// Values of options, damaged at random: told, never a crash.
#[test]
fn damaged_arguments_are_told() {
    const SEED: u64 = 4;
    const DRY: &str = "characterize|--simulate|amd-2p|--suite|quick|--dry-run";
    let lines = [
        "predict|--alpha|0.5,0.25|--share|0.5,0.5|--gamma|DDR4-3200x8",
        "predict|--alpha|0.5,0.25|--reach|0,1|--reach|1,0",
        &format!("{DRY}|--window|10ms"),
        &format!("{DRY}|--working-set|64MiB"),
        &format!("{DRY}|--samples|3|--seed|1"),
        &format!("{DRY}|--kernel|load,triad"),
        "topo|--synthetic|node:2 core:2 pu:1",
        "reproduce|braithwaite2012x|--json",
    ];
    let damage =
        ["", "0", "-1", "1e309", "nan", ",", "99999999999999999999", "\u{1b}[2J", "é", "%s"];
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut done, mut told) = (0, 0);
    for _ in 0..150 {
        let line = lines[random.usize(..lines.len())];
        let mut line: Vec<String> = line.split('|').map(ToString::to_string).collect();
        let value = random.usize(1..line.len());
        let place = random.usize(..=line[value].len());
        let end = random.usize(place..=line[value].len());
        line[value].replace_range(place..end, damage[random.usize(..damage.len())]);
        let output = run(nearfar().args(&line));
        match output.status.code() {
            Some(0) => done += 1,
            Some(2) => {
                let said = text(&output.stderr);
                assert!(!said.trim().is_empty() && said.len() < 4000, "{line:?}: {said}");
                assert!(!said.contains("\u{1b}[2J"), "{line:?}: {said:?}");
                told += 1;
            }
            status => panic!("{line:?}: {status:?}, {}", text(&output.stderr)),
        }
    }
    assert!(done > 5 && told > 50, "{done} done, {told} told");
}

/// Reads every machine of the zoo beside the checkout, when it is there.
#[test]
fn every_machine_of_the_zoo_is_read_or_refused_with_a_reason() {
    let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/zoo");
    let (mut read, mut refused) = (0, 0);
    for folder in ["xml", "from-sysfs", "qemu"] {
        let Ok(entries) = fs::read_dir(zoo.join(folder)) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let output = run(nearfar().args(["topo", "--json", "--xml"]).arg(&path));
            match output.status.code() {
                Some(0) => {
                    let machine: Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert!(!machine["nodes"].as_array().unwrap().is_empty());
                    let words = run(nearfar().args(["topo", "--xml"]).arg(&path));
                    assert!(words.status.success());
                    read += 1;
                }
                Some(2) => {
                    let said = text(&output.stderr);
                    assert!(said.starts_with("nearfar: ") && said.len() > 40, "{said}");
                    refused += 1;
                }
                status => panic!("{}: status {status:?}", path.display()),
            }
        }
    }
    // Past the test runner, which hides what passing tests print.
    let said = format!("zoo: {read} machines read, {refused} refused with a reason\n");
    std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
    assert!(!zoo.is_dir() || read >= 20, "only {read} machines were read");
}
