//! Links of documents lead somewhere: to a file of the repository and, behind `#`, to a heading of it; the
//! files of source that documents name are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;

/// The repository's documents in Markdown, by their paths in it.
fn documents() -> Vec<PathBuf> {
    files("md")
}

/// The repository's files whose names end so, by their paths in it.
fn files(extension: &str) -> Vec<PathBuf> {
    let pattern = format!("*.{extension}");
    let listed = Command::new("git").args(["ls-files", &pattern]).current_dir(root()).output();
    match listed {
        Ok(listed) if listed.status.success() => {
            String::from_utf8(listed.stdout).unwrap().lines().map(PathBuf::from).collect()
        }
        // Sources without git's folder.
        _ => found(extension).iter().map(|it| it.strip_prefix(root()).unwrap().into()).collect(),
    }
}

fn found(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_built = name == "target" || name == "node_modules" || name == ".git";
            if entry.file_type().unwrap().is_dir() && !is_built {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found
}

/// A document's lines of text: those of code are empty.
fn text_lines(document: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let lines = document.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            return "";
        }
        if is_fenced || line.starts_with("    ") { "" } else { line }
    });
    lines.collect()
}

/// Text without what stands between backquotes.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// What the links of a document name. A link may go on in the next line.
fn targets(document: &str) -> Vec<String> {
    let text = without_code(&text_lines(document).join("\n"));
    let parts = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    parts.map(|target| target.trim().to_string()).collect()
}

/// The anchors of a document's headings, as GitHub and mdBook name them: lower case, spaces as `-`, without signs.
fn anchors(document: &str) -> BTreeSet<String> {
    let headings = text_lines(document).into_iter().filter(|line| line.starts_with('#'));
    let names = headings.map(|heading| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|it| it.is_alphanumeric() || "-_ ".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    });
    names.collect()
}

/// What is wrong with the links of a document that stands at `path`.
fn wrong_links(path: &Path, document: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in targets(document) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let named = match file {
            "" => root().join(path),
            _ => root().join(path).parent().unwrap().join(file),
        };
        let is_there = named.exists();
        let is_heading = || anchors(&fs::read_to_string(&named).unwrap()).contains(anchor);
        // The site has nothing but docs.
        let leaves = path.starts_with("docs")
            && is_there
            && !named.canonicalize().unwrap().starts_with(root().join("docs"));
        if !is_there || leaves || (!anchor.is_empty() && !is_heading()) {
            wrong.push(format!("{}: {target}", path.display()));
        }
    }
    wrong
}

#[test]
fn links_of_documents_lead_somewhere() {
    let (mut wrong, mut links) = (Vec::new(), 0);
    for path in documents() {
        let document = fs::read_to_string(root().join(&path)).unwrap();
        links += targets(&document).len();
        wrong.extend(wrong_links(&path, &document));
    }
    assert!(wrong.is_empty(), "links that lead nowhere, or out of the site:\n{}", wrong.join("\n"));
    assert!(links > 150, "{links} links");
}

#[test]
fn links_that_lead_nowhere_are_told() {
    let told = |text: &str| wrong_links(Path::new("docs/models.md"), text);
    assert_eq!(told("[a](glossary.md), [b](models/flow.md#flow), [c](https://x.org/y)"), [""; 0]);
    let text = "`[a](none.md)` [b](none.md)\n\n    [c](none.md)\n\n```\n[d](none.md)\n```\n";
    assert_eq!(told(text), ["docs/models.md: none.md"]);
    assert_eq!(told("[a](models/flow.md#nowhere)"), ["docs/models.md: models/flow.md#nowhere"]);
    assert_eq!(told("[a](../README.md)"), ["docs/models.md: ../README.md"]);
}

/// The files and folders of source that a document names between backquotes: from `crates/` on, or a file
/// of Rust by the end of its path.
fn named_sources(document: &str) -> Vec<&str> {
    let spans = document.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_plain = |it: &&str| !it.contains([' ', '*', '<', '{', ':']);
    spans.filter(|it| it.starts_with("crates/") || it.ends_with(".rs")).filter(is_plain).collect()
}

#[test]
fn sources_that_documents_name_are_there() {
    let sources = files("rs");
    let is_there = |named: &str| {
        root().join(named).exists() || sources.iter().any(|source| source.ends_with(named))
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in documents() {
        let document = fs::read_to_string(root().join(&path)).unwrap();
        let named = named_sources(&document);
        count += named.len();
        let missing = named.into_iter().filter(|named| !is_there(named));
        wrong.extend(missing.map(|named| format!("{}: {named}", path.display())));
    }
    assert!(wrong.is_empty(), "sources that are not there:\n{}", wrong.join("\n"));
    assert!(count > 150, "{count} sources");
    assert_eq!(
        named_sources("`crates/a/b` and `c/d.rs`, `e.md`, `cargo f.rs`"),
        ["crates/a/b", "c/d.rs"]
    );
    assert!(is_there("flow/src/solver.rs") && !is_there("flow/src/none.rs"));
}

/// Pages of the site are those of its table of contents: mdBook leaves out the others without a word.
#[test]
fn every_document_is_in_the_site() {
    let contents = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = targets(&contents).iter().map(PathBuf::from).collect();
    let documents = documents();
    let docs = documents.iter().filter_map(|it| it.strip_prefix("docs").ok());
    let docs: BTreeSet<PathBuf> =
        docs.filter(|it| *it != Path::new("SUMMARY.md")).map(Path::to_path_buf).collect();
    assert_eq!(listed, docs);
}
