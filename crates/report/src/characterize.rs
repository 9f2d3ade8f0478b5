//! What `characterize` says when it ends.

use std::time::Duration;

use nearfar_record::Warning;
use nearfar_units::{Bytes, format_duration};
use serde::Serialize;

use crate::printable::printable;

/// The end of a measurement; `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CharacterizeView {
    /// `nearfar.characterize/1`
    pub schema: &'static str,
    /// The record's path; `-` for standard output.
    pub record: String,
    /// Cases planned.
    pub cases: usize,
    /// Cases with at least one sample.
    pub measured: usize,
    /// Cases or groups of cases that were not asked for or do not apply.
    pub omitted: usize,
    /// Cases that the machine refused in at least one round.
    pub refused: usize,
    /// Samples in the record.
    pub samples: usize,
    /// Seconds of this run.
    pub seconds: f64,
    /// The signal that ended it, or null.
    pub interrupted_by: Option<i32>,
    /// What the reader of the figures should know.
    pub warnings: Vec<Warning>,
}

impl CharacterizeView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} of {} cases measured, {} samples, in {}",
            self.measured,
            self.cases,
            self.samples,
            format_duration(Duration::from_secs_f64(self.seconds))
        );
        if self.omitted > 0 {
            text += &format!("; {} omitted", self.omitted);
        }
        if self.refused > 0 {
            text += &format!("; {} refused by the machine", self.refused);
        }
        text.push('\n');
        if self.interrupted_by.is_some() {
            text += "interrupted; all samples are kept, go on with --resume\n";
        }
        text + &format!("record: {}\n", printable(&self.record))
    }
}

/// What a measurement would take; `--dry-run --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DryRunView {
    /// `nearfar.dry-run/1`
    pub schema: &'static str,
    /// Cases that would be run; where a suite screens variants first, with as many
    /// variants as would be kept.
    pub cases: usize,
    /// Rounds at most.
    pub rounds: u32,
    /// Seconds at most.
    pub seconds_at_most: f64,
    /// Most memory mapped at a time.
    pub buffers_bytes: u64,
    /// First touch by one thread, as it was seen just now, GB/s.
    pub touch_gb_per_s: f64,
    /// A copy by one thread, as it was seen just now, GB/s.
    pub copy_gb_per_s: f64,
    /// The ids of the cases.
    pub case_ids: Vec<String>,
}

impl DryRunView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for id in &self.case_ids {
            text += &format!("{}\n", printable(id));
        }
        text + &format!(
            "{} cases, at most {} rounds: at most {}, {} of memory (by a copy at {:.1} GB/s and first \
             touch at {:.1} GB/s, one thread, looked at just now)\n",
            self.cases,
            self.rounds,
            format_duration(Duration::from_secs_f64(self.seconds_at_most)),
            Bytes(self.buffers_bytes),
            self.copy_gb_per_s,
            self.touch_gb_per_s
        )
    }
}
