//! One start of a program by `nearfar run` in a guest, and what it left.

use std::collections::BTreeMap;
use std::fmt::Write;

use nearfar_lab::Ended;
use serde::Deserialize;
use serde_json::Value;

use crate::boot::User;
use crate::left;
use crate::run_expected::Expected;

/// Memory that the program touches, MiB, and pages of 4 KiB in it.
const MIB: u64 = 64;
pub const PAGES: u64 = MIB << 8;

/// A program, by what matters to whoever starts it (`lab/programs/toucher.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The main thread touches all.
    Single,
    /// Each of four threads touches its part.
    Pthread,
    /// Each of the threads that OpenMP starts.
    OpenMp,
    /// Two threads of a program without libraries.
    Static,
    /// Two threads of a child, by fork and exec.
    Child,
    /// As [`Single`](Self::Single), in pages of the size that the kernel likes.
    Huge,
}

impl Program {
    pub const ALL: [Self; 5] =
        [Self::Single, Self::Pthread, Self::OpenMp, Self::Static, Self::Child];

    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "one thread",
            Self::Pthread => "4 pthreads",
            Self::OpenMp => "OpenMP",
            Self::Static => "static, 2 threads",
            Self::Child => "child, 2 threads",
            Self::Huge => "THP, one thread",
        }
    }

    /// Its command with these options.
    fn command(self, options: &str) -> String {
        match self {
            Self::Single => format!("toucher -m {MIB} {options}"),
            Self::Pthread => format!("toucher -m {MIB} {options} -t 4"),
            Self::OpenMp => format!("toucher-openmp -m {MIB} {options}"),
            Self::Static => format!("toucher-static -m {MIB} {options} -t 2"),
            Self::Child => format!("toucher -m {MIB} {options} -t 2 -c"),
            Self::Huge => format!("toucher -m {MIB} {options} -H"),
        }
    }
}

/// A start of a program.
#[derive(Clone)]
pub struct Launch {
    pub user: User,
    pub program: Program,
    pub placement: String,
    pub options: &'static str,
    /// Options of the program.
    pub of_program: &'static str,
    /// What root does before.
    pub before: String,
    /// Words before `nearfar`, and what the shell does before it becomes that.
    pub through: &'static str,
    pub within: &'static str,
    pub way: Way,
    pub expected: Expected,
}

/// How nearfar starts a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It becomes the program.
    Becoming,
    /// It traces it.
    Following,
}

impl Launch {
    pub fn new(user: User, program: Program, placement: &str, expected: Expected) -> Self {
        Self {
            user,
            program,
            placement: placement.into(),
            options: "",
            of_program: "",
            before: String::new(),
            through: "",
            within: "",
            way: Way::Following,
            expected,
        }
    }

    /// Shell lines that make it the `number`th of its guest.
    pub fn script(&self, number: usize) -> String {
        let Self { placement, options, before, through, within, of_program, .. } = self;
        let user = self.user.prefix();
        let command = self.program.command(of_program);
        let report = match self.way {
            Way::Becoming => String::new(),
            Way::Following => format!("--follow --report=/out/{number}.json"),
        };
        format!(
            "{before}
            read began _ </proc/uptime
            ( {within}
              exec {user} {through} nearfar run --placement {placement} {report} {options} -- {command}
            ) >/out/{number}.stdout 2>/out/{number}.stderr
            echo $? >/out/{number}.status
            read ended _ </proc/uptime
            echo $began $ended >/out/{number}.times
            "
        )
    }

    /// What it left in its guest.
    pub fn read(&self, number: usize, ended: &Ended) -> Launched {
        let file = |ending: &str| left(ended, &format!("{number}.{ending}"));
        let times = file("times");
        let times: Vec<f64> = times.split(' ').filter_map(|time| time.parse().ok()).collect();
        let [began, until] = times.as_slice() else { panic!("launch {number} has no times") };
        let stdout = file("stdout");
        Launched {
            status: file("status").parse().unwrap(),
            seconds: until - began,
            truth: serde_json::from_str(&stdout).ok(),
            stdout,
            said: file("stderr"),
            report: serde_json::from_str(&file("json")).ok(),
            packages: left(ended, "packages").lines().map(|line| line.parse().unwrap()).collect(),
            way: self.way,
        }
    }
}

/// What a launch left.
pub struct Launched {
    pub status: i32,
    pub seconds: f64,
    /// What the program found from inside; `None` when it did not come to that.
    pub truth: Option<Truth>,
    pub stdout: String,
    pub said: String,
    /// nearfar's report.
    pub report: Option<Value>,
    /// The package of each CPU as the guest's kernel counts them.
    pub packages: Vec<u32>,
    pub way: Way,
}

/// Shell lines that keep the packages of the CPUs, of which there are at most ten.
pub const KEEP_PACKAGES: &str =
    "cat /sys/devices/system/cpu/cpu[0-9]/topology/physical_package_id >/out/packages";

/// What the program says of itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Pages by node.
    pub pages: BTreeMap<u32, u64>,
    pub unknown: u64,
    /// Pages by the CPU that touched them.
    pub touched_by: BTreeMap<u32, u64>,
    pub threads: Vec<ThreadTruth>,
}

/// A thread of the program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadTruth {
    /// CPUs that it may use in the end.
    pub cpus: Vec<u32>,
    /// CPUs that it was found on.
    pub seen: Vec<u32>,
}

/// Shares by node of counts by node.
pub fn shares(counts: &BTreeMap<u32, u64>) -> BTreeMap<u32, f64> {
    let all: u64 = counts.values().sum();
    counts.iter().map(|(node, count)| (*node, *count as f64 / all as f64)).collect()
}

/// The largest difference of two sets of shares at any node.
pub fn deviation(one: &BTreeMap<u32, f64>, other: &BTreeMap<u32, f64>) -> f64 {
    let of = |shares: &BTreeMap<u32, f64>, node| shares.get(node).copied().unwrap_or(0.0);
    let nodes = one.keys().chain(other.keys());
    nodes.map(|node| (of(one, node) - of(other, node)).abs()).fold(0.0, f64::max)
}

/// Shares as a table has them: `0:.50 1:.50`.
pub fn in_words(shares: &BTreeMap<u32, f64>) -> String {
    let mut words = String::new();
    for (node, share) in shares {
        let gap = if words.is_empty() { "" } else { " " };
        write!(words, "{gap}{node}:{}", format!("{share:.2}").trim_start_matches('0')).unwrap();
    }
    words
}
