//! The folder of a run, which machines write into without knowing of each other:
//!
//! ```text
//! DIR/manifest.json                          who is expected
//! DIR/3f/n7.jsonl.zst, n7.summary.json       a machine's record and summary
//! DIR/3f/n7~2.jsonl.zst, n7~2.summary.json   of its second measurement
//! DIR/3f/n7.running.jsonl.zst                while it is measured; what a killed one leaves
//! DIR/verdicts/3f.jsonl                      what `compare` left, a line for each machine
//! ```
//!
//! Nothing is appended to a file that others write, and none appears before it is whole. 256 folders of the
//! name's hash keep each of them small.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use nearfar_machine::Fnv1a;
use nearfar_sys::NewFile;

use crate::machine_name::MachineName;
use crate::summary::{MAX_SUMMARY_BYTES, MachineSummary, SummaryError};

/// More measurements of a machine in one run than anybody starts.
const MOST_MEASUREMENTS: u32 = 1000;

const RECORD: &str = ".jsonl.zst";
const RUNNING: &str = ".running.jsonl.zst";
const SUMMARY: &str = ".summary.json";

#[derive(Debug, Clone)]
pub struct RunFolder {
    folder: PathBuf,
}

/// Where one measurement of a machine goes.
#[derive(Debug)]
pub struct Measurement {
    shard: PathBuf,
    /// `n7`, `n7~2`.
    stem: String,
}

/// What a folder holds of one measurement of a machine.
#[derive(Debug)]
pub struct FoundMeasurement {
    pub machine: MachineName,
    /// 1 for its first in the run.
    pub number: u32,
    pub summary: Option<PathBuf>,
    pub record: Option<PathBuf>,
    /// A record that was begun and not ended: its machine is being measured, or was stopped.
    pub running: Option<PathBuf>,
}

impl RunFolder {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub fn manifest(&self) -> PathBuf {
        self.folder.join("manifest.json")
    }

    /// The file that holds a machine's verdict, with those of about one in 256 machines: a file for each takes
    /// longer to write than all of them to compare.
    pub fn verdicts(&self, machine: &MachineName) -> PathBuf {
        self.folder.join("verdicts").join(format!("{}.jsonl", shard(machine)))
    }

    /// Takes the next measurement of a machine: its record's file is made, and no other process gets the same.
    ///
    /// # Errors
    /// Where the folder cannot be made or written to.
    pub fn begin(&self, machine: &MachineName) -> io::Result<Measurement> {
        let shard = self.folder.join(shard(machine));
        fs::create_dir_all(&shard)?;
        for number in 1..=MOST_MEASUREMENTS {
            let stem =
                if number == 1 { machine.to_string() } else { format!("{machine}~{number}") };
            let measurement = Measurement { shard: shard.clone(), stem };
            if measurement.is_taken() {
                continue;
            }
            match OpenOptions::new().write(true).create_new(true).open(measurement.running()) {
                // Another one may have begun and ended since the look before.
                Ok(_) if measurement.is_done() => fs::remove_file(measurement.running())?,
                Ok(_) => return Ok(measurement),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "{machine} has {MOST_MEASUREMENTS} measurements there already"
        )))
    }

    /// All measurements that machines began there, by name and number, and files that are of none.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn measurements(&self) -> io::Result<(Vec<FoundMeasurement>, Vec<PathBuf>)> {
        let (mut found, mut others) = (BTreeMap::new(), Vec::new());
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_shard =
                name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
            if !is_shard || !entry.path().is_dir() {
                continue;
            }
            for file in fs::read_dir(entry.path())? {
                let path = file?.path();
                let Some((machine, number, what)) = parse(&path) else {
                    others.push(path);
                    continue;
                };
                let one = found.entry((machine.clone(), number)).or_insert(FoundMeasurement {
                    machine,
                    number,
                    summary: None,
                    record: None,
                    running: None,
                });
                match what {
                    SUMMARY => one.summary = Some(path),
                    RUNNING => one.running = Some(path),
                    _ => one.record = Some(path),
                }
            }
        }
        others.sort();
        Ok((found.into_values().collect(), others))
    }
}

impl Measurement {
    /// The record's file while it is measured.
    pub fn running(&self) -> PathBuf {
        self.shard.join(format!("{}{RUNNING}", self.stem))
    }

    /// Its file when it is whole.
    pub fn record(&self) -> PathBuf {
        self.shard.join(format!("{}{RECORD}", self.stem))
    }

    fn summary(&self) -> PathBuf {
        self.shard.join(format!("{}{SUMMARY}", self.stem))
    }

    fn is_done(&self) -> bool {
        self.record().exists() || self.summary().exists()
    }

    fn is_taken(&self) -> bool {
        self.is_done() || self.running().exists()
    }

    /// Name of the record's file in its folder.
    pub fn record_name(&self) -> String {
        format!("{}{RECORD}", self.stem)
    }

    /// Gives the record its name; where there is none, nothing stays.
    ///
    /// # Errors
    /// Where it cannot be renamed.
    pub fn keep_record(&self) -> io::Result<bool> {
        let running = self.running();
        match fs::metadata(&running) {
            Ok(found) if found.len() > 0 => {
                File::open(&running)?.sync_all()?;
                fs::rename(&running, self.record()).map(|()| true)
            }
            Ok(_) => fs::remove_file(&running).map(|()| false),
            Err(_) => Ok(false),
        }
    }

    /// Writes the summary, as a whole or not at all.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_summary(&self, summary: &MachineSummary) -> io::Result<()> {
        write_whole(&self.summary(), &summary.to_line()?)
    }
}

impl FoundMeasurement {
    /// Reads its summary.
    ///
    /// # Errors
    /// As [`MachineSummary::read`]; also where it is of another machine than its name says.
    pub fn read_summary(&self) -> Option<Result<MachineSummary, SummaryError>> {
        let path = self.summary.as_ref()?;
        let read = || {
            let mut bytes = Vec::new();
            let limit = MAX_SUMMARY_BYTES as u64 + 1;
            let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
            read.map_err(|error| SummaryError::Invalid(error.to_string()))?;
            let summary = MachineSummary::read(&bytes)?;
            if summary.machine == self.machine {
                Ok(summary)
            } else {
                Err(SummaryError::Invalid(format!(
                    "it is of {}, and not of {}",
                    summary.machine, self.machine
                )))
            }
        };
        Some(read())
    }
}

/// Writes a file as a whole, which outlasts the machine's end then.
///
/// # Errors
/// Where it cannot be written; what was there before stays.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = NewFile::for_path(path)?;
    new.file().write_all(bytes)?;
    new.replace().map(drop)
}

fn shard(machine: &MachineName) -> String {
    let mut hash = Fnv1a::default();
    hash.write(machine.as_str().as_bytes());
    format!("{:02x}", hash.finish() & 0xff)
}

/// Machine, number and kind of a file by its name.
fn parse(path: &Path) -> Option<(MachineName, u32, &'static str)> {
    let name = path.file_name()?.to_str()?;
    let (stem, what) = [RUNNING, RECORD, SUMMARY]
        .into_iter()
        .find_map(|what| Some((name.strip_suffix(what)?, what)))?;
    let (machine, number) = match stem.split_once('~') {
        Some((machine, number)) => (machine, number.parse().ok().filter(|number| *number > 1)?),
        None => (stem, 1),
    };
    Some((machine.parse().ok()?, number, what))
}
