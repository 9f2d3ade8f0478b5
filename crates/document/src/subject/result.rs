//! A model's result as programs get it: the result itself, below what it is of.

use nearfar_model::{FittedModel, ModelKind};
use nearfar_record::Record;
use serde::Serialize;

use super::origin::Origin;

/// What a model says of a record, or what is predicted by it; `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelResult<Model> {
    /// Its format.
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    #[serde(flatten)]
    pub result: Model,
}

impl<Model> ModelResult<Model> {
    pub fn new(schema: &'static str, record: &Record, result: Model) -> Self {
        Self { schema, measured: Origin::new(record), result }
    }
}

impl<'a> ModelResult<&'a FittedModel> {
    /// Of a model by its name.
    pub fn of(record: &Record, model: &'a FittedModel) -> Self {
        let schema = match model.kind() {
            ModelKind::Classes => "nearfar.classes/2",
            ModelKind::Latency => "nearfar.latency/2",
            ModelKind::Exchange => "nearfar.exchange/1",
            ModelKind::Sharing => "nearfar.sharing/2",
            ModelKind::Roofline => "nearfar.roofline/2",
            ModelKind::Hybrid => "nearfar.hybrid/2",
            ModelKind::Distribution => "nearfar.distribution/2",
            ModelKind::Flow => "nearfar.flow/2",
            ModelKind::Strategy => "nearfar.strategy/2",
            ModelKind::Devices => "nearfar.devices/2",
            ModelKind::Network => "nearfar.network/1",
            ModelKind::Workloads => "nearfar.placed-workloads/1",
        };
        Self::new(schema, record, model)
    }
}
