//! What stands in a record so far, to catch lines that contradict earlier ones.

use std::collections::{HashMap, HashSet};

use nearfar_machine::{CpuSet, NodeSet};

use super::bounds::{MAX_NS, check_date, check_seconds};
use super::case::check_case;
use super::header::check_added;
use super::sample::{check_sample, pass_bytes};
use crate::absent::{Absence, Absent, ReasonCode};
use crate::case::Case;
use crate::header::{Executor, Header, Inputs};
use crate::line::{Appended, Finished, Line, Resumed, Warning};
use crate::record::Record;
use crate::sample::Sample;

/// Slack of a run's seconds, which are a float.
const SECOND_SLACK: f64 = 1e-6;

/// What stands in a record so far: lines that contradict it are refused, when they are read
/// and before they are written.
#[derive(Debug)]
pub struct History {
    known: KnownParts,
    /// What was asked for: at the beginning, and what was added later.
    inputs: Vec<Inputs>,
    /// Cases with the position of the inputs that they are of.
    cases: HashMap<String, (Case, usize)>,
    windows: HashSet<(String, u32, u32)>,
    next_sequence: u64,
    /// Codes of the warnings so far.
    warnings: HashSet<String>,
    times_continued: usize,
    run: Run,
}

/// The parts of the machine that a record is of.
#[derive(Debug)]
pub(super) struct KnownParts {
    pub cpus: CpuSet,
    pub nodes: NodeSet,
}

/// What stands there of one run of the program.
#[derive(Debug, Default, Clone)]
struct Run {
    finished: bool,
    /// When the first window opened and the last one closed, ns.
    windows: Option<(u64, u64)>,
    /// Bytes of each thread in the windows so far of a round of a case.
    walk: Option<(String, u32, Vec<u128>)>,
}

impl History {
    /// The history of a record of which the header is there.
    pub fn new(header: &Header) -> Self {
        let machine = &header.machine;
        Self {
            known: KnownParts {
                cpus: machine.cpus(),
                nodes: machine.nodes.iter().map(|node| node.os_index).collect(),
            },
            inputs: vec![header.inputs.clone()],
            cases: HashMap::new(),
            windows: HashSet::new(),
            next_sequence: 0,
            warnings: HashSet::new(),
            times_continued: 0,
            run: Run::default(),
        }
    }

    /// The history of a record that a new run of the program goes on with, or begins.
    pub fn of(record: &Record) -> Self {
        let mut history = Self::new(&record.header);
        history.inputs = record.all_inputs().cloned().collect();
        let cases = record.cases.iter().enumerate();
        let noted = |(position, case): (usize, &Case)| {
            (case.id.clone(), (case.clone(), record.addition_of_case(position)))
        };
        history.cases = cases.map(noted).collect();
        history.warnings = record.warnings.iter().map(|warning| warning.code.clone()).collect();
        history.times_continued = record.resumed.len() + history.inputs.len() - 1;
        history.windows = record.samples.iter().map(window_of).collect();
        history.next_sequence =
            record.samples.last().map_or(0, |sample| sample.sequence.saturating_add(1));
        history
    }

    /// Takes in the next line of the record with this header.
    ///
    /// # Errors
    /// What the line contradicts, for people; the record cannot go on then.
    pub fn take(&mut self, header: &Header, line: &Line) -> Result<(), String> {
        if self.run.finished && !matches!(line, Line::Resumed(_)) {
            return Err("a line after the end of a run".into());
        }
        match line {
            Line::Header(_) => Err("a second header".into()),
            Line::Case(case) => self.case(header, case),
            Line::Sample(sample) => self.sample(header, sample),
            Line::Absent(absent) => self.absent(absent),
            Line::Warning(warning) => self.warning(warning),
            Line::Resumed(resumed) => self.resumed(resumed),
            Line::Appended(appended) => self.appended(appended),
            Line::Finished(finished) => self.finished(finished),
        }
    }

    /// Takes in samples that are to be written, all or none.
    ///
    /// # Errors
    /// The window and what it contradicts, for people; nothing was taken in.
    pub fn take_samples(&mut self, header: &Header, samples: &[Sample]) -> Result<(), String> {
        let before = (self.next_sequence, self.run.clone());
        for (count, sample) in samples.iter().enumerate() {
            if let Err(what) = self.sample(header, sample) {
                (self.next_sequence, self.run) = before;
                for taken in &samples[..count] {
                    self.windows.remove(&window_of(taken));
                }
                return Err(format!("window {} of the round: {what}", sample.window));
            }
        }
        Ok(())
    }

    fn case(&mut self, header: &Header, case: &Case) -> Result<(), String> {
        let last = self.inputs.len() - 1;
        check_case(header, &self.inputs[last], &self.known, case)?;
        match self.cases.insert(case.id.clone(), (case.clone(), last)) {
            None => Ok(()),
            Some(_) => Err(format!("the case {} stands there twice", case.id)),
        }
    }

    fn sample(&mut self, header: &Header, sample: &Sample) -> Result<(), String> {
        let Some((case, of)) = self.cases.get(&sample.case) else {
            return Err(format!("a sample of the case {}, which is not planned", sample.case));
        };
        let next = next_sequence(self.next_sequence, sample.sequence)?;
        let window = window_of(sample);
        if self.windows.contains(&window) {
            return Err(format!(
                "window {} of round {} of the case {} stands there twice",
                sample.window, sample.round, sample.case
            ));
        }
        // Later inputs may ask for more rounds of it.
        let checks = self.inputs[*of..].iter().rev();
        let mut checks = checks.map(|it| check_sample(header, it, &self.known, case, sample));
        let latest = checks.next().unwrap_or(Ok(()));
        if latest.is_err() && !checks.any(|check| check.is_ok()) {
            return latest;
        }
        self.run.window(sample)?;
        if header.executor == Executor::Native {
            self.run.walk(case, sample)?;
        }
        self.next_sequence = next;
        self.windows.insert(window);
        Ok(())
    }

