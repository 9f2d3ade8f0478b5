//! Reads a record, whoever wrote it. A torn last line (the program was killed, or
//! the disk was full) is dropped; anything else that is wrong is an error that
//! names the line.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, Read};

use nearfar_units::{excerpt, excerpt_of};

use crate::absent::{Absent, ReasonCode};
use crate::case::Case;
use crate::contradiction::{History, check_header};
use crate::header::{Header, SCHEMA};
use crate::line::{Finished, Line, LineFields, Resumed, Warning};
use crate::sample::Sample;
use crate::seal::{Seal, SealCheck, Sealing};

/// Longer lines are refused before they are parsed.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// A record in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The first line.
    pub header: Header,
    /// All cases, in the order of the plan.
    pub cases: Vec<Case>,
    /// All samples, in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// All that was not measured.
    pub absent: Vec<Absent>,
    /// All warnings that hold, each code once.
    pub warnings: Vec<Warning>,
    /// Later runs of the program that went on with it.
    pub resumed: Vec<Resumed>,
    /// The last orderly end; `None` when the last run of the program was killed or goes on.
    pub finished: Option<Finished>,
    /// Seconds that all runs measured which ended in order.
    pub seconds: f64,
    /// Bytes up to the last whole line.
    pub length: u64,
    /// Whether a torn last line was dropped.
    pub torn: bool,
    /// Whether its lines are those that were written, as far as their seals tell.
    pub sealing: Sealing,
    /// The seal that the next line goes on from; `None` before the first line.
    pub seal: Option<Seal>,
}

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
    /// A line is too long.
    #[error("line {line} of the record is longer than 16 MiB")]
    TooLong { line: u64 },
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
    let record = read_record_with(input, |sample| samples.push(sample))?;
    Ok(Record { samples, ..record })
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
    let mut lines = Lines { input: io::BufReader::new(input), number: 0, length: 0 };
    let mut seals = SealCheck::default();
    let header = match lines.next_line()? {
        None => return Err(ReadError::Empty),
        Some(text) if !text.ends_with(b"\n") => return Err(ReadError::TornHeader),
        Some(text) => parse_header(&text, &mut seals)?,
    };
    let mut history = History::new(&header);
    let mut record = Record { length: lines.length, ..Record::new(header) };
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
                take(sample);
            }
            Line::Absent(absent) => record.absent.push(absent),
            Line::Warning(warning) => record.add_warning(warning),
            Line::Resumed(resumed) => record.note_resumed(resumed),
            Line::Finished(finished) => record.note_finished(finished),
        }
        record.length = lines.length;
    }
    record.seal = seals.last();
    record.sealing = seals.sealing();
    // A refusal no longer stands where the case was measured in that round later.
    record.absent.retain(|absent| {
        let rounds = measured.get(&absent.case);
        absent.round.is_none_or(|round| !rounds.is_some_and(|rounds| rounds.contains(&round)))
    });
    Ok(record)
}

fn parse_line(text: &[u8]) -> Result<(Line, Option<Seal>), String> {
    let fields: LineFields = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let seal = fields.seal;
    Ok((Line::try_from(fields)?, seal))
}

impl Record {
    /// A record of which only the header is there yet.
    pub fn new(header: Header) -> Self {
        Self {
            header,
            cases: Vec::new(),
            samples: Vec::new(),
            absent: Vec::new(),
            warnings: Vec::new(),
            resumed: Vec::new(),
            finished: None,
            seconds: 0.0,
            length: 0,
            torn: false,
            sealing: Sealing::Fits,
            seal: None,
        }
    }

    /// Takes a warning in; a later one of the same code replaces an earlier one.
    pub fn add_warning(&mut self, warning: Warning) {
        self.warnings.retain(|known| known.code != warning.code);
        self.warnings.push(warning);
    }

    /// A later run of the program goes on. What the earlier one said of its own end
    /// no longer holds: that its budget ended, and what it found in its samples.
    pub fn note_resumed(&mut self, resumed: Resumed) {
        self.resumed.push(resumed);
        self.finished = None;
        let may_come = [ReasonCode::Budget, ReasonCode::UnmeasuredInput];
        self.absent.retain(|absent| !may_come.contains(&absent.reason.code));
        self.warnings.retain(|warning| !warning.of_samples);
    }

    /// A run of the program has ended in order.
    pub fn note_finished(&mut self, finished: Finished) {
        self.seconds += finished.seconds;
        self.finished = Some(finished);
    }
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

struct Lines<R> {
    input: R,
    number: u64,
    length: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line with its end, `None` at the end of the input.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut text = Vec::new();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut text)?;
        self.number += 1;
        if read > MAX_LINE_BYTES {
            return Err(ReadError::TooLong { line: self.number });
        }
        self.length += read as u64;
        Ok((read > 0).then_some(text))
    }
}
