//! C. Pousa Ribeiro and others, Explorando Afinidade de Memoria em Arquiteturas NUMA (2010): its
//! machines, the gains of its strategies, and its conclusion.

mod facts;
mod findings;
mod machines;
mod reason;
mod times;

pub use facts::Facts;
use facts::MachineFacts;
pub use machines::Measured;

use crate::error::ReproduceError;
use crate::paper::PaperFacts;
use crate::printed::Printed;
use crate::row::{Comparison, Row};
use crate::simulated_record::Machines;

pub(crate) const KEY: &str = "ribeiro2010";

impl PaperFacts for Facts {
    const KEY: &'static str = KEY;
    const FILE: &'static str = include_str!("../../papers/ribeiro2010.json");
    type Measured = Machines<Measured>;

    fn check(&self) -> Result<(), String> {
        self.check_names()
    }

    fn measure(&self) -> Result<Machines<Measured>, ReproduceError> {
        let measure = |name: &str| Measured::of(&self.machines[name].simulated);
        Machines::measure(KEY, self.machines.keys(), measure)
    }

    fn rows(&self, machines: &Machines<Measured>) -> Result<Vec<Row>, ReproduceError> {
        let mut rows = Vec::new();
        for (name, machine) in &self.machines {
            rows.extend(machine_rows(name, machine, machines.find(name)?));
        }
        rows.extend(program_rows(self));
        rows.extend(findings::gain_rows(self, machines)?);
        rows.extend(findings::order_rows(self, machines)?);
        rows.extend(findings::conclusion_rows(self, machines)?);
        Ok(rows)
    }
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
