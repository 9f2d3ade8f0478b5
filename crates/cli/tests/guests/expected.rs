//! What a record must hold, computed from the guest's machine and not read off.

use std::collections::BTreeSet;

use nearfar_lab::GuestMachine;
use nearfar_machine::{CpuSet, FirmwareFigure, NodeSet};
use nearfar_record::{
    Absence, Absent, Actor, ActorSample, Case, Coordinates, PageNodes, Pages, ProofMethod,
    ReasonCode, Record, Stream,
};

use crate::boot::Found;

/// How a pair is answered: an initiator by its node with CPUs, and a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Measured,
    Refused(ReasonCode),
    /// Whose threads touched the pages first decides; what is measured is proven.
    Either(ReasonCode),
}

/// What a run must give.
#[derive(Debug, Clone)]
pub struct Expected {
    /// CPUs that the program may use, as a list; all where not given.
    pub cpus: Option<&'static str>,
    /// Nodes that it may use, as a list; all where not given.
    pub nodes: Option<&'static str>,
    /// Kernels, each a case for every pair and thread count.
    pub kernels: usize,
    /// From an initiator's node with CPUs, to a memory node.
    pub answer: fn(u32, u32) -> Answer,
    /// Who says where the pages are.
    pub method: ProofMethod,
    /// Pages that are asked for, and must be got.
    pub pages: Pages,
    /// Words in the reason of every refusal.
    pub reason: &'static str,
}

/// The kernels of the suite quick.
const QUICK: usize = 3;

impl Expected {
    /// Every pair measured, by three kernels.
    pub fn all() -> Self {
        Self {
            cpus: None,
            nodes: None,
            kernels: QUICK,
            answer: |_, _| Answer::Measured,
            method: ProofMethod::MovePages,
            pages: Pages::Transparent,
            reason: "",
        }
    }

    fn allowed_cpus(&self, machine: &GuestMachine) -> CpuSet {
        match self.cpus {
            Some(list) => list.parse().unwrap(),
            None => (0..machine.cpus()).collect(),
        }
    }

    fn allowed_nodes(&self, machine: &GuestMachine) -> NodeSet {
        match self.nodes {
            Some(list) => list.parse().unwrap(),
            None => (0..).take(machine.node.len()).collect(),
        }
    }

    /// What is not as it must be, in sentences.
    pub fn judge(&self, machine: &GuestMachine, found: &Found) -> Vec<String> {
        let record = &found.record;
        let mut wrong = Vec::new();
        let mut cases = 0;
        for from in (0..).take(machine.node.len()) {
            let cpus: CpuSet = machine.cpus_of(from as usize).into_iter().collect();
            let cpus = cpus.intersection(&self.allowed_cpus(machine));
            for to in self.allowed_nodes(machine).iter().filter(|_| !cpus.is_empty()) {
                let expected = self.kernels * thread_counts(machine, &cpus);
                let of_pair: Vec<&Case> =
                    record.cases.iter().filter(|case| is_of_pair(case, from, to)).collect();
                cases += of_pair.len();
                if of_pair.len() != expected {
                    wrong.push(format!(
                        "{} cases from node {from} to node {to} instead of {expected}",
                        of_pair.len()
                    ));
                }
                for case in of_pair {
                    wrong.extend(self.judge_case(record, case, (from, to), &cpus));
                }
            }
        }
        if record.cases.len() != cases {
            wrong.push(format!("{} cases, {cases} of them of known pairs", record.cases.len()));
        }
        let omitted = absences(record, Absence::Omitted);
        let nodes = self.allowed_nodes(machine).len();
        let expected = machine.node.len() - nodes + usize::from(machine.node.len() == 1);
        if omitted.len() != expected {
            wrong.push(format!("omitted: {omitted:?}, {expected} expected"));
        }
        let refused = !absences(record, Absence::Refused).is_empty();
        if refused != self.refuses(machine) {
            let but = if refused { "cases were refused" } else { "no case was refused" };
            wrong.push(format!("{but}, against what was expected"));
        }
        let status = if refused { 3 } else { 0 };
        if found.status != status {
            wrong.push(format!("status {} instead of {status}", found.status));
        }
        wrong.extend(judge_machine(machine, record));
        wrong.truncate(10);
        if !wrong.is_empty() {
            wrong.push(format!("it said:\n{}", found.said));
        }
        wrong
    }

