//! How much of a program's data finds room on a node.

use nearfar_machine::{Machine, MemoryKind};
use serde::Serialize;

use crate::question::LEAST_SHARE;

/// The part of a node's memory that a program can have: the record does not know what is free, and
/// the system needs some.
const USABLE_SHARE: f64 = 0.9;

/// Whether a placement finds room.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// On every node.
    Fits,
    /// Not on this node.
    TooSmall {
        node: u32,
        /// Bytes of the program that would lie there.
        needed_bytes: f64,
        /// Bytes that a program can have there.
        usable_bytes: f64,
    },
    /// The size of the data, or of a node, is not known.
    Unknown,
}

/// The bytes that a program can have on a node; `None` where its size is not known.
pub(crate) fn usable_bytes(machine: &Machine, node: u32) -> Option<f64> {
    let bytes = machine.node(node)?.memory_bytes?;
    Some(bytes as f64 * USABLE_SHARE)
}

/// The largest share of a program's pages that finds room on a node; 1 where nothing is known.
pub(crate) fn room_share(machine: &Machine, node: u32, working_set_bytes: Option<u64>) -> f64 {
    let share = |bytes: u64| Some(usable_bytes(machine, node)? / (bytes as f64).max(1.0));
    working_set_bytes.and_then(share).unwrap_or(1.0).clamp(0.0, 1.0)
}

/// Whether a program with so much data finds room with these shares of it on nodes.
pub fn room(machine: &Machine, working_set_bytes: Option<u64>, on: &[(u32, f64)]) -> Room {
    let Some(bytes) = working_set_bytes else { return Room::Unknown };
    let bytes = bytes as f64;
    let mut is_known = true;
    for &(node, share) in on.iter().filter(|(_, share)| *share > 0.0) {
        let Some(usable) = usable_bytes(machine, node) else {
            is_known = false;
            continue;
        };
        if bytes * (share - LEAST_SHARE).max(0.0) > usable {
            let needed_bytes = bytes * share;
            return Room::TooSmall { node, needed_bytes, usable_bytes: usable };
        }
    }
    if is_known { Room::Fits } else { Room::Unknown }
}

/// Whether pages of ordinary programs belong on a node: of memory that this process may use, with
/// some, and not a GPU's.
pub(crate) fn takes_pages(machine: &Machine, node: u32) -> bool {
    let is_allowed = machine.allowed_nodes.is_empty() || machine.allowed_nodes.contains(node);
    let has_memory =
        machine.node(node).is_some_and(|it| it.has_memory() && it.kind != MemoryKind::Gpu);
    is_allowed && has_memory
}
