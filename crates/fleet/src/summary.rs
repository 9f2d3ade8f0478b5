//! What one measurement of one machine comes to, in one line of JSON beside its record: so that thousands are
//! compared without reading a sample. It is written whatever became of the measurement.

use std::collections::BTreeMap;

use nearfar_model::{CaseStanding, Quantity, case_medians};
use nearfar_record::{Absence, Coordinates, Record};
use nearfar_units::{Unit, excerpt, excerpt_of};
use serde::{Deserialize, Serialize};

use crate::identity::Identity;
use crate::kind::{MachineKind, configuration};
use crate::machine_name::MachineName;

/// Name and version of the format.
pub const SUMMARY_SCHEMA: &str = "nearfar.machine-summary/1";

/// The largest that is read: some 100,000 cells.
pub const MAX_SUMMARY_BYTES: usize = 32 << 20;

/// Characters of what a reader of JSON says of a stranger's text.
pub(crate) const MOST_OF_ERROR: usize = 300;

/// One measurement of one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineSummary {
    pub schema: String,
    /// What the machine is called in the run.
    pub machine: MachineName,
    /// When measuring began: RFC 3339, UTC, by the machine's own clock.
    pub started: String,
    /// When it ended.
    pub ended: String,
    pub status: MeasurementStatus,
    /// Why it failed or ended early; null where it did neither.
    pub why: Option<String>,
    /// Why it is of a part of the machine, which no whole machine is compared with; null: it is of all.
    pub partial: Option<String>,
    /// Name of the record's file, in the same folder; null: there is none.
    pub record: Option<String>,
    /// What groups are made by; null where the machine could not be read.
    pub kind: Option<MachineKind>,
    /// What may explain a difference, by name; what is not known is not there.
    pub configuration: BTreeMap<String, String>,
    pub identity: Identity,
    pub health: MeasurementHealth,
    /// The median of every cell that was measured.
    pub cells: Vec<SummaryCell>,
    /// Cells that have none, by why: their number.
    pub absent: BTreeMap<String, u64>,
}

/// What became of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeasurementStatus {
    /// All that was asked for was measured, or omitted or refused with its reason.
    Measured,
    /// The budget ended it; what there is was kept.
    OutOfTime,
    /// A signal ended it; what there is was kept.
    Interrupted,
    /// Nothing, or nothing whole, was measured.
    Failed,
}

/// What can have disturbed a measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasurementHealth {
    /// Codes of the record's warnings.
    pub warnings: Vec<String>,
    /// Share of the samples in which something else ran.
    pub disturbed: f64,
    /// Cases that the machine refused.
    pub refused: u64,
    /// Threads ready to run, averaged over the minute before; null: not known.
    pub load_average: Option<f64>,
}

/// A case's median over rounds; one of the three figures is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummaryCell {
    /// Its id in the record.
    pub case: String,
    /// Number of the initiator that accesses; not there where there is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The node that is accessed; not there where there is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gb_per_s: Option<MedianSpan>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gflop_per_s: Option<MedianSpan>,
    /// Of an access: less is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns: Option<MedianSpan>,
    /// Rounds behind it.
    pub rounds: u64,
}

/// A median and the ends of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MedianSpan {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// How a measurement ended, as the program knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurementEnd {
    pub ended: String,
    pub status: MeasurementStatus,
    pub why: Option<String>,
    pub partial: Option<String>,
    pub record: Option<String>,
}

/// Why a summary could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    #[error("it is empty or ends within its line: its writer was stopped, or the disk was full")]
    Torn,
    #[error("its format is '{}', this program reads {SUMMARY_SCHEMA}", excerpt(.0))]
    OtherVersion(String),
    #[error("it is larger than {MAX_SUMMARY_BYTES} bytes")]
    TooLarge,
    #[error("{0}")]
    Invalid(String),
}

impl MachineSummary {
    /// A summary of a record and of how its measurement ended.
    pub fn new(
        machine: MachineName,
        record: &Record,
        identity: Identity,
        end: MeasurementEnd,
    ) -> Self {
        let header = &record.header;
        let disturbed = record.disturbed_samples();
        let refused =
            record.absent.iter().filter(|absent| absent.absence == Absence::Refused).count();
        let (cells, absent) = cells(record);
        Self {
            started: header.started.clone(),
            kind: Some(MachineKind::of(header)),
            configuration: configuration(header),
            health: MeasurementHealth {
                warnings: record.warnings.iter().map(|warning| warning.code.clone()).collect(),
                disturbed: disturbed as f64 / record.samples.len().max(1) as f64,
                refused: refused as u64,
                load_average: header.environment.load_average,
            },
            cells,
            absent,
            ..Self::without_record(machine, identity, end)
        }
    }

