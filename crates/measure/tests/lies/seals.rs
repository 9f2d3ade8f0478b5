//! A record edited by hand so that it makes sense: its seals tell which lines are not as they
//! were written.

use std::fs;
use std::path::Path;

use nearfar_record::{Line, RecordWriter, Sealing, read_record};

use crate::native;

/// The text of a record of these lines, sealed by the program's own writer.
pub fn reseal(path: &Path, lines: &[Line]) -> Vec<u8> {
    let mut writer = RecordWriter::create(path, true).unwrap();
    lines.iter().for_each(|line| writer.write(line).unwrap());
    fs::read(path).unwrap()
}

/// The text of the edited lines, each with the seal of the line that stood in its place.
pub fn with_old_seals(texts: &[String], honest: &[Line], edited: &[Line]) -> Vec<u8> {
    let seal = |line: &str| line[line.rfind(",\"seal\":").unwrap()..].to_string();
    let last = texts.len() - 1;
    let mut text = String::new();
    for (number, line) in edited.iter().enumerate() {
        if honest.get(number) == Some(line) {
            text += &texts[number];
        } else {
            let object = serde_json::to_string(line).unwrap();
            text += object.strip_suffix('}').unwrap();
            text += &seal(&texts[number.min(last)]);
        }
        text.push('\n');
    }
    text.into_bytes()
}

fn sealing(text: &str) -> Sealing {
    read_record(text.as_bytes()).unwrap().sealing
}

fn edited(lines: &[u64], count: u64) -> Sealing {
    Sealing::Edited { lines: lines.to_vec(), count }
}

/// A measured record's lines with their ends.
fn measured(path: &Path) -> Vec<String> {
    native::measure(path, &mut native::executor());
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n').map(ToString::to_string).collect()
}

#[test]
fn edits_that_make_sense_are_told_by_their_lines() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let lines = measured(&folder.path().join("r.jsonl"));
    let last = lines.len();
    let warning = r#"{"warning":{"code":"mine","message":"m","remedy":"r","of_samples":false}}"#;
    assert_eq!(sealing(&lines.concat()), Sealing::Fits);
    let edit = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        sealing(&lines.concat())
    };
    let replaced = |number: usize, from: &str, to: &str| {
        edit(&|lines| {
            let line = lines[number - 1].replacen(from, to, 1);
            assert_ne!(line, lines[number - 1], "nothing was changed");
            lines[number - 1] = line;
        })
    };
    // The host's name is taken out; the end is told to be later; a space is put in.
    assert_eq!(replaced(1, "\"host\":\"test\"", "\"host\":\"\""), edited(&[1], 1));
    assert_eq!(replaced(last, "\"at\":\"20", "\"at\":\"21"), edited(&[last as u64], 1));
    assert_eq!(replaced(2, "{\"case\":", "{\"case\": "), edited(&[2], 1));
    // A seal is taken off, or another put on.
    assert_eq!(edit(&|lines| unseal(&mut lines[1])), edited(&[2], 1));
    let borrowed = edit(&|lines| {
        let object = lines[1].split(",\"seal\"").next().unwrap().to_string();
        let seal = lines[2].split(",\"seal\"").last().unwrap().to_string();
        lines[1] = format!("{object},\"seal\"{seal}");
    });
    assert_eq!(borrowed, edited(&[2, 3], 2));
    // A line is removed, added, moved.
    // Of two rounds something is told on every machine, and no other line needs it.
    let told = lines.iter().position(|line| line.starts_with("{\"warning\"")).unwrap();
    let after = told as u64 + 1;
    assert_eq!(edit(&|lines| drop(lines.remove(told))), edited(&[after], 1));
    let added = edit(&|lines| lines.insert(last - 1, format!("{warning}\n")));
    assert_eq!(added, edited(&[last as u64, last as u64 + 1], 2));
    assert_eq!(edit(&|lines| lines.swap(1, 2)), edited(&[2, 3, 4], 3));
    // Many are: the first few are named.
    let scaled = edit(&|lines| {
        lines.iter_mut().skip(1).for_each(|line| *line = line.replacen('{', "{ ", 1))
    });
    assert_eq!(scaled, edited(&[2, 3, 4, 5, 6], last as u64 - 1));
}

fn unseal(line: &mut String) {
    let end = line.rfind(",\"seal\":").unwrap();
    *line = format!("{}}}\n", &line[..end]);
}

/// Chain and header alike: what is resumed goes on from the last whole line's seal, and
/// what has none is continued without.
#[test]
fn a_resumed_record_goes_on_with_its_seals() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let lines = measured(&path);
    let half = lines[..lines.len() / 2].concat();
    let line: Line = serde_json::from_str(&lines[lines.len() / 2]).unwrap();
    let mut bare: Vec<String> = lines[..lines.len() / 2].to_vec();
    bare.iter_mut().for_each(unseal);
    for (text, standing) in [
        (half.clone(), Sealing::Fits),
        (half + "{\"sample\":{\"case\":\"torn", Sealing::Fits),
        (bare.concat(), Sealing::Unsealed),
    ] {
        fs::write(&path, text).unwrap();
        let record = read_record(fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(record.sealing, standing);
        RecordWriter::append(&path, &record).unwrap().write(&line).unwrap();
        let more = read_record(fs::File::open(&path).unwrap()).unwrap();
        assert_eq!((&more.sealing, more.torn), (&standing, false));
        let added = fs::read_to_string(&path).unwrap().lines().last().unwrap().to_string();
        assert_eq!(added.contains("\"seal\""), standing == Sealing::Fits);
    }
}

#[test]
fn a_finding_names_lines_and_fitting_seals_say_nothing() {
    assert_eq!(Sealing::Fits.finding(), None);
    assert!(Sealing::Unsealed.finding().unwrap().contains("not sealed"));
    let one = edited(&[7], 1).finding().unwrap();
    assert!(one.contains("at line 7:"), "{one}");
    let many = edited(&[2, 3, 4, 5, 6], 40).finding().unwrap();
    assert!(many.contains("at lines 2, 3, 4, 5, 6 and 35 more:"), "{many}");
}
