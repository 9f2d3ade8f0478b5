//! The models of a record as `model` prints them.

use nearfar_model::{
    Classes, Devices, Distribution, FlowSummary, Hybrid, Inapplicable, Latency, Roofline, Sharing,
    Strategy,
};
use nearfar_record::Record;
use serde::Serialize;

use super::measured::MeasuredView;
use super::model_kind::ModelKind;
use super::result::ModelResult;
use super::{classes, devices, distribution, flow, hybrid, latency, roofline, sharing, strategy};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::section_text;

/// Which models a record has; `model RECORD --json` prints it on its first line, and each model on
/// a line of its own behind it, whose `schema` names its format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// The models that there are, in the order of their lines.
    pub models: Vec<&'static str>,
    /// The models that say nothing of this record, and why.
    pub unavailable: Vec<UnavailableView>,
}

/// A model that says nothing of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnavailableView {
    /// The model's name.
    pub model: &'static str,
    pub why: String,
    /// The command that would change it, or null where nothing can on this machine.
    pub remedy: Option<String>,
}

/// One model of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FittedView {
    /// Bandwidth classes.
    Classes(Box<ModelResult<Classes>>),
    /// Times of an access and what load does to them.
    Latency(Box<ModelResult<Latency>>),
    /// Local and remote threads on one node.
    Sharing(Box<ModelResult<Sharing>>),
    /// Roofs and what lies below them.
    Roofline(Box<ModelResult<Roofline>>),
    /// Loads and stores over a fast and a slow memory.
    Hybrid(Box<ModelResult<Hybrid>>),
    /// How runs spread, and what affinity does to that.
    Distribution(Box<ModelResult<Distribution>>),
    /// What streams get that share the machine's parts.
    Flow(Box<ModelResult<FlowSummary>>),
    /// Which way to place memory is expected to win.
    Strategy(Box<ModelResult<Strategy>>),
    /// Copies to and from devices.
    Devices(Box<ModelResult<Devices>>),
}

impl UnavailableView {
    /// The view of why a model says nothing.
    pub fn new(model: &'static str, inapplicable: Inapplicable) -> Self {
        Self { model, why: inapplicable.why, remedy: inapplicable.remedy }
    }
}

impl FittedView {
    /// For people.
    pub fn text(&self) -> String {
        match self {
            Self::Classes(view) => view.measured.heading() + &classes::text(&view.result),
            Self::Latency(view) => view.measured.heading() + &latency_text(&view.result),
            Self::Sharing(view) => view.measured.heading() + &sharing_text(&view.result),
            Self::Roofline(view) => view.measured.heading() + &roofline_text(&view.result),
            Self::Hybrid(view) => view.measured.heading() + &hybrid_text(&view.result),
            Self::Distribution(view) => {
                view.measured.heading() + &section_text(&distribution::section(&view.result))
            }
            Self::Flow(view) => view.measured.heading() + &flow_text(&view.result),
            Self::Strategy(view) => {
                view.measured.heading() + &section_text(&strategy::section(&view.result))
            }
            Self::Devices(view) => view.measured.heading() + &devices_text(&view.result),
        }
    }

    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Classes(_) => ModelKind::Classes,
            Self::Latency(_) => ModelKind::Latency,
            Self::Sharing(_) => ModelKind::Sharing,
            Self::Roofline(_) => ModelKind::Roofline,
            Self::Hybrid(_) => ModelKind::Hybrid,
            Self::Distribution(_) => ModelKind::Distribution,
            Self::Flow(_) => ModelKind::Flow,
            Self::Strategy(_) => ModelKind::Strategy,
            Self::Devices(_) => ModelKind::Devices,
        }
    }

    /// The text without what was measured.
    pub fn body(&self) -> String {
        match self {
            Self::Classes(view) => classes::text(&view.result),
            Self::Latency(view) => latency_text(&view.result),
            Self::Sharing(view) => sharing_text(&view.result),
            Self::Roofline(view) => roofline_text(&view.result),
            Self::Hybrid(view) => hybrid_text(&view.result),
            Self::Distribution(view) => section_text(&distribution::section(&view.result)),
            Self::Flow(view) => flow_text(&view.result),
            Self::Strategy(view) => section_text(&strategy::section(&view.result)),
            Self::Devices(view) => devices_text(&view.result),
        }
    }
}

fn latency_text(model: &Latency) -> String {
    latency::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

fn roofline_text(model: &Roofline) -> String {
    roofline::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

fn devices_text(model: &Devices) -> String {
    devices::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

fn flow_text(model: &FlowSummary) -> String {
    section_text(&flow::section(None, Some(model)))
}

fn hybrid_text(model: &Hybrid) -> String {
    hybrid::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

fn sharing_text(model: &Sharing) -> String {
    sharing::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

impl ModelView {
    pub fn new(record: &Record, fitted: &[FittedView], unavailable: Vec<UnavailableView>) -> Self {
        Self {
            schema: "nearfar.model/1",
            measured: MeasuredView::new(record),
            models: fitted.iter().map(|view| view.kind().as_str()).collect(),
            unavailable,
        }
    }

    /// For people: every model below a line with its name.
    pub fn text(&self, fitted: &[FittedView]) -> String {
        let mut text = self.measured.heading();
        for view in fitted {
            text += &format!("\n== {} ==\n{}", view.kind().as_str(), view.body());
        }
        for unavailable in &self.unavailable {
            text += &format!("\n== {} ==\n", unavailable.model);
            text += &paragraph("no model: ", &printable(&unavailable.why));
            if let Some(remedy) = &unavailable.remedy {
                text += &paragraph("  -> ", &printable(remedy));
            }
        }
        text
    }
}
