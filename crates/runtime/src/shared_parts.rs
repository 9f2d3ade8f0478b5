//! The parts of a machine that threads share, as the flow model has them, laid out for speed.

use std::collections::BTreeMap;

use nearfar_flow::Part;
use nearfar_model::{Flow, Inapplicable};

use crate::place::Place;

/// Capacities of parts, and which of them each pair uses.
#[derive(Debug, Clone)]
pub(crate) struct SharedParts {
    /// Bytes/s.
    pub capacities: Vec<f64>,
    /// The saturation exponent p.
    pub saturation: f64,
    /// What a part carries / its capacity, by offered / (offered + capacity) in equal steps.
    curve: Vec<f64>,
    /// Place by place, node by node; `None` where the model has no figure of the pair.
    pairs: Vec<Option<Pair>>,
    nodes: usize,
    /// Parts of all pairs, one after the other.
    used: Vec<usize>,
    /// (demand / capacity)^p of each of them.
    alone: Vec<f64>,
}

/// What one thread asks for, and where it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Demand with nothing in the way, bytes/s.
    pub demand: f64,
    /// Its claim on a part that is full, of the largest 1.
    pub weight: f64,
    /// ln of what it asks for / what it gets alone.
    pub ln_alone: f64,
    first: usize,
    end: usize,
}

/// A weight is at least this: smaller ones come from figures that no machine has.
const LEAST_WEIGHT: f64 = 1e-30;

/// Between this many points the law is straight within 1e-5.
const CURVE_STEPS: usize = 1024;

/// T/C = s (s^p + (1 - s)^p)^(-1/p), which is (O^-p + C^-p)^(-1/p) / C at s = O / (O + C).
fn curve(p: f64) -> Vec<f64> {
    let at = |step: usize| {
        let s = step as f64 / CURVE_STEPS as f64;
        let largest = s.max(1.0 - s);
        let sum = (s / largest).powf(p) + ((1.0 - s) / largest).powf(p);
        s / largest * sum.powf(-1.0 / p)
    };
    (0..=CURVE_STEPS).map(at).collect()
}

impl SharedParts {
    pub fn of(flow: &Flow, places: &[Place], nodes: &[u32]) -> Result<Self, Inapplicable> {
        let capacities = &flow.fitted.capacities;
        let unusable = |why: String| Inapplicable::here(format!("the flow model: {why}"));
        capacities.check().map_err(|error| unusable(error.to_string()))?;
        let demands = || capacities.one_thread.iter().flatten().copied();
        let largest = demands().fold(f64::MIN_POSITIVE, f64::max);
        let mut shared = Self {
            capacities: Vec::new(),
            saturation: capacities.saturation,
            curve: curve(capacities.saturation),
            pairs: Vec::with_capacity(places.len() * nodes.len()),
            nodes: nodes.len(),
            used: Vec::new(),
            alone: Vec::new(),
        };
        let mut positions: BTreeMap<Part, usize> = BTreeMap::new();
        for place in places {
            for node in nodes {
                let row = usize::try_from(place.initiator).unwrap_or(usize::MAX);
                let column = capacities.nodes.iter().position(|known| known == node);
                let known = flow.reached.contains(&(place.initiator, *node));
                let (Some(column), true) = (column, known && row < capacities.one_thread.len())
                else {
                    shared.pairs.push(None);
                    continue;
                };
                let demand = capacities.one_thread[row][column];
                let first = shared.used.len();
                for (part, capacity) in capacities.parts_between(row, column) {
                    let position = *positions.entry(part).or_insert_with(|| {
                        shared.capacities.push(capacity);
                        shared.capacities.len() - 1
                    });
                    shared.used.push(position);
                    shared.alone.push((demand / capacity).powf(capacities.saturation));
                }
                let weight = (demand / largest).powf(capacities.fairness).max(LEAST_WEIGHT);
                let end = shared.used.len();
                let sum: f64 = shared.alone[first..end].iter().sum();
                let ln_alone = sum.ln_1p() / shared.saturation;
                if !ln_alone.is_finite() {
                    return Err(unusable("its capacities lie too far apart".into()));
                }
                shared.pairs.push(Some(Pair { demand, weight, ln_alone, first, end }));
            }
        }
        Ok(shared)
    }

    /// What a part carries by the law of so much that is offered, both bytes/s.
    pub fn carried(&self, part: usize, offered: f64) -> f64 {
        let capacity = self.capacities[part];
        let position = offered / (offered + capacity) * CURVE_STEPS as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position on the curve, from 0 to its end"
        )]
        let before = (position as usize).min(CURVE_STEPS - 1);
        let (low, high) = (self.curve[before], self.curve[before + 1]);
        capacity * (low + (high - low) * (position - before as f64))
    }

    /// What one thread of a place asks of a node.
    pub fn pair(&self, place: usize, column: usize) -> Option<&Pair> {
        self.pairs.get(place * self.nodes + column)?.as_ref()
    }

    /// The parts that a pair uses.
    pub fn parts(&self, pair: &Pair) -> &[usize] {
        &self.used[pair.first..pair.end]
    }

    /// (demand / capacity)^p of each of those parts.
    pub fn alone(&self, pair: &Pair) -> &[f64] {
        &self.alone[pair.first..pair.end]
    }
}
