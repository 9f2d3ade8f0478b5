//! A process of a campaign, as the campaign sees it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::child::MARK;
use crate::options::Options;
use crate::tally::Tally;

/// After this a process is taken to hang. What it was asked for takes some hundredths of a
/// second on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a process answered.
pub enum Answer {
    Done(Tally),
    /// A reader broke its word.
    Failed {
        before: Tally,
        index: u64,
        why: String,
    },
    /// The process is gone or was stopped because it did not answer.
    Gone(String),
}

/// A child process that reads.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    /// Starts one that keeps its files below `folder`.
    pub fn start(options: Options, folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serves_a_campaign", "--nocapture", "--test-threads=1"])
            .envs(options.for_child())
            .env("TMPDIR", folder)
            // Some inputs make hwloc print pages about its own bugs.
            .env("HWLOC_HIDE_ERRORS", "2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = channel();
        // Ends with the process, whose end of the pipe is closed then.
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let answer = line.split_once(MARK).map(|(_, answer)| answer.to_string());
                if answer.is_some_and(|answer| sender.send(answer).is_err()) {
                    return;
                }
            }
        });
        Self { child, stdin, answers }
    }

    /// Has it read the inputs of a reader from number `first` on.
    pub fn read(&mut self, reader: &str, first: u64, count: u64) -> Answer {
        // A process that is gone already is seen below.
        writeln!(self.stdin, "{reader} {first} {count}").ok();
        match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) => parse(&answer),
            Err(RecvTimeoutError::Disconnected) => {
                Answer::Gone(describe(self.child.wait().unwrap()))
            }
            Err(RecvTimeoutError::Timeout) => {
                Answer::Gone(format!("no answer after {} s", PATIENCE.as_secs()))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn describe(status: ExitStatus) -> String {
    format!("the process ended with {status}")
}

fn parse(answer: &str) -> Answer {
    let mut words = answer.splitn(7, ' ');
    let kind = words.next().unwrap().to_string();
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let tally = Tally {
        accepted: number(),
        rejected: number(),
        crashed: 0,
        longest: Duration::from_nanos(number()),
        slowest: number(),
    };
    match kind.as_str() {
        "done" => Answer::Done(tally),
        _ => {
            let index = number();
            Answer::Failed { before: tally, index, why: words.next().unwrap_or_default().into() }
        }
    }
}
