//! Instances of a program, where their data lies, and which of that is best.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_model::MachinePart;
use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, PerSecond, Quantity};
use serde::Serialize;

use crate::advice::Basis;
use crate::candidate::{LEAST_GAIN, MOST_TOLERANCE};
use crate::room::Room;

/// What an instance does in a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Bytes that it streams, above 0.
    pub bytes: u64,
    /// Seconds that it computes, with a thread on every core of the machine.
    pub compute_s: f64,
}

/// Which instances run, each with a thread on every core that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InstanceKind {
    OneOverAll,
    OneOnNode,
    OneOnPackage,
    OnePerPackage,
    OnePerNode,
}

/// Where the data lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DataPlace {
    /// Page by page in turn over the nodes.
    Interleaved,
    /// All of it on one node, as a file that is read on one node lies in the page cache.
    OneNode,
    /// In turn over the nodes, on each as many pages as its weight.
    Weighted,
    /// Page by page in turn over the nodes of each package, a copy for each.
    CopyPerPackage,
    /// A copy on each node, of which its threads read their own.
    CopyPerNode,
    /// One copy, of which each thread reads the same part in every step, on its own node.
    OwnParts,
}

/// Instances, where their data lies, and what they get.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrangement {
    pub instances: InstanceKind,
    /// How many.
    pub count: usize,
    /// Threads of all of them.
    pub threads: u32,
    pub data: DataPlace,
    /// The nodes that it is on.
    pub memory_nodes: BTreeSet<u32>,
    /// Pages in turn on each node; null where they are as many on each.
    pub weights: Option<BTreeMap<u32, u32>>,
    /// Other nodes of which the same is predicted, of one instance on one node or package and of data on one node.
    pub alike: Vec<BTreeSet<u32>>,
    /// Of the data.
    pub copies: usize,
    /// All copies together; null where the size of the data is not known.
    pub bytes: Option<u64>,
    pub room: Room,
    /// What the slowest instance gets, useful bytes.
    #[serde(rename = "each_gb_per_s")]
    pub each: Estimate<BytesPerSecond>,
    /// What all get, useful bytes.
    #[serde(rename = "together_gb_per_s")]
    pub together: Estimate<BytesPerSecond>,
    /// What slows the slowest thread most; null where its own loads are what it waits for, or lone pairs
    /// do not tell.
    pub limit: Option<MachinePart>,
    /// Null where no step is known.
    pub steps: Option<StepRates>,
}

/// How often instances make a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRates {
    /// The slowest instance, steps a second.
    #[serde(rename = "each_per_s")]
    pub each: Estimate<PerSecond>,
    /// All together, steps a second.
    #[serde(rename = "together_per_s")]
    pub together: Estimate<PerSecond>,
    /// Whether the slowest instance computes longer than it waits for memory.
    pub is_bound_by_compute: bool,
}

/// What was compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrangements {
    pub basis: Basis,
    /// The most steps, or bytes, of all instances first.
    pub all: Vec<Arrangement>,
    /// The position of the best for one instance: of those that find room, and are below the
    /// largest by no difference that is told, the one with the fewest copies and that asks least of the program. Parts of each thread's own do
    /// not count: only some programs have them.
    pub best_each: Option<usize>,
    /// The same for all instances together.
    pub best_together: Option<usize>,
    /// Nodes that data may lie on and of which the record lacks figures.
    pub unmeasured: Vec<u32>,
}

impl Arrangement {
    /// What is compared: steps, or bytes, a second of an instance or of all.
    fn worth(&self, is_together: bool) -> (f64, [f64; 2]) {
        fn told<U: Quantity>(of: &Estimate<U>) -> (f64, [f64; 2]) {
            (of.value.in_unit(), of.ends().map(U::in_unit))
        }
        match (&self.steps, is_together) {
            (Some(steps), true) => told(&steps.together),
            (Some(steps), false) => told(&steps.each),
            (None, true) => told(&self.together),
            (None, false) => told(&self.each),
        }
    }

    /// What it asks of its user, the least first: memory, then what the program must do by itself.
    fn effort(&self) -> (usize, bool, InstanceKind, DataPlace) {
        let is_of_program = self.instances == InstanceKind::OneOverAll
            && matches!(self.data, DataPlace::CopyPerNode | DataPlace::OwnParts);
        (self.copies, is_of_program, self.instances, self.data)
    }

    fn is_eligible(&self) -> bool {
        !matches!(self.room, Room::TooSmall { .. }) && self.data != DataPlace::OwnParts
    }
}

impl Arrangements {
    pub(crate) fn of(found: Vec<Arrangement>, basis: Basis, unmeasured: Vec<u32>) -> Self {
        let mut all: Vec<Arrangement> = Vec::new();
        for one in found {
            // Of one instance, or one place, on several nodes.
            let is_same = |it: &&mut Arrangement| {
                (it.instances, it.data, it.count) == (one.instances, one.data, one.count)
                    && (it.threads, it.memory_nodes.len()) == (one.threads, one.memory_nodes.len())
                    && std::mem::discriminant(&it.room) == std::mem::discriminant(&one.room)
                    && (it.worth(true).0 / one.worth(true).0 - 1.0).abs() <= MOST_TOLERANCE
            };
            match all.iter_mut().find(is_same) {
                Some(head) => head.alike.push(one.memory_nodes),
                None => all.push(one),
            }
        }
        all.sort_by(|a, b| {
            let by_worth = b.worth(true).0.total_cmp(&a.worth(true).0);
            by_worth.then_with(|| a.effort().cmp(&b.effort()))
        });
        let mut arranged = Self { basis, all, best_each: None, best_together: None, unmeasured };
        arranged.best_each = arranged.best(false);
        arranged.best_together = arranged.best(true);
        arranged
    }

    fn best(&self, is_together: bool) -> Option<usize> {
        let eligible = || (0..self.all.len()).filter(|&it| self.all[it].is_eligible());
        let worth = |it: usize| self.all[it].worth(is_together).0;
        let most = eligible().max_by(|&a, &b| worth(a).total_cmp(&worth(b)))?;
        let near = eligible().filter(|&it| worth(most) / worth(it) - 1.0 < self.least());
        near.min_by_key(|&it| self.all[it].effort())
    }

    /// The smallest difference that is told, a fraction.
    fn least(&self) -> f64 {
        match &self.basis {
            Basis::Flow { flow, .. } => flow.least_difference(),
            Basis::Pairs(_) => LEAST_GAIN,
        }
    }

    /// Whether one gets more than the other, of an instance or of all together, by what the model can
    /// tell.
    pub fn is_more(&self, one: &Arrangement, other: &Arrangement, is_together: bool) -> bool {
        let ((more, [low, high]), (less, [low_of_less, high_of_less])) =
            (one.worth(is_together), other.worth(is_together));
        let ratio = match &self.basis {
            Basis::Flow { .. } => more / less,
            // What lone pairs leave open, they leave open of both.
            Basis::Pairs(_) => (low / low_of_less).min(high / high_of_less),
        };
        ratio - 1.0 >= self.least()
    }
}
