//! What was measured: pairs, idle accesses, roofs.

use nearfar_model::{AccessTime, RecordFigures, RoofFigures, latency, pairs, roofs};
use nearfar_record::{CaseSummary, RoofPurpose};

use super::exposition::Exposition;
use super::family::Family;
use super::labels::Labels;

pub(super) fn add(figures: &RecordFigures<'_>, out: &mut Exposition) {
    add_pairs(figures, out);
    add_latency(figures, out);
    for roof in roofs(figures).iter().filter(|roof| roof.place.purpose == RoofPurpose::Roof) {
        add_roof(roof, out);
    }
}

fn add_pairs(figures: &RecordFigures<'_>, out: &mut Exposition) {
    let matrix = pairs(figures);
    for (index, node, kernel, threads, cell) in matrix.cells() {
        let row = matrix.cpu_groups.iter().find(|row| row.index == index);
        for figure in &cell.figures {
            let labels = Labels::default()
                .with("experiment", "pairs")
                .with_known("group_by", row.map(|row| row.group_by.as_str()))
                .with("index", index)
                .with_known("initiator", row.map(|row| row.initiator))
                .with("memory_node", node)
                .with("kernel", kernel)
                .with("variant", &figure.variant)
                .with("threads", threads);
            add_bandwidth(&labels, &figure.summary, out);
            if let Some(multiple) = figure.llc_multiple {
                out.add(Family::BandwidthLlcMultiple, labels, multiple);
            }
        }
    }
}

fn add_bandwidth(labels: &Labels, summary: &CaseSummary, out: &mut Exposition) {
    for (aggregate, estimate) in [("sum", &summary.sum), ("paced", &summary.paced)] {
        let labels = labels.clone().with("aggregate", aggregate);
        out.interval(Family::Bandwidth, &labels, estimate.median, estimate.interval);
    }
    out.add(Family::BandwidthConfidence, labels.clone(), summary.sum.confidence);
    let disturbed = ratio(summary.disturbed, summary.samples);
    out.add(Family::BandwidthDisturbed, labels.clone(), disturbed);
}

fn add_latency(figures: &RecordFigures<'_>, out: &mut Exposition) {
    let Ok(times) = latency(figures) else { return };
    for pair in times.factors {
        let labels = Labels::default()
            .with("experiment", "latency")
            .with("initiator", pair.initiator)
            .with("memory_node", pair.memory_node);
        if let Some(factor) = pair.factor.found() {
            let [low, high] = factor.ends();
            out.interval(Family::NumaFactor, &labels, factor.value.0, (low.0, high.0));
        }
        if let Some(time) = pair.time {
            add_time(&labels, &time, out);
            out.count(Family::LatencyPartlyCached, labels, usize::from(pair.is_short));
        }
    }
}

fn add_time(labels: &Labels, time: &AccessTime, out: &mut Exposition) {
    let seconds = |ns: f64| ns / 1e9;
    let [low, high] = time.time.ends();
    let interval = (seconds(low.0), seconds(high.0));
    out.interval(Family::Latency, labels, seconds(time.time.value.0), interval);
    if let Some(confidence) = time.time.confidence {
        out.add(Family::LatencyConfidence, labels.clone(), confidence);
    }
    out.add(Family::LatencyDisturbed, labels.clone(), ratio(time.disturbed, time.samples));
}

fn add_roof(figures: &RoofFigures, out: &mut Exposition) {
    let place = &figures.place;
    let labels = Labels::default().with("experiment", "roofs");
    let labels = labels.with_fields(place, &["actor", "purpose"]);
    // Below a roof of bandwidth the operations are no roof.
    let roof = match (&figures.bandwidth, &figures.flops) {
        (Some(bandwidth), _) => Some((Family::RoofBandwidth, &bandwidth.sum)),
        (None, Some(flops)) => Some((Family::RoofFlops, &flops.sum)),
        (None, None) => None,
    };
    if let Some((family, estimate)) = roof {
        out.interval(family, &labels, estimate.median, estimate.interval);
    }
}

/// Part / whole.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    let (part, whole) = (part as f64, whole as f64);
    part / whole
}