    /// Whether at least one case must be refused.
    fn refuses(&self, machine: &GuestMachine) -> bool {
        let nodes = || (0..).take(machine.node.len());
        let with_cpus = nodes().filter(|&node| !machine.cpus_of(node as usize).is_empty());
        with_cpus
            .flat_map(|from| nodes().map(move |to| (from, to)))
            .any(|(from, to)| (self.answer)(from, to) != Answer::Measured)
    }

    fn judge_case(
        &self,
        record: &Record,
        case: &Case,
        (from, to): (u32, u32),
        cpus: &CpuSet,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let samples: Vec<_> =
            record.samples.iter().filter(|sample| sample.case == case.id).collect();
        let absent: Vec<_> = record.absent.iter().filter(|it| it.case == case.id).collect();
        let refused_as = |code| {
            let fits =
                |it: &&Absent| it.reason.code == code && it.reason.text.contains(self.reason);
            samples.is_empty() && !absent.is_empty() && absent.iter().all(fits)
        };
        let measured = !samples.is_empty() && absent.is_empty();
        let answer = (self.answer)(from, to);
        let as_expected = match answer {
            Answer::Measured => measured,
            Answer::Refused(code) => refused_as(code),
            Answer::Either(code) => measured || refused_as(code),
        };
        if !as_expected {
            wrong.push(format!(
                "{}: {} samples, {absent:?} instead of {answer:?} with '{}'",
                case.id,
                samples.len(),
                self.reason
            ));
        }
        for sample in samples {
            let streams = case.actors.iter().filter_map(Actor::as_stream);
            for (stream, actor) in streams.zip(&sample.actors) {
                let faults = self.judge_actor(stream, actor, to, cpus);
                wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", case.id)));
            }
        }
        wrong
    }

    fn judge_actor(
        &self,
        stream: &Stream,
        actor: &ActorSample,
        to: u32,
        cpus: &CpuSet,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let proofs = actor.proof.iter().flat_map(|proof| [&proof.before, &proof.after]);
        for proof in proofs {
            let elsewhere: u64 = all_pages(proof) - pages_on(proof, to);
            let enough = pages_on(proof, to) * proof.page_bytes >= stream.working_set_bytes;
            if elsewhere > 0 || !enough || proof.method != self.method {
                wrong.push(format!("{proof:?} proves nothing on node {to} by {:?}", self.method));
            }
        }
        let ran_on = actor.threads.iter().flat_map(|thread| [thread.cpu_before, thread.cpu_after]);
        let strays: Vec<_> =
            ran_on.filter(|cpu| cpu.is_none_or(|cpu| !cpus.contains(cpu))).collect();
        if !strays.is_empty() || !stream.binding.cpus.is_subset(cpus) {
            wrong.push(format!(
                "CPUs {}, threads on {strays:?}, allowed {cpus}",
                stream.binding.cpus
            ));
        }
        let sizes = actor.page_sizes;
        let got = match (sizes.huge_bytes, sizes.resident_bytes) {
            (Some(0), Some(_)) => Some(Pages::Small),
            (Some(huge), Some(resident)) if huge == resident => Some(self.pages),
            _ => None,
        };
        if got != Some(self.pages) || stream.pages != self.pages {
            wrong.push(format!("{sizes:?} instead of {:?}", self.pages));
        }
        wrong
    }
}

/// Pages that a proof finds on a node.
pub fn pages_on(proof: &PageNodes, node: u32) -> u64 {
    proof.pages.get(&node).copied().unwrap_or(0)
}

