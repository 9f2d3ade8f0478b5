//! The experiments: what is asked of the machine, each a set of cases.

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::coordinates::{Coordinates, SCREENING_ROUNDS, Stage};
use crate::header::Inputs;

/// A set of cases that answers one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// Every group of CPUs against every memory node, alone (braithwaite2012).
    Pairs,
    /// Bandwidth against thread count and affinity, over many runs (vladimirov2012).
    Scaling,
    /// Local and remote threads on one memory node (saad2022).
    Sharing,
    /// All cores of one package on the memory of another, one way and both.
    Links,
    /// What each level of the memory gives an initiator, and what its cores compute at most
    /// (denoyelle2019).
    Roofs,
    /// Loads and stores shared out over a fast and a slow memory (denoyelle2019, section 6).
    Hybrid,
    /// Random sets of streams.
    Mixes,
    /// How long one access takes, alone and beside traffic.
    Latency,
    /// How long two CPUs take to hand a cache line to each other.
    Exchange,
    /// Transfers between every memory node and every device (braithwaite2012, algorithm 3).
    Devices,
    /// Messages to another machine and from it, over a network adapter.
    Network,
    /// The papers' programs, each at every class of placement and by every strategy
    /// (braithwaite2012, chapter 6; ribeiro2010, section 5).
    Workloads,
    /// Programs of the user, each at every placement (braithwaite2012, chapter 6).
    Commands,
}

impl Experiment {
    /// Whether its cases stream through memory in every suite.
    pub fn streams_on_memory(self) -> bool {
        matches!(
            self,
            Self::Pairs
                | Self::Scaling
                | Self::Sharing
                | Self::Links
                | Self::Roofs
                | Self::Hybrid
                | Self::Mixes
        )
    }

    pub const ALL: [Self; 13] = [
        Self::Pairs,
        Self::Scaling,
        Self::Sharing,
        Self::Links,
        Self::Roofs,
        Self::Hybrid,
        Self::Mixes,
        Self::Latency,
        Self::Exchange,
        Self::Devices,
        Self::Network,
        Self::Workloads,
        Self::Commands,
    ];

    /// Those that characterize a machine, in the order in which they are measured: their cases
    /// follow from it alone.
    pub const OF_MACHINE: [Self; 12] = {
        let [of_machine @ .., _commands] = Self::ALL;
        of_machine
    };
}

/// How many cells of a grid are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grid {
    /// Those that a model needs.
    Sparse,
    Full,
}

/// How often a case is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// Rounds that every case gets.
    pub least: u32,
    /// Rounds after which measuring ends.
    pub most: u32,
    pub windows: u32,
}

impl Inputs {
    /// How often a case at these coordinates is measured. A run of `scaling` is a round with
    /// one window: threads and pages are new in each.
    pub fn rounds(&self, coordinates: &Coordinates) -> Rounds {
        match coordinates {
            Coordinates::Pairs(pair) if pair.stage == Stage::Screening => Rounds {
                least: SCREENING_ROUNDS,
                most: SCREENING_ROUNDS,
                windows: self.windows_per_round,
            },
            Coordinates::Scaling(_) => Rounds { least: self.runs, most: self.runs, windows: 1 },
            // A run takes as long as it takes.
            Coordinates::Workloads(_) => {
                Rounds { least: self.min_rounds, most: self.max_rounds, windows: 1 }
            }
            _ => Rounds {
                least: self.min_rounds,
                most: self.max_rounds,
                windows: self.windows_per_round,
            },
        }
    }
}

words!(Experiment, Grid);
