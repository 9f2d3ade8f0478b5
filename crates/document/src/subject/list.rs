//! The records of a folder, as `list` prints them.

use std::path::Path;

use nearfar_record::{Experiment, ListedRecord, RecordState};
use nearfar_units::Bytes;
use serde::Serialize;

use super::figures::count;
use crate::answer::{Answer, Part, Shown};

/// The records of a folder, the newest first; `list --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordList {
    pub schema: &'static str,
    /// Where they are.
    pub folder: String,
    /// One entry for each.
    pub records: Vec<ListedRecord>,
    /// Files of the folder that are no records, or of another version.
    pub other_files: usize,
}

/// Records of the first screen, three lines each.
const FIRST_RECORDS: usize = 12;

impl RecordList {
    /// The view of these records.
    pub fn new(folder: &Path, records: Vec<ListedRecord>, other_files: usize) -> Self {
        Self {
            schema: "nearfar.list/1",
            folder: folder.display().to_string(),
            records,
            other_files,
        }
    }

    /// For people: a line for each, and below it its file.
    pub fn answer(&self) -> Answer {
        let folder = &self.folder;
        let others = match self.other_files {
            0 => String::new(),
            1 => "; 1 file is no record that this program reads".into(),
            count => format!("; {count} files are no records that this program reads"),
        };
        if self.records.is_empty() {
            return Answer::saying(format!("no records in {folder}{others}"))
                .and_next([("nearfar characterize", "measures this machine")]);
        }
        let records = count(self.records.len(), "record");
        let left = self.records.len().saturating_sub(FIRST_RECORDS);
        let more = (left > 0).then(|| Part::words("", format!("{left} more: --full")));
        let (first, rest) = self.records.split_at(self.records.len() - left);
        let parts = |of: &[ListedRecord]| -> Vec<Part> {
            of.iter().flat_map(|record| self.parts(record)).collect()
        };
        Answer::saying(format!("{records} in {folder}, the newest first{others}"))
            .and_gap()
            .and_all(Shown::Always, parts(first))
            .and_all(Shown::First, more)
            .and_all(Shown::Full, parts(rest))
    }

    fn parts(&self, record: &ListedRecord) -> [Part; 3] {
        let path = Path::new(&record.path);
        let name = path.strip_prefix(&self.folder).unwrap_or(path).display().to_string();
        let what = match (&record.simulated, record.experiments.contains(&Experiment::Commands)) {
            (Some(machine), _) => format!("simulated {machine}"),
            (None, true) => format!("programs on {}", record.host),
            (None, false) => record.host.clone(),
        };
        let some = |count: Option<u64>, noun: &str| count.map(|count| format!("{count} {noun}"));
        let state = match record.state {
            RecordState::Finished => None,
            RecordState::Interrupted => Some("interrupted".to_string()),
            RecordState::Unfinished => Some("not finished: killed, or still running".into()),
        };
        let facts = [
            Some(record.suite.to_string()),
            some(record.cases, "cases"),
            some(record.samples, "samples"),
            Some(Bytes(record.bytes).to_string()),
            state,
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let when = record.started.replace('T', " ").replace('Z', "");
        [
            Part::words("", format!("{when}  {what}")),
            Part::words("  ", name),
            Part::words("    ", facts.join(", ")),
        ]
    }
}
