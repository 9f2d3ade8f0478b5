//! Where the figures of a machine's file are from. A file that names a source says of all that it
//! gives which source it is from or why it was assumed, so that nobody takes a guess for a measurement.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_units::excerpt;
use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use crate::bounds::{self, BadKey, GB_PER_S, GIGA};
use crate::machine_file::MachineFile;

/// A publication.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub title: String,
    pub url: Option<String>,
    /// Keys of the file that it gives, such as `latency` or `bandwidth.one_thread`.
    pub of: BTreeSet<String>,
}

/// Where the figures of a file are from; empty where it says nothing of that.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    pub sources: Vec<Source>,
    /// Keys of the file that no source gives, wholly or in part, with why they are as they are.
    pub assumed: BTreeMap<String, String>,
    /// What was published of the machine and cannot be simulated.
    pub left_out: Vec<String>,
}

/// The figures of a file that were measured, as they were published. Rows are nodes with cores, columns memory
/// nodes; a row may end early.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// Idle latency, ns.
    pub latency_ns: Vec<Vec<f64>>,
    /// What all threads of a node move, bytes/s.
    pub all_threads: Vec<Vec<f64>>,
    /// Of a pair, what this many threads move together, bytes/s.
    pub threads: BTreeMap<(u32, u32), BTreeMap<u32, f64>>,
    /// By kernel what crosses to the memories when all threads run it on their own nodes, bytes/s.
    pub traffic: BTreeMap<String, f64>,
}

/// What says where figures are from, or names things: no figures themselves.
const NOT_FIGURES: [&str; 10] = [
    "assumed",
    "cpu_model",
    "extends",
    "left_out",
    "name",
    "paper",
    "source",
    "title",
    "variants",
    "clock",
];

/// What an entry is about, in place of what it says.
const SELECTORS: [&str; 16] = [
    "cpu_nodes",
    "crosses",
    "distance",
    "from_nodes",
    "from_package",
    "kernels",
    "kind",
    "level",
    "memory",
    "name",
    "near",
    "nodes",
    "number",
    "pairs",
    "relation",
    "to_package",
];

/// With these a hostile file takes no time.
const MOST_KEYS: usize = 256;
const MOST_FIGURES: usize = 4096;

pub(crate) fn origin(file: &MachineFile) -> Result<Origin, BadKey> {
    for (key, source) in bounds::entries("source", &file.source)? {
        bounds::line(&format!("{key}.title"), &source.title)?;
        if let Some(url) = &source.url {
            bounds::line(&format!("{key}.url"), url)?;
        }
    }
    bounds::at_most("assumed", file.assumed.len(), MOST_KEYS)?;
    for why in file.assumed.values() {
        bounds::line("assumed", why)?;
    }
    bounds::at_most("left_out", file.left_out.len(), MOST_KEYS)?;
    for what in &file.left_out {
        bounds::line("left_out", what)?;
    }
    bounds::at_most("matrix.traffic", file.matrix.traffic.len(), MOST_KEYS)?;
    for (kernel, gb_per_s) in &file.matrix.traffic {
        bounds::name("a key of matrix.traffic", kernel)?;
        bounds::number(&format!("matrix.traffic.{kernel}"), *gb_per_s, &GB_PER_S)?;
    }
    if file.source.is_empty() && !(file.assumed.is_empty() && file.left_out.is_empty()) {
        return Err(BadKey::new("source", "is missing beside assumed or left_out"));
    }
    Ok(Origin {
        sources: file.source.clone(),
        assumed: file.assumed.clone(),
        left_out: file.left_out.clone(),
    })
}

/// Refuses a file with sources of which a key is from none and not assumed either, or that speaks of a key
/// that it has not.
pub(crate) fn check(table: &DeTable<'_>) -> Result<(), BadKey> {
    let Some(sources) = table.get("source").and_then(|it| it.get_ref().as_array()) else {
        return Ok(());
    };
    let given =
        sources.iter().filter_map(|source| source.get_ref().get("of")?.get_ref().as_array());
    let mut told: BTreeSet<&str> =
        given.flat_map(|of| of.iter()).filter_map(|key| key.get_ref().as_str()).collect();
    if let Some(assumed) = table.get("assumed").and_then(|it| it.get_ref().as_table()) {
        told.extend(assumed.keys().map(|key| &**key.get_ref()));
    }
    let keys = keys(table);
    bounds::at_most("the keys of source and assumed", told.len(), MOST_KEYS)?;
    bounds::at_most("the keys of a file with a source", keys.len(), MOST_FIGURES)?;
    let is_of = |key: &str, told: &str| {
        key.strip_prefix(told).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(key) = keys.iter().find(|key| !told.iter().any(|told| is_of(key, told))) {
        let why =
            "is from no source and not assumed; name it in the `of` of a source or in assumed";
        return Err(BadKey::new(excerpt(key), why));
    }
    match told.iter().find(|told| !keys.iter().any(|key| is_of(key, told))) {
        Some(stale) => {
            let why = format!("speaks of \"{}\", which the file does not give", excerpt(stale));
            Err(BadKey::new("source or assumed", why))
        }
        None => Ok(()),
    }
}

/// The keys that hold figures: `core_ghz`, `bandwidth.one_thread`.
fn keys(table: &DeTable<'_>) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (key, value) in table {
        let key = &**key.get_ref();
        if NOT_FIGURES.contains(&key) {
            continue;
        }
        let entries: Vec<&DeTable<'_>> = match value.get_ref() {
            DeValue::Table(entry) => vec![entry],
            DeValue::Array(entries) => {
                entries.iter().filter_map(|entry| entry.get_ref().as_table()).collect()
            }
            _ => Vec::new(),
        };
        // The memory of a node is a figure, and the memory that an overlap is of a selector.
        let is_figure = |sub: &&str| !SELECTORS.contains(sub) || key == "node";
        let subs = entries.into_iter().flat_map(|entry| entry.keys());
        let subs = subs.map(|sub| &**sub.get_ref()).filter(is_figure);
        let mut subs = subs.map(|sub| format!("{key}.{sub}")).peekable();
        if subs.peek().is_none() {
            keys.insert(key.into());
        }
        keys.extend(subs);
    }
    keys
}

/// What the matrices, curves by threads and traffic of a file with sources say.
pub(crate) fn published(file: &MachineFile) -> Published {
    if file.source.is_empty() {
        return Published::default();
    }
    let scaled = |row: &Vec<f64>| row.iter().map(|value| value * GIGA).collect();
    let mut published = Published {
        latency_ns: file.matrix.latency_ns.clone().unwrap_or_default(),
        all_threads: file.matrix.all_threads.iter().flatten().map(scaled).collect(),
        threads: BTreeMap::new(),
        traffic: file
            .matrix
            .traffic
            .iter()
            .map(|(kernel, it)| (kernel.clone(), it * GIGA))
            .collect(),
    };
    for entry in &file.bandwidth {
        let points =
            entry.threads.iter().flatten().filter_map(|(threads, figure)| {
                Some((threads.parse().ok()?, figure.of_all()? * GIGA))
            });
        let points: BTreeMap<u32, f64> = points.collect();
        // One of several pairs that a source does not tell apart.
        if let Some(pair) = entry.pairs.iter().flatten().next().filter(|_| !points.is_empty()) {
            published.threads.insert(*pair, points);
        }
    }
    published
}
