//! What became of the instances of a program.

use std::collections::BTreeMap;

use nearfar_machine::NodeSet;
use nearfar_units::Bytes;

use super::figures::significant;
use crate::answer::Answer;
use crate::table::{Cell, Column, Table};

/// Instances that the first screen has room for.
const FIRST_INSTANCES: usize = 32;

/// How an instance ended, and where its memory was.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedInstance {
    pub index: usize,
    /// The nodes that it was on.
    pub nodes: NodeSet,
    /// As a shell tells it: its status, or 128 and the number of the signal.
    pub status: u8,
    pub seconds: f64,
    /// Own memory by node, bytes; or why that is not known.
    pub memory: Result<BTreeMap<u32, u64>, String>,
}

/// For people, a row for each.
pub fn instances_answer(all: &[EndedInstance]) -> Answer {
    let row = |it: &EndedInstance| {
        let memory = match &it.memory {
            Ok(by_node) => {
                let of_node = |(node, bytes): (&u32, &u64)| format!("{} on {node}", Bytes(*bytes));
                Cell::Text(by_node.iter().map(of_node).collect::<Vec<_>>().join(", "))
            }
            Err(why) => Cell::not_measured(why),
        };
        vec![
            Cell::text(it.index),
            Cell::text(&it.nodes),
            Cell::text(it.status),
            Cell::Text(significant(it.seconds, 3)),
            memory,
        ]
    };
    let columns = ["instance", "node", "status", "time, s", "own memory by node"];
    let table = Table::new("", columns.map(Column::words), all.iter().map(row));
    Answer::default().and_table(table, FIRST_INSTANCES)
}
