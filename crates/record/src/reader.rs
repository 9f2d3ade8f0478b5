//! Reads a record, whoever wrote it. A torn last line (the program was killed, or
//! the disk was full) is dropped; anything else that is wrong is an error that
//! names the line.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read};

use nearfar_machine::MemoryModule;

use crate::absent::{Absent, ReasonCode};
use crate::case::Case;
use crate::header::{Header, SCHEMA};
use crate::line::{Finished, Line, Resumed, Warning};
use crate::sample::Sample;

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
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input failed.
    #[error("the record cannot be read")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("the record is empty; a record begins with a header line")]
    Empty,
    /// The program was killed before the first line was whole.
    #[error("the record ends within its header, nothing was measured; begin again with --force")]
    TornHeader,
    /// A line is too long.
    #[error("line {line} of the record is longer than 16 MiB")]
    TooLong {
        /// Its number, from 1.
        line: u64,
    },
    /// A line is not what it should be.
    #[error("line {line} of the record cannot be understood: {what}")]
    Malformed {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The format is another.
    #[error("the record's format is '{found}'; this program reads {SCHEMA}")]
    Schema {
        /// What the header says.
        found: String,
    },
}

/// Reads a whole record.
///
/// # Errors
/// When the input fails, is no record of this format, or contradicts itself.
pub fn read_record(input: impl Read) -> Result<Record, ReadError> {
    let mut lines = Lines { input: io::BufReader::new(input), number: 0, length: 0 };
    let header = match lines.next_line()? {
        None => return Err(ReadError::Empty),
        Some(text) if !text.ends_with(b"\n") => return Err(ReadError::TornHeader),
        Some(text) => parse_header(&text)?,
    };
    let mut record = Record { length: lines.length, ..Record::new(header) };
    let mut seen = Seen::default();
    while let Some(text) = lines.next_line()? {
        if !text.ends_with(b"\n") {
            record.torn = true;
            break;
        }
        let malformed = |what: String| ReadError::Malformed { line: lines.number, what };
        let line: Line =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        match line {
            Line::Header(_) => return Err(malformed("a second header".into())),
            Line::Case(case) => {
                seen.case(&case).map_err(malformed)?;
                record.cases.push(case);
            }
            Line::Sample(sample) => {
                seen.sample(&sample).map_err(malformed)?;
                record.samples.push(sample);
            }
            Line::Absent(absent) => record.absent.push(absent),
            Line::Warning(warning) => record.add_warning(warning),
            Line::Resumed(resumed) => record.note_resumed(resumed),
            Line::Finished(finished) => record.note_finished(finished),
        }
        record.length = lines.length;
    }
    record.drop_superseded_refusals();
    Ok(record)
}

impl Record {
    /// A record of which only the header is there yet.
    #[must_use]
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
        self.absent.retain(|absent| absent.reason.code != ReasonCode::Budget);
        self.warnings.retain(|warning| !warning.of_samples);
    }

    /// A run of the program has ended in order.
    pub fn note_finished(&mut self, finished: Finished) {
        self.seconds += finished.seconds;
        self.finished = Some(finished);
    }

    /// A refusal no longer stands where the case was measured in that round later.
    fn drop_superseded_refusals(&mut self) {
        let measured: HashSet<(&str, u32)> =
            self.samples.iter().map(|sample| (sample.case.as_str(), sample.round)).collect();
        self.absent.retain(|absent| {
            absent.round.is_none_or(|round| !measured.contains(&(absent.case.as_str(), round)))
        });
    }
}

fn parse_header(text: &[u8]) -> Result<Header, ReadError> {
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
    let malformed = |error: serde_json::Error| ReadError::Malformed {
        line: 1,
        what: format!("not a record's header: {error}"),
    };
    let HeaderLine { header: SchemaOnly { schema } } =
        serde_json::from_slice(text).map_err(malformed)?;
    if schema != SCHEMA {
        return Err(ReadError::Schema { found: schema });
    }
    let header = match serde_json::from_slice(text).map_err(malformed)? {
        Line::Header(header) => *header,
        _ => return Err(ReadError::Malformed { line: 1, what: "not a record's header".into() }),
    };
    match contradiction(&header) {
        None => Ok(header),
        Some(what) => Err(ReadError::Malformed { line: 1, what }),
    }
}

/// What in a header cannot have been written by this program.
fn contradiction(header: &Header) -> Option<String> {
    /// Far above what any suite asks for; the engine makes room for so many.
    const MOST_WINDOWS: u32 = 10_000;
    let inputs = &header.inputs;
    let mut modules = header.machine.memory_modules.iter().flatten();
    if let Some(absurd) = modules.find_map(MemoryModule::absurdity) {
        return Some(absurd);
    }
    if header.fingerprint != header.machine.fingerprint() {
        return Some("the fingerprint is not that of the machine beside it".into());
    }
    if inputs.min_rounds == 0 || inputs.max_rounds < inputs.min_rounds {
        return Some(format!("{} to {} rounds", inputs.min_rounds, inputs.max_rounds));
    }
    if inputs.windows_per_round == 0 || inputs.windows_per_round > MOST_WINDOWS {
        return Some(format!("{} windows a round", inputs.windows_per_round));
    }
    None
}

/// What was read so far, to catch lines that contradict each other.
#[derive(Default)]
struct Seen {
    /// Number of actors and threads of each case.
    cases: HashMap<String, Vec<usize>>,
    windows: HashSet<(String, u32, u32)>,
    next_sequence: u64,
}

impl Seen {
    fn case(&mut self, case: &Case) -> Result<(), String> {
        let threads = case
            .actors
            .iter()
            .map(|crate::case::Actor::Stream(stream)| stream.threads as usize)
            .collect();
        match self.cases.insert(case.id.clone(), threads) {
            None => Ok(()),
            Some(_) => Err(format!("the case {} stands there twice", case.id)),
        }
    }

    fn sample(&mut self, sample: &Sample) -> Result<(), String> {
        let Some(actors) = self.cases.get(&sample.case) else {
            return Err(format!("a sample of the case {}, which is not planned", sample.case));
        };
        if sample.sequence < self.next_sequence {
            return Err(format!("sample {} comes after a later one", sample.sequence));
        }
        self.next_sequence = sample
            .sequence
            .checked_add(1)
            .ok_or_else(|| format!("{} is no sample's number", sample.sequence))?;
        if !self.windows.insert((sample.case.clone(), sample.round, sample.window)) {
            return Err(format!(
                "window {} of round {} of the case {} stands there twice",
                sample.window, sample.round, sample.case
            ));
        }
        if sample.window_ns == 0 {
            return Err("a window without length".into());
        }
        let threads: Vec<usize> = sample.actors.iter().map(|actor| actor.threads.len()).collect();
        if threads != *actors {
            return Err(format!("the sample's threads {threads:?} are not the case's {actors:?}"));
        }
        for actor in &sample.actors {
            let sum: u128 =
                actor.threads.iter().map(|thread| u128::from(thread.useful_bytes)).sum();
            if sum != u128::from(actor.useful_bytes) {
                return Err(format!(
                    "useful_bytes is {} but its threads' sum is {sum}",
                    actor.useful_bytes
                ));
            }
            if actor.traffic_bytes_min > actor.traffic_bytes_max {
                return Err("traffic_bytes_min is above traffic_bytes_max".into());
            }
        }
        Ok(())
    }
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
