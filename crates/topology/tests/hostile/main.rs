//! Hostile files. hwloc is a C library: it could take the process down with it.
//! So each file is read by a child process, which is this test binary again, and
//! no child may die by a signal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

mod files;
mod mutation;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nearfar_topology::read_xml;

/// Names a folder of files to read; set for the child only.
const FOLDER: &str = "NEARFAR_TEST_HOSTILE_FOLDER";
const SEED: u64 = 0x6e65_6172_6661_7231;
/// Mutations over all machines, each getting the same number; more with
/// `NEARFAR_TEST_MUTATIONS=30000`.
const MUTATIONS: usize = 330;

/// Not a test of its own: what the child does. Prints one line per file, before
/// and after reading it, so that the parent sees where it died.
#[test]
fn child_reads_files() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    // The binding's panics are caught and become errors; their messages are noise.
    std::panic::set_hook(Box::new(|_| {}));
    for path in sorted(Path::new(&folder)) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        println!("reading {name}");
        match read_xml(&path) {
            Ok(machine) => {
                assert_eq!(machine.check(), Vec::<String>::new(), "{name}");
                println!("result {name} read");
            }
            Err(error) => {
                let kind = format!("{error:?}");
                let kind = kind.split([' ', '{']).next().unwrap().to_owned();
                println!("result {name} {kind}: {error}");
            }
        }
    }
}

/// What became of each file: `read`, or the error's variant and message.
fn read_in_child(folder: &Path) -> BTreeMap<String, String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_reads_files", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let mut results = BTreeMap::new();
    let mut reading = None;
    for line in said.lines() {
        if let Some((_, name)) = line.split_once("reading ") {
            reading = Some(name.to_owned());
        } else if let Some((name, result)) =
            line.strip_prefix("result ").and_then(|rest| rest.split_once(' '))
        {
            results.insert(name.to_owned(), result.to_owned());
        }
    }
    if !output.status.success() {
        let culprit = reading.unwrap_or_default();
        let kept = std::env::temp_dir().join("nearfar-hostile-culprit.xml");
        let copied = fs::copy(folder.join(&culprit), &kept).is_ok();
        panic!(
            "the child died (signal {:?}) on {culprit:?}, kept at {} ({copied}): {}",
            output.status.signal(),
            kept.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    results
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Our own machines and the recorded ones, where these are there.
fn originals() -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        here.join("tests/machines"),
        here.join("../../../shared/zoo/xml"),
        here.join("../../../shared/zoo/qemu"),
        here.join("../../../shared/zoo/from-sysfs"),
    ];
    folders
        .iter()
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| sorted(folder))
        .filter(|path| path.extension().is_some_and(|ending| ending == "xml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

#[test]
fn no_hostile_file_kills_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let files = files::all();
    for (name, text) in &files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let results = read_in_child(folder.path());
    assert_eq!(results.len(), files.len(), "every file has a result");
    assert_eq!(results["sound"], "read", "the file that the others are built from");
    for name in [
        "blank-before-value",
        "text-between",
        "comment",
        "no-kind",
        "other-spelling",
        "empty",
        "nul",
        "entities",
        "huge-matrix",
        "kind-of-all",
        "same-unit-twice",
    ] {
        assert_ne!(results[name], "read", "{name}");
    }
    for (name, result) in &results {
        println!("hostile: {name}: {result}");
    }
}

#[test]
fn no_mutated_file_kills_the_reader() {
    let originals = originals();
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(SEED);
    let wanted = std::env::var("NEARFAR_TEST_MUTATIONS").ok();
    let wanted = wanted.map_or(MUTATIONS, |number| number.parse().unwrap());
    let each = wanted.div_ceil(originals.len());
    for (name, text) in &originals {
        for number in 0..each {
            let file = folder.path().join(format!("{name}-{number:05}.xml"));
            fs::write(file, mutation::mutate(text, &mut random)).unwrap();
        }
    }
    let results = read_in_child(folder.path());
    assert_eq!(results.len(), each * originals.len(), "every file has a result");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results.values() {
        *counts.entry(result.split(':').next().unwrap()).or_default() += 1;
    }
    println!("hostile: {} mutations of {} machines: {counts:?}", results.len(), originals.len());
}
