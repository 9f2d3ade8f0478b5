//! Appends lines to a record as things happen: one `write` each, so that whatever kills the program,
//! every line that was written stays readable; or packed into frames (`frame_writer.rs`).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nearfar_sys::{NewFile, open_to_write};

use crate::frame_reader::FrameReader;
use crate::frame_writer::FrameWriter;
use crate::line::Line;
use crate::listed_record::list_record;
use crate::reader::read_record_with;
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
    File(Box<RecordFile>),
    /// A pipe or a device.
    Open(File, PathBuf),
    Stdout,
    Nowhere,
}

/// A file with this many bytes that are to stay.
struct RecordFile {
    path: PathBuf,
    place: Place,
    frames: Option<FrameWriter>,
    length: u64,
    /// What was there before, locked: nobody goes on with it meanwhile.
    _old: Option<File>,
}

enum Place {
    /// Under its name.
    Named(File),
    /// Without it until then; nothing is left of it if the program ends before.
    Unnamed { file: NewFile, until: Until, replaces: bool },
    /// What was there before has its name still, as nothing was measured.
    GivenUp,
}

/// What gives a record its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Header,
    /// Another record has the name, which holds more than one without samples.
    Sample,
    /// Nobody wants a part of it.
    End,
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
    /// There is nothing to go on with, or it goes on with what it was.
    #[error("cannot write the record {path}: {cause}; {}make room, or choose another file with --out", match there {
        false => "nothing of it was kept: ",
        true => "what was there is as it was: ",
    })]
    Begin { path: PathBuf, cause: io::Error, there: bool },
    /// It cannot be opened to go on with it.
    #[error("cannot open the record {path} to go on with it: {cause}")]
    Open { path: PathBuf, cause: io::Error },
    /// A pipe or a device cannot be written.
    #[error("cannot write the record to {path}: {cause}")]
    Pipe { path: PathBuf, cause: io::Error },
    /// Another process holds its lock.
    #[error("another nearfar writes {0}; wait until it has ended")]
    Locked(PathBuf),
    /// It is no longer what was read.
    #[error("{0} was written to since it was read; run the same command again")]
    Changed(PathBuf),
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
    /// Creates a record that must not exist; with `force` an existing one is replaced, once there is a
    /// sample. One whose name ends in `.zst` is compressed. It has its name from its header on.
    ///
    /// # Errors
    /// When it exists, is being written or cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        Self::begin(path, force, Until::Header)
    }

    /// The same of one that has its name once it is closed: a copy of which a part is of no use.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_whole(path: &Path, force: bool) -> Result<Self, WriteError> {
        Self::begin(path, force, Until::End)
    }

    fn begin(path: &Path, force: bool, until: Until) -> Result<Self, WriteError> {
        let create = |cause| WriteError::Create { path: path.into(), cause };
        let (target, old) = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(create(io::ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                let file = open_to_write(path).map_err(create)?;
                return Ok(Self::new(Sink::Open(file, path.into())));
            }
            Ok(_) if !force => return Err(WriteError::Exists(path.into())),
            Ok(_) => {
                let old = File::open(path).ok();
                old.as_ref().map_or(Ok(()), |old| lock(old, path))?;
                (fs::canonicalize(path).map_err(create)?, old)
            }
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                return Err(WriteError::Dangling(path.into()));
            }
            Err(_) => (path.to_path_buf(), None),
        };
        let file = NewFile::for_path(&target).map_err(create)?;
        let until = match until {
            Until::Header if may_hold_samples(&target) => Until::Sample,
            until => until,
        };
        let place = Place::Unnamed { file, until, replaces: fs::metadata(&target).is_ok() };
        let frames = is_compressed(path).then(FrameWriter::new);
        let file = RecordFile { path: path.into(), place, frames, length: 0, _old: old };
        Ok(Self::new(Sink::File(Box::new(file))))
    }

    /// Opens a record to append to what was read of it, in its own form; what follows its last whole
    /// line (a torn one) is cut off. A compressed one with a torn frame gets another file in its place, in
    /// which the whole lines of that frame are packed again.
    ///
    /// # Errors
    /// When it cannot be opened or cut, or others write to it.
    pub fn append(path: &Path, record: &Record) -> Result<Self, WriteError> {
        let open = |cause| WriteError::Open { path: path.into(), cause };
        let mut old = OpenOptions::new().read(true).write(true).open(path).map_err(open)?;
        lock(&old, path)?;
        if !is_as_read(&mut old, path, record).map_err(open)? {
            return Err(WriteError::Changed(path.into()));
        }
        let chain = match record.sealing {
            Sealing::Unsealed => Chain::Unsealed,
            Sealing::Fits | Sealing::Edited { .. } => Chain::Sealed(record.seal),
        };
        let (length, lines_after) = match &record.end {
            FileEnd::Unwritten => (0, None),
            FileEnd::Lines { length } => (*length, None),
            FileEnd::Frames { length, lines_after: Some(lines) } => (*length, Some(lines)),
            FileEnd::Frames { lines_after: None, .. } => {
                return Err(WriteError::Uncut(path.into()));
            }
        };
        let mut frames = lines_after.map(|_| FrameWriter::new());
        let is_torn = record.torn && frames.is_some();
        let (place, old) = if is_torn {
            let begin = |cause| WriteError::Begin { path: path.into(), cause, there: true };
            let target = fs::canonicalize(path).map_err(open)?;
            let mut file = NewFile::for_path(&target).map_err(begin)?;
            old.rewind()
                .and_then(|()| io::copy(&mut (&old).take(length), file.file()))
                .map_err(begin)?;
            (Place::Unnamed { file, until: Until::End, replaces: true }, Some(old))
        } else {
            let cut = old.set_len(length).and_then(|()| old.seek(SeekFrom::Start(length)));
            cut.map_err(open)?;
            (Place::Named(old), None)
        };
        let mut file = RecordFile { path: path.into(), place, frames: None, length, _old: old };
        if let (Some(frames), Some(lines)) = (&mut frames, lines_after.filter(|_| is_torn)) {
            if !lines.is_empty() {
                file.write(frames.take(lines))?;
            }
            file.write(frames.end())?;
            file.publish()?;
        }
        file.frames = frames;
        Ok(Self { sink: Sink::File(Box::new(file)), chain })
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
                self.sink.write(&object)?;
            }
            Chain::Sealed(previous) => {
                let (text, seal) = seal_line(previous, object);
                self.sink.write(&text)?;
                self.chain = Chain::Sealed(Some(seal));
            }
        }
        match &mut self.sink {
            Sink::File(file) => file.wrote(line),
            _ => Ok(()),
        }
    }

    /// Sees to it that whatever kills the program, every line so far stays: the end of a round. In a
    /// file that is not compressed they do so anyhow.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn settle(&mut self) -> Result<(), WriteError> {
        match &mut self.sink {
            Sink::File(file) => file.settle(),
            _ => Ok(()),
        }
    }

    /// Ends a run of the program: the file is whole. Where another record was to be replaced and nothing
    /// was measured, that one stays ([`has_given_up`](Self::has_given_up)).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(&mut self) -> Result<(), WriteError> {
        match &mut self.sink {
            Sink::File(file) => file.close(),
            _ => Ok(()),
        }
    }

    /// Whether it was closed without a sample, so that the record that it was to replace is still there.
    pub fn has_given_up(&self) -> bool {
        matches!(&self.sink, Sink::File(file) if matches!(file.place, Place::GivenUp))
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
            Self::Open(file, path) => {
                let error = |cause| WriteError::Pipe { path: path.clone(), cause };
                file.write_all(text).map_err(error)
            }
            Self::File(file) => match &mut file.frames {
                None => file.write(Ok(text)),
                Some(frames) => {
                    let packed = frames.take(text);
                    file.write(packed)
                }
            },
        }
    }
}

