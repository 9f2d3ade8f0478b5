//! What the fitted law says of a machine.

use nearfar_record::Experiment;
use nearfar_units::{BytesPerSecond, Ratio};
use serde::Serialize;

use super::case::MachinePart;
use super::fit::FlowEstimate;
use super::parameters::FlowParameter;
use super::placements::FlowPlacement;
use super::{Flow, FlowErrors};

/// What streams get that share the parts of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowSummary {
    #[serde(flatten)]
    pub kernel: FlowKernel,
    /// Its variant in lone cases: another where screening dropped the first, for near or for far memory.
    pub lone_variant: String,
    /// The saturation exponent p.
    pub saturation: Fitted<Ratio>,
    /// The fairness exponent gamma.
    pub fairness: Fitted<Ratio>,
    /// What one thread of each initiator asks of each node.
    pub one_thread: Vec<OneThread>,
    /// What each part carries.
    pub parts: Vec<PartCapacity>,
    /// What further kernels move through the same parts.
    pub kernels: Vec<KernelRatio>,
    /// Whether the fit ended because nothing was left to gain.
    pub has_converged: bool,
    /// How far predictions are off, by experiment and kind of case.
    pub errors: Vec<JudgedErrors>,
    #[serde(flatten)]
    pub trust: FlowTrust,
    /// Cases of which the others say nothing when they are left out.
    pub not_foretold_cases: usize,
    /// What placements of the whole machine come to.
    pub placements: Vec<FlowPlacement>,
    /// The command that measures more of what it is fitted to.
    pub more_cases: String,
}

/// A kernel as it runs beside others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowKernel {
    /// Its name; that of the first is the one that capacities are of.
    pub kernel: String,
    /// Its instruction-set variant where it runs beside others.
    pub variant: String,
}

/// How far the model is believed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowTrust {
    /// The model's error, a fraction: of the mean errors of a stream, on cases that all others
    /// predicted and on those of each experiment, the largest.
    pub model_error: f64,
    /// The experiment of these cases.
    pub judged_by: Experiment,
    /// Predictions are within this, a fraction: 95 % of the streams that all others predicted
    /// are off by no more, and it is at least twice the model's error.
    pub interval_error: f64,
    /// A difference is told from this on, a fraction.
    pub least_difference_share: f64,
}

/// A number that was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted<U> {
    pub value: U,
    /// Where it is with 95 % confidence.
    pub interval: [U; 2],
    /// Whether any case tells it.
    pub is_bound: bool,
}

/// What one thread asks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneThread {
    pub initiator: u32,
    pub memory_node: u32,
    #[serde(rename = "demand_gb_per_s")]
    pub demand: Fitted<BytesPerSecond>,
}

/// What a part carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartCapacity {
    pub part: MachinePart,
    #[serde(rename = "capacity_gb_per_s")]
    pub capacity: Fitted<BytesPerSecond>,
}

/// A kernel beside the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelRatio {
    #[serde(flatten)]
    pub kernel: FlowKernel,
    /// Its useful bytes where parts are full / the first kernel's.
    pub bytes: Fitted<Ratio>,
    /// What its thread asks in bytes of the first kernel / what the first kernel's does.
    pub demand: Fitted<Ratio>,
}

/// How far predictions of some cases are off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedErrors {
    pub cases_are: JudgedCases,
    #[serde(flatten)]
    pub errors: FlowErrors,
}

/// What was known of cases when they were predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JudgedCases {
    /// The fit had them.
    Fitted,
    /// It had not.
    HeldOut,
    /// Each is predicted by a fit to all others.
    LeftOut,
}

impl Flow {
    /// What it says of the machine.
    pub fn summary(&self) -> FlowSummary {
        let all = || self.fitted.parameters.iter();
        let ratio = |wanted: FlowParameter| {
            all().find(|estimate| estimate.parameter == wanted).map(Fitted::of)
        };
        let further = (1..self.layout.kernels.len()).filter_map(|kernel| {
            Some(KernelRatio {
                kernel: self.kernel(kernel),
                bytes: ratio(FlowParameter::KernelBytes { kernel })?,
                demand: ratio(FlowParameter::KernelDemand { kernel })?,
            })
        });
        let sets = [
            (JudgedCases::Fitted, self.in_sample.as_slice()),
            (JudgedCases::HeldOut, &self.held_out),
            (JudgedCases::LeftOut, std::slice::from_ref(&self.left_out)),
        ];
        let errors = sets.into_iter().flat_map(|(cases_are, of)| {
            of.iter().map(move |&errors| JudgedErrors { cases_are, errors })
        });
        FlowSummary {
            kernel: self.kernel(0),
            lone_variant: self.lone_variants.first().cloned().unwrap_or_default(),
            saturation: Fitted::of(&self.fitted.saturation),
            fairness: Fitted::of(&self.fitted.fairness),
            one_thread: all().filter_map(|it| self.one_thread(it)).collect(),
            parts: all().filter_map(|it| self.capacity(it)).collect(),
            kernels: further.collect(),
            has_converged: self.fitted.has_converged,
            errors: errors.collect(),
            trust: self.trust(),
            not_foretold_cases: self.fitted.not_foretold,
            placements: self.placements.clone(),
            more_cases: self.more_cases.clone(),
        }
    }

    /// The kernel at a position of the layout.
    pub(crate) fn kernel(&self, position: usize) -> FlowKernel {
        let at = |of: &[String]| of.get(position).cloned().unwrap_or_default();
        FlowKernel { kernel: at(&self.layout.kernels), variant: at(&self.variants) }
    }

    pub fn trust(&self) -> FlowTrust {
        FlowTrust {
            model_error: self.judged_by().mean,
            judged_by: self.judged_by().experiment,
            interval_error: self.reach(),
            least_difference_share: self.least_difference(),
        }
    }

    fn one_thread(&self, estimate: &FlowEstimate) -> Option<OneThread> {
        let FlowParameter::OneThread { initiator, column } = estimate.parameter else {
            return None;
        };
        Some(OneThread {
            initiator: u32::try_from(initiator).ok()?,
            memory_node: *self.layout.nodes.get(column)?,
            demand: Fitted::of(estimate),
        })
    }

    fn capacity(&self, estimate: &FlowEstimate) -> Option<PartCapacity> {
        let FlowParameter::Capacity(part) = estimate.parameter else { return None };
        Some(PartCapacity { part: self.layout.part(part)?, capacity: Fitted::of(estimate) })
    }
}

impl<U: From<f64>> Fitted<U> {
    fn of(estimate: &FlowEstimate) -> Self {
        let (low, high) = estimate.interval;
        let interval = [low, high].map(U::from);
        Self { value: U::from(estimate.value), interval, is_bound: estimate.is_bound }
    }
}
