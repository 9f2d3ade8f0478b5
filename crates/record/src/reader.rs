//! Reads a record, whoever wrote it. A torn last line (the program was killed, or
//! the disk was full) is dropped; anything else that is wrong is an error that
//! names the line.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read};

use nearfar_units::{excerpt, excerpt_of};

use crate::contradiction::{History, check_header};
use crate::frame_reader::{FrameReader, MAGIC};
use crate::header::{Header, SCHEMA};
use crate::line::{Line, LineFields};
use crate::record::{FileEnd, Record};
use crate::sample::Sample;
use crate::seal::{Seal, SealCheck};

/// Longer lines are refused before they are parsed.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// Larger records are refused: a machine of eight nodes measured in full takes 0.8 GiB.
pub const MAX_RECORD_BYTES: u64 = 8 << 30;

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input failed.
    #[error("the record cannot be read")]
    Io(#[from] io::Error),
    #[error("the record is empty; a record begins with a header line")]
    Empty,
    /// The program was killed before the first line was whole.
    #[error("the record ends within its header, nothing was measured; begin again with --force")]
    TornHeader,
    /// A frame is not what it was when it was written.
    #[error("line {line} of the record stands in compressed data that are damaged: {cause}")]
    Damaged { line: u64, cause: io::Error },
    /// A line is too long.
    #[error("line {line} of the record is longer than 16 MiB")]
    TooLong { line: u64 },
    /// There are too many lines.
    #[error("the record holds more than 8 GiB up to line {line}")]
    TooLarge { line: u64 },
    /// A line is not what it should be.
    #[error("line {line} of the record cannot be understood: {what}")]
    Malformed { line: u64, what: String },
    /// The format is another.
    #[error(
        "the record's format is '{}'; this program reads {SCHEMA}: measure again with `nearfar characterize`",
        excerpt(found)
    )]
    Schema { found: String },
}

impl ReadError {
    /// What is wrong often repeats a part of the line, which may be as long as a line.
    fn malformed(line: u64, what: &str) -> Self {
        const LONGEST: usize = 400;
        Self::Malformed { line, what: excerpt_of(what, LONGEST) }
    }
}

/// Reads a whole record.
///
/// # Errors
/// When the input fails, is no record of this format, or contradicts itself.
pub fn read_record(input: impl Read) -> Result<Record, ReadError> {
    let mut samples = Vec::new();
    let mut record = read_record_with(input, |sample| samples.push(sample))?;
    record.samples = samples;
    Ok(record)
}

/// The same with the samples given away one by one as they come: they take most of a record's
/// room, and what is made of them often little.
///
/// # Errors
/// As [`read_record`].
pub fn read_record_with(
    input: impl Read,
    mut take: impl FnMut(Sample),
) -> Result<Record, ReadError> {
    let mut lines = Lines::of(input)?;
    let mut seals = SealCheck::default();
    let header = next_header(&mut lines, &mut seals)?;
    let mut history = History::new(&header);
    let mut record = Record::new(header);
    let mut length = lines.length;
    let mut measured: HashMap<String, BTreeSet<u32>> = HashMap::new();
    while let Some(text) = lines.next_line()? {
        if !text.ends_with(b"\n") {
            record.torn = true;
            break;
        }
        let malformed = |what: String| ReadError::malformed(lines.number, &what);
        let (line, seal) = parse_line(&text).map_err(malformed)?;
        seals.take(&text, seal);
        history.take(&record.header, &line).map_err(malformed)?;
        match line {
            // The history takes no second one.
            Line::Header(_) => {}
            Line::Case(case) => record.cases.push(case),
            Line::Sample(sample) => {
                measured.entry(sample.case.clone()).or_default().insert(sample.round);
                take(*sample);
            }
            Line::Absent(absent) => record.absent.push(absent),
            Line::Warning(warning) => record.add_warning(warning),
            Line::Resumed(resumed) => record.note_resumed(resumed),
            Line::Appended(appended) => record.note_appended(*appended),
            Line::Finished(finished) => record.note_finished(finished),
        }
        length = lines.length;
    }
    record.torn |= lines.is_torn();
    record.end = lines.end(length);
    record.seal = seals.last();
    record.sealing = seals.sealing();
    // A refusal no longer stands where the case was measured in that round later.
    record.absent.retain(|absent| {
        let rounds = measured.get(&absent.case);
        absent.round.is_none_or(|round| !rounds.is_some_and(|rounds| rounds.contains(&round)))
    });
    Ok(record)
}

