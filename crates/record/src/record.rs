//! A record in memory.

use std::path::PathBuf;

use crate::absent::{Absence, Absent, ReasonCode};
use crate::case::Case;
use crate::experiment::Experiment;
use crate::header::{Header, Inputs};
use crate::line::{Appended, Finished, Resumed, Warning};
use crate::sample::Sample;
use crate::seal::{Seal, Sealing};

/// A record in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The first line; where something was added to the record, with all experiments and devices.
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
    /// Runs before the last that were killed: what they took is not known.
    pub untimed_runs: usize,
    /// Where its file goes on.
    pub end: FileEnd,
    /// Whether a torn end was dropped.
    pub torn: bool,
    /// Whether its lines are those that were written, as far as their seals tell.
    pub sealing: Sealing,
    /// The seal that the next line goes on from; `None` before the first line.
    pub seal: Option<Seal>,
    /// The file that it was read from, for commands that would add to it; `None` where it came
    /// another way.
    pub file: Option<PathBuf>,
    /// Whether it is this host's newest, which commands find without a name.
    pub is_newest: bool,
    /// The header's inputs as they were written; `None` where nothing was added since.
    begun_with: Option<Inputs>,
    additions: Vec<Addition>,
}

/// What was added to a record later.
#[derive(Debug, Clone, PartialEq)]
struct Addition {
    inputs: Inputs,
    /// Cases that were there before.
    cases_before: usize,
}

/// Where a record's file goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEnd {
    /// Nothing was written yet.
    Unwritten,
    /// JSON Lines: after this many bytes, at the end of the last whole line.
    Lines { length: u64 },
    /// Compressed: after this many bytes, at the end of the last whole frame, with the whole lines of
    /// the torn frame behind it; `None` where a torn end cannot be cut off.
    Frames { length: u64, lines_after: Option<Vec<u8>> },
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
            untimed_runs: 0,
            end: FileEnd::Unwritten,
            torn: false,
            sealing: Sealing::Fits,
            seal: None,
            file: None,
            is_newest: false,
            begun_with: None,
            additions: Vec::new(),
        }
    }

    /// Whether nothing of it was written yet.
    pub fn is_new(&self) -> bool {
        self.end == FileEnd::Unwritten
    }

    /// What was asked for: at the beginning, then what was added, in that order.
    pub fn all_inputs(&self) -> impl Iterator<Item = &Inputs> {
        let first = self.begun_with.as_ref().unwrap_or(&self.header.inputs);
        std::iter::once(first).chain(self.additions.iter().map(|addition| &addition.inputs))
    }

    /// How many samples something disturbed.
    pub fn disturbed_samples(&self) -> usize {
        self.samples.iter().filter(|sample| sample.is_disturbed()).count()
    }

    /// What is measured now: the inputs that were added last, or those of the beginning.
    pub fn inputs(&self) -> &Inputs {
        self.additions.last().map_or(&self.header.inputs, |last| &last.inputs)
    }

    /// Sets the time that this run of the program may take.
    pub fn set_budget(&mut self, budget_ns: Option<u64>) {
        match self.additions.last_mut() {
            Some(last) => last.inputs.budget_ns = budget_ns,
            None => self.header.inputs.budget_ns = budget_ns,
        }
    }

    /// Which of [`all_inputs`](Self::all_inputs) the case at a position is of.
    pub fn addition_of_case(&self, position: usize) -> usize {
        self.additions.iter().filter(|addition| addition.cases_before <= position).count()
    }

    /// Cases of earlier inputs, which were measured as those asked.
    pub fn earlier_cases(&self) -> &[Case] {
        &self.cases[..self.additions.last().map_or(0, |last| last.cases_before)]
    }

    /// Takes a warning in; a later one of the same code replaces an earlier one.
    pub fn add_warning(&mut self, warning: Warning) {
        self.warnings.retain(|known| known.code != warning.code);
        self.warnings.push(warning);
    }

    /// A later run of the program goes on. What the earlier one said of its own end
    /// no longer holds: that its budget ended, and what it found in its samples.
    pub fn note_resumed(&mut self, resumed: Resumed) {
        self.untimed_runs += usize::from(self.finished.is_none());
        self.resumed.push(resumed);
        self.finished = None;
        let may_come = [ReasonCode::Budget, ReasonCode::UnmeasuredInput];
        self.absent.retain(|absent| !may_come.contains(&absent.reason.code));
        self.warnings.retain(|warning| !warning.of_samples);
    }

    /// Other inputs ask for more. What earlier ones left out of their experiments no longer holds:
    /// these say again what they leave out.
    pub fn note_appended(&mut self, appended: Appended) {
        let inputs = appended.inputs;
        let all = &mut self.header.inputs;
        self.begun_with.get_or_insert_with(|| all.clone());
        let is_measured = |experiment: &Experiment| {
            all.experiments.contains(experiment) || inputs.experiments.contains(experiment)
        };
        all.experiments = Experiment::OF_MACHINE.into_iter().filter(is_measured).collect();
        if inputs.devices.is_some() {
            all.devices.clone_from(&inputs.devices);
        }
        if inputs.network.is_some() {
            all.network.clone_from(&inputs.network);
        }
        self.absent.retain(|absent| {
            absent.absence == Absence::Refused
                || absent.experiment().is_none_or(|it| !inputs.experiments.contains(&it))
        });
        self.additions.push(Addition { inputs, cases_before: self.cases.len() });
    }

    /// A run of the program has ended in order.
    pub fn note_finished(&mut self, finished: Finished) {
        self.seconds += finished.seconds;
        self.finished = Some(finished);
    }
}
