//! The firmware's relative distances between memory nodes, out of the matrices
//! that a topology carries.

use std::collections::BTreeMap;

use hwlocality::object::distance::{Distances as Matrix, DistancesKind};
use hwlocality::object::types::ObjectType;
use nearfar_machine::{Distances, MemoryNode};

use crate::hwloc::Walk;

/// The name under which hwloc 2.1 and later keeps the kernel's matrix.
const NAME_OF_SLIT: &str = "NUMALatency";

/// The latency matrix over all memory nodes; of several the one that hwloc took
/// from the operating system under its usual name. A note counts the matrices
/// that were left aside (bandwidths of GPU links, cores, part of the nodes).
pub(crate) fn between_nodes(walk: &mut Walk<'_>) -> Option<Distances> {
    let matrices = match walk.topology.distances(None) {
        Ok(matrices) => matrices,
        Err(error) => {
            walk.notes.push(format!("hwloc could not give the distance matrices: {error}"));
            return None;
        }
    };
    let mut fitting = Vec::new();
    let mut others = Vec::new();
    for matrix in &matrices {
        match over_all_nodes(matrix, &walk.nodes) {
            Some(distances) => fitting.push((preference(matrix), distances)),
            None => others.push(title(matrix)),
        }
    }
    fitting.sort_by_key(|(preference, _)| *preference);
    let unused = fitting.len().saturating_sub(1);
    others.extend(std::iter::repeat_n("another latency matrix over all nodes".into(), unused));
    if !others.is_empty() {
        walk.notes.push(format!("distance matrices not used: {}", others.join(", ")));
    }
    fitting.into_iter().next().map(|(_, distances)| distances)
}

fn name(matrix: &Matrix<'_>) -> Option<String> {
    matrix.name().map(|name| name.to_string_lossy().into_owned())
}

fn preference(matrix: &Matrix<'_>) -> (bool, bool) {
    let usual = name(matrix).as_deref() == Some(NAME_OF_SLIT);
    (!usual, !matrix.kind().contains(DistancesKind::FROM_OS))
}

fn title(matrix: &Matrix<'_>) -> String {
    let kind = matrix.kind();
    let means = if kind.contains(DistancesKind::MEANS_BANDWIDTH) {
        "bandwidth"
    } else if kind.contains(DistancesKind::MEANS_LATENCY) {
        "latency"
    } else {
        "unknown meaning"
    };
    let of = match matrix.objects().flatten().next() {
        Some(first) if !kind.contains(DistancesKind::HETEROGENEOUS_TYPES) => {
            first.object_type().to_string()
        }
        _ => "objects of several types".into(),
    };
    let name = name(matrix).map_or_else(String::new, |name| format!("{name}, "));
    format!("{name}{means} of {} {of}", matrix.num_objects())
}

/// The matrix with the kernel's node numbers, ascending; `None` unless it is a
/// latency of each memory node to each.
fn over_all_nodes(matrix: &Matrix<'_>, nodes: &[MemoryNode]) -> Option<Distances> {
    if !matrix.kind().contains(DistancesKind::MEANS_LATENCY) {
        return None;
    }
    let mut position = BTreeMap::new();
    for (index, object) in matrix.objects().enumerate() {
        let object = object.filter(|object| object.object_type() == ObjectType::NUMANode)?;
        position.insert(u32::try_from(object.os_index()?).ok()?, index);
    }
    let numbers: Vec<u32> = nodes.iter().map(|node| node.os_index).collect();
    if matrix.num_objects() != numbers.len() || !position.keys().eq(&numbers) {
        return None;
    }
    let order: Vec<usize> = position.into_values().collect();
    let values =
        order.iter().map(|&from| order.iter().map(|&to| matrix[(from, to)]).collect()).collect();
    Some(Distances { nodes: numbers, values })
}
