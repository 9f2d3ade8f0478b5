//! What a profile says of a program's demand: how much data, how many threads, and where its accesses
//! went.
//!
//! ```text
//! a(c, m) = t(c) s(m)                       every page as hot as every other
//! a(c, m) x L / l                           m near c        L: counted local share of lines
//! a(c, m) x (1 - L) / (1 - l)               m far from c    l: local share by pages
//! ```
//!
//! with t(c) the share of CPU time of initiator c and s(m) the share of pages on node m, look by
//! look (`Profile::access`). The second and third line are for programs whose pages are used
//! unevenly, of which a counter told. Source: ours. Fails when: hot and cold pages of the same kind,
//! near or far, lie on different nodes.

use std::collections::BTreeMap;

use nearfar_record::{AccessShares, Profile, ProfiledInitiator};

/// Pages are called unevenly used where the two local shares differ by more.
const UNEVEN: f64 = 0.05;

/// Where a program's accesses went, as shares.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenAccess {
    /// Of all its threads, by memory node.
    all: BTreeMap<u32, f64>,
    /// Of the threads of each initiator, by memory node.
    initiators: BTreeMap<u32, BTreeMap<u32, f64>>,
    /// The local share that a counter told, where it differs from that by pages, and that by pages.
    pub uneven: Option<(f64, f64)>,
}

/// A program's demand as far as its profile knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfiledDemand {
    /// The most threads that were seen.
    pub threads: Option<u32>,
    /// The most bytes that were seen.
    pub working_set_bytes: Option<u64>,
    /// Where its accesses went.
    pub access: Option<SeenAccess>,
    /// What the profile does not tell, and why, in sentences.
    pub unknown: Vec<String>,
}

impl SeenAccess {
    /// `None` where nothing was seen, or shares are no shares.
    fn new(
        access: &AccessShares,
        initiators: &[ProfiledInitiator],
        counted: Option<f64>,
    ) -> Option<Self> {
        let is_local = |initiator: u32, node: u32| {
            initiators.iter().any(|it| it.index == initiator && it.memory_nodes.contains(&node))
        };
        let known: Vec<(u32, u32, f64)> =
            access.pairs.iter().map(|it| (it.initiator, it.memory_node, it.share)).collect();
        let sum = |is_own: &dyn Fn(u32, u32) -> bool| -> f64 {
            known
                .iter()
                .filter(|(initiator, node, _)| is_own(*initiator, *node))
                .map(|it| it.2)
                .sum()
        };
        let total = sum(&|_, _| true);
        let local = sum(&is_local) / total;
        let is_between = |share: &f64| *share > 0.0 && *share < 1.0;
        // Where all pages are near, or all far, hotter ones are where the others are.
        let uneven = counted.filter(|_| is_between(&local)).filter(|it| (0.0..=1.0).contains(it));
        let uneven = uneven.filter(|counted| (counted - local).abs() > UNEVEN);
        let mut seen = Self {
            all: BTreeMap::new(),
            initiators: BTreeMap::new(),
            uneven: uneven.map(|counted| (counted, local)),
        };
        for (initiator, node, share) in known {
            let hot = uneven.map_or(1.0, |counted| {
                if is_local(initiator, node) {
                    counted / local
                } else {
                    (1.0 - counted) / (1.0 - local)
                }
            });
            *seen.all.entry(node).or_default() += share * hot;
            let own = seen.initiators.entry(initiator).or_default();
            *own.entry(node).or_default() += share * hot;
        }
        let are_shares = normalise(&mut seen.all);
        seen.initiators.retain(|_, own| normalise(own));
        are_shares.then_some(seen)
    }

    /// The shares of an initiator's accesses by memory node; of one whose threads did not run, those of
    /// all.
    pub fn of(&self, initiator: u32) -> &BTreeMap<u32, f64> {
        self.initiators.get(&initiator).unwrap_or(&self.all)
    }

    /// The shares of all accesses by memory node.
    pub fn of_all(&self) -> &BTreeMap<u32, f64> {
        &self.all
    }
}

/// Makes a sum of 1; whether that can be.
fn normalise(shares: &mut BTreeMap<u32, f64>) -> bool {
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= sum);
    sum.is_normal() && shares.values().all(|share| share.is_finite() && *share >= 0.0)
}

/// A profile was made on a machine of other initiators than a record.
#[derive(Debug, thiserror::Error)]
#[error("it was watched on a machine of other initiators")]
pub struct OtherInitiators;

/// Holds the initiators of a profile's machine against these.
///
/// # Errors
/// Where they are others: shares of the profile then say nothing of them.
pub fn check_initiators(
    profile: &Profile,
    initiators: &[nearfar_machine::Initiator],
) -> Result<(), OtherInitiators> {
    let is_same = |(ours, theirs): (&nearfar_machine::Initiator, &ProfiledInitiator)| {
        ours.index == theirs.index
            && ours.cpus == theirs.cpus
            && ours.memory_nodes.iter().eq(theirs.memory_nodes.iter().copied())
    };
    let are_same = initiators.len() == profile.initiators.len()
        && initiators.iter().zip(&profile.initiators).all(is_same);
    are_same.then_some(()).ok_or(OtherInitiators)
}

/// What a profile says of its program's demand on a machine of these initiators and this many cores.
pub fn profiled_demand(
    profile: &Profile,
    initiators: &[nearfar_machine::Initiator],
    cores: usize,
) -> ProfiledDemand {
    let mut unknown = Vec::new();
    let threads = match profile.most_threads {
        0 => {
            unknown
                .push("The profile saw no thread: one on every core is taken (--threads).".into());
            None
        }
        threads if threads as usize > cores => {
            unknown.push(format!(
                "The profile saw {threads} threads, more than the {cores} cores of the record's \
                 machine: one on every core is taken (--threads)."
            ));
            None
        }
        threads => Some(threads),
    };
    let working_set_bytes = profile.most_bytes.filter(|bytes| *bytes > 0);
    if working_set_bytes.is_none() {
        unknown.push(
            "The profile saw no pages, so whether the data fits is not known (--working-set)."
                .into(),
        );
    }
    let access = match &profile.access {
        Some(access) => check_initiators(profile, initiators)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                SeenAccess::new(access, &profile.initiators, profile.figures.local_dram_share)
                    .ok_or_else(|| "its shares do not add up".to_owned())
            }),
        None => Err(profile.access_unknown.clone().unwrap_or_else(|| "it is not there".into())),
    };
    let access = access.map_err(|why| {
        unknown.push(format!("Where its accesses went is not known: {why}."));
    });
    let access = access.ok();
    if access.is_some() && profile.figures.local_dram_share.is_none() {
        let why = profile.figures.unknown.get("local_dram_share");
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        unknown.push(format!(
            "Whether some of its pages are used more than others was not counted{why}: all are \
             taken to be used alike."
        ));
    }
    unknown.push(
        "No counter tells the share of loads (--load-share), and sampling from outside does not \
         show how threads share data (--pattern)."
            .into(),
    );
    ProfiledDemand { threads, working_set_bytes, access, unknown }
}
