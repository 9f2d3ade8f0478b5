//! What a record's figures rest on: how many samples, how many of them disturbed,
//! and how well it is known where their pages were.

use std::collections::{BTreeMap, HashMap};

use nearfar_record::{Actor, Case, ProofMethod, Record};

/// What a record's figures rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Samples in the record.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Samples of actors by the weaker of their two proofs of placement.
    pub proven_by: BTreeMap<ProofMethod, usize>,
    /// Smallest share of an actor's pages that were on the nodes asked for; `None`
    /// when no actor asked for nodes.
    pub least_placed: Option<f64>,
    /// Share of the memory that huge pages backed; `None` when the system did not say.
    pub huge_page_share: Option<f64>,
}

/// Weighs the evidence of a record.
#[must_use]
pub fn weigh_evidence(record: &Record) -> Evidence {
    let cases: HashMap<&str, &Case> =
        record.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut evidence = Evidence {
        samples: record.samples.len(),
        disturbed: record.samples.iter().filter(|sample| sample.is_disturbed()).count(),
        proven_by: BTreeMap::new(),
        least_placed: None,
        huge_page_share: None,
    };
    let (mut huge, mut resident) = (0, 0);
    for sample in &record.samples {
        let Some(case) = cases.get(sample.case.as_str()) else {
            continue;
        };
        for (Actor::Stream(stream), actor) in case.actors.iter().zip(&sample.actors) {
            let proofs = [&actor.proof.before, &actor.proof.after];
            let weaker = proofs[0].method.max(proofs[1].method);
            *evidence.proven_by.entry(weaker).or_default() += 1;
            if let Some(asked) = stream.binding.memory.nodes() {
                for pages in proofs {
                    let share: f64 = asked.iter().map(|node| pages.fraction_on(node)).sum();
                    evidence.least_placed =
                        Some(evidence.least_placed.map_or(share, |known| known.min(share)));
                }
            }
            if let (Some(h), Some(r)) =
                (actor.page_sizes.huge_bytes, actor.page_sizes.resident_bytes)
            {
                huge = u64::saturating_add(huge, h);
                resident = u64::saturating_add(resident, r);
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = huge as f64 / resident as f64;
    evidence.huge_page_share = (resident > 0).then_some(share);
    evidence
}
