//! Where a record comes from, colours, and the tables of papers.

use std::fs;
use std::process::Stdio;

use crate::records::{asked, record};
use crate::support::{nearfar, refuse, run, text};

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
fn a_record_comes_from_standard_input_or_is_the_newest_of_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let record = record("amd-2p");
    let named = text(&run(&mut asked("model @amd-2p classes")).stdout);
    let end = |text: &str| text.rsplit_once("record: ").unwrap().0.to_string();

    let input = fs::File::open(&record).unwrap();
    let output =
        nearfar().args(["model", "-", "classes"]).stdin(Stdio::from(input)).output().unwrap();
    assert_eq!(end(&text(&output.stdout)), end(&named));

    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host: String = host
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
        .collect();
    let state = folder.path().join("nearfar");
    fs::create_dir(&state).unwrap();
    // Simulated machines are other hosts: they are named, not taken for this one.
    for time in ["20250301T120000Z", "20250302T120000Z"] {
        fs::copy(&record, state.join(format!("simulated_intel_2p-{time}.jsonl"))).unwrap();
    }
    let mut model = nearfar();
    refuse(
        model.arg("model").env("XDG_STATE_HOME", folder.path()),
        2,
        &[
            "no record of this host",
            "simulated machines",
            "simulated_intel_2p-20250302T120000Z.jsonl",
        ],
    );
    fs::copy(&record, state.join(format!("{host}-20250301T120000Z.jsonl"))).unwrap();
    let newest = |arguments: &[&str]| {
        let output = run(nearfar().args(arguments).env("XDG_STATE_HOME", folder.path()));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(end(&newest(&["model", "classes"])), end(&named));
    assert!(newest(&["model"]).contains("\n== classes ==\n"));
}

#[test]
fn the_papers_tables_hold() {
    let text = text(&run(&mut asked("reproduce braithwaite2012")).stdout);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("braithwaite2012: ") && last.contains(" 0 fail"), "{last}");
    assert!(last.contains("114 pass (54 round trips)"), "{last}");
    assert_eq!(text.matches(" round trip: the simulated machine was given").count(), 3, "{text}");
    assert!(text.contains("table 5.2") && !text.contains("FAIL"), "{text}");
}

#[test]
fn one_of_two_records_may_be_standard_input() {
    for words in ["compare - @sound", "compare @sound -"] {
        let output = run(asked(words).stdin(fs::File::open(record("sound")).unwrap()));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("0 worse and 0 better"));
    }
}
