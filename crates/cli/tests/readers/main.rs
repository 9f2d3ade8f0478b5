//! Every reader of foreign bytes against its corpus and seeded mutations of it. What searches
//! for longer is cargo-fuzz (CONTRIBUTING.md, "Fuzzing").

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod mutation;
// The functions that the fuzz targets call.
#[path = "../../../../fuzz/src/lib.rs"]
mod strangers;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use mutation::Mutator;
use strangers::{Outcome, READERS, Reader};

/// Mutations of a corpus that a reader sees, and that the program sees where it starts a process
/// for each.
const INPUTS: u64 = 2000;
const INPUTS_IN_C: u64 = 40;

/// Larger files of the project make each mutation slow and reach nothing new.
const LARGEST: usize = 32 << 10;

/// `fuzz/corpus/READER`, and what else the project has of its kind, always in the same order.
fn corpus(reader: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("fuzz/corpus").join(reader)];
    match reader {
        "machine_file" => {
            folders.extend(["machines", "machines/published"].map(|folder| root.join(folder)));
        }
        "xml" => folders.push(root.join("crates/topology/tests/machines")),
        _ => {}
    }
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    let all = paths.into_iter().map(|path| fs::read(path).unwrap());
    all.filter(|bytes| bytes.len() <= LARGEST).collect()
}

/// Where an input is kept of which a test fails: cargo-fuzz reads it again by this path.
fn kept(reader: &Reader, input: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", reader.name));
    fs::write(&path, input).unwrap();
    format!("{} broke its word at {}", reader.name, path.display())
}

/// What a reader of our own makes of an input.
fn read(reader: &Reader, input: &[u8]) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| (reader.read)(input)))
        .unwrap_or_else(|_| panic!("{}", kept(reader, input)))
}

/// What the program makes of a topology: hwloc may crash in the process that reads it, and the
/// program says so then.
fn read_in_c(reader: &Reader, input: &[u8]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machine.xml");
    let mut program = Command::new(env!("CARGO_BIN_EXE_nearfar"));
    program.args(["topo", "--json"]).env("HWLOC_HIDE_ERRORS", "2");
    match reader.name {
        "xml" => {
            fs::write(&path, input).unwrap();
            program.arg("--xml").arg(&path);
        }
        // An argument holds no byte 0.
        _ => {
            let text = String::from_utf8_lossy(input).replace('\0', " ");
            program.arg(format!("--synthetic={text}"));
        }
    }
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Outcome::Accepted,
        Some(2) if said.contains("nearfar: ") && !said.contains("panicked") => {
            Outcome::Rejected(said.into())
        }
        status => panic!("{}: status {status:?}: {said}", kept(reader, input)),
    }
}

#[test]
fn no_mutation_breaks_a_reader() {
    for reader in READERS {
        let inputs = if reader.in_c { INPUTS_IN_C } else { INPUTS };
        let read = |input: &[u8]| {
            if reader.in_c { read_in_c(&reader, input) } else { read(&reader, input) }
        };
        let corpus = corpus(reader.name);
        let accepted = corpus.iter().filter(|input| read(input) == Outcome::Accepted).count();
        // Mutations of what is refused, or of what is not, lead nowhere.
        assert!(accepted > 0 && accepted < corpus.len(), "{}: {accepted} are read", reader.name);
        let mutator = Mutator::new(corpus);
        for number in 0..inputs {
            read(&mutator.input(number));
        }
    }
}
