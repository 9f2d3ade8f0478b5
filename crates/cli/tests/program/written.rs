//! Files that the program writes as a whole belong to whom they did, and hold nothing that terminals
//! obey. (`golden/written.txt` has the links, pipes and devices.)

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use nearfar_machine::Machine;

use crate::records::record;
use crate::support::{nearfar, refuse, run, text};

/// What a line of shell prints in a folder where `$nearfar` is the program.
fn sh(folder: &Path, line: &str) -> String {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(folder);
    let output = run(command.env("nearfar", env!("CARGO_BIN_EXE_nearfar")));
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(output.status.success(), "{line}: {said}");
    said
}

fn folder_with_record() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(record("sound"), folder.path().join("r.jsonl")).unwrap();
    folder
}

/// Root writes for others, and users write files in folders that are not theirs.
#[test]
fn owners_stay_owners() {
    let folder = folder_with_record();
    if folder.path().metadata().unwrap().uid() != 0 {
        // Past the test runner, which hides what passing tests print.
        nearfar_lab::skip("only root has other owners");
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
        let said = sh(folder.path(), &line);
        assert!(said.contains("Joe"), "{command} {then}: {said}");
        let obeyed = said.chars().find(|&c| c != '\n' && nearfar_document::is_obeyed(c));
        assert_eq!(obeyed, None, "{command} {then}: {said}");
    }
}

