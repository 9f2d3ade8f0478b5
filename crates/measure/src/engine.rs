//! The measuring loop: rounds over the cases of a plan, every sample written as
//! it is taken, until the stopping rule, the budget or a signal ends it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use nearfar_record::{
    Absence, Absent, Case, Finished, Header, History, Line, Reason, ReasonCode, Record,
    RecordWriter, Resumed, SCREENING_ROUNDS, Sample, Warning, WriteError,
};
use nearfar_units::nanoseconds;

use crate::executor::{Executor, Failure, Interrupt, OfferedVariants, Window, WindowRequest};
use crate::experiment::pairs;
use crate::schedule::{StoppingRule, shuffle};
use crate::warning;

/// What the measuring loop tells its watcher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Status<'a> {
    /// The case that has just been run.
    pub case: &'a str,
    /// Round that is running, from 0.
    pub round: u32,
    /// Runs of cases done, all rounds.
    pub done: u64,
    /// Runs of cases expected at most, all rounds.
    pub expected: u64,
}

/// How measuring ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The record as it stands in the file.
    pub record: Record,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
    /// Time of this run of the program.
    pub elapsed: Duration,
    /// Cases that the machine refused in this run of the program.
    pub refused: usize,
}

/// Measures what a record's header asks for. `record` holds what is there already:
/// the header alone for a new record, all earlier lines for one that is resumed.
pub struct Engine<'a> {
    executor: &'a mut dyn Executor,
    writer: &'a mut RecordWriter,
    interrupt: &'a Interrupt,
    watch: &'a mut dyn FnMut(Status<'_>),
    record: Record,
    /// What a reader of the record would know so far.
    history: History,
    /// Positions of each case's samples in the record.
    samples_of: HashMap<String, Vec<usize>>,
    sequence: u64,
    rounds_begun: u32,
    runs_done: u64,
    refused_now: HashSet<String>,
    /// The longest round so far; before the first, what was expected of it.
    longest_round: Duration,
    out_of_budget: bool,
}

