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
            assert!(source.contains(&format!("fn {name}(")), "{lie}: {file} has no {name}");
        }
    }
    // The reasons that a lie can be refused for are all there.
    for code in [ReasonCode::WrongData, ReasonCode::Misplaced, ReasonCode::Contradiction] {
        let named = rows.iter().any(|row| row[2].contains(code.as_str()));
        assert!(named, "no lie is refused as {}", code.as_str());
    }
}
