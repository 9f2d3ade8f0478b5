//! What the record is, and what its figures rest on.

use std::collections::HashSet;

use nearfar_model::RecordFigures;
use nearfar_record::{Absence, Record, Sealing};

use super::exposition::Exposition;
use super::family::{Family, SCHEMA};
use super::labels::Labels;

/// Adds what the record is, and what its figures rest on.
pub(super) fn add(figures: &RecordFigures<'_>, out: &mut Exposition) {
    let record = figures.record();
    add_header(record, out);
    add_cases(record, out);
    add_evidence(figures, out);
    for warning in &record.warnings {
        out.count(Family::Warning, Labels::default().with("code", &warning.code), 1);
    }
}

fn add_header(record: &Record, out: &mut Exposition) {
    let header = &record.header;
    let suite = header.inputs.suite.as_str();
    let seals = match record.sealing {
        Sealing::Fits => "fit",
        Sealing::Edited { .. } => "edited",
        Sealing::Unsealed => "absent",
    };
    let simulation = header.simulation.as_ref();
    let labels = Labels::default()
        .with("schema", SCHEMA)
        .with("version", &header.versions.nearfar)
        .with("suite", suite)
        .with("simulated", simulation.is_some())
        .with_known("machine", simulation.map(|simulation| &simulation.name))
        .with_known("cpu", header.environment.cpu.model_name.as_ref())
        .with_known("kernel_release", header.environment.kernel_release.as_ref())
        .with("fingerprint", &header.fingerprint)
        .with("seals", seals);
    out.count(Family::RecordInfo, labels, 1);
    // A stranger's text may be no time.
    if let Ok(started) = header.started.parse::<jiff::Timestamp>() {
        out.add(Family::Started, Labels::default(), started.as_duration().as_secs_f64());
    }
    if record.seconds > 0.0 {
        out.add(Family::MeasuredTime, Labels::default(), record.seconds);
    }
    out.count(Family::Finished, Labels::default(), usize::from(record.finished.is_some()));
}

/// A case that was measured in some rounds and refused in others counts as both.
fn add_cases(record: &Record, out: &mut Exposition) {
    let measured: HashSet<&str> =
        record.samples.iter().map(|sample| sample.case.as_str()).collect();
    let absent = |kind| {
        let of_kind = record.absent.iter().filter(move |absent| absent.absence == kind);
        of_kind.map(|absent| absent.case.as_str()).collect::<HashSet<&str>>()
    };
    let counts = [
        ("measured", measured),
        ("omitted", absent(Absence::Omitted)),
        ("refused", absent(Absence::Refused)),
    ];
    for (standing, cases) in counts {
        out.count(Family::Cases, Labels::default().with("standing", standing), cases.len());
    }
}

fn add_evidence(figures: &RecordFigures<'_>, out: &mut Exposition) {
    let evidence = figures.evidence();
    out.count(Family::Samples, Labels::default(), evidence.samples);
    out.count(Family::DisturbedSamples, Labels::default(), evidence.disturbed);
    for (method, samples) in &evidence.proven_by {
        out.count(
            Family::ProvenSamples,
            Labels::default().with("method", method.as_str()),
            *samples,
        );
    }
    if let Some(placed) = evidence.least_placed {
        out.add(Family::LeastPlaced, Labels::default(), placed);
    }
}
