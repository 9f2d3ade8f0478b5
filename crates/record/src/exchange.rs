//! Two threads that hand a line to each other.

use nearfar_machine::Binding;
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::case::Pages;

/// Two threads that hand one cache line to each other. An access is a hand-over of either.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Both CPUs, and policy of the line's page.
    pub binding: Binding,
    /// The CPU of the thread that begins, then that of the one that answers.
    pub thread_cpus: Vec<u32>,
    pub by: HandOver,
    pub pages: Pages,
}

impl Exchange {
    /// Its variant's name in samples: words of 8 bytes.
    pub const VARIANT: &'static str = "scalar";
    /// The page that the line lies in; nothing else is in it.
    pub const PAGE_BYTES: u64 = 4096;
    /// What a hand-over counts as useful bytes: the word that it writes.
    pub const HAND_OVER_BYTES: u64 = 8;
}

/// How a thread waits for its turn and gives it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HandOver {
    /// It loads until it sees its turn, and stores the other's.
    StoreLoad,
    /// It tries to exchange its turn for the other's (compare-and-swap) until that succeeds.
    CompareSwap,
}

impl HandOver {
    pub const ALL: [Self; 2] = [Self::StoreLoad, Self::CompareSwap];
}

words!(HandOver);
