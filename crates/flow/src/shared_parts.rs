//! The parts of a machine that several pairs share: controllers, issue limits, links, and
//! nodes under the pressure law.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{Initiator, Machine, MemoryKind, MemoryNode};

use crate::bounds::{self, BadKey, GIGA};
use crate::capacities::SharedLink;
use crate::machine_file::{LinkEntry, MachineFile};
use crate::pair_selection::{Pair, Pairs};

/// Beyond it ten initiators together would get a tenth of what one gets.
const INTERFERENCE: std::ops::RangeInclusive<f64> = 0.0..=1.0;
/// a and b; 1 halves a group that meets another at their best.
const PRESSURE: std::ops::RangeInclusive<f64> = 0.0..=10.0;
/// With the limits on nodes these bound time and memory that a hostile file can take:
/// links are looked through for every pair, and every variant has its own copy.
const MOST_LINKS: usize = 256;
const MOST_CROSSINGS: usize = 1 << 18;

/// What the nodes' controllers do, in the order of the nodes.
pub(crate) struct Controllers {
    /// What each serves, bytes/s.
    pub capacity: Vec<Option<f64>>,
    /// What each loses when several initiators use it.
    pub interference: Vec<f64>,
}

pub(crate) fn controllers(file: &MachineFile, machine: &Machine) -> Result<Controllers, BadKey> {
    let count = machine.nodes.len();
    let mut of_nodes = Controllers { capacity: vec![None; count], interference: vec![0.0; count] };
    for (key, entry) in bounds::entries("controller", &file.controller)? {
        let capacity = bounds::gb_per_s(&key, entry.gb_per_s)?;
        let interference = entry.interference;
        bounds::number(&format!("{key}.interference"), interference, &INTERFERENCE)?;
        for column in selected_nodes(&key, entry.nodes.as_ref(), entry.kind, machine)? {
            of_nodes.capacity[column] = Some(capacity);
            of_nodes.interference[column] = interference;
        }
    }
    Ok(of_nodes)
}

/// The nodes under the pressure law by their column, with its a and b.
pub(crate) fn pressed_nodes(
    file: &MachineFile,
    machine: &Machine,
    controllers: &[Option<f64>],
) -> Result<Vec<(usize, f64, f64)>, BadKey> {
    let mut pressed = BTreeMap::new();
    for (key, entry) in bounds::entries("pressure", &file.pressure)? {
        let a = bounds::number(&format!("{key}.a"), entry.a, &PRESSURE)?;
        let b = bounds::number(&format!("{key}.b"), entry.b, &PRESSURE)?;
        for column in selected_nodes(&key, entry.nodes.as_ref(), None, machine)? {
            if controllers[column].is_some() {
                let node = machine.nodes[column].os_index;
                let why =
                    format!("selects node {node}, which has a controller; give it one of the two");
                return Err(BadKey::new(key, why));
            }
            pressed.insert(column, (a, b));
        }
    }
    Ok(pressed.into_iter().map(|(column, (a, b))| (column, a, b)).collect())
}

/// The columns of the nodes that an entry is about.
fn selected_nodes(
    key: &str,
    nodes: Option<&BTreeSet<u32>>,
    kind: Option<MemoryKind>,
    machine: &Machine,
) -> Result<Vec<usize>, BadKey> {
    let strange =
        |nodes: &BTreeSet<u32>| nodes.iter().find(|&&node| machine.node(node).is_none()).copied();
    if let Some(node) = nodes.and_then(strange) {
        let why = format!("names memory node {node}, which does not exist");
        return Err(BadKey::new(format!("{key}.nodes"), why));
    }
    let selects = |node: &MemoryNode| {
        nodes.is_none_or(|nodes| nodes.contains(&node.os_index))
            && kind.is_none_or(|kind| kind == node.kind)
    };
    let columns = machine.nodes.iter().enumerate().filter(|(_, node)| selects(node));
    let columns: Vec<usize> = columns.map(|(column, _)| column).collect();
    if columns.is_empty() {
        return Err(BadKey::new(key, "selects no memory node of this machine"));
    }
    Ok(columns)
}

/// What each initiator issues at most, bytes/s.
pub(crate) fn issue_limits(
    file: &MachineFile,
    initiators: &[Initiator],
) -> Result<Vec<Option<f64>>, BadKey> {
    let mut limits = vec![None; initiators.len()];
    for (key, entry) in bounds::entries("issue", &file.issue)? {
        let limit = bounds::gb_per_s(&key, entry.gb_per_s)?;
        let known =
            |node: &u32| initiators.iter().any(|initiator| initiator.cpu_node == Some(*node));
        let strange = |nodes: &BTreeSet<u32>| nodes.iter().find(|node| !known(node)).copied();
        if let Some(node) = entry.cpu_nodes.as_ref().and_then(strange) {
            let why = format!("names node {node}, which has no cores");
            return Err(BadKey::new(format!("{key}.cpu_nodes"), why));
        }
        for (initiator, of_initiator) in initiators.iter().zip(&mut limits) {
            let own = |nodes: &BTreeSet<u32>| {
                initiator.cpu_node.is_some_and(|node| nodes.contains(&node))
            };
            if entry.cpu_nodes.as_ref().is_none_or(own) {
                *of_initiator = Some(limit);
            }
        }
    }
    Ok(limits)
}

/// The links, of those with one name the last.
pub(crate) fn links(file: &MachineFile, pairs: &Pairs) -> Result<Vec<SharedLink>, BadKey> {
    // In the order in which names appear first.
    let mut last_of_name: Vec<&LinkEntry> = Vec::new();
    for (key, entry) in bounds::entries("link", &file.link)? {
        bounds::name(&format!("{key}.name"), &entry.name)?;
        bounds::gb_per_s(&key, entry.gb_per_s)?;
        pairs.check(&format!("{key}.crosses"), entry.crosses.as_ref())?;
        if !entry.has_selector() {
            let why = "says not what crosses it; give crosses, or from_.. and to_..";
            return Err(BadKey::new(key, why));
        }
        if !pairs.all.iter().any(|pair| entry.selects(pair)) {
            return Err(BadKey::new(key, "is crossed by no pair of this machine"));
        }
        match last_of_name.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => *known = entry,
            None => last_of_name.push(entry),
        }
    }
    if last_of_name.len() > MOST_LINKS {
        let why = format!("has {} names; at most {MOST_LINKS}", last_of_name.len());
        return Err(BadKey::new("link", why));
    }
    let mut links = Vec::new();
    let mut crossings = 0;
    for entry in last_of_name {
        let crossing: Vec<&Pair> = pairs.all.iter().filter(|pair| entry.selects(pair)).collect();
        crossings += crossing.len();
        if crossings > MOST_CROSSINGS {
            let why = format!("is crossed by too many pairs in all; at most {MOST_CROSSINGS}");
            return Err(BadKey::new("link", why));
        }
        links.push(SharedLink {
            name: entry.name.clone(),
            capacity: entry.gb_per_s * GIGA,
            crosses: crossing.iter().map(|pair| (pair.initiator, pair.memory_node)).collect(),
        });
    }
    Ok(links)
}
