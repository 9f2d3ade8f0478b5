//! The time in which an initiator's cores move data to and from a fast and a slow memory.
//!
//! ```text
//! t_k = q_k / b_k
//! t   = t_d + sum over k != d of theta[d][k] t_k,   d the kind of the largest t_k
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | k | loads from the fast memory, stores to it, loads from the slow one, stores to it | |
//! | q_k, b_k | what is moved, and the rate when nothing else is | bytes, bytes/s |
//! | theta[d][k] | overlap theta: the share of t_k that does not overlap the longest | 1 |
//!
//! Source: denoyelle2019, equation 5. It is not held between the longest t_k (equation 3)
//! and their sum (equation 4): the paper's table 6 has an overlap theta of -0.102, with
//! which a case is faster than its longest part.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use nearfar_machine::{Initiator, Machine};

use crate::bounds::{self, BadKey, GB_PER_S, GIGA};
use crate::machine_file::{ByAccess, MachineFile, OverlapEntry};

/// With three of -0.3 a time is still a tenth of its longest part.
const OVERLAPS: RangeInclusive<f64> = -0.3..=3.0;

/// Bytes that all cores of an initiator move to and from two memories.
pub type HybridBytes = ByAccess<f64>;

/// How accesses to a fast and to a slow memory overlap. Arrays are in the order of
/// [`ByAccess`].
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// The initiators that it is for, by index.
    pub initiators: BTreeSet<u32>,
    /// Nodes of the fast and of the slow memory.
    pub fast: u32,
    pub slow: u32,
    /// Rate of each kind when nothing else moves, bytes/s.
    pub rates: [f64; 4],
    /// Row: the kind that takes longest; column: the share of the other's time that does not
    /// overlap with it. The diagonal is not used.
    pub overlap_theta: [[f64; 4]; 4],
}

impl Overlap {
    /// The time of a case, seconds.
    pub fn seconds(&self, bytes: HybridBytes) -> f64 {
        let mut times = [0.0; 4];
        for ((time, bytes), rate) in times.iter_mut().zip(bytes.each()).zip(self.rates) {
            *time = bytes.max(0.0) / rate;
        }
        let mut longest = 0;
        for kind in 1..times.len() {
            if times[kind] > times[longest] {
                longest = kind;
            }
        }
        let others = (0..times.len()).filter(|&kind| kind != longest);
        let left: f64 = others.map(|kind| self.overlap_theta[longest][kind] * times[kind]).sum();
        times[longest] + left
    }
}

const KINDS: [&str; 4] = ["fast_loads", "fast_stores", "slow_loads", "slow_stores"];

/// The overlaps of a file; of several for one initiator and pair the last is used.
pub(crate) fn overlaps(file: &MachineFile, machine: &Machine) -> Result<Vec<Overlap>, BadKey> {
    let initiators = machine.initiators();
    let mut overlaps = Vec::new();
    for (key, entry) in bounds::entries("overlap", &file.overlap)? {
        let rates = rates(&key, entry.gb_per_s)?;
        let overlap_theta = thetas(&key, entry)?;
        if entry.memory.is_empty() {
            return Err(BadKey::new(format!("{key}.memory"), "is empty; give [[fast, slow]]"));
        }
        for &(fast, slow) in &entry.memory {
            let known = |node: u32| machine.node(node).is_some();
            if fast == slow || !known(fast) || !known(slow) {
                let why = format!("names [{fast}, {slow}], which are not two memory nodes");
                return Err(BadKey::new(format!("{key}.memory"), why));
            }
            let initiators = selected_initiators(&key, entry, &initiators, (fast, slow))?;
            overlaps.push(Overlap { initiators, fast, slow, rates, overlap_theta });
        }
    }
    Ok(overlaps)
}

/// The initiators that an entry names, or else those to which both nodes are local.
fn selected_initiators(
    key: &str,
    entry: &OverlapEntry,
    initiators: &[Initiator],
    (fast, slow): (u32, u32),
) -> Result<BTreeSet<u32>, BadKey> {
    let Some(named) = &entry.cpu_nodes else {
        let own =
            |it: &&Initiator| it.memory_nodes.contains(fast) && it.memory_nodes.contains(slow);
        let selected: BTreeSet<u32> = initiators.iter().filter(own).map(|it| it.index).collect();
        if selected.is_empty() {
            let why =
                format!("[{fast}, {slow}] are local to no initiator both; give cpu_nodes = [..]");
            return Err(BadKey::new(format!("{key}.memory"), why));
        }
        return Ok(selected);
    };
    let of_node = |&node: &u32| {
        let initiator = initiators.iter().find(|initiator| initiator.cpu_node == Some(node));
        initiator.map(|initiator| initiator.index).ok_or_else(|| {
            let why = format!("names node {node}, which has no cores");
            BadKey::new(format!("{key}.cpu_nodes"), why)
        })
    };
    named.iter().map(of_node).collect()
}

fn rates(key: &str, of: ByAccess<f64>) -> Result<[f64; 4], BadKey> {
    let mut rates = of.each();
    for (rate, kind) in rates.iter_mut().zip(KINDS) {
        *rate = bounds::number(&format!("{key}.gb_per_s.{kind}"), *rate, &GB_PER_S)? * GIGA;
    }
    Ok(rates)
}

fn thetas(key: &str, entry: &OverlapEntry) -> Result<[[f64; 4]; 4], BadKey> {
    let rows = [entry.fast_loads, entry.fast_stores, entry.slow_loads, entry.slow_stores];
    let mut thetas = [[0.0; 4]; 4];
    for (longest, row) in rows.into_iter().enumerate() {
        for (other, theta) in row.each().into_iter().enumerate() {
            let key = format!("{key}.{}.{}", KINDS[longest], KINDS[other]);
            match theta {
                None if other == longest => {}
                Some(_) if other == longest => {
                    return Err(BadKey::new(key, "is given; a kind does not overlap with itself"));
                }
                None => return Err(BadKey::new(key, "is missing")),
                Some(theta) => thetas[longest][other] = bounds::number(&key, theta, &OVERLAPS)?,
            }
        }
    }
    Ok(thetas)
}
