//! What a launch must give, computed from the guest's machine and the placement's words,
//! and held against what the program says from inside and what nearfar reports.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_lab::GuestMachine;
use nearfar_machine::CpuSet;
use serde_json::Value;

use crate::run_launch::{Launched, PAGES, Truth, Way, deviation, in_words, shares};

/// A share may differ by so much: the promise of `nearfar run`.
const TOLERANCE: f64 = 0.01;

/// What a launch must give.
#[derive(Debug, Clone)]
pub struct Expected {
    /// CPUs that its threads may use, as a list; all where not given.
    pub cpus: Option<String>,
    pub pages: Landing,
    pub status: i32,
    /// Words of the reported refusals; none may be reported where there are none.
    pub refused: &'static [&'static str],
    /// How the threads must be pinned in the end.
    pub pinned: Pinned,
    /// The weights that a note says the kernel was given; empty where it was given none.
    pub kernel_weights: &'static str,
}

/// Where pages must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Landing {
    /// In these shares by node.
    Shares(BTreeMap<u32, f64>),
    /// On the nodes of the CPUs that touched them.
    Touched,
    /// Not as asked, which is reported: more than the tolerance away from these shares.
    Lost(BTreeMap<u32, f64>),
    /// The program did not run, or was killed before it could say.
    Nowhere,
}

/// How the threads must be pinned, from before they touched anything to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinned {
    /// To the CPUs of the placement as a whole.
    Together,
    /// Each to a CPU, on as few nodes and packages as hold them.
    Near,
    /// Each to a CPU, on as many nodes and packages as there are.
    Far,
}

impl Pinned {
    /// On how many of several groups of equal size this many threads must be, each on a CPU.
    fn groups(self, threads: usize, groups: usize, cpus: usize) -> usize {
        match self {
            Self::Near => threads.div_ceil(cpus / groups),
            Self::Together | Self::Far => threads.min(groups),
        }
    }
}

impl Expected {
    pub fn new(pages: Landing) -> Self {
        let (refused, pinned) = (&[], Pinned::Together);
        Self { cpus: None, pages, status: 0, refused, pinned, kernel_weights: "" }
    }

    pub fn shares(shares: &[(u32, f64)]) -> Self {
        Self::new(Landing::Shares(shares.iter().copied().collect()))
    }

    /// In equal shares.
    pub fn equal(nodes: &[u32]) -> Self {
        let share = 1.0 / nodes.len() as f64;
        Self::new(Landing::Shares(nodes.iter().map(|node| (*node, share)).collect()))
    }

    /// The shares that the pages must have, where the placement and the CPUs tell.
    pub fn asked(&self, machine: &GuestMachine, truth: &Truth) -> Option<BTreeMap<u32, f64>> {
        match &self.pages {
            Landing::Shares(shares) | Landing::Lost(shares) => Some(shares.clone()),
            Landing::Touched => Some(shares(&by_node(machine, &truth.touched_by))),
            Landing::Nowhere => None,
        }
    }

    /// What is not as it must be, in sentences.
    pub fn judge(&self, machine: &GuestMachine, launched: &Launched) -> Vec<String> {
        let mut wrong = Vec::new();
        if launched.status != self.status {
            wrong.push(format!("status {} instead of {}", launched.status, self.status));
        }
        if launched.said.contains("panicked") {
            wrong.push("it panicked".into());
        }
        match (&launched.truth, &launched.report) {
            (Some(truth), report)
                if self.pages != Landing::Nowhere
                    && report.is_some() != (launched.way == Way::Becoming) =>
            {
                wrong.extend(self.judge_truth(machine, truth));
                wrong.extend(self.judge_pins(machine, &launched.packages, truth));
                if let Some(report) = report {
                    wrong.extend(self.judge_report(machine, truth, report));
                }
                if launched.stdout.lines().count() != 1 {
                    wrong.push("standard output has more than the program's line".into());
                }
            }
            (None, _) if self.pages == Landing::Nowhere => {}
            (truth, report) => wrong.push(format!(
                "the program {}, nearfar wrote {} report",
                if truth.is_some() { "spoke" } else { "did not speak" },
                if report.is_some() { "a" } else { "no" },
            )),
        }
        wrong.extend(self.judge_refusals(launched));
        if !wrong.is_empty() {
            let report = launched.report.as_ref().map(Value::to_string).unwrap_or_default();
            wrong.push(format!("it said: {}\n{}\n{report}", launched.said, launched.stdout));
        }
        wrong
    }

