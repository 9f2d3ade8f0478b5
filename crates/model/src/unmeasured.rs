//! What a record should hold of the pairs matrix and does not: cells that were refused
//! or never reached, by memory node, and nodes that no cell is on.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_record::{Absence, Coordinates, ReasonCode, Record};
use serde::Serialize;

use crate::pairs::{Pairs, pairs};
use crate::record_figures::RecordFigures;

/// Cells without a figure on one memory node, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unmeasured {
    #[serde(rename = "memory_node")]
    pub node: u32,
    /// Cells; 0 where none was even planned.
    pub cells: usize,
    /// Cells of the matrix on the node, with and without figures.
    #[serde(rename = "cells_of_node")]
    pub of: usize,
    #[serde(flatten)]
    pub why: WhyUnmeasured,
}

/// Why cells have no figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum WhyUnmeasured {
    /// The machine said no.
    Refused {
        /// For programs.
        code: ReasonCode,
        /// What it said, of the first cell.
        text: String,
    },
    /// Planned, and neither measured nor refused: the record ends before.
    NoSample,
    /// Measured, and no bytes were moved.
    NoBytes,
    /// The record holds no cell on this node, though the process may use it.
    NotPlanned,
}

/// Unmeasured parts of a record's pairs matrix, by node; none for a record without
/// `pairs`.
pub fn unmeasured(figures: &RecordFigures<'_>) -> Vec<Unmeasured> {
    let record = figures.record();
    let matrix = pairs(figures);
    let of = cells_by_node(&matrix);
    if of.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<(u32, Option<&str>, bool), Unmeasured> = BTreeMap::new();
    for (_, node, _, _, cell) in matrix.cells() {
        let why = match (cell.best(), cell.refused.first()) {
            (Some(best), _) if best.summary.sum.median > 0.0 => continue,
            (Some(_), _) => WhyUnmeasured::NoBytes,
            (None, Some(absent)) => WhyUnmeasured::Refused {
                code: absent.reason.code,
                text: absent.reason.text.clone(),
            },
            (None, None) => WhyUnmeasured::NoSample,
        };
        let key = match &why {
            WhyUnmeasured::Refused { code, .. } => (node, Some(code.as_str()), false),
            other => (node, None, *other == WhyUnmeasured::NoBytes),
        };
        found.entry(key).or_insert(Unmeasured { node, cells: 0, of: of[&node], why }).cells += 1;
    }
    let omitted = omitted_nodes(record);
    let not_planned = record
        .header
        .machine
        .allowed_nodes
        .iter()
        .filter(|&node| record.header.machine.node(node).is_some())
        .filter(|node| !of.contains_key(node) && !omitted.contains(node))
        .map(|node| Unmeasured { node, cells: 0, of: 0, why: WhyUnmeasured::NotPlanned });
    let mut all: Vec<Unmeasured> = found.into_values().chain(not_planned).collect();
    all.sort_by_key(|one| one.node);
    all
}

fn cells_by_node(matrix: &Pairs) -> BTreeMap<u32, usize> {
    let mut of = BTreeMap::new();
    for (_, node, _, _, _) in matrix.cells() {
        *of.entry(node).or_default() += 1;
    }
    of
}

/// Nodes that were left out on purpose.
fn omitted_nodes(record: &Record) -> BTreeSet<u32> {
    record
        .absent
        .iter()
        .filter(|absent| absent.absence == Absence::Omitted)
        .flat_map(|absent| &absent.coordinates)
        .filter_map(Coordinates::as_pair)
        .map(|pair| pair.memory_node)
        .collect()
}
