//! What is asked of the model: how to split processes, or what a split gets.

use serde::Serialize;

use super::{GridPlace, LawFit, ProcessSplit, SharedGrid, Sharing, SplitRanking, WorkSharing};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitQuestion {
    /// The memory node with the data; `None`: the first that has a law.
    pub node: Option<u32>,
    /// Kernels; empty: the triad, or the first there is where it was not measured.
    pub kernels: Vec<String>,
    /// How the processes share their work.
    pub work: Vec<WorkSharing>,
    /// How many processes to split.
    pub processes: Option<u32>,
    /// Splits to be told of: near, far.
    pub splits: Vec<(u32, u32)>,
}

/// What processes get that are split over cores near and far from their memory; `predict RECORD`
/// with `--processes` or `--split` and `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitAnswers {
    /// Answers, one for each grid of the node.
    pub grids: Vec<SplitAnswer>,
    /// The command that measures more cells of the grids.
    pub more_cells: String,
}

/// What one grid answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitAnswer {
    #[serde(flatten)]
    pub place: GridPlace,
    /// The law that predicts what was not measured.
    pub law: LawFit,
    /// All splits of the processes, for each way to share work.
    pub rankings: Vec<SplitRanking>,
    /// The splits that were named.
    pub splits: Vec<ProcessSplit>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSplit {
    /// The node has no law.
    #[error("the record has no sharing law of node {node}; it has those of node {}", list(known))]
    Node {
        node: u32,
        /// Nodes with a law.
        known: Vec<u32>,
    },
    /// The kernel was not measured there.
    #[error("sharing of node {node} was not measured by {}; it was by {}", asked.join(", "), known.join(", "))]
    Kernel { node: u32, asked: Vec<String>, known: Vec<String> },
    /// More processes than the initiators hold.
    #[error(
        "{processes} processes are more than were planned beside node {node}: at most {near} near and {far} far"
    )]
    TooMany {
        processes: u32,
        node: u32,
        /// Threads of the local initiator.
        near: u32,
        /// Threads of the largest other initiator.
        far: u32,
    },
    /// A split that the initiators do not hold.
    #[error(
        "{} near and {} far do not fit beside node {node}: at most {near} near and {far} far, and one at least", split.0, split.1
    )]
    Split {
        /// What was asked for: near, far.
        split: (u32, u32),
        node: u32,
        /// Threads of the local initiator.
        near: u32,
        /// Threads of the largest other initiator.
        far: u32,
    },
}

impl Sharing {
    /// The answers of the grids of one node, by remote initiator and kernel. A grid whose initiators
    /// do not hold what is asked is left out where another one does.
    ///
    /// # Errors
    /// When no grid fits the question.
    pub fn answer(&self, question: &SplitQuestion) -> Result<SplitAnswers, NoSplit> {
        let mut known: Vec<u32> = self.grids.iter().map(|grid| grid.place.memory_node).collect();
        known.dedup();
        let first = known.first().copied().unwrap_or_default();
        let node = question.node.unwrap_or(first);
        let of_node = || self.grids.iter().filter(move |grid| grid.place.memory_node == node);
        if of_node().next().is_none() {
            return Err(NoSplit::Node { node, known });
        }
        let mut kernels: Vec<String> = of_node().map(|grid| grid.place.kernel.clone()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let asked = match question.kernels.is_empty() {
            false => question.kernels.clone(),
            true if kernels.iter().any(|kernel| kernel == "triad") => vec!["triad".into()],
            true => kernels[..1].to_vec(),
        };
        let of_kernel: Vec<&SharedGrid> =
            of_node().filter(|grid| asked.contains(&grid.place.kernel)).collect();
        if of_kernel.is_empty() {
            return Err(NoSplit::Kernel { node, asked, known: kernels });
        }
        let grids: Vec<SplitAnswer> =
            of_kernel.iter().filter_map(|grid| grid.answer(question)).collect();
        if !grids.is_empty() {
            return Ok(SplitAnswers { grids, more_cells: self.more_cells.clone() });
        }
        let most = |of: fn(&SharedGrid) -> u32| of_kernel.iter().map(|grid| of(grid)).max();
        let near = most(|grid| grid.local.most_threads()).unwrap_or(0);
        let far = most(|grid| grid.remote.most_threads()).unwrap_or(0);
        let fits = |&&(n, m): &&(u32, u32)| n <= near && m <= far && (n, m) != (0, 0);
        let split = question.splits.iter().find(|split| !fits(split));
        Err(match (split.or(question.splits.first()), question.processes) {
            (Some(&split), _) => NoSplit::Split { split, node, near, far },
            (None, processes) => {
                NoSplit::TooMany { processes: processes.unwrap_or(0), node, near, far }
            }
        })
    }
}

impl SharedGrid {
    /// `None` where the initiators do not hold what is asked.
    fn answer(&self, question: &SplitQuestion) -> Option<SplitAnswer> {
        let (near, far) = (self.local.most_threads(), self.remote.most_threads());
        let processes = question.processes.iter();
        let asked =
            processes.flat_map(|&count| question.work.iter().map(move |&work| (count, work)));
        let rankings: Option<Vec<_>> =
            asked.map(|(count, work)| self.ranking(count, work)).collect();
        let split = |&(n, m): &(u32, u32)| {
            let fits = n <= near && m <= far;
            fits.then(|| self.split(n, m)).flatten()
        };
        let splits: Option<Vec<_>> = question.splits.iter().map(split).collect();
        Some(SplitAnswer {
            place: self.place.clone(),
            law: self.fit,
            rankings: rankings?,
            splits: splits?,
        })
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
