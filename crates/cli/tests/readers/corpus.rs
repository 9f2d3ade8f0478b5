//! The inputs that mutations begin with: `fuzz/corpus/READER`, and what else the project has
//! of its kind.

use std::fs;
use std::path::{Path, PathBuf};

/// One input.
pub struct Input {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Larger files of the project make each mutation slow and reach nothing new.
const LARGEST: u64 = 32 << 10;

/// A reader's corpus, always in the same order.
pub fn files(reader: &str) -> Vec<Input> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("fuzz/corpus").join(reader)];
    match reader {
        "machine_file" => folders.push(root.join("machines")),
        "xml" => folders.push(root.join("crates/topology/tests/machines")),
        _ => {}
    }
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::metadata(path).unwrap().len() <= LARGEST)
        .collect();
    paths.sort();
    let read = |path: PathBuf| Input {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        bytes: fs::read(path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nearfar_record::{Experiment, read_record};

    use super::*;

    /// A record that its reader refuses at the first line leads mutations nowhere.
    #[test]
    fn records_of_every_experiment_are_among_the_inputs() {
        let read = |input: Input| read_record(input.bytes.as_slice()).ok();
        let records: Vec<_> = files("record").into_iter().filter_map(read).collect();
        let samples = records.iter().flat_map(|record| {
            let of_case = |id: &str| record.cases.iter().find(|case| case.id == id);
            record.samples.iter().filter_map(move |sample| of_case(&sample.case))
        });
        let experiments: BTreeSet<Experiment> =
            samples.map(|case| case.coordinates[0].experiment()).collect();
        assert_eq!(experiments, Experiment::ALL.into());
    }
}
