//! What the terminal shows of simulated machines. A file of `golden/` is a session: lines that begin
//! with `$ nearfar` are run, and the rest is what they print and the status that they end with. A
//! new case is such a line, and `UPDATE_EXPECT=1 cargo test -p nearfar --test program golden` writes
//! what follows it.

use std::fs;
use std::path::Path;

use expect_test::expect_file;

use crate::records::{asked, folder};
use crate::support::{assert_said_once, run, text};

/// The time of a measurement and the folder of records are words; nothing else varies.
fn without_what_varies(text: &str) -> String {
    let is_time = |window: &[u8]| {
        b"0000-00-00T00:00:00Z".iter().zip(window).all(|(form, byte)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => form == byte,
        })
    };
    let mut told = text.replace(folder().to_str().unwrap(), "FOLDER");
    while let Some(place) = told.as_bytes().windows(20).position(is_time) {
        told.replace_range(place..place + 20, "TIME");
    }
    told
}

/// What a command line prints, and its status.
fn session(words: &str) -> String {
    let output = run(&mut asked(words));
    let [said, refused] =
        [&output.stdout, &output.stderr].map(|stream| without_what_varies(&text(stream)));
    assert!(!(said.clone() + &refused).contains('\u{1b}'), "{words}: a pipe is sent no colours");
    assert_said_once(&refused);
    let is_figures =
        ["model", "predict", "advise", "compare"].iter().any(|it| words.starts_with(it));
    if is_figures && output.status.code() != Some(2) {
        // Names of files and machines are as long as they are.
        let is_named = |line: &&str| line.starts_with("record: ") || line.starts_with("simulated-");
        let lines = said.lines().filter(|line| !is_named(line));
        let long: Vec<&str> = lines.filter(|line| line.chars().count() > 100).collect();
        assert!(long.is_empty(), "{words}: {long:#?}");
    }
    format!("$ nearfar {words}\n{said}{refused}[{}]\n\n", output.status.code().unwrap())
}

#[test]
fn sessions_are_those_of_the_golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/golden");
    let mut cases = 0;
    for file in fs::read_dir(golden).unwrap() {
        let path = file.unwrap().path();
        let held = fs::read_to_string(&path).unwrap();
        let commands: Vec<&str> =
            held.lines().filter_map(|line| line.strip_prefix("$ nearfar ")).collect();
        cases += commands.len();
        let told: String = commands.into_iter().map(session).collect();
        expect_file![path].assert_eq(&told);
    }
    assert!(cases > 180, "{cases}");
    for unwritten in ["ran", "x.xml", "x.csv"] {
        assert!(!folder().join(unwritten).exists(), "{unwritten}");
    }
}
