//! What processes get that copy to or from devices, by the memory nodes with their data.

use anyhow::{Context, bail};
use nearfar_model::{
    ClassAlphas, DeviceClasses, DevicePair, RecordFigures, device_classes, reach_of_devices,
};
use nearfar_record::Record;

use super::tell;
use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::record_file;

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let classes = device_classes(&RecordFigures::new(&record), &arguments.classes.device_rule());
    let set = of_devices(&record, &classes, arguments)?;
    let alphas = ClassAlphas::of(&set.classes, &set.phi);
    tell(arguments, Some(&record), alphas.processes(reach_of_devices(set, &arguments.device))?)
}

/// The classes that hold all devices that are asked for.
fn of_devices<'c>(
    record: &Record,
    all: &'c [DeviceClasses],
    arguments: &PredictArguments,
) -> anyhow::Result<&'c DeviceClasses> {
    let direction = arguments.way;
    let of_way: Vec<&DeviceClasses> = all.iter().filter(|it| it.direction == direction).collect();
    let holds = |set: &DeviceClasses, id: &str| pairs(set).any(|pair| pair.device == id);
    if of_way.is_empty() {
        let why = if record.header.inputs.devices.is_none() {
            "the record holds no devices; measure with `nearfar characterize --only devices`"
        } else {
            "the record holds no pinned copies that way; `nearfar show` says what it holds"
        };
        bail!("no classes of copies {direction}: {why}");
    }
    for id in &arguments.device {
        if !of_way.iter().any(|set| holds(set, id)) {
            let mut known: Vec<&str> =
                of_way.iter().flat_map(|set| pairs(set)).map(|pair| pair.device.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            bail!(
                "the device {id:?} is in no class; the record's classes hold {}",
                known.join(", ")
            );
        }
    }
    let one = of_way.into_iter().find(|set| arguments.device.iter().all(|id| holds(set, id)));
    one.context(
        "these devices are shown by different interfaces, whose classes are not compared; ask for \
         devices of one interface",
    )
}

fn pairs(set: &DeviceClasses) -> impl Iterator<Item = &DevicePair> {
    set.classes.iter().flat_map(|class| &class.pairs)
}
