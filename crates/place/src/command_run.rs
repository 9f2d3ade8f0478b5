//! One run of a program under a binding, from its start to its end.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nearfar_machine::CpuSet;
use nearfar_measure::{Failure, Interrupt};
use nearfar_record::{Command, PageNodes, Reason, ReasonCode};
use nearfar_sys::{kill_process_group, process_numbers};

use crate::launch::{NotLaunched, launch};
use crate::output_tail::{OutputTail, last_lines};
use crate::process_family::look;
use crate::program_memory::total;

/// The first look at a program comes so long after its start, every other after twice the time:
/// long runs are looked at seldom, so that looking costs them nothing.
const FIRST_LOOK: Duration = Duration::from_millis(10);

/// A signal to this program is seen after at most so long.
const ATTENTION: Duration = Duration::from_millis(100);

/// A run that ended well.
#[derive(Debug)]
pub(crate) struct Ended {
    /// From just before its start to its end.
    pub took: Duration,
    /// The end of its standard output, then of its standard error.
    pub output: String,
    /// Its pages at the look that found most, or why there are none.
    pub pages: Result<PageNodes, String>,
    /// Files and shared memory that it mapped at the look that found most of them, by node, bytes; `None` where
    /// nobody could look.
    pub shared: Option<BTreeMap<u32, u64>>,
    /// CPUs on which its threads were seen.
    pub cpus: CpuSet,
}

/// Why a run of a program has no figures.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error("cannot start {program}: {error}")]
    NotStarted { program: String, error: io::Error },
    /// It ended in failure; the text has its last lines.
    #[error("{text}")]
    Failed { status: ExitStatus, text: String },
    /// The kernel refused its binding: it was not started.
    #[error("{}", .0.text)]
    NotBound(Reason),
    /// It ran for too long, or what it started outlived it.
    #[error("{}", .0.text)]
    Refused(Reason),
    /// This program was asked to end.
    #[error("nearfar was asked to end while the program ran")]
    Interrupted { signal: Option<i32> },
}

impl From<NotRun> for Failure {
    fn from(why: NotRun) -> Self {
        let text = why.to_string();
        match why {
            NotRun::NotStarted { .. } | NotRun::Failed { .. } => {
                Self::Refused(Reason { code: ReasonCode::CommandFailed, text })
            }
            NotRun::NotBound(reason) | NotRun::Refused(reason) => Self::Refused(reason),
            NotRun::Interrupted { .. } => Self::Interrupted,
        }
    }
}

/// How long a program runs, by a run whose figures do not count otherwise.
///
/// # Errors
/// It fails, or what it started outlives it, so that its time is not that of its work.
pub fn run_once(
    command: &Command,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Result<Duration, NotRun> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let run = format!("{}-{number}", std::process::id());
    let mark = format!("{MARK}={run}");
    let mut marked = command.clone();
    marked.environment.insert(MARK.into(), run);
    let ended = run_command(&marked, timeout, interrupt)?;
    // What is about to end with it may.
    std::thread::sleep(FIRST_LOOK);
    let is_marked = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let all = process_numbers(Path::new("/")).unwrap_or_default();
    let left: Vec<String> = all.iter().filter(|it| is_marked(it)).map(u32::to_string).collect();
    match left.is_empty() {
        true => Ok(ended.took),
        false => {
            let text = format!(
                "{} ended while processes that it started go on ({}): its time is not that of its \
                 work; start what works in the foreground",
                command.label,
                left.join(", ")
            );
            Err(refused(ReasonCode::CommandFailed, text))
        }
    }
}