/// Reads the header alone.
///
/// # Errors
/// As [`read_record`], of the first line.
pub fn read_header(input: impl Read) -> Result<Header, ReadError> {
    next_header(&mut Lines::of(input)?, &mut SealCheck::default())
}

fn next_header<R: Read>(lines: &mut Lines<R>, seals: &mut SealCheck) -> Result<Header, ReadError> {
    match lines.next_line()? {
        None if lines.is_torn() => Err(ReadError::TornHeader),
        None => Err(ReadError::Empty),
        Some(text) if !text.ends_with(b"\n") && begins_as_header(&text) => {
            Err(ReadError::TornHeader)
        }
        Some(text) => parse_header(&text, seals),
    }
}

/// Whether a line is a header as far as it goes: anything else that has no end is no record.
fn begins_as_header(text: &[u8]) -> bool {
    const BEGIN: &[u8] = b"{\"header\"";
    text.iter().zip(BEGIN).all(|(byte, begin)| byte == begin)
}

pub(crate) fn parse_line(text: &[u8]) -> Result<(Line, Option<Seal>), String> {
    let fields: LineFields = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let seal = fields.seal;
    Ok((Line::try_from(fields)?, seal))
}

fn parse_header(text: &[u8], seals: &mut SealCheck) -> Result<Header, ReadError> {
    // The schema is looked at before the rest, so that a record of another
    // version is called that and not "malformed".
    #[derive(serde::Deserialize)]
    struct HeaderLine {
        header: SchemaOnly,
    }
    #[derive(serde::Deserialize)]
    struct SchemaOnly {
        schema: String,
    }
    let malformed = |what: String| ReadError::malformed(1, &what);
    let no_header = |error: serde_json::Error| malformed(format!("not a record's header: {error}"));
    let HeaderLine { header: SchemaOnly { schema } } =
        serde_json::from_slice(text).map_err(no_header)?;
    if schema != SCHEMA {
        return Err(ReadError::Schema { found: schema });
    }
    let (line, seal) = parse_line(text).map_err(malformed)?;
    let Line::Header(header) = line else {
        return Err(malformed("not a record's header".into()));
    };
    check_header(&header).map_err(malformed)?;
    seals.take(text, seal);
    Ok(*header)
}

/// The lines of a record in either form.
pub(crate) struct Lines<R: Read> {
    text: Text<R>,
    number: u64,
    length: u64,
}

/// A record's bytes, of which the first were looked at.
type Whole<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

enum Text<R: Read> {
    Plain(BufReader<Whole<R>>),
    Compressed(BufReader<FrameReader<Whole<R>>>),
}

impl<R: Read> Lines<R> {
    /// Finds out the form, whatever the file is called.
    pub fn of(mut input: R) -> Result<Self, ReadError> {
        let mut first = Vec::new();
        input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut first)?;
        let is_compressed = first == MAGIC;
        let whole = io::Cursor::new(first).chain(input);
        let text = if is_compressed {
            Text::Compressed(BufReader::new(FrameReader::new(whole)))
        } else {
            Text::Plain(BufReader::new(whole))
        };
        Ok(Self { text, number: 0, length: 0 })
    }

    /// The next line with its end, `None` at the end of the input.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut text = Vec::new();
        let limit = MAX_LINE_BYTES as u64 + 1;
        self.number += 1;
        let line = self.number;
        let read = match &mut self.text {
            Text::Plain(input) => input.take(limit).read_until(b'\n', &mut text)?,
            Text::Compressed(input) => {
                let read = input.take(limit).read_until(b'\n', &mut text);
                read.map_err(|cause| ReadError::Damaged { line, cause })?
            }
        };
        if read > MAX_LINE_BYTES {
            return Err(ReadError::TooLong { line });
        }
        self.length += read as u64;
        if self.length > MAX_RECORD_BYTES {
            return Err(ReadError::TooLarge { line });
        }
        Ok((read > 0).then_some(text))
    }

    /// How many lines were read.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the input ended within a frame.
    fn is_torn(&self) -> bool {
        match &self.text {
            Text::Plain(_) => false,
            Text::Compressed(input) => input.get_ref().is_torn(),
        }
    }

    /// Where the file goes on, of which this many bytes of text are whole lines.
    fn end(self, length: u64) -> FileEnd {
        match self.text {
            Text::Plain(_) => FileEnd::Lines { length },
            Text::Compressed(input) => {
                let (length, lines_after) = input.into_inner().end();
                FileEnd::Frames { length, lines_after }
            }
        }
    }
}