impl<'a> Engine<'a> {
    /// Prepares to measure into `writer`.
    pub fn new(
        executor: &'a mut dyn Executor,
        writer: &'a mut RecordWriter,
        interrupt: &'a Interrupt,
        watch: &'a mut dyn FnMut(Status<'_>),
        record: Record,
    ) -> Self {
        let mut samples_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, sample) in record.samples.iter().enumerate() {
            samples_of.entry(sample.case.clone()).or_default().push(position);
        }
        let sequence = record.samples.last().map_or(0, |sample| sample.sequence + 1);
        Self {
            executor,
            writer,
            interrupt,
            watch,
            history: History::of(&record),
            record,
            samples_of,
            sequence,
            rounds_begun: 0,
            runs_done: 0,
            refused_now: HashSet::new(),
            longest_round: Duration::ZERO,
            out_of_budget: false,
        }
    }

    /// Says how long a round is expected to take, so that a budget holds for the first.
    pub fn expect_round(&mut self, time: Duration) {
        self.longest_round = time;
    }

    /// Writes the header of a new record.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn begin(&mut self, warnings: &[Warning]) -> Result<(), WriteError> {
        let header = Line::Header(Box::new(self.record.header.clone()));
        self.writer.write(&header)?;
        warnings.iter().try_for_each(|warning| self.warn(warning.clone()))
    }

    /// Notes that a record is gone on with.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn resume(&mut self) -> Result<(), WriteError> {
        let resumed = Resumed {
            at: now_utc(),
            samples: self.record.samples.len() as u64,
            torn_line_dropped: self.record.torn,
            budget_ns: self.record.header.inputs.budget_ns,
        };
        self.write(&Line::Resumed(resumed.clone()))?;
        self.record.note_resumed(resumed);
        Ok(())
    }

    /// Measures all that is missing.
    ///
    /// # Errors
    /// When the record cannot be written; what was written before is kept.
    pub fn measure(mut self) -> Result<Outcome, WriteError> {
        let started = self.executor.now();
        let variants = self.executor.variants();
        let header = self.record.header.clone();
        let setting = setting(&header, &variants);
        let screening = StoppingRule {
            min_rounds: SCREENING_ROUNDS,
            max_rounds: SCREENING_ROUNDS,
            target: header.inputs.target,
        };
        self.measure_cases(pairs::screening_cases(setting), screening, started)?;
        if self.out_of_budget {
            self.note_absence(Absent {
                case: "pairs".into(),
                coordinates: Vec::new(),
                absence: Absence::Omitted,
                reason: Reason {
                    code: ReasonCode::Budget,
                    text:
                        "the budget ended while variants were screened; go on with --resume and a \
                           larger --budget"
                            .into(),
                },
                round: None,
            })?;
        } else if !self.interrupt.is_set() {
            let (choices, mut absent) = pairs::choose_variants(setting, &self.record);
            let (cases, not_applicable) = pairs::matrix_cases(setting, &choices);
            absent.extend(not_applicable);
            for absence in absent {
                self.note_absence(absence)?;
            }
            let rule = StoppingRule {
                min_rounds: header.inputs.min_rounds,
                max_rounds: header.inputs.max_rounds,
                target: header.inputs.target,
            };
            self.measure_cases(cases, rule, started)?;
        }
        self.finish(started)
    }

    fn measure_cases(
        &mut self,
        cases: Vec<Case>,
        rule: StoppingRule,
        started: Duration,
    ) -> Result<(), WriteError> {
        let known: HashSet<String> = self.record.cases.iter().map(|case| case.id.clone()).collect();
        for case in cases.iter().filter(|case| !known.contains(&case.id)) {
            self.write(&Line::Case(case.clone()))?;
            self.record.cases.push(case.clone());
        }
        let inputs = self.record.header.inputs.clone();
        let budget = inputs.budget_ns.map(Duration::from_nanos);
        for round in 0..rule.max_rounds {
            let open: Vec<&Case> = cases
                .iter()
                .filter(|case| !self.refused_now.contains(&case.id))
                .filter(|case| self.windows(&case.id, round) < inputs.windows_per_round)
                .filter(|case| !self.is_done_before(&case.id, round, rule))
                .collect();
            if open.is_empty() {
                continue;
            }
            let began = self.executor.now();
            // The next round takes about as long as the longest so far; one that
            // would end after the budget is not begun.
            if budget.is_some_and(|budget| began - started + self.longest_round > budget) {
                self.out_of_budget = true;
                break;
            }
            self.rounds_begun += 1;
            self.executor.begin_round(&open);
            let rounds_left = u64::from(rule.max_rounds - round);
            let expected = self.runs_done + open.len() as u64 * rounds_left;
            for case in shuffle(&open, inputs.seed, round) {
                if self.interrupt.is_set() {
                    return Ok(());
                }
                self.run_case(case, round)?;
                self.runs_done += 1;
                (self.watch)(Status {
                    case: &case.id,
                    round,
                    done: self.runs_done,
                    expected: expected.max(self.runs_done),
                });
            }
            self.longest_round = self.longest_round.max(self.executor.now() - began);
        }
        if self.out_of_budget {
            self.note_unmeasured(&cases)?;
        }
        Ok(())
    }

    /// Whether the rounds before this one were enough for the case.
    fn is_done_before(&self, case: &str, round: u32, rule: StoppingRule) -> bool {
        rule.looks().into_iter().filter(|&look| look <= round).any(|rounds| {
            let earlier = self.samples(case).filter(|sample| sample.round < rounds);
            earlier.clone().next().is_some() && rule.is_done(earlier)
        })
    }

    /// The samples of a case, in the order in which they were taken.
    fn samples(&self, case: &str) -> impl Iterator<Item = &Sample> + Clone {
        let positions = self.samples_of.get(case).map_or(&[][..], Vec::as_slice);
        positions.iter().map(|&position| &self.record.samples[position])
    }

    /// Windows that a case has in a round.
    fn windows(&self, case: &str, round: u32) -> u32 {
        let count = self.samples(case).filter(|sample| sample.round == round).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn run_case(&mut self, case: &Case, round: u32) -> Result<(), WriteError> {
        let inputs = &self.record.header.inputs;
        let there = self.windows(&case.id, round);
        let request = WindowRequest {
            round,
            first: there,
            count: inputs.windows_per_round - there,
            shortest: Duration::from_nanos(inputs.window_ns),
        };
        let samples = self.executor.run(case, request).and_then(|windows| {
            let samples = (there..).zip(windows).zip(self.sequence..);
            let samples: Vec<Sample> = samples
                .map(|((window, seen), sequence)| sample(case, sequence, round, window, seen))
                .collect();
            match self.history.take_samples(&self.record.header, &samples) {
                Ok(()) => Ok(samples),
                Err(what) => Err(Failure::Refused(contradiction(&what))),
            }
        });
        match samples {
            Ok(samples) => {
                for sample in samples {
                    self.sequence += 1;
                    self.writer.write(&Line::Sample(sample.clone()))?;
                    let position = self.record.samples.len();
                    self.samples_of.entry(case.id.clone()).or_default().push(position);
                    self.record.samples.push(sample);
                }
                Ok(())
            }
            Err(Failure::Interrupted) => Ok(()),
            Err(Failure::Refused(reason)) => {
                self.refused_now.insert(case.id.clone());
                self.note_absence(Absent {
                    case: case.id.clone(),
                    coordinates: case.coordinates.clone(),
                    absence: Absence::Refused,
                    reason,
                    round: Some(round),
                })
            }
        }
    }

    fn note_unmeasured(&mut self, cases: &[Case]) -> Result<(), WriteError> {
        for case in cases {
            if self.samples(&case.id).next().is_none() && !self.refused_now.contains(&case.id) {
                self.note_absence(Absent {
                    case: case.id.clone(),
                    coordinates: case.coordinates.clone(),
                    absence: Absence::Omitted,
                    reason: Reason {
                        code: ReasonCode::Budget,
                        text:
                            "the budget ended before the case was begun; go on with --resume and a \
                               larger --budget"
                                .into(),
                    },
                    round: None,
                })?;
            }
        }
        Ok(())
    }

    /// Writes an absence unless the same one stands there from an earlier run.
    fn note_absence(&mut self, absent: Absent) -> Result<(), WriteError> {
        if self.record.absent.contains(&absent) {
            return Ok(());
        }
        self.write(&Line::Absent(absent.clone()))?;
        self.record.absent.push(absent);
        Ok(())
    }

    fn warn(&mut self, warning: Warning) -> Result<(), WriteError> {
        if self.record.warnings.contains(&warning) {
            return Ok(());
        }
        self.record.add_warning(warning.clone());
        self.write(&Line::Warning(warning))
    }

    /// Writes a line that a reader of the record will take.
    fn write(&mut self, line: &Line) -> Result<(), WriteError> {
        self.history.take(&self.record.header, line).map_err(WriteError::Contradiction)?;
        self.writer.write(line)
    }

    fn finish(mut self, started: Duration) -> Result<Outcome, WriteError> {
        for warning in warning::after_measuring(&self.record, self.out_of_budget) {
            self.warn(warning)?;
        }
        let elapsed = self.executor.now() - started;
        let finished = Finished {
            at: now_utc(),
            seconds: elapsed.as_secs_f64(),
            rounds: self.rounds_begun,
            interrupted_by: self.interrupt.signal(),
            peak_resident_bytes: self.executor.peak_resident_bytes(),
        };
        self.write(&Line::Finished(finished.clone()))?;
        self.record.note_finished(finished);
        Ok(Outcome {
            record: self.record,
            interrupted_by: self.interrupt.signal(),
            elapsed,
            refused: self.refused_now.len(),
        })
    }
}

fn sample(case: &Case, sequence: u64, round: u32, window: u32, seen: Window) -> Sample {
    Sample {
        case: case.id.clone(),
        sequence,
        round,
        window,
        start_ns: nanoseconds(seen.start),
        window_ns: nanoseconds(seen.length),
        actors: seen.actors,
        disturbances: seen.disturbances,
    }
}

/// Why windows that no reader of the record would take are not written.
fn contradiction(what: &str) -> Reason {
    Reason {
        code: ReasonCode::Contradiction,
        text: format!(
            "the windows contradict themselves or the record: {what}; measure again, and report it \
             with the record if it comes back"
        ),
    }
}

/// What the experiment is made from, out of a record's header: a resumed run makes
/// the same cases again.
#[must_use]
pub fn setting<'a>(header: &'a Header, variants: &'a OfferedVariants) -> pairs::Setting<'a> {
    pairs::Setting {
        machine: &header.machine,
        inputs: &header.inputs,
        variants,
        available_bytes: header.environment.available_bytes,
        memory_bytes: header.environment.memory_bytes,
    }
}

/// Now, UTC, RFC 3339, to the second.
#[must_use]
pub fn now_utc() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