    /// What the program found from inside.
    fn judge_truth(&self, machine: &GuestMachine, truth: &Truth) -> Vec<String> {
        let mut wrong = Vec::new();
        let pages: u64 = truth.pages.values().sum();
        if truth.unknown > 0 || pages != PAGES {
            wrong.push(format!("{pages} pages and {} unknown of {PAGES}", truth.unknown));
        }
        let found = shares(&truth.pages);
        let asked = self.asked(machine, truth).unwrap_or_default();
        let near = deviation(&asked, &found) <= TOLERANCE;
        if near == matches!(self.pages, Landing::Lost(_)) {
            wrong.push(format!("pages on {}, asked {}", in_words(&found), in_words(&asked)));
        }
        let allowed = self.allowed(machine);
        for thread in &truth.threads {
            let within = |cpus: &[u32]| cpus.iter().all(|cpu| allowed.contains(*cpu));
            if !within(&thread.cpus) || !within(&thread.seen) {
                wrong.push(format!("{thread:?} outside of CPUs {allowed}"));
            }
        }
        wrong
    }

    fn judge_pins(
        &self,
        machine: &GuestMachine,
        packages: &[u32],
        truth: &Truth,
    ) -> Option<String> {
        let threads = &truth.threads;
        let fits = if self.pinned == Pinned::Together {
            let all: Vec<u32> = self.allowed(machine).iter().collect();
            threads.iter().all(|thread| thread.cpus == all)
        } else {
            let own: BTreeSet<u32> = threads.iter().flat_map(|it| it.cpus.clone()).collect();
            let nodes: BTreeSet<_> = own.iter().map(|cpu| node_of(machine, *cpu)).collect();
            let of_cpu = |cpu: &u32| packages[*cpu as usize];
            let used: BTreeSet<u32> = own.iter().map(of_cpu).collect();
            let known = packages.iter().collect::<BTreeSet<_>>().len();
            let groups = |groups| self.pinned.groups(threads.len(), groups, packages.len());
            threads.iter().all(|it| it.cpus.len() == 1 && it.seen == it.cpus)
                && own.len() == threads.len()
                && nodes.len() == groups(machine.node.len())
                && used.len() == groups(known)
        };
        (!fits).then(|| format!("threads {threads:?} are not {:?}", self.pinned))
    }

