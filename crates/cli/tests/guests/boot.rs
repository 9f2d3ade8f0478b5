//! A guest and the runs of the program in it.

use std::fmt::Write;

use nearfar_lab::{Ended, GuestMachine, Kernel};
use nearfar_record::{Record, read_record};

use crate::expected::Expected;
use crate::{experiments, left};

/// Linux 6.1 has no weighted interleave, 6.12 has.
pub const OLD: &str = Kernel::SUITES[0];
pub const NEW: &str = Kernel::SUITES[1];

/// A guest, and what is run in it one after the other.
pub struct Boot {
    pub machine: &'static str,
    pub suite: &'static str,
    pub node_mib: u32,
    pub devices: Vec<(u32, String)>,
    /// What root does first.
    pub setup: &'static str,
    pub runs: Vec<Run>,
}

/// A run of `nearfar characterize`.
#[derive(Clone)]
pub struct Run {
    /// What is special, in a few words.
    pub name: &'static str,
    pub user: User,
    /// What root does before.
    pub before: String,
    /// What the run's shell does before it becomes the program.
    pub within: &'static str,
    /// Words before `nearfar`.
    pub through: &'static str,
    pub window: &'static str,
    pub working_set: &'static str,
    /// Beside those that make it small.
    pub options: &'static str,
    /// Words that the reason of a refusal must have, and has where what `before` starts came
    /// in time: the run is made three times at most until one has.
    pub wants: &'static str,
    /// Experiments, as the option takes them.
    pub only: &'static str,
    pub expected: Expectation,
}

/// What a run must give.
#[derive(Clone)]
pub enum Expectation {
    /// Of the matrix of pairs, computed case by case.
    Pairs(Expected),
    /// Every other experiment that is run, with all that it plans.
    Experiments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    Root,
    Nobody,
}

impl User {
    pub fn name(self) -> &'static str {
        if self == Self::Root { "root" } else { "nobody" }
    }

    /// Words by which root becomes it.
    pub fn prefix(self) -> &'static str {
        if self == Self::Root { "" } else { "as-nobody" }
    }
}

/// What a run left.
pub struct Found {
    pub status: i32,
    pub seconds: f64,
    /// How often it was made: see [`Run::wants`].
    pub attempts: u32,
    pub said: String,
    pub record: Record,
}

impl Found {
    /// Pages whose node was told, before and after. (A reader takes no sample with more than one in a
    /// thousand on another than the policy's.)
    pub fn pages_proven(&self) -> u64 {
        let actors = self.record.samples.iter().flat_map(|sample| &sample.actors);
        let proofs = actors.flat_map(|actor| actor.proof.iter().chain(&actor.write_proof));
        let nodes = proofs.flat_map(|proof| [&proof.before, &proof.after]);
        nodes.flat_map(|nodes| nodes.pages.values()).sum()
    }
}

impl Boot {
    /// Room for the guest's files and for [`Run::options`]'s working sets.
    pub fn new(machine: &'static str, suite: &'static str, runs: Vec<Run>) -> Self {
        Self { machine, suite, node_mib: 384, devices: Vec::new(), setup: "", runs }
    }

    pub fn script(&self) -> String {
        let mut script = format!("{}\n", self.setup);
        for (number, run) in self.runs.iter().enumerate() {
            let Run { before, within, through, options, window, working_set, wants, only, .. } =
                run;
            let user = run.user.prefix();
            let written = writeln!(
                script,
                "for attempt in 1 2 3; do
                    rm -f /out/{number}.*
                    {before}
                    read began _ </proc/uptime
                    ( {within}
                      exec {user} {through} nearfar characterize --working-set {working_set} --samples 1 \
                          --window {window} --only {only} {options} --out /out/{number}.jsonl
                    ) >/out/{number}.said 2>&1
                    echo $? >/out/{number}.status
                    read ended _ </proc/uptime
                    echo $began $ended $attempt >/out/{number}.times
                    if grep -q '{wants}' /out/{number}.jsonl; then break; fi
                done"
            );
            written.unwrap();
        }
        script
    }
}

impl Run {
    /// What is not as it must be, in sentences.
    pub fn judge(&self, machine: &GuestMachine, found: &Found) -> Vec<String> {
        match &self.expected {
            Expectation::Pairs(expected) => expected.judge(machine, found),
            Expectation::Experiments => experiments::judge(self.only, found),
        }
    }

    pub fn new(name: &'static str, user: User, expected: Expected) -> Self {
        Self {
            name,
            user,
            before: String::new(),
            within: "",
            through: "",
            window: "5ms",
            working_set: "4MiB",
            options: "",
            wants: "",
            only: "pairs",
            expected: Expectation::Pairs(expected),
        }
    }

    /// What this run left in its guest, of which it was the `number`th.
    pub fn read(&self, number: usize, ended: &Ended) -> Found {
        let file = |ending: &str| left(ended, &format!("{number}.{ending}"));
        let said = format!("{}\n{}", file("said"), String::from_utf8_lossy(&ended.stderr));
        let record = read_record(file("jsonl").as_bytes())
            .unwrap_or_else(|error| panic!("{}: {error}\n{said}", self.name));
        let times = file("times");
        let times: Vec<&str> = times.split_whitespace().collect();
        let [began, until, attempts] = times.as_slice() else { panic!("{times:?}\n{said}") };
        Found {
            status: file("status").parse().unwrap(),
            seconds: until.parse::<f64>().unwrap() - began.parse::<f64>().unwrap(),
            attempts: attempts.parse().unwrap(),
            said,
            record,
        }
    }
}
