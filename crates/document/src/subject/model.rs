//! The models of a record as `model` prints them.

use nearfar_model::{FittedModel, ModelKind, Unavailable};
use nearfar_record::Record;
use serde::Serialize;

use super::origin::Origin;
use super::who::Who;
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
    pub measured: Origin,
    /// The models that there are, in the order of their lines.
    pub models: Vec<ModelKind>,
    /// The models that say nothing of this record, and why.
    pub unavailable: Vec<Unavailable>,
}

/// A model of a record for people.
pub fn model_text(record: &Record, model: &FittedModel) -> String {
    text_of(model, &Who::new(&record.header.machine))
}

fn text_of(model: &FittedModel, who: &Who) -> String {
    let section = match model {
        FittedModel::Classes(model) => return classes::text(model, who),
        FittedModel::Latency(model) => latency::section(&[], Some(model), who),
        FittedModel::Sharing(model) => sharing::section(&[], Some(model), who),
        FittedModel::Roofline(model) => roofline::section(&[], Some(model), who),
        FittedModel::Hybrid(model) => hybrid::section(&[], Some(model), who),
        FittedModel::Distribution(model) => Some(distribution::section(model)),
        FittedModel::Flow(model) => Some(flow::section(&[], Some(model), who)),
        FittedModel::Strategy(model) => Some(strategy::section(model)),
        FittedModel::Devices(model) => devices::section(&[], Some(model)),
    };
    section.as_ref().map(section_text).unwrap_or_default()
}

/// What a reader can do by a model, in sentences: those that end its text; none where it only shows
/// figures.
pub(crate) fn model_findings(model: &FittedModel, who: &Who) -> Vec<String> {
    match model {
        FittedModel::Classes(_) => Vec::new(),
        FittedModel::Latency(model) => latency::findings(model, who),
        FittedModel::Sharing(model) => sharing::findings(model, who),
        FittedModel::Roofline(model) => roofline::findings(model, who),
        FittedModel::Hybrid(model) => hybrid::findings(model, who),
        FittedModel::Distribution(model) => distribution::findings(model),
        FittedModel::Flow(model) => flow::findings(model, who),
        FittedModel::Strategy(model) => strategy::findings(model),
        FittedModel::Devices(model) => devices::findings(model),
    }
}

impl ModelsOfRecord {
    pub fn new(record: &Record, fitted: &[FittedModel], unavailable: Vec<Unavailable>) -> Self {
        Self {
            schema: "nearfar.model/1",
            measured: Origin::new(record),
            models: fitted.iter().map(FittedModel::kind).collect(),
            unavailable,
        }
    }

    /// For people: every model below a line with its name.
    pub fn text(&self, fitted: &[FittedModel]) -> String {
        let mut text = self.measured.heading();
        for model in fitted {
            text += &format!(
                "\n== {} ==\n{}",
                model.kind().as_str(),
                text_of(model, &self.measured.who)
            );
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
