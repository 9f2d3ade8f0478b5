//! Devices: their links, and copies to and from them.

use nearfar_machine::{Device, Machine};
use nearfar_model::{RecordFigures, TransferFigures, TransferPlace, copies_by_place, transfers};

use super::exposition::Exposition;
use super::family::Family;
use super::figures::ratio;
use super::labels::Labels;

/// Adds the devices of a record: what they are, and their largest and smallest copies.
pub(super) fn add(figures: &RecordFigures<'_>, out: &mut Exposition) {
    let header = &figures.record().header;
    add_links(&header.machine, out);
    for device in header.inputs.devices.iter().flat_map(|devices| &devices.accelerators) {
        let labels = Labels::default()
            .with("device", &device.id)
            .with("interface", device.backend)
            .with("name", &device.name)
            .with_known("driver", device.driver.as_ref())
            .with_known("bus_id", device.bus_id.as_ref())
            .with_known("nodes", Some(&device.nodes).filter(|nodes| !nodes.is_empty()));
        out.count(Family::DeviceInfo, labels, 1);
    }
    for (place, copies) in copies_by_place(&transfers(figures)) {
        let (Some(smallest), Some(largest)) = (copies.first(), copies.last()) else { continue };
        add_largest(&place, largest, out);
        // Of one size alone the time is that of its bytes.
        if smallest.place.bytes < largest.place.bytes {
            add_smallest(&place, smallest, out);
        }
    }
}

fn add_links(machine: &Machine, out: &mut Exposition) {
    for Device { bus_id, name, link, .. } in &machine.devices {
        for (state, lanes, gt_per_s) in
            [("now", link.lanes, link.gt_per_s), ("most", link.max_lanes, link.max_gt_per_s)]
        {
            let labels = Labels::default()
                .with("bus_id", bus_id)
                .with_known("name", name.as_ref())
                .with("state", state);
            if let Some(lanes) = lanes {
                out.add(Family::LinkLanes, labels.clone(), f64::from(lanes));
            }
            if let Some(gt_per_s) = gt_per_s {
                out.add(Family::LinkSpeed, labels, gt_per_s * 1e9);
            }
        }
    }
}

fn labels(place: &TransferPlace, bytes: u64) -> Labels {
    let labels = Labels::default().with("experiment", "devices");
    labels.with_fields(place, &[]).with("bytes", bytes)
}

fn add_largest(place: &TransferPlace, copies: &TransferFigures, out: &mut Exposition) {
    let Some(summary) = &copies.by_host else { return };
    let labels = labels(place, copies.place.bytes);
    out.interval(Family::Transfer, &labels, summary.sum.median, summary.sum.interval);
    out.add(Family::TransferConfidence, labels.clone(), summary.sum.confidence);
    out.add(Family::TransferDisturbed, labels, ratio(summary.disturbed, summary.samples));
}

fn add_smallest(place: &TransferPlace, copies: &TransferFigures, out: &mut Exposition) {
    let (Some(summary), Some(time)) = (&copies.by_host, copies.time) else { return };
    let seconds = time.0 / 1e9;
    // The time of as many bytes at another rate.
    let at = |rate: f64| seconds * summary.sum.median / rate;
    let (low, high) = summary.sum.interval;
    let labels = labels(place, copies.place.bytes);
    out.interval(Family::SmallTransfer, &labels, seconds, (at(high), at(low)));
}
