//! What a record's figures rest on: how many samples, how many of them disturbed,
//! and how well it is known where their pages were.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Actor, ActorSample, Case, PageNodes, Proof, ProofMethod, Record};

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

impl Evidence {
    fn add_pages(&mut self, policy: &MemoryPolicy, pages: &PageNodes) {
        let Some(asked) = policy.nodes() else { return };
        let placed: f64 = asked.iter().map(|node| pages.fraction_on(node)).sum();
        self.least_placed = Some(self.least_placed.map_or(placed, |known| known.min(placed)));
        for (node, share) in dealt_shares(policy) {
            let off = (pages.fraction_on(node) - share).abs();
            self.worst_share = Some(self.worst_share.map_or(off, |known| known.max(off)));
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

/// An actor's policies and what proves that its pages are where these put them.
fn proofs<'a>(
    planned: &'a Actor,
    found: &'a ActorSample,
) -> impl Iterator<Item = (&'a MemoryPolicy, Option<&'a Proof>)> {
    let written = planned.as_stream().and_then(|stream| stream.write_memory.as_ref());
    let parts = [(planned.memory(), &found.proof), (written, &found.write_proof)];
    parts.into_iter().filter_map(|(policy, proof)| Some((policy?, proof.as_ref())))
}

/// Weighs the evidence of a record.
#[must_use]
pub fn weigh_evidence(record: &Record) -> Evidence {
    let cases: HashMap<&str, &Case> =
        record.cases.iter().map(|case| (case.id.as_str(), case)).collect();
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
    for sample in &record.samples {
        let Some(case) = cases.get(sample.case.as_str()) else {
            continue;
        };
        let actors = || case.actors.iter().zip(&sample.actors);
        let mut methods: Vec<Option<ProofMethod>> = Vec::new();
        for (policy, proof) in actors().flat_map(|(planned, found)| proofs(planned, found)) {
            methods.push(proof.map(|proof| proof.before.method.max(proof.after.method)));
            for pages in proof.iter().flat_map(|proof| [&proof.before, &proof.after]) {
                evidence.add_pages(policy, pages);
            }
        }
        evidence.on_memory += usize::from(!methods.is_empty());
        // One array whose pages nobody saw leaves the whole sample unproven.
        let all: Option<Vec<ProofMethod>> = methods.into_iter().collect();
        if let Some(weakest) = all.and_then(|methods| methods.into_iter().max()) {
            *evidence.proven_by.entry(weakest).or_default() += 1;
        }
        for (_, found) in actors() {
            if let (Some(h), Some(r)) =
                (found.page_sizes.huge_bytes, found.page_sizes.resident_bytes)
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
