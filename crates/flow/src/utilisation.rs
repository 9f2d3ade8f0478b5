//! How full the parts are that an access passes.

use std::collections::BTreeMap;

use crate::capacities::{Capacities, Part};
use crate::loads::{Ask, effective_number};

/// The utilisation of the fullest of what an access of an initiator to a node passes: the node's
/// controller and the links on the way. A node without a controller is taken to carry what the
/// widest path to it carries. Each load has its rate beside it, in the bytes/s of its
/// capacities. `None` where the machine has not that pair, or not one that a load names.
pub(crate) fn of_fullest(
    capacities: &Capacities,
    (initiator, node): (u32, u32),
    loads: &[(Ask<'_>, f64)],
) -> Option<f64> {
    let (row, column) = place(capacities, initiator, node)?;
    let passed: Vec<Part> =
        queues_between(capacities, row, column).into_iter().map(|(part, _)| part).collect();
    let mut filled: BTreeMap<Part, f64> = BTreeMap::new();
    let mut at_node: BTreeMap<u32, f64> = BTreeMap::new();
    for (ask, rate) in loads {
        for &(other, share) in &ask.load.shares {
            let (row, column) = place(ask.capacities, ask.load.initiator, other)?;
            let carried = (rate * share).max(0.0);
            if other == node {
                *at_node.entry(ask.load.initiator).or_insert(0.0) += carried;
            }
            for (part, capacity) in queues_between(ask.capacities, row, column) {
                *filled.entry(part).or_insert(0.0) += carried / capacity;
            }
        }
    }
    let crowding =
        1.0 + capacities.interference[column] * (effective_number(at_node.values()) - 1.0);
    let of_part = |part: &Part| {
        let filled = filled.get(part).copied().unwrap_or(0.0);
        if matches!(part, Part::Controller { .. }) { filled * crowding } else { filled }
    };
    Some(passed.iter().map(of_part).fold(0.0, f64::max))
}

fn place(capacities: &Capacities, initiator: u32, node: u32) -> Option<(usize, usize)> {
    let row = usize::try_from(initiator).ok().filter(|&row| row < capacities.one_thread.len())?;
    Some((row, capacities.column(node)?))
}

/// The parts between an initiator and a node before which accesses of several initiators wait.
fn queues_between(capacities: &Capacities, row: usize, column: usize) -> Vec<(Part, f64)> {
    let all = capacities.shared_parts_between(row, column);
    let mut parts: Vec<(Part, f64)> = all
        .filter(|(part, _)| matches!(part, Part::Controller { .. } | Part::Link { .. }))
        .collect();
    if capacities.controller[column].is_none() {
        let widest = capacities.path.iter().filter_map(|row| row[column]).reduce(f64::max);
        parts.extend(widest.map(|capacity| (Part::Controller { column }, capacity)));
    }
    parts
}
