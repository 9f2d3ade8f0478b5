//! What threads that run get of the parts that they share, and what one more gets beside them.
//!
//! Those that run get what weighted progressive filling gives them, which is what the flow law
//! becomes where parts limit hard. One more then gets of each part, with what is left at most,
//!
//! ```text
//! x = max( (T - passing) w / (held + w), T w / (all + w) )     T = (O^-p + C^-p)^(-1/p)
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | C, T | capacity; what the part carries by the law | bytes/s |
//! | O | what is offered: passing, demands of those that it holds up, and of the one more | bytes/s |
//! | passing | what those get that something else holds up | bytes/s |
//! | w, held, all | weights: of the one more, of those that it holds up, of all | of the largest |
//!
//! and of all together (demand / x)^p = 1 + sum over parts of ((demand / x of the part)^p - 1), as a
//! stream does that is alone. Exact for a task alone, and where all threads are alike and share
//! one part; `benches/regret.rs` says what it costs elsewhere. The law's own solution goes
//! through all parts over and over, and takes milliseconds.

use crate::shared_parts::{Pair, SharedParts};

/// Threads of a pair that run.
#[derive(Debug, Clone, Copy)]
struct Crowd {
    pair: Pair,
    threads: f64,
    /// What each of them gets, bytes/s; 0 while nothing holds them up.
    rate: f64,
    /// The part that holds them up.
    held_by: Option<usize>,
}

/// What a part carries for threads that run.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Weights of all threads.
    weight: f64,
    /// Weights of those that nothing holds up yet.
    open: f64,
    /// Weights of those that this part holds up.
    held: f64,
    /// What those ask for, bytes/s.
    held_demand: f64,
    /// What those get that something else holds up, bytes/s.
    passing: f64,
}

/// Threads that run and the parts that they fill. Kept between questions for its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filling {
    crowds: Vec<Crowd>,
    uses: Vec<Use>,
    /// Crowds that nothing holds up yet.
    waiting: Vec<usize>,
    /// Parts that those use.
    busy: Vec<usize>,
}

/// Of a sum less than this fraction of what it was is nothing.
const ROUNDING: f64 = 1e-12;

impl Filling {
    /// No threads yet.
    pub fn clear(&mut self, shared: &SharedParts) {
        self.crowds.clear();
        self.busy.clear();
        self.uses.clear();
        self.uses.resize(shared.capacities.len(), Use::default());
    }

    /// Puts threads of a pair on the machine.
    pub fn add(&mut self, shared: &SharedParts, pair: &Pair, threads: f64) {
        if threads <= 0.0 {
            return;
        }
        self.crowds.push(Crowd { pair: *pair, threads, rate: 0.0, held_by: None });
        for &part in shared.parts(pair) {
            if self.uses[part].weight <= 0.0 {
                self.busy.push(part);
            }
            self.uses[part].weight += threads * pair.weight;
            self.uses[part].open += threads * pair.weight;
        }
    }

    /// Raises all threads by their weights until something holds up each of them: its own demand,
    /// or the first part to be full.
    pub fn settle(&mut self, shared: &SharedParts) {
        self.waiting.clear();
        self.waiting.extend(0..self.crowds.len());
        while !self.waiting.is_empty() {
            // Rounding leaves something of a sum whose terms were all taken away.
            let uses = &self.uses;
            self.busy.retain(|&part| uses[part].open > ROUNDING * uses[part].weight);
            let level = |&part: &usize| {
                let used = &self.uses[part];
                ((shared.capacities[part] - used.passing).max(0.0) / used.open, part)
            };
            let full = self.busy.iter().map(level).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((level, part)) = full else {
                // Nothing that can be full is left in the way of the others.
                self.hold_where(shared, |_, crowd| Some((crowd.pair.demand, None)));
                return;
            };
            // Levels only rise, so that who is content with the lowest stays so.
            let is_content = |_: &SharedParts, crowd: &Crowd| {
                let Pair { demand, weight, .. } = crowd.pair;
                (demand <= weight * level).then_some((demand, None))
            };
            if self.hold_where(shared, is_content) {
                continue;
            }
            let is_held = |shared: &SharedParts, crowd: &Crowd| {
                let own = shared.parts(&crowd.pair).contains(&part);
                own.then_some((crowd.pair.weight * level, Some(part)))
            };
            if !self.hold_where(shared, is_held) {
                // Rounding alone kept the part open.
                self.uses[part].open = 0.0;
            }
        }
    }

