//! Proofs of placement that prove nothing, or something else.

use super::history::KnownParts;
use nearfar_machine::MemoryPolicy;

use crate::case::Actor;
use crate::header::{Executor, Header};
use crate::sample::{ActorSample, PageNodes, PageSizes, Proof, ProofMethod};

/// What is said of a CPU or a node that the record's machine lacks.
pub(super) const MAY_BE_NEW: &str = "the record's machine does not have (one that came online \
                                     after the record was begun needs a new record)";

/// Says what in the proof of pages of this policy cannot be.
pub(super) fn check_proof(
    header: &Header,
    known: &KnownParts,
    actor: &Actor,
    policy: &MemoryPolicy,
    proof: &Proof,
) -> Result<(), String> {
    for (when, pages) in [("before", &proof.before), ("after", &proof.after)] {
        check_pages(header, known, actor, policy, pages)
            .map_err(|what| format!("the proof {when} the window: {what}"))?;
    }
    Ok(())
}

fn check_pages(
    header: &Header,
    known: &KnownParts,
    actor: &Actor,
    policy: &MemoryPolicy,
    found: &PageNodes,
) -> Result<(), String> {
    let simulated = header.executor == Executor::Simulated;
    if simulated != (found.method == ProofMethod::Simulated) {
        return Err(format!("nobody can have said '{}' of these pages", found.method.as_str()));
    }
    if !found.page_bytes.is_power_of_two() {
        return Err(format!("pages of {} bytes", found.page_bytes));
    }
    if let Some(node) = found.pages.keys().find(|&&node| !known.nodes.contains(node)) {
        return Err(format!("pages on node {node}, which {MAY_BE_NEW}"));
    }
    match found.misplacement(policy, &header.machine.allowed_nodes, actor.threads()) {
        None => Ok(()),
        Some(what) => Err(format!("{what}; such a case is refused")),
    }
}

/// The pages must hold the working set: arrays begin and end within one, and shares of a
/// simulated machine's pages are rounded, one a node.
pub(super) fn check_cover(planned: &Actor, actor: &ActorSample) -> Result<(), String> {
    let (Some(proof), needed) = (&actor.proof, planned.working_set_bytes()) else {
        return Ok(());
    };
    let bytes = |pages: &PageNodes| {
        let counted: u128 = pages.pages.values().copied().map(u128::from).sum();
        let counted = counted + u128::from(pages.unknown) + pages.pages.len() as u128 + 1;
        counted * u128::from(pages.page_bytes)
    };
    let times = [("before", 0), ("after", 1)];
    for (when, time) in times {
        let of_time = |proof: &Proof| bytes([&proof.before, &proof.after][time]);
        let held = of_time(proof) + actor.write_proof.as_ref().map_or(0, of_time);
        if held < u128::from(needed) {
            return Err(format!(
                "the proof {when} the window: its pages hold at most {held} bytes of the working \
                 set of {needed} bytes"
            ));
        }
    }
    Ok(())
}

/// Says what in the sizes of pages cannot be.
pub(super) fn check_page_sizes(sizes: PageSizes) -> Result<(), String> {
    match (sizes.huge_bytes, sizes.resident_bytes) {
        (Some(huge), Some(resident)) if huge > resident => {
            Err(format!("{huge} bytes in huge pages of {resident} that are present"))
        }
        _ => Ok(()),
    }
}