fn all_pages(proof: &PageNodes) -> u64 {
    proof.pages.values().sum::<u64>() + proof.unknown
}

/// Cases that are absent in this way.
pub fn absences(record: &Record, absence: Absence) -> BTreeSet<&str> {
    let of_kind = record.absent.iter().filter(|absent| absent.absence == absence);
    of_kind.map(|absent| absent.case.as_str()).collect()
}

/// One thread and one thread per core, which may be the same.
fn thread_counts(machine: &GuestMachine, cpus: &CpuSet) -> usize {
    let cores: BTreeSet<u32> = cpus.iter().map(|cpu| cpu / machine.threads_per_core()).collect();
    cores.len().min(2)
}

fn is_of_pair(case: &Case, from: u32, to: u32) -> bool {
    let mut pairs = case.coordinates.iter().filter_map(Coordinates::as_pair);
    pairs.any(|pair| pair.cpu_node == Some(from) && pair.memory_node == to)
}

/// The machine that the record describes is the one that QEMU was told to make.
fn judge_machine(machine: &GuestMachine, record: &Record) -> Vec<String> {
    let seen = &record.header.machine;
    let mut wrong = Vec::new();
    if seen.nodes.len() != machine.node.len() {
        wrong.push(format!("{} nodes instead of {}", seen.nodes.len(), machine.node.len()));
    }
    for (from, node) in (0..).zip(&machine.node) {
        let own: CpuSet = machine.cpus_of(from as usize).into_iter().collect();
        let found = seen.node(from);
        let cpus = found.map(|node| node.cpus.clone()).unwrap_or_default();
        if !cpus.is_subset(&own) || cpus.is_empty() != own.is_empty() {
            wrong.push(format!("node {from} has the CPUs '{cpus}' instead of '{own}'"));
        }
        let cache = found.and_then(|node| node.memory_side_cache_bytes);
        if cache != node.side_cache_mib.map(|mib| u64::from(mib) << 20) {
            wrong.push(format!("node {from} has a memory-side cache of {cache:?} bytes"));
        }
        for (to, &distance) in (0..).zip(machine.distances.get(from as usize).into_iter().flatten())
        {
            if seen.distance(from, to) != Some(u64::from(distance)) {
                wrong.push(format!("distance {from} to {to}: {:?}", seen.distance(from, to)));
            }
        }
    }
    wrong.extend(judge_claims(machine, record));
    wrong
}

/// What the firmware claims for each node and the CPUs with the best access to it: Linux
/// shows no others (`Documentation/admin-guide/mm/numaperf.rst`).
fn judge_claims(machine: &GuestMachine, record: &Record) -> Vec<String> {
    let mut expected: Vec<FirmwareFigure> = Vec::new();
    if let Some(claims) = &machine.claims {
        let initiators: Vec<usize> =
            (0..machine.node.len()).filter(|&node| machine.node[node].cpus > 0).collect();
        for (to, node) in (0..machine.node.len()).zip(0..) {
            let row = (0..initiators.len()).min_by_key(|&row| claims.latency_ns[row][to]).unwrap();
            let bytes_per_s = Some(f64::from(claims.bandwidth_mb_per_s[row][to]) * 1e6);
            let latency_ns = Some(f64::from(claims.latency_ns[row][to]));
            expected.push(FirmwareFigure {
                initiator: Some(machine.cpus_of(initiators[row]).into_iter().collect()),
                node,
                read_bytes_per_s: bytes_per_s,
                write_bytes_per_s: bytes_per_s,
                read_latency_ns: latency_ns,
                write_latency_ns: latency_ns,
            });
        }
    }
    let mut found = record.header.machine.firmware_figures.clone();
    found.sort_by_key(|figure| figure.node);
    if found == expected {
        return Vec::new();
    }
    vec![format!("the firmware's claims are {found:?} instead of {expected:?}")]
}
