//! A record of a simulated machine in a file.

use std::path::PathBuf;

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{Experiment, Inputs, Line, Record, RecordWriter, Suite};
use tempfile::TempDir;

/// What the flow model needs of a machine with four places.
pub fn itanium2() -> Record {
    let experiments = vec![Experiment::Pairs, Experiment::Links, Experiment::Mixes];
    let inputs = Inputs { experiments, ..suite_inputs(Suite::Standard) };
    simulate(&read_machine("itanium2").unwrap(), inputs, true).unwrap()
}

/// A record in a file of a folder that vanishes with the first.
pub fn write(record: &Record) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let mut writer = RecordWriter::create(&path, false).unwrap();
    writer.write(&Line::Header(Box::new(record.header.clone()))).unwrap();
    for case in &record.cases {
        writer.write(&Line::Case(case.clone())).unwrap();
    }
    for sample in &record.samples {
        writer.write(&Line::Sample(Box::new(sample.clone()))).unwrap();
    }
    (folder, path)
}
