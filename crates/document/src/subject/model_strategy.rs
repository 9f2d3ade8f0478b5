//! Which strategy to expect to win, as `model RECORD strategy` prints it.

use nearfar_machine::{Binding, CpuSet, MemoryKind, MemoryPolicy, NodeSet};
use nearfar_model::{
    Basis, Expectation, LineCost, PARAMETERS, Parameter, Strategy, StrategyCluster, StrategyTime,
};
use nearfar_record::Record;
use serde::Serialize;

use super::measured::MeasuredView;
use super::model_strategy_advice::advice;
use super::model_strategy_text::text;

/// Which way to place memory is expected to win, of the four of ribeiro2010; `model RECORD
/// strategy --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Where bandwidths are from: `roofs` or `pairs`.
    pub basis: &'static str,
    /// Kernel of these.
    pub kernel: String,
    /// Its instruction-set variant; of pairs the best.
    pub variant: String,
    /// Kind of the nodes.
    pub memory_kind: MemoryKind,
    pub line_bytes: u32,
    /// Whether that is taken for want of a figure.
    pub is_line_assumed: bool,
    /// What a line costs by where it lies.
    pub costs: Vec<LineCostView>,
    /// What no record holds.
    pub parameters: Vec<ParameterView>,
    /// Regular, then irregular accesses.
    pub expectations: Vec<ExpectationView>,
    /// Share of regular accesses to unplaced data from which on round-robin beats memory-bind, or
    /// null.
    pub break_even_share: Option<f64>,
    /// Time of round-robin / that of memory-bind - 1 where all regular data is placed.
    pub placed_margin: f64,
    /// Bindings that bind each cluster's processes to its node.
    pub bind: Vec<String>,
    /// The binding that deals pages out over all nodes.
    pub interleave: String,
    /// What to do with it, in sentences.
    pub advice: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCostView {
    /// `own`, `remote`, `central` or `spread`.
    pub place: &'static str,
    /// One access, the machine idle.
    pub latency_ns: f64,
    /// A line's part of what a thread gets.
    pub transfer_ns: f64,
    /// Half the interval of the figures / their median.
    pub noise: f64,
}

/// What the equations need and no record holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterView {
    /// Its name.
    pub parameter: &'static str,
    /// The least that is tried.
    pub least: f64,
    pub expected: f64,
    /// The most that is tried.
    pub most: f64,
}

/// The strategies for one kind of access.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectationView {
    /// `regular` or `irregular`.
    pub access: &'static str,
    /// All strategies, the fastest first.
    pub strategies: Vec<StrategyTimeView>,
    /// Time of the second / that of the first - 1.
    pub margin: f64,
    /// The same over all parameters and noise.
    pub margin_interval: [f64; 2],
    /// How far a ratio of two times can be off by noise.
    pub noise: f64,
    /// Whether the first is ahead whatever the parameters, and by more than noise.
    pub is_decided: bool,
}

/// What is expected of a strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyTimeView {
    pub strategy: &'static str,
    /// Time of a thread for a line.
    pub line_ns: f64,
    /// The same over all parameters and noise.
    pub line_interval_ns: [f64; 2],
    /// Time of first-touch / this - 1.
    pub gain: f64,
    /// The same over all parameters and noise.
    pub gain_interval: [f64; 2],
    /// Whether the lower end of the gain's interval is claimed.
    pub is_claimed: bool,
    /// Share of the combinations of parameters in which all others are slower.
    pub wins_share: f64,
}

impl StrategyView {
    /// The view of a record's model.
    pub fn new(record: &Record, model: &Strategy) -> Self {
        let costs = &model.costs;
        let cost = |place, cost: LineCost| LineCostView {
            place,
            latency_ns: cost.latency_ns,
            transfer_ns: cost.transfer_ns,
            noise: cost.noise,
        };
        let bind: Vec<String> = costs.clusters.iter().map(bound).collect();
        let interleave = interleaved(&costs.clusters);
        Self {
            schema: "nearfar.strategy/1",
            measured: MeasuredView::new(record),
            basis: match costs.basis {
                Basis::Roofs => "roofs",
                Basis::Pairs => "pairs",
            },
            kernel: costs.kernel.clone(),
            variant: costs.variant.clone(),
            memory_kind: costs.kind,
            line_bytes: costs.line_bytes,
            is_line_assumed: costs.is_line_assumed,
            costs: vec![
                cost("own", costs.own),
                cost("remote", costs.remote),
                cost("central", costs.central),
                cost("spread", costs.spread),
            ],
            parameters: PARAMETERS.iter().map(ParameterView::new).collect(),
            expectations: [&model.regular, &model.irregular].map(ExpectationView::new).into(),
            break_even_share: model.break_even_share,
            placed_margin: model.placed_margin,
            advice: advice(model, &bind, &interleave),
            bind,
            interleave,
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        text(self)
    }
}

fn bound(cluster: &StrategyCluster) -> String {
    let memory = MemoryPolicy::Bind(NodeSet::single(cluster.memory_node));
    Binding { cpus: cluster.cpus.clone(), memory }.to_string()
}

fn interleaved(clusters: &[StrategyCluster]) -> String {
    let cpus: CpuSet = clusters.iter().flat_map(|cluster| cluster.cpus.iter()).collect();
    let nodes: NodeSet = clusters.iter().map(|cluster| cluster.memory_node).collect();
    Binding { cpus, memory: MemoryPolicy::Interleave(nodes) }.to_string()
}

impl ParameterView {
    fn new(parameter: &Parameter) -> Self {
        let &Parameter { name, least, expected, most } = parameter;
        Self { parameter: name, least, expected, most }
    }
}

impl ExpectationView {
    fn new(expectation: &Expectation) -> Self {
        Self {
            access: expectation.access.as_str(),
            strategies: expectation.ranking.iter().map(StrategyTimeView::new).collect(),
            margin: expectation.margin,
            margin_interval: expectation.margin_interval.into(),
            noise: expectation.noise,
            is_decided: expectation.is_decided(),
        }
    }
}

impl StrategyTimeView {
    fn new(time: &StrategyTime) -> Self {
        Self {
            strategy: time.strategy.as_str(),
            line_ns: time.ns,
            line_interval_ns: time.interval.into(),
            gain: time.gain,
            gain_interval: time.gain_interval.into(),
            is_claimed: time.claim().is_some(),
            wins_share: time.wins_share,
        }
    }
}