impl RecordFile {
    /// Appends bytes. When it fails, what part of them has reached the file is cut off again.
    fn write(&mut self, bytes: io::Result<impl AsRef<[u8]>>) -> Result<(), WriteError> {
        let file = match &mut self.place {
            Place::Named(file) => file,
            Place::Unnamed { file, .. } => file.file(),
            Place::GivenUp => return Ok(()),
        };
        let written = bytes
            .and_then(|bytes| file.write_all(bytes.as_ref()).map(|()| bytes.as_ref().len() as u64));
        let cause = match written {
            Ok(count) => {
                self.length += count;
                return Ok(());
            }
            Err(cause) => cause,
        };
        let path = self.path.clone();
        match &mut self.place {
            Place::Named(file) => {
                // Best effort: the reader drops a torn end as well.
                if file.set_len(self.length).is_ok() {
                    file.seek(SeekFrom::Start(self.length)).ok();
                }
                Err(WriteError::Append { path, length: self.length, cause })
            }
            Place::Unnamed { replaces, .. } => {
                Err(WriteError::Begin { path, cause, there: *replaces })
            }
            Place::GivenUp => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), WriteError> {
        match &mut self.frames {
            Some(frames) => {
                let packed = frames.settle();
                self.write(packed)
            }
            None => Ok(()),
        }
    }

    /// A line was written: it may give the file its name.
    fn wrote(&mut self, line: &Line) -> Result<(), WriteError> {
        let Place::Unnamed { until, .. } = &self.place else { return Ok(()) };
        let is_worth_it = match until {
            Until::Header => true,
            Until::Sample => matches!(line, Line::Sample(_)),
            Until::End => false,
        };
        if is_worth_it {
            self.settle()?;
            self.publish()?;
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<(), WriteError> {
        match std::mem::replace(&mut self.place, Place::GivenUp) {
            Place::Unnamed { file, replaces, .. } => {
                let named = if replaces { file.replace() } else { file.publish_new() };
                let named = named.map_err(|cause| match cause.kind() {
                    io::ErrorKind::AlreadyExists => WriteError::Exists(self.path.clone()),
                    _ => WriteError::Begin { path: self.path.clone(), cause, there: replaces },
                })?;
                self.place = Place::Named(named);
            }
            place => self.place = place,
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), WriteError> {
        if let Some(frames) = &mut self.frames {
            let packed = frames.end();
            self.write(packed)?;
        }
        match &self.place {
            Place::Unnamed { until: Until::Sample, .. } => self.place = Place::GivenUp,
            Place::Unnamed { .. } => self.publish()?,
            Place::Named(_) | Place::GivenUp => {}
        }
        Ok(())
    }
}

/// Whether a file that is there may hold what was measured, or is no record at all.
fn may_hold_samples(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    if file.metadata().is_ok_and(|found| found.len() == 0) {
        return false;
    }
    // Where its last lines have none, all of it is read.
    if !list_record(path).is_ok_and(|listed| listed.samples.is_none()) {
        return true;
    }
    let mut samples = 0;
    let is_read = read_record_with(file, |_| samples += 1).is_ok();
    samples > 0 || !is_read
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Some file systems of clusters know no locks: there the host's own lock must do.
fn lock(file: &File, path: &Path) -> Result<(), WriteError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(WriteError::Locked(path.into())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether an open file is the one by this path, with what was read of it and no more whole lines.
fn is_as_read(file: &mut File, path: &Path, record: &Record) -> io::Result<bool> {
    let (here, there) = (file.metadata()?, fs::metadata(path)?);
    if (here.dev(), here.ino()) != (there.dev(), there.ino()) {
        return Ok(false);
    }
    let (FileEnd::Lines { length } | FileEnd::Frames { length, .. }) = &record.end else {
        return Ok(here.len() == 0);
    };
    file.seek(SeekFrom::Start(*length))?;
    let mut after = Vec::new();
    match &record.end {
        FileEnd::Frames { lines_after, .. } => {
            let mut frames = FrameReader::new(&*file);
            io::copy(&mut frames, &mut io::sink())?;
            Ok(here.len() >= *length && frames.end() == (0, lines_after.clone()))
        }
        _ => {
            file.read_to_end(&mut after)?;
            Ok(here.len() >= *length && !after.contains(&b'\n'))
        }
    }
}
