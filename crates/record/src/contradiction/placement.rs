//! Proofs of placement that prove nothing, or something else.

use super::history::KnownParts;
use crate::case::Stream;
use crate::header::{Executor, Header};
use crate::sample::{PLACED_FRACTION, PageNodes, PageSizes, Proof, ProofMethod};

/// What is said of a CPU or a node that the record's machine lacks.
pub(super) const MAY_BE_NEW: &str = "the record's machine does not have (one that came online \
                                     after the record was begun needs a new record)";

/// Says what in an actor's proof cannot be.
pub(super) fn check_proof(
    header: &Header,
    known: &KnownParts,
    stream: &Stream,
    proof: &Proof,
) -> Result<(), String> {
    for (when, pages) in [("before", &proof.before), ("after", &proof.after)] {
        check_pages(header, known, stream, pages)
            .map_err(|what| format!("the proof {when} the window: {what}"))?;
    }
    Ok(())
}

fn check_pages(
    header: &Header,
    known: &KnownParts,
    stream: &Stream,
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
    check_cover(stream, found)?;
    let asked = stream.binding.memory.nodes();
    let asked = asked.unwrap_or_else(|| header.machine.allowed_nodes.clone());
    let placed: f64 = asked.iter().map(|node| found.fraction_on(node)).sum();
    if placed < PLACED_FRACTION {
        return Err(format!(
            "{:.1} % of the pages are on the nodes {asked} of mem={}; such a case is refused",
            placed * 100.0,
            stream.binding.memory
        ));
    }
    Ok(())
}

/// The pages must hold the working set: arrays begin and end within one, and shares of a
/// simulated machine's pages are rounded, one a node.
fn check_cover(stream: &Stream, found: &PageNodes) -> Result<(), String> {
    let counted: u128 = found.pages.values().copied().map(u128::from).sum();
    let counted = counted + u128::from(found.unknown);
    let slack = found.pages.len() as u128 + 1;
    let most = (counted + slack) * u128::from(found.page_bytes);
    if most < u128::from(stream.working_set_bytes) {
        return Err(format!(
            "{counted} pages of {} bytes do not hold the working set of {} bytes",
            found.page_bytes, stream.working_set_bytes
        ));
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
