//! All rows of the paper, in its order.

use super::facts::{Facts, MachineFacts};
use super::findings;
use super::machines::{Machines, Measured};
use crate::error::ReproduceError;
use crate::paper::Paper;
use crate::printed::Printed;
use crate::row::{Comparison, Row};

/// Works the paper's figures out from these numbers, on machines that are measured for it.
///
/// # Errors
/// As [`reproduce_on`], and when a machine cannot be measured.
pub fn reproduce(facts: &Facts) -> Result<Paper, ReproduceError> {
    reproduce_on(facts, &Machines::measure(facts)?)
}

/// Works the paper's figures out from these numbers, on machines that were measured.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce_on(facts: &Facts, machines: &Machines) -> Result<Paper, ReproduceError> {
    let mut rows = Vec::new();
    for (name, machine) in &facts.machines {
        rows.extend(machine_rows(name, machine, machines.find(name)?));
    }
    rows.extend(program_rows(facts));
    rows.extend(findings::gain_rows(facts, machines)?);
    rows.extend(findings::order_rows(facts, machines)?);
    rows.extend(findings::conclusion_rows(facts, machines)?);
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows })
}

fn machine_rows(name: &str, machine: &MachineFacts, measured: &Measured) -> Vec<Row> {
    let item = |what: &str| format!("machines, {name}, {what}");
    let why = "an input: the simulated machine is made of it";
    let given = [
        ("nodes", Some(f64::from(machine.nodes))),
        ("CPUs of a node", Some(f64::from(machine.cpus_per_node))),
        ("clock, GHz", Some(machine.ghz)),
        ("memory, GB", Some(machine.memory_gb)),
        ("L3 of a CPU, MB", machine.l3_mb),
        ("L2 of a CPU, MB", machine.l2_mb),
    ];
    let mut rows: Vec<Row> = given
        .into_iter()
        .filter_map(|(what, value)| Some(Row::given(item(what), value?, why)))
        .collect();
    let one_thread = |kernel: &str| {
        let figure = measured.matrix.cell(0, 0, kernel, 1).and_then(|cell| cell.best());
        figure.map(|figure| figure.summary.sum.median / 1e6)
    };
    let span = measured.latency.span.found();
    let [least, most] = machine.numa_factor;
    for (what, value, decimals, ours) in [
        ("STREAM read, MB/s", machine.stream_read_mbs, 2, one_thread("load")),
        ("STREAM write, MB/s", machine.stream_write_mbs, 2, one_thread("store")),
        ("NUMA factor, least", least, 1, span.map(|span| span.least.0)),
        ("NUMA factor, most", most, 1, span.map(|span| span.most.value.0)),
    ] {
        let printed = Printed { value, decimals };
        rows.push(Comparison::of(item(what), printed, ours).judge().after_round_trip());
    }
    rows
}

fn program_rows(facts: &Facts) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, workload) in &facts.workloads {
        let of = [("data, GB", workload.data_gb), ("side of the grid", workload.side)];
        for (what, value) in of {
            let Some(value) = value else { continue };
            let why = "an input: more than the caches hold, so that memory is what counts";
            rows.push(Row::given(format!("programs, {name}, {what}"), value, why));
        }
    }
    for &threads in &facts.threads {
        let item = format!("programs, all, threads, {threads} of them");
        let why = "an input: gains are means over these; the model has all threads of the machine";
        rows.push(Row::given(item, f64::from(threads), why));
    }
    rows
}
