//! An interrupted run that is continued draws the same.

use std::collections::BTreeSet;

use nearfar_flow::SimulatedMachine;
use nearfar_record::{Coordinates, Experiment, Inputs, Record, Suite};

use crate::single_case;
use crate::support::{inputs, machine, measure, measure_new, read};

/// Bytes and operations of each actor.
type Work = Vec<(u64, u64)>;

/// Case, round, window and work of every sample.
fn samples(record: &Record) -> BTreeSet<(String, u32, u32, Work)> {
    let of = |sample: &nearfar_record::Sample| {
        let work = sample.actors.iter().map(|actor| (actor.useful_bytes, actor.flops)).collect();
        (sample.case.clone(), sample.round, sample.window, work)
    };
    record.samples.iter().map(of).collect()
}

/// A run as a whole, and one that was interrupted after this many runs of cases, each counted from
/// the one before.
fn whole_and_parts(machine: &SimulatedMachine, inputs: &Inputs, after: &[u64]) -> (Record, Record) {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole.jsonl"), folder.path().join("parts.jsonl"));
    measure_new(&whole, machine, inputs.clone(), None);
    let first = measure_new(&parts, machine, inputs.clone(), Some(after[0]));
    assert!(first.interrupted_by.is_some());
    for &runs in &after[1..] {
        assert!(measure(&parts, read(&parts), machine, Some(runs)).interrupted_by.is_some());
    }
    assert!(measure(&parts, read(&parts), machine, None).interrupted_by.is_none());
    (read(&whole), read(&parts))
}

#[test]
fn a_drifting_machine_goes_on_where_it_was_interrupted() {
    let drifting = machine(2, "[noise]\nwithin_round = 0.01\ndrift_per_round = 0.05\n");
    // In the middle of a round, twice.
    let (whole, parts) = whole_and_parts(&drifting, &inputs(Suite::Quick), &[31, 50]);
    assert_eq!(samples(&parts), samples(&whole));
    // It drifts at all: later rounds are lower, by 5 % of the first each.
    let sum = |round: u32| -> u64 {
        whole
            .samples
            .iter()
            .filter(|it| it.round == round)
            .map(|it| it.actors[0].useful_bytes)
            .sum()
    };
    let ratio = sum(4) as f64 / sum(0) as f64;
    assert!((ratio * 1.2 - 1.0).abs() < 0.005, "{ratio}");
}

/// Experiments whose later cases follow from samples of earlier ones, and unpinned threads,
/// among them.
#[test]
fn every_experiment_goes_on_where_it_was_interrupted() {
    let inputs = Inputs {
        experiments: Experiment::OF_MACHINE.to_vec(),
        kernels: Some(vec!["load".into(), "triad".into()]),
        min_rounds: 2,
        max_rounds: 2,
        runs: 3,
        ..inputs(Suite::Standard)
    };
    let (whole, parts) = whole_and_parts(&single_case::machine(), &inputs, &[100, 70, 85, 90]);
    let places = whole.cases.iter().flat_map(|case| &case.coordinates);
    let measured: BTreeSet<Experiment> = places.map(Coordinates::experiment).collect();
    // The machine has no device, no other machine, and its file says nothing of hand-overs.
    let mut expected = BTreeSet::from(Experiment::OF_MACHINE);
    let lacking = [Experiment::Devices, Experiment::Exchange, Experiment::Network];
    expected.retain(|it| !lacking.contains(it));
    assert_eq!(measured, expected);
    assert_eq!(samples(&parts), samples(&whole));
}

#[test]
fn copies_to_devices_go_on_where_they_were_interrupted() {
    let inputs = Inputs { experiments: vec![Experiment::Devices], ..inputs(Suite::Standard) };
    let machine = nearfar_flow::read_machine("intel-2p").unwrap();
    let (whole, parts) = whole_and_parts(&machine, &inputs, &[3, 40]);
    assert!(whole.samples.len() > 40);
    assert_eq!(samples(&parts), samples(&whole));
}
