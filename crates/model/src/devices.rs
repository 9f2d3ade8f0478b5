//! What a record's copies to and from devices mean: classes, the time of a copy, who loses what.

use std::collections::BTreeMap;

use nearfar_record::Experiment;
use serde::Serialize;

use crate::device_classes::{DeviceClassRule, DeviceClasses, device_classes};
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;
use crate::transfer_loss::{TransferLoss, transfer_losses};
use crate::transfer_time::{TransferTime, transfer_times};
use crate::transfers::transfers;

/// What copies to and from devices mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Devices {
    /// A class spans at most this fraction of its maximum, and what noise explains.
    pub class_span: f64,
    /// The devices by their ids, with their names.
    pub devices: BTreeMap<String, String>,
    /// Classes of devices and memory nodes, by interface and way.
    pub class_sets: Vec<DeviceClasses>,
    /// The time of a copy over its size, by place.
    pub times: Vec<TransferTime>,
    /// What copies and what runs beside them keep.
    pub losses: Vec<TransferLoss>,
}

/// The model of a record.
///
/// # Errors
/// When the record holds no copies.
pub fn devices(
    figures: &RecordFigures<'_>,
    rule: &DeviceClassRule,
) -> Result<Devices, Inapplicable> {
    let transfers = transfers(figures);
    if transfers.iter().all(|transfer| transfer.by_host.is_none()) {
        return Err(Inapplicable::without(figures.record(), Experiment::Devices));
    }
    let inputs = figures.record().header.inputs.devices.as_ref();
    let accelerators = inputs.map_or(&[][..], |inputs| &inputs.accelerators);
    Ok(Devices {
        class_span: rule.span,
        devices: accelerators.iter().map(|it| (it.id.clone(), it.name.clone())).collect(),
        class_sets: device_classes(figures, rule),
        times: transfer_times(&transfers),
        losses: transfer_losses(&transfers),
    })
}
