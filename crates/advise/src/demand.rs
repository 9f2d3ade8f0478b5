//! What a program asks of memory, as far as its user knows or a profile told.

use nearfar_model::SeenAccess;
use nearfar_units::words;
use serde::{Deserialize, Serialize};

/// How the threads of a program use its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All threads use all data, over and over; one thread wrote it first.
    Shared,
    /// Each thread, or each process, has data of its own that it wrote first.
    Private,
    /// Each thread keeps to its part of the data, all of which one thread wrote first.
    Regular,
    /// All threads use all data in no order; one thread wrote it first.
    Irregular,
}

/// A program's demand.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Demand {
    /// Threads, one on a core; null for one on every core of its initiators.
    pub threads: Option<u32>,
    /// The initiators that it runs on; null where that may be chosen.
    pub initiators: Option<Vec<u32>>,
    /// Bytes of all its data; null where not known, and then no placement is said to fit.
    pub working_set_bytes: Option<u64>,
    /// Share of loads in all bytes, 0 to 1; null where not known.
    pub load_share: Option<f64>,
    /// How threads use the data; each use that is looked at names its own.
    #[serde(skip)]
    pub pattern: Pattern,
    /// Where its accesses went when nobody placed it; `None` where that was not seen.
    #[serde(skip)]
    pub seen: Option<SeenAccess>,
}

impl Pattern {
    pub const ALL: [Self; 4] = [Self::Shared, Self::Private, Self::Regular, Self::Irregular];

    /// What is looked at where nobody says how threads use the data: each its own part, any any part.
    pub const UNKNOWN: [Self; 2] = [Self::Private, Self::Shared];
}

words!(Pattern);

/// Why a demand cannot be looked at on a machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DemandError {
    #[error(
        "there is no initiator {initiator} whose cores may be used; the record's machine has {known}"
    )]
    NoInitiator {
        initiator: u32,
        /// Those that there are.
        known: String,
    },
    #[error("initiator {0} is named twice; name each once")]
    InitiatorTwice(u32),
    #[error(
        "{threads} threads do not find a core each: {initiators} {cores}; the record says nothing of \
         threads that share a core, so ask for at most as many"
    )]
    TooManyThreads {
        threads: u32,
        /// Whose cores, with their verb.
        initiators: String,
        cores: u32,
    },
    #[error(
        "{initiators} initiators need a thread each, and {threads} were asked for; name fewer initiators or \
         ask for more threads"
    )]
    TooFewThreads {
        threads: u32,
        /// Initiators that were named.
        initiators: usize,
    },
    #[error("a program without data has nothing to place")]
    NoData,
    #[error("no initiator is named; name one, or leave the choice out")]
    NoInitiators,
    #[error("the load share is not between 0 and 1")]
    NoShare,
}
