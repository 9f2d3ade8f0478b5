//! What became of the instances of a program.

use nearfar_machine::{CpuSet, NodeSet};
use nearfar_units::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::figures::significant;
use crate::answer::Answer;
use crate::table::{Cell, Column, Table};

/// Instances that the first screen has room for.
const FIRST_INSTANCES: usize = 32;

/// What became of the instances of a program; `run --each-node --report=FILE` writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedInstances {
    pub schema: &'static str,
    pub instances: Vec<EndedInstance>,
}

/// How an instance ended, and where its memory was.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedInstance {
    pub index: usize,
    /// The nodes that it was on.
    pub nodes: NodeSet,
    /// The CPUs that it could use.
    pub cpus: CpuSet,
    /// As a shell tells it: its status, or 128 and the number of the signal.
    pub status: u8,
    /// From the start of all to its end, s.
    pub seconds: f64,
    /// What the `nearfar run` that it was under reports; null where it left none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<nearfar_place::RunReport>"))]
    pub report: Value,
}

impl EndedInstances {
    pub fn new(instances: Vec<EndedInstance>) -> Self {
        Self { schema: "nearfar.run-instances/1", instances }
    }

    /// For people, a row for each, with the memory that decides by the verdict of `run --report`.
    pub fn answer(&self) -> Answer {
        let columns = ["instance", "node", "status", "time, s", "as asked", "memory by node"];
        let rows = self.instances.iter().map(row);
        let table = Table::new("", columns.map(Column::words), rows);
        Answer::default().and_table(table, FIRST_INSTANCES)
    }
}

fn row(it: &EndedInstance) -> Vec<Cell> {
    let verdict = &it.report["memory"]["verdict"];
    let is_as_asked = match verdict["is_as_asked"].as_bool() {
        Some(true) => Cell::text("yes"),
        Some(false) => Cell::text("NO"),
        None => Cell::Empty,
    };
    let memory = match verdict["bytes_by_node"].as_object() {
        Some(by_node) => {
            let of_node = |(node, bytes): (&String, &Value)| {
                Some(format!("{} on {node}", Bytes(bytes.as_u64()?)))
            };
            Cell::Text(by_node.iter().filter_map(of_node).collect::<Vec<_>>().join(", "))
        }
        None => {
            let why = it.report["memory_absent"].as_str();
            Cell::not_measured(why.unwrap_or("it left no report"))
        }
    };
    vec![
        Cell::text(it.index),
        Cell::text(&it.nodes),
        Cell::text(it.status),
        Cell::Text(significant(it.seconds, 3)),
        is_as_asked,
        memory,
    ]
}