    fn absent(&self, absent: &Absent) -> Result<(), String> {
        let code = absent.reason.code;
        // Where the variant is missing, a case is omitted by the plan or refused by the kernels.
        let fits = code == ReasonCode::NoVariant
            || code.is_of_refusals() == (absent.absence == Absence::Refused);
        if !fits {
            return Err(format!("'{code}' is not why the case is absent"));
        }
        match (absent.absence, absent.round) {
            (Absence::Omitted, Some(round)) => {
                Err(format!("omitted, and yet begun in round {round}"))
            }
            (Absence::Refused, round) => {
                let Some((case, of)) = self.cases.get(&absent.case) else {
                    return Err(format!(
                        "a refusal of the case {}, which is not planned",
                        absent.case
                    ));
                };
                let most = self.inputs[*of..].iter().filter_map(|inputs| case.rounds(inputs));
                let most = most.map(|rounds| rounds.most).max().unwrap_or(0);
                match round.filter(|&round| round >= most) {
                    Some(round) => Err(format!("round {round} of {most}, counted from 0")),
                    None => Ok(()),
                }
            }
            (Absence::Omitted, None) => Ok(()),
        }
    }

    /// Codes are few, and a reader keeps the last of each.
    fn warning(&mut self, warning: &Warning) -> Result<(), String> {
        const MAX_CODES: usize = 1000;
        if !self.warnings.contains(&warning.code) {
            self.warnings.insert(warning.code.clone());
        }
        if self.warnings.len() <= MAX_CODES {
            return Ok(());
        }
        Err(format!("more than {MAX_CODES} kinds of warnings"))
    }

    fn continued(&mut self) -> Result<(), String> {
        const MAX_TIMES: usize = 1000;
        self.times_continued += 1;
        if self.times_continued <= MAX_TIMES {
            return Ok(());
        }
        Err(format!("a record that was continued more than {MAX_TIMES} times"))
    }

    fn resumed(&mut self, resumed: &Resumed) -> Result<(), String> {
        self.run = Run::default();
        check_date(&resumed.at)?;
        self.continued()?;
        let there = self.windows.len() as u64;
        if resumed.samples != there {
            return Err(format!("continued with {} samples where {there} are", resumed.samples));
        }
        Ok(())
    }

    fn appended(&mut self, appended: &Appended) -> Result<(), String> {
        check_date(&appended.at)?;
        self.continued()?;
        check_added(&self.inputs[0], &appended.inputs)?;
        self.inputs.push(appended.inputs.clone());
        Ok(())
    }

    fn finished(&mut self, finished: &Finished) -> Result<(), String> {
        self.run.finished = true;
        check_date(&finished.at)?;
        check_seconds(finished.seconds, "a run")?;
        let (opened, closed) = self.run.windows.unwrap_or_default();
        let windows = (closed - opened) as f64 / 1e9;
        if finished.seconds + SECOND_SLACK >= windows {
            return Ok(());
        }
        Err(format!("a run of {} s with windows over {windows} s", finished.seconds))
    }
}

/// A sample's window, of which there is one in a record.
fn window_of(sample: &Sample) -> (String, u32, u32) {
    (sample.case.clone(), sample.round, sample.window)
}

fn next_sequence(expected: u64, found: u64) -> Result<u64, String> {
    if found < expected {
        return Err(format!("sample {found} comes after a later one"));
    }
    let next = found.checked_add(1).ok_or_else(|| format!("{found} is no sample's number"))?;
    if found > expected {
        return Err(format!("sample {found} where sample {expected} should be: some are missing"));
    }
    Ok(next)
}

impl Run {
    /// Windows come one after the other.
    fn window(&mut self, sample: &Sample) -> Result<(), String> {
        let (open, close) = (sample.start_ns, sample.start_ns.saturating_add(sample.window_ns));
        if close > MAX_NS {
            return Err(format!("a window that closes at {close} ns"));
        }
        let (first, last) = self.windows.unwrap_or((open, open));
        if open < last {
            return Err(format!(
                "a window that opens at {open} ns, while the one before closes at {last}"
            ));
        }
        self.windows = Some((first, close));
        Ok(())
    }

    /// The windows of a round are of the same threads: what each moved in all of them is
    /// within its passes.
    fn walk(&mut self, case: &Case, sample: &Sample) -> Result<(), String> {
        let threads = || sample.actors.iter().flat_map(|actor| &actor.threads);
        let mut moved = match self.walk.take() {
            Some((id, round, moved)) if id == sample.case && round == sample.round => moved,
            _ => vec![0; threads().count()],
        };
        let passes = case.actors.iter().flat_map(|actor| {
            std::iter::repeat_n(u128::from(pass_bytes(actor)), actor.threads() as usize)
        });
        for ((moved, thread), pass) in moved.iter_mut().zip(threads()).zip(passes) {
            *moved += u128::from(thread.useful_bytes);
            if *moved > (u128::from(thread.passes) + 1) * pass {
                return Err(format!(
                    "a thread moved {moved} bytes in the round's windows so far, in {} passes of \
                     {pass}",
                    thread.passes
                ));
            }
        }
        self.walk = Some((sample.case.clone(), sample.round, moved));
        Ok(())
    }
}
