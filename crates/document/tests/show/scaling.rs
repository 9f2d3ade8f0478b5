//! Threads over the whole machine.

use nearfar_record::{Absence, Affinity, Coordinates, Experiment, ReasonCode, Record};
use nearfar_specimen::{absent, add, case_at, done, scaling};

use crate::record;

/// Runs of threads, of which one is slower than the others by a fifth.
fn add_runs(record: &mut Record, threads: u32, affinities: &[Affinity], runs: &[f64]) {
    let place = |affinity: &Affinity| Coordinates::Scaling(scaling(threads, *affinity));
    let mut case = case_at(&record.header.machine, place(&affinities[0]));
    case.coordinates = affinities.iter().map(place).collect();
    let seen = |slowest: &f64| {
        let mut each = vec![slowest * 1.25e9; threads as usize];
        each[0] = slowest * 1e9;
        vec![done(&case.actors[0], &each)]
    };
    let rounds: Vec<_> = runs.iter().map(seen).collect();
    add(record, case, rounds);
}

/// The unbound runs fall in two modes, the scattered ones in one; one case stands for two affinities.
pub fn two_modes() -> Record {
    let mut record = record(&[Experiment::Scaling]);
    add_runs(&mut record, 1, &[Affinity::Unbound], &[5.0, 5.1, 5.2]);
    add_runs(&mut record, 1, &[Affinity::Compact, Affinity::Scatter], &[5.2, 5.2, 5.2]);
    let unbound: Vec<f64> = (0..10).map(|run| if run < 4 { 2.5 } else { 4.0 }).collect();
    add_runs(&mut record, 4, &[Affinity::Unbound], &unbound);
    add_runs(&mut record, 4, &[Affinity::Scatter], &[4.0, 4.02, 4.01]);
    add_runs(&mut record, 4, &[Affinity::Compact], &[]);
    let case = "scaling/copy/avx2/t4/compact";
    absent(&mut record, case, Absence::Refused, ReasonCode::NoRoom, "node 0 is full");
    record
}

/// No histogram is drawn of these.
pub fn alike() -> Record {
    let mut record = record(&[Experiment::Scaling]);
    add_runs(&mut record, 4, &[Affinity::Scatter], &[4.0, 4.001, 4.002]);
    record
}

/// Several runs to a character.
pub fn many() -> Record {
    let mut record = record(&[Experiment::Scaling]);
    let runs: Vec<f64> = (0..240).map(|run| if run < 120 { 10.0 } else { 20.0 }).collect();
    add_runs(&mut record, 4, &[Affinity::Unbound], &runs);
    record
}
