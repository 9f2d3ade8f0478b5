//! House rules that a reviewer should not have to check by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod links;
mod published;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Rows of the Markdown tables under a heading of ARCHITECTURE.md, without their heads.
fn table_rows(heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split(&format!("## {heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<Vec<String>> = section
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("| ---"))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect())
        .filter(|row: &Vec<String>| row[0] != "layer" && row[0] != "crate")
        .collect();
    assert!(!rows.is_empty(), "no table under '{heading}'");
    rows
}

fn short(package: &str) -> &str {
    package.strip_prefix("nearfar-").unwrap_or(package)
}

#[test]
fn crates_use_only_what_the_layer_table_allows() {
    let allowed: BTreeMap<String, BTreeSet<String>> = table_rows("Layers")
        .into_iter()
        .map(|row| {
            let uses = row[2].split(',').map(str::trim).filter(|name| *name != "-");
            (row[1].clone(), uses.map(String::from).collect())
        })
        .collect();
    let layers: BTreeMap<String, u32> = table_rows("Layers")
        .into_iter()
        .map(|row| (row[1].clone(), row[0].parse().unwrap()))
        .collect();
    let mut seen = BTreeSet::new();
    for package in metadata()["packages"].as_array().unwrap() {
        let name = short(package["name"].as_str().unwrap()).to_string();
        let may_use = allowed.get(&name).unwrap_or_else(|| panic!("{name} is in no layer"));
        let uses: BTreeSet<String> = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["path"].is_string() && dependency["kind"].is_null())
            .map(|dependency| short(dependency["name"].as_str().unwrap()).to_string())
            .collect();
        assert_eq!(&uses, may_use, "{name} uses other crates than ARCHITECTURE.md says");
        for used in &uses {
            assert!(layers[used] <= layers[&name], "{name} reaches up to {used}");
        }
        seen.insert(name);
    }
    let named: BTreeSet<String> = allowed.into_keys().collect();
    assert_eq!(seen, named, "ARCHITECTURE.md names crates that do not exist");
}

#[test]
fn every_dependency_has_its_sentence() {
    let named: BTreeSet<String> =
        table_rows("Dependencies").into_iter().map(|row| row[0].clone()).collect();
    let mut used = BTreeSet::new();
    for package in metadata()["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            if !dependency["path"].is_string() {
                used.insert(dependency["name"].as_str().unwrap().to_string());
            }
        }
    }
    assert_eq!(used, named);
}

/// A feature that tests turn on does not reach what is installed.
#[test]
fn what_only_tests_use_is_not_in_the_program() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package",
            "nearfar",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let used: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, tests_only) = architecture.split_once("Tests and benches only:\n").unwrap();
    let named = tests_only.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let found: Vec<&str> = named.filter(|name| used.contains(name)).collect();
    assert!(used.len() > 100 && found.is_empty(), "{found:?}");
}

/// What `cargo test` leaves out is run by a tier, and clippy sees it all the same.
#[test]
fn every_test_is_in_a_tier() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let mut left_out = 0;
    for package in metadata()["packages"].as_array().unwrap() {
        let manifest = fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        let is_left_out = |it: &&Value| it["kind"][0] == "test" && it["test"] == false;
        for target in package["targets"].as_array().unwrap().iter().filter(is_left_out) {
            let name = target["name"].as_str().unwrap();
            assert!(
                makefile.contains(&format!("--test {name}")),
                "no tier runs the tests '{name}'"
            );
            let section = manifest.split(&format!("name = \"{name}\"")).nth(1).unwrap();
            let section = section.split("[[").next().unwrap();
            assert!(section.contains("bench = true"), "clippy does not see the tests '{name}'");
            left_out += 1;
        }
    }
    assert!(left_out > 4, "{left_out}");
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 50);
    found
}

#[test]
fn files_are_rooms_not_halls() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let most = if path.ends_with("src/main.rs") { 80 } else { 520 };
        assert!(lines <= most, "{} has {lines} lines", path.display());
        let name = path.file_stem().unwrap().to_str().unwrap();
        for vague in ["utils", "util", "helpers", "common", "misc", "manager", "types"] {
            assert_ne!(name, vague, "{} says nothing of what is in it", path.display());
        }
    }
}

#[test]
fn unsafe_code_stays_where_the_architecture_allows_it() {
    for path in sources() {
        let of = |name: &str| path.starts_with(root().join("crates").join(name));
        let is_home = ["kernels", "sys", "devices", "c-api"].into_iter().any(of);
        if is_home || path.ends_with("tests/house/main.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let is_unsafe = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("]
                .iter()
                .any(|form| line.contains(form));
            assert!(!is_unsafe, "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output();
    let Ok(listed) = listed else { return };
    for file in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        if file.ends_with("house/main.rs") || file == "Cargo.lock" {
            continue;
        }
        for word in ["/work/", "/root/", "todo!(", "FIXME", "XXX", "\nEXAMPLE\n"] {
            assert!(!text.contains(word), "{file} holds '{word}'");
        }
    }
}

/// What a program's own types look like is nobody's to read.
#[test]
fn no_text_for_people_shows_types() {
    let golden = root().join("crates/cli/tests/program/golden");
    let shown = root().join("crates/document/tests/golden/show");
    let files = [golden, shown].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut read = 0;
    for file in files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt"))
    {
        read += 1;
        let text = fs::read_to_string(&file).unwrap();
        for shape in ["Some(", "Errno {", "Os {", "None,", "Err(", "Ok("] {
            assert!(!text.contains(shape), "{} shows '{shape}'", file.display());
        }
    }
    assert!(read > 30, "{read}");
}
