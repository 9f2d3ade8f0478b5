//! Records with what no program prints.

use nearfar_model::{RecordFigures, sensitivity};
use nearfar_record::{Absence, Absent, Better, Reason, ReasonCode};

use crate::sensitivity::runs::{Machine4, Program};

fn program() -> Program {
    Program { share: 0.5, seconds: 1.0, noise: 0.0, better: Better::Higher }
}

/// Metrics of zero, below it, and of any size give no ratio, and no number that is none.
#[test]
fn figures_that_are_no_rates_have_no_ratio() {
    let machine = Machine4::new();
    for metric in [0.0, -1.0, f64::MAX, f64::MIN_POSITIVE] {
        for matrix in [false, true] {
            let mut random = fastrand::Rng::with_seed(1);
            let mut record = machine.record(&[("it", program())], matrix, &mut random);
            for sample in record.samples.iter_mut().take(10) {
                sample.run.as_mut().unwrap().metric = Some(metric);
            }
            let found = machine.sensitivity(&record);
            for runs in &found.programs[0].placements {
                let of_local = runs.initiator == 0;
                if of_local && metric <= 0.0 {
                    assert_eq!(runs.performance, None, "{runs:?}");
                }
                if let Some(performance) = runs.performance {
                    assert!(performance.ratio > 0.0, "{runs:?}");
                }
            }
            assert!(found.classes.is_empty() || matrix);
        }
    }
}

/// What was refused everywhere has no figures, and says why.
#[test]
fn a_program_that_never_ran_well_is_there_with_its_refusals() {
    let machine = Machine4::new();
    let mut random = fastrand::Rng::with_seed(1);
    let mut record = machine.record(&[("it", program())], false, &mut random);
    record.samples.clear();
    for case in record.cases.clone() {
        record.absent.push(Absent {
            case: case.id,
            coordinates: case.coordinates,
            absence: Absence::Refused,
            reason: Reason { code: ReasonCode::CommandFailed, text: "no licence".into() },
            round: Some(0),
        });
    }
    let found = machine.sensitivity(&record);
    assert!(found.programs[0].memory_share.found().is_none());
    for runs in &found.programs[0].placements {
        assert!(runs.runs.is_none() && runs.performance.is_none() && runs.placed_share.is_none());
        assert_eq!(runs.refused[0].reason.text, "no licence");
        assert!(runs.bounds.is_some(), "they do not need the runs");
    }
}

/// Without its own node, or without runs on it, a placement is against nothing.
#[test]
fn without_local_runs_there_is_no_performance() {
    let machine = Machine4::new();
    let mut random = fastrand::Rng::with_seed(1);
    let mut record = machine.record(&[("it", program())], false, &mut random);
    let local = record.cases[0].id.clone();
    record.samples.retain(|sample| sample.case != local);
    let found = machine.sensitivity(&record);
    let placements = &found.programs[0].placements;
    assert!(placements.iter().all(|runs| runs.performance.is_none()));
    assert!(placements[1].runs.is_some() && found.programs[0].memory_share.found().is_none());
    record.cases.clear();
    record.samples.clear();
    assert!(sensitivity(&RecordFigures::new(&record), None).is_none());
}
