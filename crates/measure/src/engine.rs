//! The measuring loop: rounds over the cases of a plan, every sample written as
//! it is taken, until the stopping rule, the budget or a signal ends it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use nearfar_record::{
    Absence, Absent, Appended, Case, Coordinates, Experiment, Finished, History, Inputs, Line,
    Reason, ReasonCode, Record, RecordWriter, Resumed, Rounds, Sample, TrafficMethod, Warning,
    WriteError,
};
use nearfar_units::nanoseconds;

use crate::estimate::round_time;
use crate::executor::{
    Executor, Failure, Interrupt, OfferedVariants, Rates, Window, WindowRequest,
};
use crate::experiment::{Planned, phases, plan};
use crate::schedule::{StoppingRule, order_of_round};
use crate::utc::now_utc;
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
    /// Whether what was to be added was not begun.
    pub addition_left: bool,
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
    /// Bytes/s and the like, from which rounds are expected to take their time; `None` where
    /// nobody looked.
    rates: Option<Rates>,
    /// Runs of cases of the phases after this one.
    later_runs: u64,
    out_of_budget: bool,
    /// Cases of earlier inputs.
    earlier: HashSet<String>,
    /// What is to be added once all that was asked for before is measured.
    addition: Option<Inputs>,
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
            rates: None,
            later_runs: 0,
            out_of_budget: false,
            earlier: HashSet::new(),
            addition: None,
        }
    }

    /// Says how fast the machine seemed, so that a budget holds for the first round of a phase
    /// as well.
    pub fn expect_rates(&mut self, rates: Rates) {
        self.rates = Some(rates);
    }

    /// Adds what other inputs ask for, once all that is missing is measured.
    pub fn append(&mut self, inputs: Inputs) {
        self.addition = Some(inputs);
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

    /// Notes that a record is continued.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn resume(&mut self) -> Result<(), WriteError> {
        let resumed = Resumed {
            at: now_utc(),
            samples: self.record.samples.len() as u64,
            torn_line_dropped: self.record.torn,
            budget_ns: self.record.inputs().budget_ns,
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
        self.measure_inputs(started)?;
        if !self.out_of_budget
            && !self.interrupt.is_set()
            && let Some(inputs) = self.addition.take()
        {
            let appended = Appended { at: now_utc(), inputs };
            self.write(&Line::Appended(Box::new(appended.clone())))?;
            self.record.note_appended(appended);
            self.measure_inputs(started)?;
        }
        self.finish(started)
    }

    /// Measures all that the last inputs ask for.
    fn measure_inputs(&mut self, started: Duration) -> Result<(), WriteError> {
        self.earlier = self.record.earlier_cases().iter().map(|case| case.id.clone()).collect();
        let variants = self.executor.variants();
        let all: Vec<(Experiment, u32)> = self
            .record
            .inputs()
            .experiments
            .iter()
            .flat_map(|&experiment| (0..phases(experiment)).map(move |phase| (experiment, phase)))
            .collect();
        let expected: Vec<u64> = all
            .iter()
            .map(|&(experiment, phase)| self.runs(experiment, phase, &variants))
            .collect();
        self.later_runs = expected.iter().sum();
        let mut cut_short = None;
        for (&(experiment, phase), runs) in all.iter().zip(&expected) {
            if self.interrupt.is_set() {
                break;
            }
            self.later_runs -= runs;
            if cut_short == Some(experiment) {
                self.note_unplanned(experiment)?;
                continue;
            }
            let planned = self.plan(experiment, phase, &variants);
            for absence in planned.absent {
                self.note_absence(absence)?;
            }
            // What takes longer than is left may be followed by what does not.
            if !self.measure_cases(planned.cases, started)? {
                self.out_of_budget = true;
                cut_short = Some(experiment);
            }
        }
        Ok(())
    }

    fn plan(&self, experiment: Experiment, phase: u32, variants: &OfferedVariants) -> Planned {
        plan(experiment, phase, variants, &self.record)
    }

    /// Runs of cases that a phase will have at most, as far as it can be planned now.
    fn runs(&self, experiment: Experiment, phase: u32, variants: &OfferedVariants) -> u64 {
        let inputs = self.record.inputs();
        let planned = self.plan(experiment, phase, variants);
        let rounds = planned.cases.iter().filter_map(|case| case.rounds(inputs));
        rounds.map(|rounds| u64::from(rounds.most)).sum()
    }

    /// The budget ended before a later phase could be planned.
    fn note_unplanned(&mut self, experiment: Experiment) -> Result<(), WriteError> {
        let what = "its second part, which follows from the first;";
        self.note_budget(experiment.to_string(), Vec::new(), what)
    }

    fn note_budget(
        &mut self,
        case: String,
        coordinates: Vec<Coordinates>,
        what: &str,
    ) -> Result<(), WriteError> {
        let text =
            format!("the budget ended before {what} go on with --resume and a larger --budget");
        let reason = Reason { code: ReasonCode::Budget, text };
        let absence = Absence::Omitted;
        self.note_absence(Absent { case, coordinates, absence, reason, round: None })
    }

    /// Writes the cases that the record does not hold yet. Those that it holds are measured as
    /// they stand there: what an earlier run made of the samples of a phase, a later one with
    /// more samples might make otherwise.
    fn note_cases(&mut self, planned: Vec<Case>) -> Result<Vec<Case>, WriteError> {
        let known: HashMap<String, Case> =
            self.record.cases.iter().map(|case| (case.id.clone(), case.clone())).collect();
        let mut cases = Vec::new();
        for case in planned {
            match known.get(&case.id) {
                Some(recorded) => cases.push(recorded.clone()),
                None => {
                    self.write(&Line::Case(case.clone()))?;
                    self.record.cases.push(case.clone());
                    cases.push(case);
                }
            }
        }
        Ok(cases)
    }

    /// Measures the cases of a phase; whether the budget sufficed.
    fn measure_cases(&mut self, cases: Vec<Case>, started: Duration) -> Result<bool, WriteError> {
        let cases = self.note_cases(cases)?;
        let inputs = self.record.inputs().clone();
        let budget = inputs.budget_ns.map(Duration::from_nanos);
        let often: Vec<(&Case, Rounds)> =
            cases.iter().filter_map(|case| Some((case, case.rounds(&inputs)?))).collect();
        let most = often.iter().map(|(_, rounds)| rounds.most).max().unwrap_or(0);
        // Time of a case in the slowest round so far that had most of them.
        let mut of_case: Option<Duration> = None;
        for round in 0..most {
            let open: Vec<&Case> = often
                .iter()
                .filter(|(case, _)| !self.refused_now.contains(&case.id))
                .filter(|(case, rounds)| {
                    round < rounds.most && self.windows_left(&case.id, round, rounds.windows) > 0
                })
                .filter(|(case, rounds)| {
                    let rule = StoppingRule::new(*rounds, inputs.target);
                    !self.is_done_before(&case.id, round, rule)
                })
                .map(|&(case, _)| case)
                .collect();
            if open.is_empty() {
                continue;
            }
            let count = u32::try_from(open.len()).unwrap_or(u32::MAX);
            let takes = of_case
                .map_or_else(|| self.expected_time(&open), |of_case| of_case.saturating_mul(count));
            let began = self.executor.now();
            // A round that would end after the budget is not begun.
            if budget.is_some_and(|budget| began.saturating_sub(started) + takes > budget) {
                self.note_unmeasured(&cases)?;
                return Ok(false);
            }
            self.rounds_begun += 1;
            self.executor.begin_round(&open);
            let rounds_left = u64::from(most - round);
            let expected = self.runs_done + open.len() as u64 * rounds_left + self.later_runs;
            for case in order_of_round(&open, inputs.seed, round) {
                if self.interrupt.is_set() {
                    return Ok(true);
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
            if 2 * open.len() >= cases.len() {
                let took = self.executor.now().saturating_sub(began) / count;
                of_case = Some(of_case.map_or(took, |longest| longest.max(took)));
            }
            self.writer.settle()?;
        }
        Ok(true)
    }

    /// What a round over these cases takes at most, by the look at the machine; nothing where
    /// nobody looked.
    fn expected_time(&self, cases: &[&Case]) -> Duration {
        let header = &self.record.header;
        self.rates.map_or(Duration::ZERO, |rates| {
            round_time(cases, self.record.inputs(), &header.machine, rates)
        })
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

    fn windows(&self, case: &str, round: u32) -> u32 {
        let count = self.samples(case).filter(|sample| sample.round == round).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Windows that a round of a case lacks. A round that was measured for earlier inputs lacks none,
    /// whatever these ask for: its threads and pages are gone.
    fn windows_left(&self, case: &str, round: u32, asked: u32) -> u32 {
        let there = self.windows(case, round);
        if there > 0 && self.earlier.contains(case) { 0 } else { asked.saturating_sub(there) }
    }

    fn run_case(&mut self, case: &Case, round: u32) -> Result<(), WriteError> {
        let inputs = self.record.inputs();
        let there = self.windows(&case.id, round);
        let windows = case.rounds(inputs).map_or(0, |rounds| rounds.windows);
        let request = WindowRequest {
            round,
            first: there,
            count: self.windows_left(&case.id, round, windows),
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
                    self.writer.write(&Line::Sample(Box::new(sample.clone())))?;
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
                let (id, coordinates) = (case.id.clone(), case.coordinates.clone());
                self.note_budget(id, coordinates, "the case was begun;")?;
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
        let elapsed = self.executor.now().saturating_sub(started);
        let finished = Finished {
            at: now_utc(),
            seconds: elapsed.as_secs_f64(),
            rounds: self.rounds_begun,
            interrupted_by: self.interrupt.signal(),
            peak_resident_bytes: self.executor.peak_resident_bytes(),
            cases: Some(self.record.cases.len() as u64),
        };
        self.write(&Line::Finished(finished.clone()))?;
        self.writer.close()?;
        self.record.note_finished(finished);
        Ok(Outcome {
            record: self.record,
            interrupted_by: self.interrupt.signal(),
            elapsed,
            refused: self.refused_now.len(),
            addition_left: self.addition.is_some(),
        })
    }
}

fn sample(case: &Case, sequence: u64, round: u32, window: u32, mut seen: Window) -> Sample {
    for (position, actor) in seen.actors.iter_mut().enumerate() {
        if case.may_be_cached(position) {
            actor.traffic_bytes_min = 0;
            actor.traffic_method = TrafficMethod::Cached;
        }
    }
    Sample {
        case: case.id.clone(),
        sequence,
        round,
        window,
        start_ns: nanoseconds(seen.start),
        window_ns: nanoseconds(seen.length),
        actors: seen.actors,
        run: seen.run,
        workload: seen.workload.map(Box::new),
        cpu_distance: seen.cpu_distance,
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
