//! What the terminal shows. A file of `golden/` is a session: lines that begin with `$ ` are run by
//! bash(1) one after the other, and the rest is what they print and the status that they end with.
//! `@NAME` is a record (`records.rs`), `nearfar` this program, `$TESTS` and `$CRATES` folders of the
//! checkout. A new case is such a line, and `UPDATE_EXPECT=1 cargo test -p nearfar --test program
//! golden` writes what follows it, to be read before it is committed.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use crate::records::{asked, folder, line};
use crate::support::{assert_said_once, run, text};

/// The time of a measurement and folders are words; nothing else varies.
pub fn without_what_varies(text: &str) -> String {
    let is_time = |window: &[u8]| {
        b"0000-00-00T00:00:00Z".iter().zip(window).all(|(form, byte)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => form == byte,
        })
    };
    let mut told = text
        .replace(folder().to_str().unwrap(), "FOLDER")
        .replace(env!("CARGO_MANIFEST_DIR"), "CRATE");
    while let Some(place) = told.as_bytes().windows(20).position(is_time) {
        told.replace_range(place..place + 20, "TIME");
    }
    told
}

/// Commands whose answers are set for the terminal's width.
const FIGURES: [&str; 13] = [
    "advise",
    "characterize",
    "compare",
    "doctor",
    "list",
    "model",
    "predict",
    "profile",
    "reproduce",
    "sensitivity",
    "show",
    "topo",
    "workload",
];

/// What a line of a session prints, and its status.
fn told(words: &str) -> String {
    let output = run(&mut line(words));
    let [said, refused] =
        [&output.stdout, &output.stderr].map(|stream| without_what_varies(&text(stream)));
    assert!(!(said.clone() + &refused).contains('\u{1b}'), "{words}: a pipe is sent no colours");
    refused.lines().for_each(assert_said_once);
    let is_figures = FIGURES.iter().any(|it| words.starts_with(&format!("nearfar {it}")));
    // What is typed elsewhere is as long as it is.
    let is_typed = words.contains(" --as ");
    if is_figures && !is_typed && output.status.code() != Some(2) {
        // Names of files and machines are as long as they are, and Markdown has no lines of its own.
        let is_free = |line: &&str| line.starts_with("record: ") || line.starts_with("simulated-");
        let lines = said.lines().filter(|line| !is_free(line) && !words.contains(".md"));
        let long: Vec<&str> = lines.filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{words}: {long:#?}");
    }
    format!("$ {words}\n{said}{refused}[{}]\n\n", output.status.code().unwrap())
}

#[test]
fn sessions_are_those_of_the_golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/golden");
    let mut cases = 0;
    for file in fs::read_dir(golden).unwrap() {
        let path = file.unwrap().path();
        let held = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = held.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
        cases += lines.len();
        let session: String = lines.into_iter().map(told).collect();
        expect_file![path].assert_eq(&session);
    }
    assert!(cases > 250, "{cases}");
    for unwritten in ["ran", "x.xml", "x.csv"] {
        assert!(!folder().join(unwritten).exists(), "{unwritten}");
    }
}

/// Text was wrapped at 100 columns in a terminal of 80, and tables went wider.
#[test]
fn answers_keep_to_the_width_of_the_terminal() {
    let has_script = Command::new("script").arg("--version").output().is_ok();
    for question in ["model @sound", "show @eight", "compare @sound @slower"] {
        for columns in [80_usize, 96] {
            let told = text(&run(asked(question).env("COLUMNS", columns.to_string())).stdout);
            let widest = told.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns) && widest > Some(columns - 20), "{question}: {told}");
            // The terminal, where there is one, and not what the variable says; its input never ends.
            let in_terminal = format!(
                "rm -f in; mkfifo in; script -qec 'stty rows 24 cols {columns}; NO_COLOR=1 COLUMNS=60 \
                 nearfar {question} 2>/dev/null' /dev/null <>in"
            );
            if has_script {
                let said = text(&run(&mut line(&in_terminal)).stdout).replace('\r', "");
                assert_eq!(said, told, "{question} at {columns}");
            }
        }
    }
}

#[test]
fn colours_are_sent_where_they_are_asked_for_and_tell_nothing_of_their_own() {
    let coloured = |name: &str, value: &str| {
        text(&run(asked("model @amd-2p classes").env(name, value)).stdout)
    };
    let with = coloured("CLICOLOR_FORCE", "1");
    assert!(with.contains("\u{1b}[48;5;"), "{with:?}");
    let mut parts = with.split('\u{1b}');
    let mut without = parts.next().unwrap().to_string();
    parts.for_each(|part| without += part.split_once('m').unwrap().1);
    assert_eq!(without, coloured("NO_COLOR", "1"));
}

#[test]
fn the_papers_tables_hold() {
    let text = text(&run(&mut asked("reproduce braithwaite2012 --full")).stdout);
    let (_, counts) = text.rsplit_once("braithwaite2012: ").unwrap();
    assert!(counts.starts_with("121 pass (54 round trips, 7 predictions)"), "{counts}");
    assert!(counts.contains(" 0 fail"), "{counts}");
    assert_eq!(text.matches(" round trip: the simulated machine was given").count(), 3, "{text}");
    assert!(text.contains("table 5.2") && !text.contains("FAIL"), "{text}");
}