    /// Holds all that wait and get a rate here, with the part that gives it; whether there was any.
    fn hold_where(
        &mut self,
        shared: &SharedParts,
        rate: impl Fn(&SharedParts, &Crowd) -> Option<(f64, Option<usize>)>,
    ) -> bool {
        let before = self.waiting.len();
        let mut position = 0;
        while let Some(&index) = self.waiting.get(position) {
            match rate(shared, &self.crowds[index]) {
                Some((rate, by)) => {
                    self.hold(shared, index, rate, by);
                    self.waiting.swap_remove(position);
                }
                None => position += 1,
            }
        }
        self.waiting.len() < before
    }

    fn hold(&mut self, shared: &SharedParts, index: usize, rate: f64, by: Option<usize>) {
        let crowd = &mut self.crowds[index];
        (crowd.rate, crowd.held_by) = (rate, by);
        let (weight, moved) = (crowd.threads * crowd.pair.weight, crowd.threads * rate);
        for &part in shared.parts(&crowd.pair) {
            self.uses[part].open -= weight;
            if by == Some(part) {
                self.uses[part].held += weight;
                self.uses[part].held_demand += crowd.threads * crowd.pair.demand;
            } else {
                self.uses[part].passing += moved;
            }
        }
    }

    /// What one more thread of a pair gets / what it gets alone, from 0 to 1.
    pub fn speed_of_one_more(&self, shared: &SharedParts, pair: &Pair) -> f64 {
        self.speed(shared, pair, |part| self.uses[part])
    }

    /// What one of the threads of an addition gets / what it gets alone, from 0 to 1.
    pub fn speed_of_added(&self, shared: &SharedParts, addition: usize) -> f64 {
        let Crowd { pair, threads, rate, held_by } = self.crowds[addition];
        let one = threads.min(1.0);
        self.speed(shared, &pair, |part| {
            let own = Use { weight: one * pair.weight, ..Use::default() };
            let own = if held_by == Some(part) {
                Use { held: own.weight, held_demand: one * pair.demand, ..own }
            } else {
                Use { passing: one * rate, ..own }
            };
            self.uses[part].without(&own)
        })
    }

    /// The same for a thread beside what others use of each part.
    fn speed(&self, shared: &SharedParts, pair: &Pair, others: impl Fn(usize) -> Use) -> f64 {
        let sum: f64 = shared
            .parts(pair)
            .iter()
            .zip(shared.alone(pair))
            .map(|(&part, &alone)| {
                let others = others(part);
                if others.weight > 0.0 {
                    let left = others.left(shared, part, pair);
                    power(pair.demand / left, shared.saturation) - 1.0
                } else {
                    alone
                }
            })
            .sum();
        let slowdown = sum.ln_1p() / shared.saturation - pair.ln_alone;
        (-slowdown).exp().min(1.0)
    }
}

impl Use {
    fn without(&self, own: &Self) -> Self {
        let rest = |all: f64, own: f64| if all - own > ROUNDING * all { all - own } else { 0.0 };
        Self {
            weight: rest(self.weight, own.weight),
            open: self.open,
            held: rest(self.held, own.held),
            held_demand: rest(self.held_demand, own.held_demand),
            passing: rest(self.passing, own.passing),
        }
    }

    /// What the part leaves one more thread, at most its demand, bytes/s.
    fn left(&self, shared: &SharedParts, part: usize, pair: &Pair) -> f64 {
        let offered = self.passing + self.held_demand + pair.demand;
        let carried = shared.carried(part, offered);
        let mut of_held = (carried - self.passing).max(0.0);
        if self.held > 0.0 {
            of_held *= pair.weight / (self.held + pair.weight);
        }
        let fair = carried * (pair.weight / (self.weight + pair.weight));
        of_held.max(fair).min(pair.demand)
    }
}

/// `base` to the power of p, at most e^600, so that sums stay within an f64.
fn power(base: f64, p: f64) -> f64 {
    (p * base.ln()).min(600.0).exp()
}
