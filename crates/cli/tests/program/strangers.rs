//! Files and arguments of strangers: refused with a reason, in bounded memory, or read.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::records::copy;
use crate::support::{nearfar, refuse, run, text};

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

/// What a shell's process substitution hands over is a pipe, too.
#[test]
fn pipes_are_read_like_files() {
    let script = "\"$0\" characterize --simulate amd-2p --kernel triad --samples 1 --out - 2>&- \
                  | \"$0\" show - && \"$0\" topo --simulate <(cat \"$1\")";
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/intel-2p.toml");
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", script, env!("CARGO_BIN_EXE_nearfar")]).arg(machine);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("simulated-amd-2p"));
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

/// Editors of other systems put a mark before and a carriage return behind.
#[test]
fn line_ends_and_marks_of_other_systems_are_read_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let record = copy("amd-2p", folder.path());
    let plain = fs::read_to_string(&record).unwrap();
    let show = |name: &str, text: &str| -> Output {
        let path = file(folder.path(), name, text.as_bytes());
        run(nearfar().arg("show").arg(path))
    };
    assert!(show("crlf.jsonl", &plain.replace('\n', "\r\n")).status.success());
    let marked = show("mark.jsonl", &format!("\u{feff}{plain}"));
    assert_eq!(marked.status.code(), Some(2));
    assert!(text(&marked.stderr).contains("line 1"), "{}", text(&marked.stderr));

    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/amd-2p.toml");
    let machine = fs::read_to_string(machine).unwrap();
    let other = format!("\u{feff}{}", machine.replace('\n', "\r\n"));
    let path = file(folder.path(), "other.toml", other.as_bytes());
    assert!(run(nearfar().args(["topo", "--simulate"]).arg(path)).status.success());
}

#[test]
fn numbers_above_those_of_any_linux_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = copy("amd-2p", folder.path());
    let record = fs::read_to_string(&path).unwrap();
    let edited = record.replacen("\"allowed_cpus\":\"0-15\"", "\"allowed_cpus\":\"0-65536\"", 1);
    assert_ne!(edited, record);
    fs::write(&path, edited).unwrap();
    refuse(nearfar().arg("show").arg(&path), 2, &["line 1", "65536", "65535"]);
    refuse(
        nearfar().args(["topo", "--synthetic", "node:2 core:1 pu:1(indexes=0,65536)"]),
        2,
        &["65536", "65535"],
    );
    refuse(nearfar().args(["topo", "--synthetic", "node:8193 pu:1"]), 2, &["8193", "8192"]);
    let machine = "name = \"x\"\ntitle = \"x\"\nnode = [{ number = 65536, cores = 1 }]\n\
                   bandwidth = [{ one_thread = 1 }]\n";
    let path = file(folder.path(), "x.toml", machine.as_bytes());
    refuse(nearfar().args(["topo", "--simulate"]).arg(path), 2, &["node", "65535"]);
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

/// The manual pages are the only other files that the program writes.
#[test]
fn manual_pages_replace_old_ones_and_leave_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("nearfar.1"), "old").unwrap();
    for _ in 0..2 {
        assert!(run(nearfar().args(["man", "--out"]).arg(folder.path())).status.success());
    }
    let mut pages = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().map(OsStrExt::as_bytes), Some(&b"1"[..]), "{}", path.display());
        assert!(fs::read_to_string(&path).unwrap().contains(".TH"));
        pages += 1;
    }
    assert!(pages > 8, "{pages} pages");
    let mut full = Command::new("bash");
    full.args(["-c", "ulimit -f 0; trap '' XFSZ; exec \"$0\" man --out \"$1\""]);
    full.arg(env!("CARGO_BIN_EXE_nearfar")).arg(folder.path());
    let before = fs::read(folder.path().join("nearfar.1")).unwrap();
    let output = run(&mut full);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot write the manual page"));
    assert_eq!(fs::read(folder.path().join("nearfar.1")).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), pages);
}
