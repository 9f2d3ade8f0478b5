//! The models of a record as `model` prints them.

use nearfar_model::{
    Devices, FittedModel, Hybrid, Latency, ModelKind, Roofline, Sharing, Unavailable,
};
use nearfar_record::Record;
use serde::Serialize;

use super::measured::MeasuredView;
use super::{classes, devices, distribution, flow, hybrid, latency, roofline, sharing, strategy};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::section_text;

/// Which models a record has; `model RECORD --json` prints it on its first line, and each model on
/// a line of its own behind it, whose `schema` names its format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelsOfRecord {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// The models that there are, in the order of their lines.
    pub models: Vec<ModelKind>,
    /// The models that say nothing of this record, and why.
    pub unavailable: Vec<Unavailable>,
}

/// A model for people.
pub fn model_text(model: &FittedModel) -> String {
    match model {
        FittedModel::Classes(model) => classes::text(model),
        FittedModel::Latency(model) => latency_text(model),
        FittedModel::Sharing(model) => sharing_text(model),
        FittedModel::Roofline(model) => roofline_text(model),
        FittedModel::Hybrid(model) => hybrid_text(model),
        FittedModel::Distribution(model) => section_text(&distribution::section(model)),
        FittedModel::Flow(model) => section_text(&flow::section(None, Some(model))),
        FittedModel::Strategy(model) => section_text(&strategy::section(model)),
        FittedModel::Devices(model) => devices_text(model),
    }
}

/// What a reader can do by a model, in sentences: those that end its text; none where it only shows
/// figures.
pub(crate) fn model_findings(model: &FittedModel) -> Vec<String> {
    match model {
        FittedModel::Classes(_) => Vec::new(),
        FittedModel::Latency(model) => latency::findings(model),
        FittedModel::Sharing(model) => sharing::findings(model),
        FittedModel::Roofline(model) => roofline::findings(model),
        FittedModel::Hybrid(model) => hybrid::findings(model),
        FittedModel::Distribution(model) => distribution::findings(model),
        FittedModel::Flow(model) => flow::findings(model),
        FittedModel::Strategy(model) => strategy::findings(model),
        FittedModel::Devices(model) => devices::findings(model),
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

fn hybrid_text(model: &Hybrid) -> String {
    hybrid::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

fn sharing_text(model: &Sharing) -> String {
    sharing::section(&[], Some(model)).as_ref().map(section_text).unwrap_or_default()
}

impl ModelsOfRecord {
    pub fn new(record: &Record, fitted: &[FittedModel], unavailable: Vec<Unavailable>) -> Self {
        Self {
            schema: "nearfar.model/1",
            measured: MeasuredView::new(record),
            models: fitted.iter().map(FittedModel::kind).collect(),
            unavailable,
        }
    }

    /// For people: every model below a line with its name.
    pub fn text(&self, fitted: &[FittedModel]) -> String {
        let mut text = self.measured.heading();
        for model in fitted {
            text += &format!("\n== {} ==\n{}", model.kind().as_str(), model_text(model));
        }
        for Unavailable { model, why } in &self.unavailable {
            text += &format!("\n== {} ==\n", model.as_str());
            text += &paragraph("no model: ", &printable(&why.why));
            if let Some(remedy) = &why.remedy {
                text += &paragraph("  -> ", &printable(remedy));
            }
        }
        text
    }
}
