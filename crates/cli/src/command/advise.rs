//! `advise`: where a program's threads and pages belong.

use anyhow::anyhow;
use nearfar_advise::{AdviceError, DeviceAdviceError, advise, advise_device};
use nearfar_model::RecordFigures;
use nearfar_record::Record;
use nearfar_report::{AdviseDeviceView, AdviseView};

use crate::args::AdviseArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &AdviseArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    if let Some(device) = &arguments.device {
        return for_device(arguments, &record, device);
    }
    let demand = arguments.demand.demand(arguments.clusters.clone());
    let advice = advise(&RecordFigures::new(&record), &demand).map_err(|error| match &error {
        AdviceError::NoModel(inapplicable) => {
            let command = inapplicable.remedy.as_ref();
            let remedy = command.map_or_else(String::new, |command| format!("; try `{command}`"));
            anyhow!("{error}{remedy}")
        }
        AdviceError::Demand(_) => anyhow!(error),
    })?;
    let view = AdviseView::new(&record, &demand, &advice, arguments.top);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}

/// The memory nodes for copies to and from a device.
fn for_device(
    arguments: &AdviseArguments,
    record: &Record,
    device: &str,
) -> anyhow::Result<ExitStatus> {
    let advice =
        advise_device(&RecordFigures::new(record), device).map_err(|error| match &error {
            DeviceAdviceError::NotMeasured(_) | DeviceAdviceError::OneWay(_) => {
                anyhow!("{error}; try `nearfar characterize --only devices`")
            }
            DeviceAdviceError::Unknown { .. } => anyhow!(error),
        })?;
    let view = AdviseDeviceView::new(record, &advice);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}
