//! The table of lies in docs/measuring.md names tests that there are.

use std::collections::BTreeSet;
use std::path::Path;

use nearfar_record::ReasonCode;

/// Rows of the table below this heading: their cells.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (_, rest) = text.split_once("\n## What is caught, by which check\n").unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains("::"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().into()).collect())
        .collect()
}

/// Whether a function of a source is a test that is run.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begin = format!("fn {name}(");
    let Some(found) = lines.iter().position(|line| line.starts_with(&begin)) else { return false };
    let before = lines[..found].iter().rev().take_while(|line| line.starts_with("#["));
    let attributes: Vec<&&str> = before.collect();
    attributes.iter().any(|line| **line == "#[test]")
        && !attributes.iter().any(|line| line.starts_with("#[ignore"))
}

#[test]
fn a_test_that_is_not_run_is_none() {
    let source = "#[test]\nfn a() {}\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n\nfn c() {}\n";
    assert_eq!(["a", "b", "c", "d"].map(|name| is_test(source, name)), [true, false, false, false]);
}

#[test]
fn every_lie_of_the_table_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/measuring.md")).unwrap();
    let rows = rows(&text);
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let mut lies = BTreeSet::new();
    for row in &rows {
        let [lie, check, mark, test] = row.as_slice() else { panic!("{row:?} has not four cells") };
        assert!(lies.insert(lie), "'{lie}' stands there twice");
        assert!(!check.is_empty() && !mark.is_empty(), "{row:?}");
        for test in test.split(", ") {
            let (file, name) = test.trim_matches('`').split_once("::").unwrap();
            let source = std::fs::read_to_string(root.join("crates").join(file))
                .unwrap_or_else(|error| panic!("{lie}: crates/{file}: {error}"));
            assert!(is_test(&source, name), "{lie}: {file} has no test {name} that is run");
        }
    }
    // The reasons that a lie can be refused for are all there.
    for code in [ReasonCode::WrongData, ReasonCode::Misplaced, ReasonCode::Contradiction] {
        let named = rows.iter().any(|row| row[2].contains(code.as_str()));
        assert!(named, "no lie is refused as {}", code.as_str());
    }
}
