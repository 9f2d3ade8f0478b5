//! What is asked of the model: how to split processes, or what a split gets.

use serde::Serialize;

use super::splits::MOST_PROCESSES;
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
    /// The command that measures more cells of the grids; null where all were asked for.
    pub more_cells: Option<String>,
}

/// What one grid answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitAnswer {
    #[serde(flatten)]
    pub place: GridPlace,
    /// The law that predicts what was not measured.
    pub law: LawFit,
    /// Whether it does: not one that is off by more than a third.
    pub is_predictive: bool,
    /// All splits of the processes, for each way to share work.
    pub rankings: Vec<SplitRanking>,
    /// The splits that were named.
    pub splits: Vec<ProcessSplit>,
}

impl Sharing {
    /// The answers of the grids of one node, by remote initiator and kernel. A grid whose initiators
    /// do not hold what is asked is left out where another one does.
    ///
    /// # Errors
    /// When no grid fits the question.
    pub fn answer(&self, question: &SplitQuestion) -> Result<SplitAnswers, String> {
        let mut known: Vec<u32> = self.grids.iter().map(|grid| grid.place.memory_node).collect();
        known.dedup();
        let first = known.first().copied().unwrap_or_default();
        let node = question.node.unwrap_or(first);
        let of_node = || self.grids.iter().filter(move |grid| grid.place.memory_node == node);
        if of_node().next().is_none() {
            let known = known.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the record has no sharing law of node {node}; it has those of node {known}"
            ));
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
            let [asked, known] = [asked, kernels].map(|names| names.join(", "));
            return Err(format!(
                "sharing of node {node} was not measured by {asked}; it was by {known}"
            ));
        }
        let grids: Vec<SplitAnswer> =
            of_kernel.iter().filter_map(|grid| grid.answer(question)).collect();
        if !grids.is_empty() {
            return Ok(SplitAnswers { grids, more_cells: self.more_cells.clone() });
        }
        if let Some((grid, off)) = of_kernel.iter().find_map(|&it| Some((it, it.unfit_error()?))) {
            let most = grid.local.most_threads.saturating_add(grid.remote.most_threads);
            let most = most.min(MOST_PROCESSES);
            let told =
                (2..=most).filter(|&count| grid.is_told(count)).map(|count| count.to_string());
            let told: Vec<String> = told.take(MOST_TOLD).collect();
            let told = (!told.is_empty()).then(|| {
                format!("; ask for {} processes, whose splits were measured", told.join(", "))
            });
            let more = self.more_cells.as_ref();
            let more = more.map(|command| format!("; `{command}` measures the cells themselves"));
            return Err(format!(
                "the sharing law of node {node} is off by {:.0} %, more than a third, and predicts \
                 nothing{}{}",
                100.0 * off,
                told.unwrap_or_default(),
                more.unwrap_or_default()
            ));
        }
        let most = |of: fn(&SharedGrid) -> u32| of_kernel.iter().map(|grid| of(grid)).max();
        let near = most(|grid| grid.local.most_threads).unwrap_or(0);
        let far = most(|grid| grid.remote.most_threads).unwrap_or(0);
        let fits = |&&(n, m): &&(u32, u32)| n <= near && m <= far && (n, m) != (0, 0);
        let split = question.splits.iter().find(|split| !fits(split));
        let room = format!("beside node {node}: at most {near} near and {far} far");
        Err(match (split.or(question.splits.first()), question.processes.unwrap_or(0)) {
            (Some((n, m)), _) => {
                format!("{n} near and {m} far do not fit {room}, and one at least")
            }
            (None, processes) => format!("{processes} processes are more than were planned {room}"),
        })
    }
}

/// The most counts of processes that a refusal names.
const MOST_TOLD: usize = 8;

impl SharedGrid {
    /// How far a law is off that predicts nothing.
    fn unfit_error(&self) -> Option<f64> {
        self.fit.left_out.filter(|_| !self.is_predictive).map(|off| off.all)
    }

    /// `None` where the initiators do not hold what is asked, or the law does not tell it.
    fn answer(&self, question: &SplitQuestion) -> Option<SplitAnswer> {
        if question.processes.is_some_and(|count| !self.is_told(count)) {
            return None;
        }
        let (near, far) = (self.local.most_threads, self.remote.most_threads);
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
            is_predictive: self.is_predictive,
            rankings: rankings?,
            splits: splits?,
        })
    }
}
