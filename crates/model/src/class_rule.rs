//! What bandwidth classes are made from, as a reader may choose it.

use std::fmt;

use nearfar_machine::TheoreticalMaximum;
use serde::{Serialize, Serializer};

/// What the classes are made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassRule {
    /// Kernels of which a pair's best counts.
    #[serde(skip)]
    pub kernels: Vec<String>,
    /// Threads of the cases that are classed.
    pub threads: ThreadChoice,
    /// One variant only, by name; null for the best of those that walk in order.
    pub variant: Option<String>,
    /// A class spans at most this fraction of its maximum, and what noise explains.
    #[serde(rename = "class_span")]
    pub span: f64,
    /// Whether every group of CPUs has classes of its own.
    pub per_group: bool,
    /// What alphas are relative to; `None` for what the machine's memory modules give.
    #[serde(skip)]
    pub gamma: Option<TheoreticalMaximum>,
}

impl Default for ClassRule {
    /// The best of triad and triad_nt by one thread. The span is 7 % and not the
    /// thesis's ten, because its own tables 3.4 and 5.4 separate classes 9 % apart.
    fn default() -> Self {
        Self {
            kernels: vec!["triad".into(), "triad_nt".into()],
            threads: ThreadChoice::Count(1),
            variant: None,
            span: 0.07,
            per_group: false,
            gamma: None,
        }
    }
}

impl ClassRule {
    /// Whether it classes what is classed without a choice; what alphas are relative to leaves the
    /// classes as they are.
    pub fn is_default(&self) -> bool {
        Self { gamma: None, ..self.clone() } == Self::default()
    }

    /// Whether the rule judges cases of `threads` threads on a group of CPUs for which at most `most`
    /// were planned.
    pub(crate) fn has_threads(&self, threads: u32, most: u32) -> bool {
        match self.threads {
            ThreadChoice::Count(count) => threads == count,
            ThreadChoice::All => threads == most,
        }
    }
}

/// Which thread count is classed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "String"),
    schemars(extend("type" = ["integer", "string"], "minimum" = 1, "pattern" = "^all$"))
)]
pub enum ThreadChoice {
    /// This number of threads.
    Count(u32),
    /// The most that were planned for the group of CPUs: all its cores, or a note says how many
    /// of them.
    All,
}

impl Serialize for ThreadChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::All => serializer.serialize_str("all"),
        }
    }
}

impl fmt::Display for ThreadChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(1) => out.write_str("one thread"),
            Self::Count(threads) => write!(out, "{threads} threads"),
            Self::All => out.write_str("all threads"),
        }
    }
}
