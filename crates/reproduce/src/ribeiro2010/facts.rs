//! What `papers/ribeiro2010.json` holds.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The paper's numbers, and what it says in words of the order of its strategies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub machines: BTreeMap<String, MachineFacts>,
    pub numa_factor: String,
    pub strategies: BTreeMap<String, String>,
    pub workloads: BTreeMap<String, Workload>,
    /// Thread counts that its gains are means over.
    pub threads: Vec<u32>,
    /// Gains of one strategy over another.
    #[serde(rename = "findings_percent_mean_gain")]
    pub findings: Vec<Finding>,
    pub conclusion: String,
    /// What it says of strategies without a number.
    pub findings_in_words: Vec<String>,
    /// The orders that these words give.
    pub orders: Vec<Order>,
    /// The orders that the conclusion gives.
    pub conclusion_orders: Vec<ConclusionOrder>,
    /// The least and the most that explicit placement gained.
    pub mean_gain_percent: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MachineFacts {
    /// The simulated machine that has its figures.
    pub simulated: String,
    pub nodes: u32,
    pub cpus_per_node: u32,
    pub ghz: f64,
    pub memory_gb: f64,
    pub l3_mb: Option<f64>,
    pub l2_mb: Option<f64>,
    pub stream_read_mbs: f64,
    pub stream_write_mbs: f64,
    pub numa_factor: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Workload {
    pub access: AccessName,
    pub data_gb: Option<f64>,
    pub side: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessName {
    /// Each keeps to its part.
    Regular,
    /// In no order.
    Irregular,
}

/// By how much one strategy is better than another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Finding {
    pub machine: String,
    pub workload: String,
    pub better: String,
    /// The other, or `the others`.
    pub than: String,
    pub gain: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Order {
    pub machine: String,
    pub workload: String,
    pub order: OrderName,
    pub strategies: Vec<String>,
}

/// Kinds of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    Best,
    Worst,
    Better,
    Close,
    /// The first alone gains with every thread count.
    KeepsSpeedup,
}

/// What the conclusion says to do on a machine that is of its kind.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ConclusionOrder {
    pub machine: String,
    pub access: AccessName,
    /// Why, in the conclusion's words.
    pub because: String,
    pub best: String,
}

impl Facts {
    /// Whether it describes every machine, program and strategy that it names.
    pub(super) fn check_names(&self) -> Result<(), String> {
        let of_findings = self.findings.iter().map(|of| (&of.machine, Some(&of.workload)));
        let of_orders = self.orders.iter().map(|of| (&of.machine, Some(&of.workload)));
        let of_conclusion = self.conclusion_orders.iter().map(|of| (&of.machine, None));
        for (machine, workload) in of_findings.chain(of_orders).chain(of_conclusion) {
            if !self.machines.contains_key(machine) {
                return Err(format!("it does not describe the machine {machine}"));
            }
            if let Some(workload) = workload.filter(|name| !self.workloads.contains_key(*name)) {
                return Err(format!("it does not describe the program {workload}"));
            }
        }
        let named = self
            .findings
            .iter()
            .flat_map(|of| [&of.better, &of.than])
            .filter(|name| *name != OTHERS)
            .chain(self.orders.iter().flat_map(|of| &of.strategies))
            .chain(self.conclusion_orders.iter().map(|of| &of.best));
        let unknown = named.into_iter().find(|name| !self.strategies.contains_key(*name));
        if let Some(strategy) = unknown {
            return Err(format!("it does not describe the strategy {strategy}"));
        }
        let lacks = |of: &&Order| {
            let pair = matches!(of.order, OrderName::Better | OrderName::Close);
            of.strategies.len() != 1 + usize::from(pair)
        };
        match self.orders.iter().find(lacks) {
            None => Ok(()),
            Some(of) => Err(format!("an order of {} is not whole", of.workload)),
        }
    }

    pub(super) fn gain(
        &self,
        machine: &str,
        workload: &str,
        better: &str,
        than: &str,
    ) -> Option<f64> {
        let is_asked = |of: &&Finding| {
            (of.machine.as_str(), of.workload.as_str()) == (machine, workload)
                && (of.better.as_str(), of.than.as_str()) == (better, than)
        };
        self.findings.iter().find(is_asked).map(|of| of.gain)
    }
}

/// In place of a strategy: all but the better one.
pub(super) const OTHERS: &str = "the others";
