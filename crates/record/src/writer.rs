//! Appends lines to a record as things happen: one `write` each, so that whatever kills the program,
//! every line that was written stays readable; or packed into frames (`frame_writer.rs`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::frame_writer::FrameWriter;
use crate::line::Line;
use crate::record::{FileEnd, Record};
use crate::seal::{Seal, Sealing, seal_line};

/// Appends lines to a record.
pub struct RecordWriter {
    sink: Sink,
    chain: Chain,
}

/// What the next line's seal goes on from.
#[derive(Debug, Clone, Copy)]
enum Chain {
    /// The seal of the last line; `None` before the first.
    Sealed(Option<Seal>),
    /// The lines that are there have no seals, and those to come get none either.
    Unsealed,
}

enum Sink {
    File { file: RecordFile, frames: Option<FrameWriter> },
    Stdout,
    Nowhere,
}

/// A file with this many bytes that are to stay.
struct RecordFile {
    file: File,
    path: PathBuf,
    length: u64,
}

/// Why a record could not be written. A message that holds its cause, because what to do
/// follows it, gives no [`source`](std::error::Error::source): printed as a chain, nothing is
/// said twice.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is a file already.
    #[error("{0} exists already; overwrite it by --force, or choose another file with --out")]
    Exists(PathBuf),
    /// Its name is that of a link to nothing.
    #[error("{0} is a link to a file that is not there; choose another file with --out")]
    Dangling(PathBuf),
    /// It cannot be opened.
    #[error("cannot create the record {path}: {cause}; choose another file with --out")]
    Create { path: PathBuf, cause: io::Error },
    /// A line cannot be appended.
    #[error(
        "cannot append to the record {path}: {cause}; the {length} bytes before are kept: make \
         room, then go on with --resume --out {path}"
    )]
    Append { path: PathBuf, length: u64, cause: io::Error },
    /// Its first line cannot be written: there is nothing to go on with.
    #[error(
        "cannot write the record {path}: {cause}; nothing of it was kept: make room, or choose \
         another file with --out"
    )]
    Begin { path: PathBuf, cause: io::Error },
    /// It cannot be opened to go on with it.
    #[error("cannot open the record {path} to go on with it: {cause}")]
    Open { path: PathBuf, cause: io::Error },
    /// Its end cannot be cut off.
    #[error(
        "{0} ends within a line, in a frame that cannot be cut: unpack it (zstd -d), and go on with what \
         comes out"
    )]
    Uncut(PathBuf),
    /// A line would contradict those before it, so that nobody could read the record.
    #[error(
        "a line that contradicts the record was not written to it: {0}; what was written before is \
         kept: please report it with the record"
    )]
    Contradiction(String),
    /// A line cannot be put into JSON.
    #[error("a line of the record cannot be put into JSON")]
    Json(#[from] serde_json::Error),
    /// Standard output cannot be written.
    #[error("cannot write the record to standard output: {0}")]
    Stdout(io::Error),
}

