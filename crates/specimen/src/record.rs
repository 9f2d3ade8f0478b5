//! Records and what is put into them.

use nearfar_machine::{GroupBy, Machine};
use nearfar_record::{
    Absence, Absent, ActorSample, Case, Coordinates, Disturbance, Environment, Executor,
    Experiment, Grid, Header, Inputs, LatencyCoordinates, Pages, Reason, ReasonCode, Record,
    Sample, Suite,
};

use crate::case::case_at;
use crate::machine::empty_machine;
use crate::sample::{evenly, window};

/// A record without cases, of a machine without anything.
pub fn record() -> Record {
    record_of(empty_machine(), &[])
}

/// A record of this machine without cases.
pub fn record_of(machine: Machine, experiments: &[Experiment]) -> Record {
    let inputs = Inputs {
        suite: Suite::Standard,
        experiments: experiments.into(),
        group_by: GroupBy::Memory,
        kernels: None,
        variant: None,
        pages: Pages::Transparent,
        working_set_bytes: None,
        cache_multiple: None,
        chase_multiple: None,
        size_screen: None,
        window_ns: 1_000_000_000,
        windows_per_round: 1,
        runs: 10,
        grid: Grid::Sparse,
        min_rounds: 1,
        max_rounds: 20,
        target: 0.01,
        budget_ns: None,
        seed: 0,
        commands: None,
        devices: None,
        network: None,
    };
    let environment = Environment { architecture: "x86_64".into(), ..Environment::default() };
    let started = "2026-01-01T00:00:00Z";
    let header = Header::new("by-hand", started, Executor::Native, inputs, machine);
    let mut record = Record::new(Header { environment, ..header });
    record.seconds = 1.0;
    record
}

/// Adds a case with a window for each round, which holds what is seen of each actor.
pub fn add(record: &mut Record, case: Case, rounds: impl IntoIterator<Item = Vec<ActorSample>>) {
    for (round, actors) in (0..).zip(rounds) {
        let sequence = record.samples.len() as u64;
        record.samples.push(Sample { sequence, ..window(&case.id, round, actors) });
    }
    record.cases.push(case);
}

/// Adds the case at this place, as [`case_at`] makes it. A round holds what the threads of each actor
/// do together: useful bytes, or floating-point operations of one that computes.
pub fn add_at<R: AsRef<[f64]>>(
    record: &mut Record,
    place: Coordinates,
    rounds: impl IntoIterator<Item = R>,
) {
    let mut case = case_at(&record.header.machine, place);
    if record.cases.iter().any(|other| other.id == case.id) {
        case.id = format!("{}/{}", case.id, record.cases.len());
    }
    let seen = |round: R| {
        let of_actors = case.actors.iter().zip(round.as_ref());
        of_actors.map(|(actor, &together)| evenly(actor, together)).collect()
    };
    let windows: Vec<_> = rounds.into_iter().map(seen).collect();
    add(record, case, windows);
}

/// The same of a case with one actor, with what its threads do together in each round.
pub fn add_alone(record: &mut Record, place: Coordinates, rounds: &[f64]) {
    add_at(record, place, rounds.iter().map(|&together| [together]));
}

/// Adds a chase whose accesses take this many ns in each round, and what the thread beside it moves in
/// each, useful bytes/s.
pub fn add_chase(record: &mut Record, place: LatencyCoordinates, ns: &[f64], beside: &[f64]) {
    let of_round = |(round, ns): (usize, &f64)| {
        let mut bytes = vec![8e9 / ns];
        bytes.extend(beside.get(round));
        bytes
    };
    let rounds: Vec<Vec<f64>> = ns.iter().enumerate().map(of_round).collect();
    add_at(record, Coordinates::Latency(place), rounds);
}

/// Disturbs every window of a case.
pub fn disturb(record: &mut Record, case: &str) {
    for sample in record.samples.iter_mut().filter(|sample| sample.case == case) {
        sample.disturbances.push(Disturbance::Moved { threads: 1 });
    }
}

/// Notes that a case of the record, or one that it does not have, was not measured.
pub fn absent(record: &mut Record, case: &str, absence: Absence, code: ReasonCode, text: &str) {
    let of = record.cases.iter().find(|planned| planned.id == case);
    record.absent.push(Absent {
        case: case.into(),
        coordinates: of.map_or_else(Vec::new, |case| case.coordinates.clone()),
        absence,
        reason: Reason { code, text: text.into() },
        round: (absence == Absence::Refused).then_some(0),
    });
}
