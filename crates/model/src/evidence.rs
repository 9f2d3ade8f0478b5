//! What a record's figures rest on: how many samples, how many of them disturbed,
//! and how well it is known where their pages were.

use std::collections::BTreeMap;

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{Actor, Case, PageNodes, Proof, ProofMethod, Sample};

/// What a record's figures rest on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    pub samples: usize,
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

/// Where the pages of the arrays of a case are to be.
pub(crate) struct Arrays {
    /// Of each actor the array that its `proof` is of, and that of its `write_proof`.
    of_actors: Vec<[Option<Array>; 2]>,
}

struct Array {
    /// `None` where its pages may be anywhere.
    nodes: Option<NodeSet>,
    /// The share of each node; empty where pages are not dealt out.
    dealt: Vec<(u32, f64)>,
}

impl Arrays {
    pub fn of(case: &Case) -> Self {
        let of_actor = |actor: &Actor| {
            let written = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
            let array = |policy: &MemoryPolicy| Array {
                nodes: policy.nodes(),
                dealt: policy.interleave_shares().unwrap_or_default().into_iter().collect(),
            };
            [actor.memory(), written].map(|policy| policy.map(array))
        };
        Self { of_actors: case.actors.iter().map(of_actor).collect() }
    }
}

/// Evidence while samples are added to it.
#[derive(Debug, Default)]
pub(crate) struct Weighing {
    evidence: Evidence,
    huge_bytes: u64,
    resident_bytes: u64,
}

impl Weighing {
    /// Adds a sample of a case with these arrays; `None` where the plan lacks the case.
    pub fn add(&mut self, arrays: Option<&Arrays>, sample: &Sample) {
        self.evidence.samples += 1;
        self.evidence.disturbed += usize::from(sample.is_disturbed());
        let Some(Arrays { of_actors }) = arrays else { return };
        self.add_proofs(of_actors, sample);
        for found in sample.actors.iter().take(of_actors.len()) {
            let sizes = &found.page_sizes;
            if let (Some(huge), Some(resident)) = (sizes.huge_bytes, sizes.resident_bytes) {
                self.huge_bytes = self.huge_bytes.saturating_add(huge);
                self.resident_bytes = self.resident_bytes.saturating_add(resident);
            }
        }
    }

    fn add_proofs(&mut self, of_actors: &[[Option<Array>; 2]], sample: &Sample) {
        let proofs = of_actors.iter().zip(&sample.actors).flat_map(|(arrays, found)| {
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
            self.evidence.add_pages(array, before);
            if after != before {
                self.evidence.add_pages(array, after);
            }
        }
        self.evidence.on_memory += usize::from(touches_memory);
        if let Some(weakest) = weakest.filter(|_| is_proven) {
            *self.evidence.proven_by.entry(weakest).or_default() += 1;
        }
    }

    /// Adds what other samples gave.
    pub fn join(&mut self, other: Self) {
        let (own, new) = (&mut self.evidence, other.evidence);
        own.samples += new.samples;
        own.disturbed += new.disturbed;
        own.on_memory += new.on_memory;
        for (method, samples) in new.proven_by {
            *own.proven_by.entry(method).or_default() += samples;
        }
        own.least_placed = either(own.least_placed, new.least_placed, f64::min);
        own.worst_share = either(own.worst_share, new.worst_share, f64::max);
        self.huge_bytes = self.huge_bytes.saturating_add(other.huge_bytes);
        self.resident_bytes = self.resident_bytes.saturating_add(other.resident_bytes);
    }

    /// What all samples together say.
    pub fn evidence(self) -> Evidence {
        let share = self.huge_bytes as f64 / self.resident_bytes as f64;
        Evidence { huge_page_share: (self.resident_bytes > 0).then_some(share), ..self.evidence }
    }
}

impl Evidence {
    fn add_pages(&mut self, array: &Array, pages: &PageNodes) {
        let Some(asked) = &array.nodes else { return };
        let placed: f64 = asked.iter().map(|node| pages.fraction_on(node)).sum();
        self.least_placed = either(self.least_placed, Some(placed), f64::min);
        for &(node, share) in &array.dealt {
            let off = (pages.fraction_on(node) - share).abs();
            self.worst_share = either(self.worst_share, Some(off), f64::max);
        }
    }
}

/// Of two the one that is chosen, or the only one.
fn either(one: Option<f64>, two: Option<f64>, choose: fn(f64, f64) -> f64) -> Option<f64> {
    match (one, two) {
        (Some(one), Some(two)) => Some(choose(one, two)),
        (one, two) => one.or(two),
    }
}