impl RecordWriter {
    /// Creates a record that must not exist; with `force` an existing one is replaced. One whose name
    /// ends in `.zst` is compressed.
    ///
    /// # Errors
    /// When it exists or cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        let mut options = OpenOptions::new();
        options.write(true);
        if force {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let file = options.open(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists if !path.exists() => WriteError::Dangling(path.into()),
            io::ErrorKind::AlreadyExists => WriteError::Exists(path.into()),
            _ => WriteError::Create { path: path.into(), cause },
        })?;
        let frames = path.extension().is_some_and(|it| it == "zst").then(FrameWriter::new);
        let file = RecordFile { file, path: path.into(), length: 0 };
        Ok(Self::new(Sink::File { file, frames }))
    }

    /// Opens a record to append to what was read of it, in its own form; what follows its last whole
    /// line (a torn one) is cut off. Of a compressed one the torn frame is cut off and its whole lines
    /// are written again.
    ///
    /// # Errors
    /// When it cannot be opened or cut.
    pub fn append(path: &Path, record: &Record) -> Result<Self, WriteError> {
        let (length, lines_after) = match &record.end {
            FileEnd::Unwritten => (0, None),
            FileEnd::Lines { length } => (*length, None),
            FileEnd::Frames { length, lines_after: Some(lines) } => (*length, Some(lines)),
            FileEnd::Frames { lines_after: None, .. } => {
                return Err(WriteError::Uncut(path.into()));
            }
        };
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length))?;
            Ok(file)
        };
        let file = open().map_err(|cause| WriteError::Open { path: path.into(), cause })?;
        let mut file = RecordFile { file, path: path.into(), length };
        let frames = match lines_after {
            None => None,
            Some(lines) => {
                let mut frames = FrameWriter::new();
                let taken = if lines.is_empty() { Ok(Vec::new()) } else { frames.take(lines) };
                file.write(taken)?;
                file.write(frames.end())?;
                Some(frames)
            }
        };
        let chain = match record.sealing {
            Sealing::Unsealed => Chain::Unsealed,
            Sealing::Fits | Sealing::Edited { .. } => Chain::Sealed(record.seal),
        };
        Ok(Self { sink: Sink::File { file, frames }, chain })
    }

    /// Writes to standard output.
    pub fn stdout() -> Self {
        Self::new(Sink::Stdout)
    }

    /// Writes nothing: for records that are only computed in memory.
    pub fn nowhere() -> Self {
        Self::new(Sink::Nowhere)
    }

    /// A writer of a record of which nothing is there yet.
    fn new(sink: Sink) -> Self {
        Self { sink, chain: Chain::Sealed(None) }
    }

    /// Appends one line, with its seal, by one `write`. When it fails, what part of the line has
    /// reached the file is cut off again.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn write(&mut self, line: &Line) -> Result<(), WriteError> {
        if matches!(self.sink, Sink::Nowhere) {
            return Ok(());
        }
        let mut object = serde_json::to_vec(line)?;
        match self.chain {
            Chain::Unsealed => {
                object.push(b'\n');
                self.sink.write(&object)
            }
            Chain::Sealed(previous) => {
                let (text, seal) = seal_line(previous, object);
                self.sink.write(&text)?;
                self.chain = Chain::Sealed(Some(seal));
                Ok(())
            }
        }
    }

    /// Sees to it that whatever kills the program, every line so far stays: the end of a round. In a
    /// file that is not compressed they do so anyhow.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn settle(&mut self) -> Result<(), WriteError> {
        match &mut self.sink {
            Sink::File { file, frames: Some(frames) } => file.write(frames.settle()),
            _ => Ok(()),
        }
    }

    /// Ends a run of the program: the file is whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(&mut self) -> Result<(), WriteError> {
        match &mut self.sink {
            Sink::File { file, frames: Some(frames) } => file.write(frames.end()),
            _ => Ok(()),
        }
    }
}

impl Sink {
    fn write(&mut self, text: &[u8]) -> Result<(), WriteError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(text).and_then(|()| stdout.flush()).map_err(WriteError::Stdout)
            }
            Self::File { file, frames: None } => file.write(Ok(text)),
            Self::File { file, frames: Some(frames) } => {
                let is_header = file.length == 0;
                file.write(frames.take(text))?;
                // What has no header yet is no record.
                if is_header { file.write(frames.settle()) } else { Ok(()) }
            }
        }
    }
}

impl RecordFile {
    /// Appends bytes. When it fails, what part of them has reached the file is cut off again.
    fn write(&mut self, bytes: io::Result<impl AsRef<[u8]>>) -> Result<(), WriteError> {
        let written = bytes.and_then(|bytes| {
            self.file.write_all(bytes.as_ref()).map(|()| bytes.as_ref().len() as u64)
        });
        let cause = match written {
            Ok(count) => {
                self.length += count;
                return Ok(());
            }
            Err(cause) => cause,
        };
        if self.length == 0 {
            // A record without a header can neither be read nor continued.
            if fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_file()) {
                fs::remove_file(&self.path).ok();
            }
            return Err(WriteError::Begin { path: self.path.clone(), cause });
        }
        // Best effort: the reader drops a torn end as well.
        if self.file.set_len(self.length).is_ok() {
            self.file.seek(SeekFrom::Start(self.length)).ok();
        }
        Err(WriteError::Append { path: self.path.clone(), length: self.length, cause })
    }
}
