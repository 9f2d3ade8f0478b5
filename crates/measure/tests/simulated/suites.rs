//! Every built-in machine answers every experiment.

use std::collections::BTreeSet;

use nearfar_flow::{builtin_machines, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{Absence, Absent, Experiment, Inputs, Record, Suite};

/// Experiments that have samples.
fn answered(record: &Record) -> BTreeSet<Experiment> {
    let sampled: BTreeSet<&str> =
        record.samples.iter().map(|sample| sample.case.as_str()).collect();
    let cases = record.cases.iter().filter(|case| sampled.contains(case.id.as_str()));
    cases.flat_map(|case| &case.coordinates).map(nearfar_record::Coordinates::experiment).collect()
}

#[test]
fn every_machine_answers_the_standard_suite() {
    for (name, _) in builtin_machines().unwrap() {
        let machine = read_machine(&name).unwrap();
        let inputs = Inputs {
            windows_per_round: 1,
            min_rounds: 1,
            max_rounds: 1,
            runs: 1,
            experiments: Experiment::OF_MACHINE.to_vec(),
            ..suite_inputs(Suite::Standard)
        };
        let record = simulate(&machine, inputs, true).unwrap();
        // Of a memory that is a cache of 16 GiB no program is large enough.
        let is_told = |absent: &&Absent| {
            let text = &absent.reason.text;
            // What no source says of a machine is not made up.
            text.contains("fit in the caches of") || text.contains("under [exchange] nothing")
        };
        let refused = record.absent.iter().filter(|absent| absent.absence == Absence::Refused);
        let refused: Vec<_> = refused.filter(|absent| !is_told(absent)).collect();
        assert!(refused.is_empty(), "{}: {refused:#?}", name);
        let mut expected = BTreeSet::from(Experiment::OF_MACHINE);
        for (experiment, is_possible) in [
            (Experiment::Sharing, machine.machine.initiators().len() > 1),
            (Experiment::Links, machine.machine.packages.len() > 1),
            (Experiment::Hybrid, machine.machine.nodes.len() > 1),
            (Experiment::Exchange, !machine.exchange.ns.is_empty()),
            (Experiment::Devices, !machine.devices.is_empty()),
            (Experiment::Network, false),
        ] {
            if !is_possible {
                expected.remove(&experiment);
            }
        }
        assert_eq!(answered(&record), expected, "{}", name);
    }
}
