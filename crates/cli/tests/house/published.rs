//! What is published holds together: one version, crates that carry what they read, licences that go with ours.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{metadata, root, sources};

/// Crates that go to a registry.
fn published() -> Vec<Value> {
    let packages = metadata()["packages"].as_array().unwrap().clone();
    packages.into_iter().filter(|package| package["publish"].is_null()).collect()
}

#[test]
fn published_crates_say_what_they_are() {
    let packages = published();
    assert!(packages.len() > 15);
    for package in packages {
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{}: no {field}", package["name"]);
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().unwrap();
            assert!((1..=5).contains(&words.len()), "{}: {field}", package["name"]);
        }
        let folder = PathBuf::from(package["manifest_path"].as_str().unwrap());
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let own = fs::read_to_string(folder.with_file_name(name)).unwrap();
            assert_eq!(own, fs::read_to_string(root().join(name)).unwrap());
        }
    }
}

/// A version stands in Cargo.toml alone; what crates ask of each other is that version.
#[test]
fn there_is_one_version() {
    let packages = published();
    let version = packages[0]["version"].as_str().unwrap();
    let asked = format!("={version}");
    for package in &packages {
        assert_eq!(package["version"], version);
        for dependency in package["dependencies"].as_array().unwrap() {
            if !dependency["path"].is_string() {
                continue;
            }
            let name = dependency["name"].as_str().unwrap();
            let is_published = packages.iter().any(|it| it["name"] == name);
            // What only tests use of our own is dropped where a crate is packed.
            assert!(is_published || dependency["kind"] == "dev", "{name} is not published");
            assert_eq!(dependency["req"], if is_published { &asked } else { "*" }, "{name}");
        }
    }
    let mut files = vec![root().join("python/pyproject.toml")];
    let mut folders = ["packaging", "scripts", ".github"].map(|it| root().join(it)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let is_folder = entry.file_type().unwrap().is_dir();
            if is_folder { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // What is required of others has versions of its own.
        let stale = text.lines().find(|line| line.contains(version) && !line.contains("=="));
        assert_eq!(stale, None, "{}", file.display());
    }
}

/// `..` taken out of a path, without following links: what is linked into a crate is packed with it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// A line of README's that installs is one that `make packages` runs.
#[test]
fn the_ways_to_install_are_tried() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let tried = read("scripts/try-packages");
    let readme = read("README.md");
    let (_, after) = readme.split_once("To install it").unwrap();
    let (_, code) = after.split_once("\n\n").unwrap();
    let ways = code.lines().take_while(|line| !line.is_empty());
    let ways: Vec<&str> = ways.map(|line| line.split('#').next().unwrap().trim()).collect();
    let runs = [
        (
            "cargo install --locked --path crates/cli",
            "cargo install --locked --quiet --path crates/cli",
        ),
        ("pip install target/wheels/nearfar-*.whl", "pip install --no-index /packages/*.whl"),
        (
            "apt install ./target/debian/nearfar_*.deb",
            "install -y --no-install-recommends /packages/*.deb",
        ),
    ];
    assert_eq!(ways, runs.map(|(way, _)| way));
    for (way, run) in runs {
        assert!(tried.contains(run), "{way} is not tried");
    }
}

#[test]
fn published_crates_carry_what_they_include() {
    let mut included = 0;
    for package in published() {
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap();
        for source in sources().into_iter().filter(|it| it.starts_with(folder.join("src"))) {
            let text = fs::read_to_string(&source).unwrap();
            // Unit tests stand at the end, and are no part of what is built from a package.
            let code = text.split("#[cfg(test)]").next().unwrap();
            for name in code.split("include_str!(\"").chain(code.split("include_bytes!(\"")) {
                let Some((name, _)) = name.split_once("\")") else { continue };
                if name.contains('\n') || name.contains(' ') {
                    continue;
                }
                let path = plain(&source.parent().unwrap().join(name));
                assert!(path.starts_with(folder) && path.is_file(), "{}", path.display());
                included += 1;
            }
        }
    }
    assert!(included > 60, "{included}");
}

/// Licences that what is built from this may be given out under, with their texts.
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "Unicode-3.0",
    "Zlib",
];

/// Of what the program and the libraries are built from, on Linux.
#[test]
fn licences_of_dependencies_go_with_ours() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--edges", "normal", "--prefix", "none", "--offline"])
        .args(["--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(packages.len() > 100, "{}", packages.len());
    for package in packages.into_iter().filter(|it| !it.is_empty()) {
        let (_, licence) = package.split_once('|').unwrap();
        let licence = licence.replace(['(', ')'], "").replace('/', " OR ");
        let mut needed = licence.split(" AND ");
        let is_fine = needed.all(|it| it.split(" OR ").any(|it| LICENCES.contains(&it.trim())));
        assert!(is_fine, "{package}");
    }
}
