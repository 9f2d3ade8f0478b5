//! What `characterize` says when it ends.

use std::collections::HashSet;
use std::time::Duration;

use nearfar_model::{ModelChoices, advising_command, command_on};
use nearfar_record::{Absence, Executor, Experiment, Record, Warning};
use nearfar_units::{Bytes, format_duration};
use serde::Serialize;

use super::figures::{count, simulated_line};
use super::show::first_screen;
use super::sources::Sources;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};

/// The end of a measurement; `characterize --json` prints it, to standard error with `--out -`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredRecord {
    pub schema: &'static str,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
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
    /// Seconds of this run; of a simulated machine's own clock.
    pub seconds: f64,
    /// The signal that ended it, or null.
    pub interrupted_by: Option<i32>,
    /// What the reader of the figures should know.
    pub warnings: Vec<Warning>,
}

impl MeasuredRecord {
    /// For people: what was measured, what it says, and where it is.
    pub fn answer(&self, record: &Record) -> Answer {
        let sources = Sources::with_models(record, &ModelChoices::default(), &[]);
        let counts = self.counts(record);
        let counts = (!counts.is_empty()).then(|| Part::words("", counts));
        let path = Part::words("record  ", &self.record);
        let advise = advising_command(record).map(|it| (it, "where to put a program".into()));
        let advise = advise.into_iter();
        first_screen(&sources)
            .and_all(Shown::Always, counts)
            .and_gap()
            .and(Shown::Always, path)
            .and(
                Shown::Always,
                Part::Next(
                    advise
                        .chain([(
                            command_on(record, "report", "-o FILE.html"),
                            "the whole picture as a page".into(),
                        )])
                        .collect(),
                ),
            )
    }

    /// What has no figure; empty where all has.
    fn counts(&self, record: &Record) -> String {
        let sampled: HashSet<&str> = record.samples.iter().map(|it| it.case.as_str()).collect();
        let refused = record.absent.iter().filter(|it| it.absence == Absence::Refused);
        let refused: HashSet<&str> = refused.map(|it| it.case.as_str()).collect();
        // A case that was refused in a later round has samples as well.
        let are = |is_sampled: bool, is_refused: bool| {
            let is_so = |case: &&str| {
                (sampled.contains(case), refused.contains(case)) == (is_sampled, is_refused)
            };
            record.cases.iter().map(|case| case.id.as_str()).filter(is_so).count()
        };
        let (missing, in_some) = (are(false, false), are(true, true));
        let said = [
            (missing, "not measured"),
            (self.refused.saturating_sub(in_some), "refused by the machine"),
            (in_some, "refused in some rounds"),
            (self.omitted, "more omitted"),
        ];
        let said = said.into_iter().filter(|(cases, _)| *cases > 0);
        let said: Vec<String> = said.map(|(cases, how)| format!("{cases} {how}")).collect();
        if said.is_empty() {
            return String::new();
        }
        let planned = count(self.cases, "case");
        let show = command_on(record, "show", "--full");
        format!("{planned} planned, {}: {show} says why.", said.join(", "))
    }
}

/// Whose seconds they are.
fn clock_words(executor: Executor) -> &'static str {
    match executor {
        Executor::Native => "",
        Executor::Simulated => " of the simulated machine's own clock",
    }
}

/// What a measurement would take; `characterize --dry-run --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryRun {
    pub schema: &'static str,
    /// Whether a machine would be measured or simulated.
    pub executor: Executor,
    /// Cases that would be run; where a suite screens variants first, with as many
    /// variants as would be kept.
    pub cases: usize,
    /// Rounds at most.
    pub rounds: u32,
    /// Seconds at most; of a simulated machine's own clock.
    pub seconds_at_most: f64,
    /// Most memory mapped at a time.
    pub buffers_bytes: u64,
    /// First touch by one thread, as it was seen just now or by the simulated machine's file,
    /// GB/s.
    pub touch_gb_per_s: f64,
    /// A copy by one thread, likewise, GB/s.
    pub copy_gb_per_s: f64,
    /// How many of the cases each experiment has.
    pub experiments: Vec<PlannedExperiment>,
    /// The ids of the cases.
    pub case_ids: Vec<String>,
}

/// An experiment of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedExperiment {
    pub experiment: Experiment,
    pub cases: usize,
}

impl DryRun {
    /// For people.
    pub fn answer(&self) -> Answer {
        let simulated = simulated_line(self.executor).unwrap_or_default();
        let rates = format!(
            "by a copy at {:.1} GB/s and first touch at {:.1} GB/s, one thread",
            self.copy_gb_per_s, self.touch_gb_per_s
        );
        let (memory, source) = match self.executor {
            Executor::Native => ("memory", "looked at just now"),
            Executor::Simulated => ("simulated memory", "by the machine's file"),
        };
        let time = format_duration(Duration::from_secs_f64(self.seconds_at_most));
        let clock = clock_words(self.executor);
        let says = [
            (
                "cases      ",
                format!("{}, at most {}", self.cases, count(self.rounds as usize, "round")),
            ),
            ("time       ", format!("at most {time}{clock}")),
            ("memory     ", format!("{} of {memory}", Bytes(self.buffers_bytes))),
            ("estimated  ", format!("{rates}, {source}")),
        ];
        let says = says.into_iter().map(|(first, words)| Part::words(first, words));
        let ids = self.case_ids.iter().map(|id| Part::words("", id));
        let rows = self.experiments.iter();
        let rows = rows.map(|it| vec![Cell::text(it.experiment), Cell::text(it.cases)]);
        let table = Table::new("By experiment", ["experiment", "cases"].map(Column::words), rows);
        let caution = (!simulated.is_empty()).then(|| Part::words("", simulated));
        Answer::default()
            .and_all(Shown::Always, caution.into_iter().chain(says))
            .and(Shown::First, Part::table(table))
            .and_all(Shown::First, [Part::Gap, Part::words("", "--verbose names every case.")])
            .and_all(Shown::Full, [Part::Gap])
            .and_all(Shown::Full, ids)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::answer::Room;

    const ROOM: Room = Room { width: 80, full: false };

    fn plan(executor: Executor) -> DryRun {
        DryRun {
            schema: "nearfar.dry-run/1",
            executor,
            cases: 1,
            rounds: 7,
            seconds_at_most: 53.0,
            buffers_bytes: 1 << 20,
            touch_gb_per_s: 9.3,
            copy_gb_per_s: 9.3,
            experiments: vec![PlannedExperiment { experiment: Experiment::Pairs, cases: 1 }],
            case_ids: vec!["pairs/load".into()],
        }
    }

    /// Whoever reads "at most 53 s" and waits a second must know whose seconds.
    #[test]
    fn simulated_seconds_and_rates_say_that_they_are() {
        let text = [Executor::Simulated, Executor::Native]
            .map(|executor| plan(executor).answer().text(ROOM));
        expect_file!["../../tests/golden/characterize.txt"].assert_eq(&text.join("\n"));
    }
}
