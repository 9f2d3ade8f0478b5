//! The view of `model RECORD flow`.

use nearfar_model::{Flow, FlowErrors, FlowEstimate, FlowParameter, FlowPlacement, PlacementKind};
use nearfar_record::{Experiment, Record};
use serde::Serialize;

use super::measured::MeasuredView;
use super::model_flow_part::FlowPartView;

/// The flow model of a record: what streams get that share the parts of a machine; `model RECORD
/// flow --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// The kernel that capacities are of.
    pub kernel: String,
    /// Its instruction-set variant where it runs beside others.
    pub variant: String,
    /// Its variant in lone cases: another where screening dropped the first.
    pub lone_variant: String,
    /// The saturation exponent p.
    pub saturation: FlowNumberView,
    /// The fairness exponent gamma.
    pub fairness: FlowNumberView,
    /// What one thread of each cluster asks of each node.
    pub one_thread: Vec<OneThreadView>,
    /// What each part carries.
    pub parts: Vec<FlowCapacityView>,
    /// What further kernels move through the same parts.
    pub kernels: Vec<FlowKernelView>,
    /// Whether the fit ended because nothing was left to gain.
    pub has_converged: bool,
    /// How far predictions are off, by experiment and kind of case.
    pub errors: Vec<FlowErrorsView>,
    /// The model's error, a fraction: of the mean errors of a stream, on cases that all others
    /// foretold and on those of each experiment, the largest.
    pub model_error: f64,
    /// The experiment of these cases.
    pub judged_by: Experiment,
    /// Predictions are give or take this, a fraction: 95 % of the streams that all others foretold
    /// are off by no more, and it is at least twice the model's error.
    pub interval_error: f64,
    /// A difference is told from this on, a fraction.
    pub least_difference_share: f64,
    /// Cases of which the others say nothing when they are left out.
    pub not_foretold_cases: usize,
    /// What placements of the whole machine come to.
    pub placements: Vec<FlowPlacementView>,
    /// What to do about it, in sentences.
    pub advice: Vec<String>,
}

/// A number that was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowNumberView {
    pub value: f64,
    /// Where it is with 95 % confidence.
    pub interval: (f64, f64),
    /// Whether any case tells it.
    pub is_bound: bool,
}

/// What one thread asks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneThreadView {
    pub cluster: usize,
    pub memory_node: u32,
    /// How much.
    pub gb_per_s: f64,
    /// Where it is with 95 % confidence.
    pub interval_gb_per_s: (f64, f64),
    /// Whether any case tells it.
    pub is_bound: bool,
}

/// What a part carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCapacityView {
    pub part: FlowPartView,
    /// How much.
    pub gb_per_s: f64,
    /// Where it is with 95 % confidence.
    pub interval_gb_per_s: (f64, f64),
    /// Whether any case tells it.
    pub is_bound: bool,
}

/// A kernel beside the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowKernelView {
    /// Its name.
    pub kernel: String,
    /// Its instruction-set variant.
    pub variant: String,
    /// Its useful bytes where parts are full / the first kernel's.
    pub bytes: FlowNumberView,
    /// What its thread asks in bytes of the first kernel / what the first kernel's does.
    pub demand: FlowNumberView,
}

/// How far predictions are off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowErrorsView {
    pub experiment: Experiment,
    /// `fitted`, `held_out` or `left_out`.
    pub cases_are: &'static str,
    pub cases: usize,
    pub streams: usize,
    /// Mean size over streams, a fraction.
    pub mean_error: f64,
    /// The worst stream, a fraction.
    pub worst_error: f64,
}

/// What a placement comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowPlacementView {
    /// `own_nodes`, `all_nodes`, `other_packages` or `one_node`.
    pub placement: &'static str,
    /// The node of `one_node`; null for the others.
    pub memory_node: Option<u32>,
    /// What all clusters move together.
    pub gb_per_s: f64,
    /// That, give or take `interval_error`.
    pub interval_gb_per_s: (f64, f64),
    /// What a case of the record moved that is the same; null where there is none.
    pub measured_gb_per_s: Option<f64>,
    /// What each cluster moves.
    pub clusters: Vec<ClusterRateView>,
    /// What holds most of it up; null where the threads themselves do.
    pub limit: Option<FlowLimitView>,
}

/// What a cluster moves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterRateView {
    pub cluster: u32,
    /// How much.
    pub gb_per_s: f64,
}

/// The part that holds streams up.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowLimitView {
    pub part: FlowPartView,
    /// What it carries / its capacity.
    pub filled_share: f64,
    /// Clusters of which a part of its sort is the first cause.
    pub clusters: Vec<u32>,
}

