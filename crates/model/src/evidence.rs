//! What a record's figures rest on: how many samples, how many of them disturbed,
//! and how well it is known where their pages were.

use std::collections::BTreeMap;

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{Actor, PageNodes, Proof, ProofMethod, Sample};

use crate::record_figures::RecordFigures;

/// What a record's figures rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Samples in the record.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Samples of cases that touch memory.
    pub on_memory: usize,
    /// Of these, the ones whose pages were all proven, by the weakest of their proofs.
    pub proven_by: BTreeMap<ProofMethod, usize>,
    /// Smallest share of an actor's pages that were on the nodes asked for; `None`
    /// when no actor asked for nodes.
    pub least_placed: Option<f64>,
    /// Of pages that are dealt out over nodes, the most that a node's share of them was off its
    /// share by the policy, a fraction of the pages; `None` when no pages are dealt out.
    pub worst_share: Option<f64>,
    /// Share of the memory that huge pages backed; `None` when the system did not say.
    pub huge_page_share: Option<f64>,
}

/// Where the pages of an actor's array are to be.
struct Array {
    /// `None` where they may be anywhere.
    nodes: Option<NodeSet>,
    /// The share of each node; empty where pages are not dealt out.
    dealt: Vec<(u32, f64)>,
}

impl Array {
    fn new(policy: &MemoryPolicy) -> Self {
        Self { nodes: policy.nodes(), dealt: dealt_shares(policy) }
    }

    /// The array that an actor's `proof` is of, and that of its `write_proof`.
    fn of(actor: &Actor) -> [Option<Self>; 2] {
        let written = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
        [actor.memory(), written].map(|policy| policy.map(Self::new))
    }
}

impl Evidence {
    fn add_pages(&mut self, array: &Array, pages: &PageNodes) {
        let Some(asked) = &array.nodes else { return };
        let placed: f64 = asked.iter().map(|node| pages.fraction_on(node)).sum();
        self.least_placed = Some(self.least_placed.map_or(placed, |known| known.min(placed)));
        for &(node, share) in &array.dealt {
            let off = (pages.fraction_on(node) - share).abs();
            self.worst_share = Some(self.worst_share.map_or(off, |known| known.max(off)));
        }
    }

    /// Adds what proves that pages of these arrays, in the order of the actors, are where they are
    /// to be.
    fn add_proofs(&mut self, arrays: &[[Option<Array>; 2]], sample: &Sample) {
        let proofs = arrays.iter().zip(&sample.actors).flat_map(|(arrays, found)| {
            let proofs = [found.proof.as_ref(), found.write_proof.as_ref()];
            arrays.iter().zip(proofs).filter_map(|(array, proof)| Some((array.as_ref()?, proof)))
        });
        let (mut touches_memory, mut is_proven, mut weakest) = (false, true, None);
        for (array, proof) in proofs {
            touches_memory = true;
            // One array whose pages nobody saw leaves the whole sample unproven.
            let Some(Proof { before, after }) = proof else {
                is_proven = false;
                continue;
            };
            weakest = weakest.max(Some(before.method.max(after.method)));
            self.add_pages(array, before);
            if after != before {
                self.add_pages(array, after);
            }
        }
        self.on_memory += usize::from(touches_memory);
        if let Some(weakest) = weakest.filter(|_| is_proven) {
            *self.proven_by.entry(weakest).or_default() += 1;
        }
    }
}

/// The share of the pages that each node is to have; empty where they are not dealt out.
fn dealt_shares(policy: &MemoryPolicy) -> Vec<(u32, f64)> {
    let weights: Vec<(u32, u32)> = match policy {
        MemoryPolicy::Interleave(nodes) => nodes.iter().map(|node| (node, 1)).collect(),
        MemoryPolicy::Weighted(weights) => weights.iter().map(|(&node, &w)| (node, w)).collect(),
        MemoryPolicy::FirstTouch | MemoryPolicy::Bind(_) | MemoryPolicy::Preferred(_) => Vec::new(),
    };
    let all: f64 = weights.iter().map(|&(_, weight)| f64::from(weight)).sum();
    weights.into_iter().map(|(node, weight)| (node, f64::from(weight) / all)).collect()
}

/// Weighs the evidence of a record.
#[must_use]
pub fn weigh_evidence(figures: &RecordFigures<'_>) -> Evidence {
    let record = figures.record();
    let mut evidence = Evidence {
        samples: record.samples.len(),
        disturbed: record.samples.iter().filter(|sample| sample.is_disturbed()).count(),
        on_memory: 0,
        proven_by: BTreeMap::new(),
        least_placed: None,
        worst_share: None,
        huge_page_share: None,
    };
    let (mut huge, mut resident) = (0, 0);
    for case in &record.cases {
        let arrays: Vec<[Option<Array>; 2]> = case.actors.iter().map(Array::of).collect();
        for sample in figures.samples_of(&case.id) {
            evidence.add_proofs(&arrays, sample);
            for found in sample.actors.iter().take(arrays.len()) {
                if let (Some(h), Some(r)) =
                    (found.page_sizes.huge_bytes, found.page_sizes.resident_bytes)
                {
                    huge = u64::saturating_add(huge, h);
                    resident = u64::saturating_add(resident, r);
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = huge as f64 / resident as f64;
    evidence.huge_page_share = (resident > 0).then_some(share);
    evidence
}
