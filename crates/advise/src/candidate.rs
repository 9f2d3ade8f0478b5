//! A way to place a program's threads and pages, and what is expected of it.

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_model::MachinePart;
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::room::Room;
use crate::team::Team;

/// How pages are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CandidateKind {
    /// As the program does it by itself.
    FirstTouch,
    /// Each thread's data on its own node.
    Local,
    OneNode,
    /// Page by page in turn over nodes.
    Interleave,
    /// In turn, so many pages on each node.
    Weighted,
    /// Each initiator's data by weights of its own.
    ByInitiator,
}

/// The model that foretells a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AdvisingModel {
    /// [`nearfar_model::Flow`].
    Flow,
    /// [`nearfar_model::Hybrid`]: loads and stores of one initiator over two memories.
    Hybrid,
}

/// A way to place threads and pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// How pages are placed.
    #[serde(rename = "placement")]
    pub kind: CandidateKind,
    /// Whether this is what happens without advice.
    pub is_default: bool,
    /// Where threads run.
    #[serde(flatten)]
    pub team: Team,
    /// The policy of all pages, or one for each initiator of the team, in its order.
    #[serde(skip)]
    pub policies: Vec<MemoryPolicy>,
    /// Who foretells it.
    pub model: AdvisingModel,
    /// Threads x the slowest thread's rate, useful bytes, give or take the model's error.
    #[serde(rename = "predicted_gb_per_s")]
    pub predicted: Estimate<BytesPerSecond>,
    /// Predicted / that of the default by the same model - 1; null where the default finds no
    /// room.
    pub gain: Option<f64>,
    /// Whether that is more than the model can be wrong.
    pub is_claimed: bool,
    /// Whether the data finds room.
    pub room: Room,
    /// What slows the slowest threads most; null where they wait for themselves, or the model
    /// does not say.
    pub limit: Option<MachinePart>,
    /// Whether no policy gives it: the program itself would have to be changed.
    pub needs_change: bool,
}

impl Candidate {
    /// Threads and pages of the whole program, or of each initiator by itself.
    pub fn bindings(&self) -> Vec<Binding> {
        let each = || self.team.cpus.iter().zip(&self.policies);
        match self.policies.as_slice() {
            [memory] => vec![Binding { cpus: self.team.all_cpus(), memory: memory.clone() }],
            _ => each()
                .map(|(cpus, memory)| Binding { cpus: cpus.clone(), memory: memory.clone() })
                .collect(),
        }
    }

    /// The command that applies it, or one for each initiator, to whose processes it belongs; empty
    /// where the program would have to be changed.
    pub fn commands(&self) -> Vec<String> {
        if self.needs_change {
            return Vec::new();
        }
        let command = |binding: &Binding| {
            let placement = match (&binding.memory, self.kind) {
                (MemoryPolicy::FirstTouch, CandidateKind::Local) => "local".into(),
                (memory, _) => memory.to_string(),
            };
            format!("nearfar run --cpus {} --placement {placement} -- CMD", binding.cpus)
        };
        self.bindings().iter().map(command).collect()
    }

    /// What it is ranked by: predicted / that of the default, or where there is no default what is
    /// predicted.
    pub(crate) fn worth(&self) -> f64 {
        self.gain.map_or(self.predicted.value.0, |gain| 1.0 + gain)
    }

    /// Whether it may be recommended: it is not known not to fit, and a command applies it.
    pub fn is_eligible(&self) -> bool {
        !self.needs_change && !matches!(self.room, Room::TooSmall { .. })
    }
}
