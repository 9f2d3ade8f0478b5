//! What a record of experiments other than `pairs` must hold: each has cases or says why it has
//! none, and every case has its samples with every page proven. Where pages must be is in the
//! cases, and a reader takes no sample whose proof differs from that.

use std::collections::BTreeSet;

use nearfar_record::{Absence, Experiment, ProofMethod};

use crate::boot::Found;

/// What is not as it must be, in sentences, where these experiments were run.
pub fn judge(only: &str, found: &Found) -> Vec<String> {
    let record = &found.record;
    let mut wrong = Vec::new();
    let is_run = |it: &Experiment| only.split(',').any(|name| name == it.as_str());
    for experiment in Experiment::OF_MACHINE.into_iter().filter(is_run) {
        let places = record.cases.iter().flat_map(|case| &case.coordinates);
        let cases = places.filter(|place| place.experiment() == experiment).count();
        let omitted = record.absent.iter().filter(|absent| absent.absence == Absence::Omitted);
        let said = omitted.filter(|absent| absent.case.starts_with(experiment.as_str())).count();
        if cases == 0 && said == 0 {
            wrong.push(format!("{experiment} has no case and does not say why"));
        }
    }
    let measured: BTreeSet<&str> =
        record.samples.iter().map(|sample| sample.case.as_str()).collect();
    let without = record.cases.iter().filter(|case| !measured.contains(case.id.as_str()));
    wrong.extend(without.map(|case| format!("{} was not measured", case.id)));
    let refused = record.absent.iter().filter(|absent| absent.absence == Absence::Refused);
    wrong.extend(refused.map(|absent| format!("{}: {}", absent.case, absent.reason.text)));
    for sample in &record.samples {
        for actor in &sample.actors {
            let proofs = actor.proof.iter().chain(&actor.write_proof);
            for pages in proofs.flat_map(|proof| [&proof.before, &proof.after]) {
                if pages.method != ProofMethod::MovePages || pages.unknown > 0 {
                    wrong.push(format!("{}: not proven: {pages:?}", sample.case));
                }
            }
        }
    }
    if found.status != 0 {
        wrong.push(format!("status {} instead of 0", found.status));
    }
    wrong.truncate(10);
    if !wrong.is_empty() {
        wrong.push(format!("it said:\n{}", found.said));
    }
    wrong
}
