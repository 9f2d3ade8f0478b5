//! Whether there is room for memory before it is taken.

use std::path::Path;

use nearfar_record::{Reason, ReasonCode};
use nearfar_sys::{available_memory, node_free_bytes};
use nearfar_units::Bytes;

use super::pool::{PoolRequest, weights_of};

/// Memory that is left to the rest of the program and the system.
const SPARE_BYTES: u64 = 256 << 20;

/// # Errors
/// When the machine, the control group or a node of the policy has less than is needed.
pub(super) fn check_room(
    request: PoolRequest<'_>,
    node_memory_is_known: bool,
) -> Result<(), Reason> {
    let root = Path::new("/");
    let needed = request.bytes;
    if let Some(available) = available_memory(root)
        && needed + SPARE_BYTES > available
    {
        return Err(no_room(needed, "the machine or the control group", available));
    }
    if !node_memory_is_known {
        return Ok(());
    }
    let weights = weights_of(request.policy);
    let all = weights.values().copied().map(u64::from).sum::<u64>().max(1);
    for (&node, &weight) in &weights {
        let share = needed / all * u64::from(weight);
        if let Some(free) = node_free_bytes(root, node).filter(|&free| share > free) {
            return Err(no_room(share, &format!("node {node}"), free));
        }
    }
    Ok(())
}

fn no_room(needed: u64, place: &str, available: u64) -> Reason {
    Reason {
        code: ReasonCode::NoRoom,
        text: format!(
            "the arrays need {}, {place} has {} free; free some (the page cache counts as used: echo 1 \
             >/proc/sys/vm/drop_caches) or give a smaller --working-set",
            Bytes(needed),
            Bytes(available)
        ),
    }
}