impl FlowView {
    /// The view of a record's model.
    pub fn new(record: &Record, model: &Flow) -> Self {
        let number = |wanted: FlowParameter| {
            let mut all = model.fitted.parameters.iter();
            all.find(|estimate| estimate.parameter == wanted).map(number_view)
        };
        let errors = [("fitted", &model.in_sample), ("held_out", &model.held_out)];
        let errors = errors.into_iter().flat_map(|(cases_are, all)| {
            all.iter().map(move |errors| errors_view(cases_are, errors))
        });
        let left_out = errors_view("left_out", &model.left_out);
        let kernel = |(index, kernel): (usize, &String)| {
            let bytes = number(FlowParameter::KernelBytes { kernel: index })?;
            let demand = number(FlowParameter::KernelDemand { kernel: index })?;
            let variant = model.variants.get(index).cloned().unwrap_or_default();
            Some(FlowKernelView { kernel: kernel.clone(), variant, bytes, demand })
        };
        let kernels = model.layout.kernels.iter().enumerate().skip(1).filter_map(kernel).collect();
        let mut view = Self {
            schema: "nearfar.flow/1",
            measured: MeasuredView::new(record),
            kernel: model.layout.kernels.first().cloned().unwrap_or_default(),
            variant: model.variants.first().cloned().unwrap_or_default(),
            lone_variant: model.lone_variants.first().cloned().unwrap_or_default(),
            saturation: number_view(&model.fitted.saturation),
            fairness: number_view(&model.fitted.fairness),
            one_thread: model
                .fitted
                .parameters
                .iter()
                .filter_map(|it| one_thread(model, it))
                .collect(),
            parts: model.fitted.parameters.iter().filter_map(|it| capacity(model, it)).collect(),
            kernels,
            has_converged: model.fitted.has_converged,
            errors: errors.chain([left_out]).collect(),
            model_error: model.judged_by().mean,
            judged_by: model.judged_by().experiment,
            interval_error: model.reach(),
            least_difference_share: model.least_difference(),
            not_foretold_cases: model.fitted.not_foretold,
            placements: model.placements.iter().map(|it| placement(model, it)).collect(),
            advice: Vec::new(),
        };
        view.advice = view.sentences();
        view
    }

    /// For people.
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }
}

fn number_view(estimate: &FlowEstimate) -> FlowNumberView {
    let FlowEstimate { value, interval, is_bound, .. } = *estimate;
    FlowNumberView { value, interval, is_bound }
}

fn giga((low, high): (f64, f64)) -> (f64, f64) {
    (low / 1e9, high / 1e9)
}

fn one_thread(model: &Flow, estimate: &FlowEstimate) -> Option<OneThreadView> {
    let FlowParameter::OneThread { cluster, column } = estimate.parameter else { return None };
    Some(OneThreadView {
        cluster,
        memory_node: *model.layout.nodes.get(column)?,
        gb_per_s: estimate.value / 1e9,
        interval_gb_per_s: giga(estimate.interval),
        is_bound: estimate.is_bound,
    })
}

fn capacity(model: &Flow, estimate: &FlowEstimate) -> Option<FlowCapacityView> {
    let FlowParameter::Capacity(part) = estimate.parameter else { return None };
    Some(FlowCapacityView {
        part: FlowPartView::new(&model.layout, part)?,
        gb_per_s: estimate.value / 1e9,
        interval_gb_per_s: giga(estimate.interval),
        is_bound: estimate.is_bound,
    })
}

fn errors_view(cases_are: &'static str, errors: &FlowErrors) -> FlowErrorsView {
    FlowErrorsView {
        experiment: errors.experiment,
        cases_are,
        cases: errors.cases,
        streams: errors.streams,
        mean_error: errors.mean,
        worst_error: errors.worst,
    }
}

fn placement(model: &Flow, placement: &FlowPlacement) -> FlowPlacementView {
    let (name, memory_node) = match placement.kind {
        PlacementKind::OwnNodes => ("own_nodes", None),
        PlacementKind::AllNodes => ("all_nodes", None),
        PlacementKind::OtherPackages => ("other_packages", None),
        PlacementKind::OneNode { node } => ("one_node", Some(node)),
    };
    let limit = placement.limit.as_ref().and_then(|limit| {
        Some(FlowLimitView {
            part: FlowPartView::new(&model.layout, limit.part)?,
            filled_share: limit.filled,
            clusters: limit.clusters.clone(),
        })
    });
    let rate = |&(cluster, rate): &(u32, f64)| ClusterRateView { cluster, gb_per_s: rate / 1e9 };
    FlowPlacementView {
        placement: name,
        memory_node,
        gb_per_s: placement.total / 1e9,
        interval_gb_per_s: give_or_take(placement.total / 1e9, model.reach()),
        measured_gb_per_s: placement.measured.map(|it| it / 1e9),
        clusters: placement.by_cluster.iter().map(rate).collect(),
        limit,
    }
}

/// A prediction, give or take a fraction.
pub(crate) fn give_or_take(value: f64, reach: f64) -> (f64, f64) {
    (value * (1.0 - reach).max(0.0), value * (1.0 + reach))
}
