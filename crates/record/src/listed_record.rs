//! What a record says of itself at its begin and its end, without what is between: a folder may
//! hold many, and large ones.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::frame_reader::{FrameReader, MAGIC, last_frames};
use crate::header::{Header, Suite};
use crate::line::{Finished, Line};
use crate::reader::{ReadError, read_header};

/// So much of a record's end is looked at: warnings and absences may stand after the last sample.
const TAIL: u64 = 1 << 20;

/// The same of one that is compressed.
const PACKED_TAIL: u64 = 64 << 10;

/// A record by its begin and its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRecord {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Whether it is compressed.
    pub compressed: bool,
    /// Name of the host, as the operating system says.
    pub host: String,
    /// When measuring began: RFC 3339, UTC, to the second.
    pub started: String,
    /// The simulated machine that answered; null where a machine was measured.
    pub simulated: Option<String>,
    pub suite: Suite,
    /// Experiments that it was begun with.
    pub experiments: Vec<Experiment>,
    /// Cases that it holds; null where it does not end with an orderly end, or an older program
    /// wrote that.
    pub cases: Option<u64>,
    /// Samples that it holds; null where none stands near its end.
    pub samples: Option<u64>,
    pub state: RecordState,
}

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// Its last run ended by itself.
    Finished,
    /// A signal ended its last run.
    Interrupted,
    /// Its last run was killed or goes on.
    Unfinished,
}

impl RecordState {
    fn of(finished: Option<&Finished>) -> Self {
        match finished {
            None => Self::Unfinished,
            Some(finished) if finished.interrupted_by.is_some() => Self::Interrupted,
            Some(_) => Self::Finished,
        }
    }
}

/// The records of a folder, the newest first, and how many of its files are none. Folders in it are
/// not looked into.
///
/// # Errors
/// When the folder cannot be read.
pub fn list_records(folder: &Path) -> io::Result<(Vec<ListedRecord>, usize)> {
    let mut records = Vec::new();
    let mut others = 0;
    for path in files_of(folder)? {
        match list_record(&path) {
            Ok(record) => records.push(record),
            Err(_) => others += 1,
        }
    }
    records.sort_by(|a, b| (&b.started, &b.path).cmp(&(&a.started, &a.path)));
    Ok((records, others))
}

/// The regular files of a folder, links followed: reading others may never end.
pub(crate) fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| fs::metadata(path).is_ok_and(|found| found.is_file())).collect())
}

/// Looks at one record.
///
/// # Errors
/// As [`read_header`].
pub fn list_record(path: &Path) -> Result<ListedRecord, ReadError> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let header: Header = read_header(&file)?;
    let mut first = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first)?;
    let compressed = first == MAGIC;
    let tail = Tail::of(&text_at_end(&mut file, bytes, compressed)?);
    Ok(ListedRecord {
        path: path.display().to_string(),
        bytes,
        compressed,
        host: header.host,
        started: header.started,
        simulated: header.simulation.map(|simulation| simulation.name),
        suite: header.inputs.suite,
        experiments: header.inputs.experiments,
        cases: tail.finished.as_ref().and_then(|finished| finished.cases),
        samples: tail.samples,
        state: RecordState::of(tail.finished.as_ref()),
    })
}

/// What the last lines say.
#[derive(Default)]
struct Tail {
    finished: Option<Finished>,
    samples: Option<u64>,
}

impl Tail {
    fn of(text: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Sampled {
            sample: Sequence,
        }
        #[derive(Deserialize)]
        struct Sequence {
            sequence: u64,
        }
        let mut tail = Self::default();
        // What follows the last line feed is torn.
        let lines = text.rsplit(|&byte| byte == b'\n').skip(1).filter(|line| !line.is_empty());
        for (position, line) in lines.enumerate() {
            if line.starts_with(b"{\"sample\"") {
                let read = serde_json::from_slice::<Sampled>(line).ok();
                tail.samples = read.map(|read| read.sample.sequence.saturating_add(1));
                break;
            }
            if position == 0
                && let Ok(Line::Finished(finished)) = serde_json::from_slice(line)
            {
                tail.finished = Some(finished);
            }
        }
        tail
    }
}

/// The text of the last whole and torn lines.
fn text_at_end(file: &mut File, bytes: u64, compressed: bool) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if compressed {
        let start = last_frames(file, PACKED_TAIL)?;
        file.seek(SeekFrom::Start(start))?;
        // A damaged end says nothing.
        if FrameReader::new(file).read_to_end(&mut text).is_err() {
            text.clear();
        }
    } else {
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
        file.read_to_end(&mut text)?;
    }
    Ok(text)
}
