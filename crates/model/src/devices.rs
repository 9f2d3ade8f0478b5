//! What a record's copies to and from devices mean: classes, the time of a copy, who loses what.

use nearfar_record::Experiment;

use crate::device_classes::{DeviceClassRule, DeviceClasses, device_classes};
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;
use crate::transfer_loss::{TransferLoss, transfer_losses};
use crate::transfer_time::{TransferTimes, transfer_times};
use crate::transfers::transfers;

/// What copies to and from devices mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Devices {
    /// Classes of devices and memory nodes, by interface and way.
    pub classes: Vec<DeviceClasses>,
    /// The time of a copy over its size.
    pub times: TransferTimes,
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
    Ok(Devices {
        classes: device_classes(figures, rule),
        times: transfer_times(&transfers),
        losses: transfer_losses(&transfers),
    })
}