/// The variable by which what a first run started is known.
const MARK: &str = "NEARFAR_FIRST_RUN";

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started as its binding says, fails, or runs for too long; when this program
/// is asked to end.
pub(crate) fn run_command(
    command: &Command,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Result<Ended, NotRun> {
    let mut start = std::process::Command::new(&command.program);
    start.args(&command.arguments).envs(&command.environment).stdin(Stdio::null());
    // A group of its own, so that it can be ended with its children.
    start.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let began = Instant::now();
    // Not started under a part of its binding: its figure would be another's.
    let (mut child, _) =
        launch(&mut start, Some(&command.binding), false, None).map_err(|why| match why {
            NotLaunched::Program(error) => {
                NotRun::NotStarted { program: command.program.clone(), error }
            }
            NotLaunched::Lost(losses) => {
                let reasons: Vec<&str> = losses.iter().map(|loss| loss.reason.as_str()).collect();
                let text = format!(
                    "the kernel does not let {} run by {}: {}",
                    command.label,
                    command.binding,
                    reasons.join("; ")
                );
                NotRun::NotBound(Reason { code: ReasonCode::Denied, text })
            }
        })?;
    let leader = child.id();
    let tails = [child.stdout.take().map(OutputTail::of), child.stderr.take().map(OutputTail::of)];
    let mut seen = Seen::default();
    let (end, ended) = channel();
    let waiting = thread::spawn(move || {
        let status = child.wait();
        // The receiver is gone when the program was given up.
        end.send((Instant::now(), status)).ok();
    });
    let mut given_up = None;
    let (at, status) = loop {
        let now = began.elapsed();
        let next = timeout.map_or(seen.next, |timeout| seen.next.min(timeout));
        let patience = next.saturating_sub(now).min(ATTENTION);
        match ended.recv_timeout(patience) {
            Ok(ended) => break ended,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(refused(
                    ReasonCode::Threads,
                    "the thread that waits for it ended".into(),
                ));
            }
            Err(RecvTimeoutError::Timeout) if given_up.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                given_up = why_give_up(command, began.elapsed(), timeout, interrupt);
                if given_up.is_some() {
                    kill_process_group(leader).ok();
                } else if began.elapsed() >= seen.next {
                    seen.look(leader);
                }
            }
        }
    };
    waiting.join().ok();
    if let Some(failure) = given_up {
        return Err(failure);
    }
    let output: String = tails.iter().flatten().map(OutputTail::text).collect();
    let status = status.map_err(|error| {
        refused(ReasonCode::CommandFailed, format!("cannot wait for {}: {error}", command.label))
    })?;
    if !status.success() {
        let text = format!("{} {}; {}", command.label, in_words(status), last_lines(&output));
        return Err(NotRun::Failed { status, text });
    }
    let pages = seen.pages();
    let Seen { cpus, shared, .. } = seen;
    Ok(Ended { took: at.saturating_duration_since(began), output, pages, shared, cpus })
}

fn refused(code: ReasonCode, text: String) -> NotRun {
    NotRun::Refused(Reason { code, text })
}

fn why_give_up(
    command: &Command,
    ran: Duration,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> Option<NotRun> {
    if interrupt.is_set() {
        return Some(NotRun::Interrupted { signal: interrupt.signal() });
    }
    let timeout = timeout.filter(|timeout| ran >= *timeout)?;
    let text = format!(
        "{} had not ended after {} s and was ended; give it more time by --timeout",
        command.label,
        timeout.as_secs_f64()
    );
    Some(refused(ReasonCode::TimedOut, text))
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in failure".into(),
    }
}

/// What was seen of a program while it ran.
#[derive(Debug)]
struct Seen {
    /// When to look next, after its start.
    next: Duration,
    cpus: CpuSet,
    pages: Option<Result<PageNodes, String>>,
    shared: Option<BTreeMap<u32, u64>>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { next: FIRST_LOOK, cpus: CpuSet::default(), pages: None, shared: None }
    }
}

impl Seen {
    fn look(&mut self, leader: u32) {
        self.next = self.next.saturating_mul(2);
        let found = look(Path::new("/"), leader);
        self.cpus = self.cpus.union(&found.cpus);
        let known = match &self.pages {
            Some(Ok(pages)) => total(&pages.pages),
            _ => 0,
        };
        let most_shared = self.shared.as_ref().map(total);
        if found.pages.is_ok() && most_shared.is_none_or(|most| total(&found.shared) > most) {
            self.shared = Some(found.shared);
        }
        match found.pages {
            Ok(pages) if total(&pages.pages) > known => self.pages = Some(Ok(pages)),
            Err(refusal) if self.pages.is_none() => self.pages = Some(Err(refusal.to_string())),
            _ => {}
        }
    }

    fn pages(&self) -> Result<PageNodes, String> {
        self.pages.clone().unwrap_or_else(|| {
            Err(format!(
                "it ended before it could be looked at, {} ms after its start",
                FIRST_LOOK.as_millis()
            ))
        })
    }
}