/// A comparison goes to standard output in place of the answer, in the form that is asked for.
#[test]
fn a_comparison_is_piped() {
    let folder = folder_with_record();
    let piped = sh(folder.path(), "$nearfar compare r.jsonl r.jsonl -o - --format json");
    let piped: serde_json::Value = serde_json::from_str(&piped).unwrap();
    assert_eq!(piped["schema"], "nearfar.compare/2");
    let mut formless = nearfar();
    let refused =
        run(formless.current_dir(folder.path()).args(["compare", "r.jsonl", "r.jsonl", "-o", "-"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--format"), "{}", text(&refused.stderr));
}

/// What was measured is not lost by a slip: `report r.jsonl -o r.jsonl` wrote the CSV over it.
#[test]
fn no_command_writes_over_the_record_that_it_reads() {
    let folder = folder_with_record();
    let path = folder.path().join("r.jsonl");
    let before = fs::read(&path).unwrap();
    std::os::unix::fs::symlink("r.jsonl", folder.path().join("link")).unwrap();
    for (words, status) in [
        ("report r.jsonl -o r.jsonl --format csv", 2),
        ("report r.jsonl -o link --format md", 2),
        ("topo r.jsonl --export-xml r.jsonl", 2),
        ("profile --record r.jsonl --out r.jsonl -- true", 125),
        ("record scrub r.jsonl -o r.jsonl --force", 2),
        ("compare r.jsonl link -o r.jsonl --format md", 2),
        ("run --report=r.jsonl --placement auto --record r.jsonl -- true", 125),
    ] {
        let mut command = nearfar();
        command.args(words.split(' ')).current_dir(folder.path());
        refuse(&mut command, status, &["is the record itself; choose another file with"]);
        assert_eq!(fs::read(&path).unwrap(), before, "{words}");
    }
    for (words, status, says) in [
        ("record scrub r.jsonl -o -", 2, "name a file with --out"),
        ("run --report=- -- true", 125, "--report names a file"),
        ("run --report=- --each-node -- true", 125, "--report names a file"),
    ] {
        let mut command = nearfar();
        command.args(words.split(' ')).current_dir(folder.path());
        refuse(&mut command, status, &[says]);
        assert!(!folder.path().join("-").exists());
    }
}

/// Whoever gave a record's name gets it back in what to type next: without it that is the newest record
/// of this host, another one or none.
#[test]
fn next_commands_name_the_record() {
    let folder = folder_with_record();
    for words in ["show r.jsonl", "model r.jsonl"] {
        let said = sh(folder.path(), &format!("$nearfar {words}"));
        assert!(said.contains("nearfar advise r.jsonl"), "{said}");
    }
    let said = sh(folder.path(), "$nearfar show - < r.jsonl");
    assert!(said.contains("nearfar advise RECORD"), "{said}");
    let simulate = "$nearfar characterize --simulate amd-2p --suite quick --only pairs";
    let said = sh(folder.path(), &format!("{simulate} --out 'a b.jsonl'"));
    assert!(said.contains("nearfar report 'a b.jsonl' -o FILE.html"), "{said}");
    // This host's newest record is none of a simulated machine.
    let said = sh(folder.path(), &format!("XDG_STATE_HOME=$PWD {simulate}"));
    let advise = said.lines().find_map(|line| line.strip_prefix("next  nearfar advise ")).unwrap();
    assert!(advise.contains("amd_2p") && advise.contains(".jsonl"), "{said}");
}

/// `ulimit -f` ended the program by SIGXFSZ, and nobody knew why or what was kept.
#[test]
fn a_limit_on_files_is_told() {
    let folder = folder_with_record();
    let limited = |words: &str| {
        let mut command = std::process::Command::new("sh");
        let script = format!("ulimit -f 96; exec {} {words}", env!("CARGO_BIN_EXE_nearfar"));
        command.args(["-c", &script]).current_dir(folder.path());
        command
    };
    let measure = "characterize --simulate amd-4p --suite quick --out cut.jsonl";
    refuse(&mut limited(measure), 3, &["cut.jsonl", "File too large"]);
    let shown = run(nearfar().current_dir(folder.path()).args(["show", "cut.jsonl"]));
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    refuse(&mut limited("report r.jsonl -o r.html"), 3, &["r.html", "File too large"]);
}

/// Answers that nobody gets are no success, whatever the form and the command.
#[test]
fn an_output_that_takes_nothing_is_told() {
    let folder = folder_with_record();
    let shell = |line: &str| {
        let mut command = std::process::Command::new("sh");
        let program = env!("CARGO_BIN_EXE_nearfar");
        let line = line.replace("nearfar ", &format!("{program} "));
        run(command.args(["-c", &line]).current_dir(folder.path()))
    };
    for command in [
        "show r.jsonl",
        "show r.jsonl --json",
        "model r.jsonl",
        "advise r.jsonl",
        "doctor r.jsonl",
        "list .",
        "compare r.jsonl r.jsonl",
        "topo",
        "ps",
        "files r.jsonl",
        "completions bash",
        "man",
        "report r.jsonl -o - --format csv",
        "report r.jsonl -o - --format md",
        "--help",
        "show --help",
        "--version",
    ] {
        for output in [">/dev/full", ">&-"] {
            // What asks for help is answered before anything is known of the output.
            if output == ">&-" && command.contains("--") && !command.contains("r.jsonl") {
                continue;
            }
            let output = shell(&format!("exec nearfar {command} {output}"));
            assert_eq!(output.status.code(), Some(3), "{command}: {}", text(&output.stderr));
        }
        let output = shell(&format!("nearfar {command} | true"));
        assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output.stderr));
    }
    for format in ["html", "md", "csv", "json", "tex", "prom"] {
        let output = shell(&format!("exec nearfar report r.jsonl -o /dev/full --format {format}"));
        assert_eq!(output.status.code(), Some(3), "{format}: {}", text(&output.stderr));
    }
}

#[test]
fn what_was_typed_is_repeated_in_part_and_a_small_stack_is_told() {
    let long = "a".repeat(100_000);
    for arguments in [
        &["characterize", "--window", &long][..],
        &["show", &long],
        &[&long],
        &["characterize", "--kernel", &long],
        &["files", &long],
        &["run", "--placement", &long, "--", "true"],
    ] {
        let output = run(nearfar().args(arguments));
        assert!(matches!(output.status.code(), Some(2 | 125)), "{}", output.status);
        let said = output.stderr.len() + output.stdout.len();
        assert!(said < 4000, "{}: {said} bytes", arguments[0].get(..20).unwrap_or_default());
    }
    let mut small = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_nearfar");
    refuse(small.args(["-c", &format!("ulimit -s 64; exec {program} topo")]), 2, &["ulimit -s"]);
}
