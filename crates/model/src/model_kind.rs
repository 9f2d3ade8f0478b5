//! The models of a record by their names, and fitted side by side.

use std::panic::resume_unwind;
use std::thread::{ScopedJoinHandle, scope};

use nearfar_record::Experiment;
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::class_rule::ClassRule;
use crate::classes::{Classes, NoClasses, classes};
use crate::device_classes::DeviceClassRule;
use crate::devices::{Devices, devices};
use crate::distribution::{Distribution, distribution};
use crate::exchange::{Exchanges, exchanges};
use crate::flow::{FlowSummary, flow};
use crate::hybrid::{Hybrid, OverlapBounds, hybrid};
use crate::inapplicable::Inapplicable;
use crate::latency::{Latency, latency};
use crate::network::{Network, network};
use crate::record_figures::RecordFigures;
use crate::roofline::{Roofline, roofline};
use crate::sharing::{Sharing, sharing};
use crate::strategy::{Strategy, strategy};
use crate::workloads::{Workloads, workloads};

/// A model by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Bandwidth classes and their alphas.
    Classes,
    /// NUMA factor, and the time of an access under load.
    Latency,
    /// How long two CPUs take to hand a cache line to each other.
    Exchange,
    /// Local and remote threads on one memory node.
    Sharing,
    /// What limits an initiator at each arithmetic intensity.
    Roofline,
    /// Loads and stores over a fast and a slow memory.
    Hybrid,
    /// How runs spread, and what pinning threads does to that.
    Distribution,
    /// What streams get that share the machine's parts.
    Flow,
    /// Which way to place memory is expected to win.
    Strategy,
    /// Copies to and from devices: classes, the time of a copy, who loses what.
    Devices,
    /// Messages to another machine and from it.
    Network,
    /// The papers' programs on far memory, and by strategy.
    Workloads,
}

words!(ModelKind);

pub type Fit = Result<FittedModel, Inapplicable>;

/// A model that says nothing of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unavailable {
    pub model: ModelKind,
    #[serde(flatten)]
    pub why: Inapplicable,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FittedModel {
    Classes(Box<Classes>),
    Latency(Box<Latency>),
    Exchange(Box<Exchanges>),
    Sharing(Box<Sharing>),
    Roofline(Box<Roofline>),
    Hybrid(Box<Hybrid>),
    Distribution(Box<Distribution>),
    Flow(Box<FlowSummary>),
    Strategy(Box<Strategy>),
    Devices(Box<Devices>),
    Network(Box<Network>),
    Workloads(Box<Workloads>),
}

impl FittedModel {
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Classes(_) => ModelKind::Classes,
            Self::Latency(_) => ModelKind::Latency,
            Self::Exchange(_) => ModelKind::Exchange,
            Self::Sharing(_) => ModelKind::Sharing,
            Self::Roofline(_) => ModelKind::Roofline,
            Self::Hybrid(_) => ModelKind::Hybrid,
            Self::Distribution(_) => ModelKind::Distribution,
            Self::Flow(_) => ModelKind::Flow,
            Self::Strategy(_) => ModelKind::Strategy,
            Self::Devices(_) => ModelKind::Devices,
            Self::Network(_) => ModelKind::Network,
            Self::Workloads(_) => ModelKind::Workloads,
        }
    }
}

/// What a reader may choose about models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoices {
    pub class_rule: ClassRule,
    pub device_rule: DeviceClassRule,
    pub overlap_bounds: OverlapBounds,
}

impl Default for ModelChoices {
    fn default() -> Self {
        Self {
            class_rule: ClassRule::default(),
            device_rule: DeviceClassRule::default(),
            overlap_bounds: OverlapBounds::NotNegative,
        }
    }
}

impl ModelKind {
    /// All, in the order in which they are printed.
    pub const ALL: [Self; 12] = [
        Self::Classes,
        Self::Latency,
        Self::Exchange,
        Self::Sharing,
        Self::Roofline,
        Self::Hybrid,
        Self::Distribution,
        Self::Flow,
        Self::Strategy,
        Self::Devices,
        Self::Network,
        Self::Workloads,
    ];

    /// The model of a record, or why it says nothing of it.
    ///
    /// # Errors
    /// Where a choice about classes fits nothing that the record holds.
    pub fn fit(
        self,
        figures: &RecordFigures<'_>,
        choices: &ModelChoices,
    ) -> Result<Fit, NoClasses> {
        Ok(match self {
            Self::Classes => match classes(figures, &choices.class_rule) {
                Ok(model) => Ok(FittedModel::Classes(Box::new(model))),
                Err(NoClasses::NoPairs(_)) => {
                    Err(Inapplicable::without(figures.record(), Experiment::Pairs))
                }
                // Without a choice of the reader it is the record that lacks something.
                Err(lack) if choices.class_rule.is_default() => Err(match lack {
                    NoClasses::NotMeasured(lacking) => lacking,
                    _ => Inapplicable::here(lack.to_string()),
                }),
                Err(choice) => return Err(choice),
            },
            Self::Latency => latency(figures).map(Box::new).map(FittedModel::Latency),
            Self::Exchange => exchanges(figures).map(Box::new).map(FittedModel::Exchange),
            Self::Sharing => sharing(figures).map(Box::new).map(FittedModel::Sharing),
            Self::Roofline => roofline(figures).map(Box::new).map(FittedModel::Roofline),
            Self::Hybrid => {
                hybrid(figures, choices.overlap_bounds).map(Box::new).map(FittedModel::Hybrid)
            }
            Self::Distribution => {
                distribution(figures).map(Box::new).map(FittedModel::Distribution)
            }
            Self::Flow => flow(figures).map(|model| FittedModel::Flow(Box::new(model.summary()))),
            Self::Strategy => strategy(figures).map(Box::new).map(FittedModel::Strategy),
            Self::Network => network(figures).map(Box::new).map(FittedModel::Network),
            Self::Workloads => workloads(figures).map(Box::new).map(FittedModel::Workloads),
            Self::Devices if !(0.0..1.0).contains(&choices.device_rule.span) => {
                return Err(NoClasses::Span(choices.device_rule.span.to_string()));
            }
            Self::Devices => {
                devices(figures, &choices.device_rule).map(Box::new).map(FittedModel::Devices)
            }
        })
    }

    /// Those of these models that a record has, in their order, and why the others say nothing. They
    /// are fitted side by side: those of a full record of a large machine take longer than its
    /// reader waits gladly.
    ///
    /// # Errors
    /// As [`ModelKind::fit`].
    pub fn fit_all(
        kinds: &[Self],
        figures: &RecordFigures<'_>,
        choices: &ModelChoices,
    ) -> Result<(Vec<FittedModel>, Vec<Unavailable>), NoClasses> {
        scope(|scope| {
            let running: Vec<_> =
                kinds.iter().map(|kind| scope.spawn(move || kind.fit(figures, choices))).collect();
            let ended = running.into_iter().map(ScopedJoinHandle::join);
            let models = ended.map(|model| model.unwrap_or_else(|panic| resume_unwind(panic)));
            let (mut fitted, mut unavailable) = (Vec::new(), Vec::new());
            for (&model, fit) in kinds.iter().zip(models) {
                match fit? {
                    Ok(model) => fitted.push(model),
                    Err(why) => unavailable.push(Unavailable { model, why }),
                }
            }
            Ok((fitted, unavailable))
        })
    }
}