    /// What nearfar reports, beside the truth.
    fn judge_report(&self, machine: &GuestMachine, truth: &Truth, report: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        if report["schema"] != "nearfar.run/2" {
            wrong.push(format!("schema {}", report["schema"]));
        }
        let pages = &report["memory"];
        let bytes: BTreeMap<u32, u64> = numbers(&pages["own_bytes_by_node"], Value::as_u64);
        let achieved = numbers(&pages["achieved_shares"], Value::as_f64);
        // The rest of a program: the data of its libraries and its heap; for each thread a stack,
        // which from Linux 6.7 on begins with a huge page.
        let touched: BTreeMap<u32, u64> =
            truth.pages.iter().map(|(node, pages)| (*node, pages * 4096)).collect();
        let rest = (1 << 20) + (2 << 20) * (truth.threads.len() as u64 + 1);
        // Where pages are moved, some few move after the program has looked.
        let late = PAGES * 4096 / 256;
        let holds = |(node, touched): (&u32, &u64)| {
            bytes.get(node).is_some_and(|bytes| bytes + late >= *touched)
        };
        let sum = |bytes: &BTreeMap<u32, u64>| bytes.values().sum::<u64>();
        if !touched.iter().all(holds) || sum(&bytes) > sum(&touched) + rest {
            wrong.push(format!("reported bytes {bytes:?}, the program's own are {touched:?}"));
        }
        let said = format!("weights of nodes are now {},", self.kernel_weights);
        let is_said = report["notes"].to_string().contains(&said);
        let by_kernel = is_said && report["weights_by"] == "kernel";
        if !self.kernel_weights.is_empty() && !by_kernel {
            wrong.push(format!("no note says '{said}', weights by {}", report["weights_by"]));
        }
        if deviation(&shares(&bytes), &achieved) > 1e-9 {
            wrong.push(format!("reported shares {achieved:?} of bytes {bytes:?}"));
        }
        if pages["method"] != "at_end" {
            wrong.push(format!("counted by {}: {}", pages["method"], report["memory_absent"]));
        }
        let asked = match &self.pages {
            Landing::Shares(shares) | Landing::Lost(shares) => Some(shares),
            Landing::Touched | Landing::Nowhere => None,
        };
        let reported = &pages["asked_shares"];
        match asked {
            Some(asked) if deviation(asked, &numbers(reported, Value::as_f64)) > 1e-9 => {
                wrong.push(format!("asked_shares {reported} instead of {asked:?}"));
            }
            None if !reported.is_null() => wrong.push(format!("asked_shares {reported}")),
            _ => {}
        }
        if let Some(asked) = asked {
            let off = pages["largest_deviation"].as_f64().unwrap_or(f64::INFINITY);
            if (off - deviation(asked, &achieved)).abs() > 1e-9 {
                wrong.push(format!("largest_deviation {off}"));
            }
        }
        let allowed = self.allowed(machine);
        let threads = report["threads"].as_array().map_or(&[][..], Vec::as_slice);
        if threads.len() < truth.threads.len() {
            wrong.push(format!("{} threads reported of {}", threads.len(), truth.threads.len()));
        }
        for thread in threads {
            let of =
                |name: &str| thread[name].as_str().and_then(|list| list.parse::<CpuSet>().ok());
            let within = |cpus: Option<CpuSet>| cpus.is_some_and(|cpus| cpus.is_subset(&allowed));
            if !within(of("cpus_allowed")) || !within(of("cpus_seen")) {
                wrong.push(format!("reported {thread} outside of CPUs {allowed}"));
            }
        }
        if report["status"] != self.status {
            wrong.push(format!("reported status {}", report["status"]));
        }
        wrong
    }

    /// What was refused is named, and nothing else: in the report and to people.
    fn judge_refusals(&self, launched: &Launched) -> Vec<String> {
        let mut wrong = Vec::new();
        let reported = launched.report.as_ref().map(|report| report["refused"].clone());
        if let Some(reported) = &reported {
            let refusals = reported.as_array().map_or(&[][..], Vec::as_slice);
            if refusals.is_empty() != self.refused.is_empty() {
                wrong.push(format!("reported as refused {reported}, not {:?}", self.refused));
            }
            let told = |it: &Value| it.as_str().is_some_and(|text| !text.is_empty());
            for refusal in refusals {
                if !told(&refusal["what"]) || !told(&refusal["reason"]) {
                    wrong.push(format!("a refusal without words: {refusal}"));
                }
            }
        }
        for word in self.refused {
            let in_report = reported.as_ref().is_none_or(|it| it.to_string().contains(word));
            if !in_report || !launched.said.contains(word) {
                wrong.push(format!("'{word}' is not said"));
            }
        }
        wrong
    }

    fn allowed(&self, machine: &GuestMachine) -> CpuSet {
        match &self.cpus {
            Some(list) => list.parse().unwrap(),
            None => (0..machine.cpus()).collect(),
        }
    }
}

/// An object with nodes as keys.
fn numbers<T>(object: &Value, read: fn(&Value) -> Option<T>) -> BTreeMap<u32, T> {
    let entries = object.as_object().into_iter().flatten();
    entries.filter_map(|(node, value)| Some((node.parse().ok()?, read(value)?))).collect()
}

fn node_of(machine: &GuestMachine, cpu: u32) -> Option<u32> {
    let mut nodes = (0..machine.node.len()).filter(|node| machine.cpus_of(*node).contains(&cpu));
    nodes.next().and_then(|node| u32::try_from(node).ok())
}

/// Counts by CPU as counts by the CPUs' nodes.
fn by_node(machine: &GuestMachine, counts: &BTreeMap<u32, u64>) -> BTreeMap<u32, u64> {
    let mut nodes = BTreeMap::new();
    for (cpu, count) in counts {
        *nodes.entry(node_of(machine, *cpu).unwrap()).or_default() += count;
    }
    nodes
}