    /// A summary of a record that machines are compared with.
    pub fn of_target(record: &Record) -> Self {
        let end = MeasurementEnd {
            ended: record.header.started.clone(),
            status: MeasurementStatus::Measured,
            why: None,
            partial: None,
            record: None,
        };
        Self::new(MachineName::of_target(), record, Identity::default(), end)
    }

    /// A summary of a measurement that came to no record.
    pub fn without_record(machine: MachineName, identity: Identity, end: MeasurementEnd) -> Self {
        Self {
            schema: SUMMARY_SCHEMA.into(),
            machine,
            started: end.ended.clone(),
            ended: end.ended,
            status: end.status,
            why: end.why,
            partial: end.partial,
            record: end.record,
            kind: None,
            configuration: BTreeMap::new(),
            identity,
            health: MeasurementHealth::default(),
            cells: Vec::new(),
            absent: BTreeMap::new(),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// Where it is torn, of another version, or says what cannot be.
    pub fn read(bytes: &[u8]) -> Result<Self, SummaryError> {
        #[derive(Deserialize)]
        struct OfVersion {
            schema: String,
        }
        if bytes.len() > MAX_SUMMARY_BYTES {
            return Err(SummaryError::TooLarge);
        }
        let summary: Self = serde_json::from_slice(bytes).map_err(|error| {
            match serde_json::from_slice::<OfVersion>(bytes) {
                Ok(other) if other.schema != SUMMARY_SCHEMA => {
                    SummaryError::OtherVersion(other.schema)
                }
                Err(_) if error.is_eof() || bytes.iter().all(|byte| *byte == 0) => {
                    SummaryError::Torn
                }
                _ => SummaryError::Invalid(excerpt_of(&error.to_string(), MOST_OF_ERROR)),
            }
        })?;
        if summary.schema != SUMMARY_SCHEMA {
            return Err(SummaryError::OtherVersion(summary.schema));
        }
        match summary.cells.iter().find(|cell| !cell.is_sound()) {
            Some(cell) => Err(SummaryError::Invalid(format!(
                "the figure of '{}' is none: a median lies above 0 and within its interval",
                excerpt(&cell.case)
            ))),
            None => Ok(summary),
        }
    }

    /// As it is written: a line.
    ///
    /// # Errors
    /// Where a figure is no number.
    pub fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl SummaryCell {
    /// Its figure, and whether less of it is better.
    pub fn figure(&self) -> Option<(MedianSpan, bool)> {
        let of_rate = self.gb_per_s.or(self.gflop_per_s).map(|span| (span, false));
        of_rate.or_else(|| self.ns.map(|span| (span, true)))
    }

    /// What its figure counts, where it is a rate.
    pub(crate) fn rate_unit(&self) -> Unit {
        if self.gflop_per_s.is_some() { Unit::GflopPerS } else { Unit::GbPerS }
    }

    fn is_sound(&self) -> bool {
        let count = [self.gb_per_s, self.gflop_per_s, self.ns].iter().flatten().count();
        count == 1
            && self.figure().is_some_and(|(span, _)| {
                // Quotients of what is further away are no numbers any more.
                span.low >= 1e-9
                    && span.high <= 1e12
                    && span.low <= span.median
                    && span.median <= span.high
            })
    }
}

fn cells(record: &Record) -> (Vec<SummaryCell>, BTreeMap<String, u64>) {
    let mut cells = Vec::new();
    let mut absent = BTreeMap::new();
    for (case, median) in case_medians(record) {
        let (quantity, median) = match median {
            Ok(found) => found,
            Err(standing) => {
                *absent.entry(CaseStanding::as_str(&standing).into()).or_default() += 1;
                continue;
            }
        };
        let span = |unit: f64| MedianSpan {
            median: median.median / unit,
            low: median.interval.0 / unit,
            high: median.interval.1 / unit,
        };
        let (from, to) = place(&case.coordinates);
        cells.push(SummaryCell {
            case: case.id.clone(),
            from,
            to,
            gb_per_s: (quantity == Quantity::Bandwidth).then(|| span(1e9)),
            gflop_per_s: (quantity == Quantity::Arithmetic).then(|| span(1e9)),
            ns: (quantity == Quantity::AccessTime).then(|| span(1.0)),
            rounds: median.count as u64,
        });
    }
    (cells, absent)
}

/// Who accesses which node, of a case in which one does.
fn place(coordinates: &[Coordinates]) -> (Option<u32>, Option<u32>) {
    match coordinates.first() {
        Some(Coordinates::Pairs(pair)) => (Some(pair.initiator), Some(pair.memory_node)),
        Some(Coordinates::Latency(access)) => (Some(access.initiator), Some(access.memory_node)),
        _ => (None, None),
    }
}
