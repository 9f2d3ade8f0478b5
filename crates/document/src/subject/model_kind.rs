//! The models of a record: fitted, and as views.

use std::panic::resume_unwind;
use std::thread::{ScopedJoinHandle, scope};

use nearfar_model::{
    ClassRule, DeviceClassRule, Inapplicable, NoClasses, OverlapBounds, RecordFigures, classes,
    devices, distribution, flow, hybrid, latency, roofline, sharing, strategy,
};
use nearfar_record::Experiment;

use super::model::FittedView;
use super::result::ModelResult;

/// A model by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Bandwidth classes and their alphas.
    Classes,
    /// NUMA factor, and the time of an access under load.
    Latency,
    /// Local and remote threads on one memory node.
    Sharing,
    /// What limits a cluster at each arithmetic intensity.
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
}

/// A model of a record, or why it says nothing of it.
pub type Fit = Result<FittedView, Inapplicable>;

/// What a reader may choose about models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoices {
    /// From what classes are made.
    pub class_rule: ClassRule,
    /// From what classes of copies to and from devices are made.
    pub device_rule: DeviceClassRule,
    /// What overlaps of the hybrid model may be.
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
    pub const ALL: [Self; 9] = [
        Self::Classes,
        Self::Latency,
        Self::Sharing,
        Self::Roofline,
        Self::Hybrid,
        Self::Distribution,
        Self::Flow,
        Self::Strategy,
        Self::Devices,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::Latency => "latency",
            Self::Sharing => "sharing",
            Self::Roofline => "roofline",
            Self::Hybrid => "hybrid",
            Self::Distribution => "distribution",
            Self::Flow => "flow",
            Self::Strategy => "strategy",
            Self::Devices => "devices",
        }
    }

    /// The model of a record, or why it says nothing of it.
    ///
    /// # Errors
    /// Where a choice about classes fits nothing that the record holds.
    pub fn fit(
        self,
        figures: &RecordFigures<'_>,
        choices: &ModelChoices,
    ) -> Result<Fit, NoClasses> {
        let record = figures.record();
        Ok(match self {
            Self::Classes => match classes(figures, &choices.class_rule) {
                Ok(model) => {
                    let view = ModelResult::new("nearfar.classes/2", record, model);
                    Ok(FittedView::Classes(Box::new(view)))
                }
                Err(NoClasses::NoPairs) => Err(Inapplicable::without(record, Experiment::Pairs)),
                // Without a choice of the reader it is the record that lacks something.
                Err(lack) if choices.class_rule.is_default() => {
                    Err(Inapplicable { why: lack.to_string(), remedy: None })
                }
                Err(choice) => return Err(choice),
            },
            Self::Latency => latency(figures).map(|model| {
                let view = ModelResult::new("nearfar.latency/2", record, model);
                FittedView::Latency(Box::new(view))
            }),
            Self::Sharing => sharing(figures).map(|model| {
                let view = ModelResult::new("nearfar.sharing/2", record, model);
                FittedView::Sharing(Box::new(view))
            }),
            Self::Roofline => roofline(figures).map(|model| {
                let view = ModelResult::new("nearfar.roofline/2", record, model);
                FittedView::Roofline(Box::new(view))
            }),
            Self::Hybrid => hybrid(figures, choices.overlap_bounds).map(|model| {
                let view = ModelResult::new("nearfar.hybrid/2", record, model);
                FittedView::Hybrid(Box::new(view))
            }),
            Self::Distribution => distribution(figures).map(|model| {
                let view = ModelResult::new("nearfar.distribution/2", record, model);
                FittedView::Distribution(Box::new(view))
            }),
            Self::Flow => flow(figures).map(|model| {
                let summary = ModelResult::new("nearfar.flow/2", record, model.summary());
                FittedView::Flow(Box::new(summary))
            }),
            Self::Strategy => strategy(figures).map(|model| {
                let view = ModelResult::new("nearfar.strategy/2", record, model);
                FittedView::Strategy(Box::new(view))
            }),
            Self::Devices if !(0.0..1.0).contains(&choices.device_rule.span) => {
                return Err(NoClasses::Span(choices.device_rule.span.to_string()));
            }
            Self::Devices => devices(figures, &choices.device_rule).map(|model| {
                let view = ModelResult::new("nearfar.devices/2", record, model);
                FittedView::Devices(Box::new(view))
            }),
        })
    }

    /// Several models, side by side: those of a full record of a large machine take longer than its
    /// reader waits gladly.
    ///
    /// # Errors
    /// As [`ModelKind::fit`].
    pub fn fit_all(
        kinds: &[Self],
        figures: &RecordFigures<'_>,
        choices: &ModelChoices,
    ) -> Result<Vec<(Self, Fit)>, NoClasses> {
        scope(|scope| {
            let running: Vec<_> =
                kinds.iter().map(|kind| scope.spawn(move || kind.fit(figures, choices))).collect();
            let ended = running.into_iter().map(ScopedJoinHandle::join);
            let models = ended.map(|model| model.unwrap_or_else(|panic| resume_unwind(panic)));
            kinds.iter().copied().zip(models).map(|(kind, model)| Ok((kind, model?))).collect()
        })
    }
}
