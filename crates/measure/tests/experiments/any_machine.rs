//! What holds for the cases of every experiment here on any machine.

use std::collections::{BTreeSet, HashSet};
use std::io::{Write, stderr};

use nearfar_machine::Machine;
use nearfar_measure::{Rates, estimate};
use nearfar_record::{Actor, Experiment, History, Inputs, Line};

use crate::machines::{
    are_different, full, offered, planned, random_machine, record, standard, synthetic, zoo,
};

const EXPERIMENTS: [Experiment; 7] = [
    Experiment::Scaling,
    Experiment::Sharing,
    Experiment::Links,
    Experiment::Roofs,
    Experiment::Hybrid,
    Experiment::Mixes,
    Experiment::Latency,
];

/// Holds a plan against what a record takes, and against itself; returns the number of its cases.
fn check(name: &str, machine: &Machine, experiment: Experiment, inputs: Inputs) -> usize {
    let plan = planned(machine, experiment, inputs.clone());
    let header = record(machine, inputs.clone()).header;
    let mut history = History::new(&header);
    let mut places = HashSet::new();
    for case in &plan.cases {
        history
            .take(&header, &Line::Case(case.clone()))
            .unwrap_or_else(|what| panic!("{name}: {what}"));
        assert!(case.id.starts_with(&format!("{experiment}/")), "{name}: {}", case.id);
        for place in &case.coordinates {
            assert!(places.insert(place.clone()), "{name}: {place:?} twice");
        }
        let cpus: Vec<&[u32]> = case.actors.iter().map(Actor::thread_cpus).collect();
        assert!(are_different(&cpus), "{name}: {}: {cpus:?}", case.id);
        for policy in case.actors.iter().filter_map(Actor::memory) {
            for node in policy.nodes().iter().flat_map(|nodes| nodes.iter()) {
                assert!(machine.allowed_nodes.contains(node), "{name}: {}", case.id);
                let bytes = machine.node(node).unwrap().memory_bytes;
                assert_ne!(bytes, Some(0), "{name}: {}", case.id);
            }
        }
    }
    for absent in &plan.absent {
        history
            .take(&header, &Line::Absent(absent.clone()))
            .unwrap_or_else(|what| panic!("{name}: {what}"));
    }
    let named: BTreeSet<(&str, &str)> =
        plan.absent.iter().map(|it| (it.case.as_str(), it.reason.text.as_str())).collect();
    assert_eq!(named.len(), plan.absent.len(), "{name}: a reason twice");
    assert!(!plan.cases.is_empty() || !plan.absent.is_empty(), "{name}: {experiment}: nothing");
    assert_eq!(plan, planned(machine, experiment, inputs), "{name}: another plan");
    plan.cases.len()
}

/// What `standard` measures is a part of what `full` does.
fn check_part(name: &str, machine: &Machine, experiment: Experiment) {
    let all = planned(machine, experiment, full());
    for case in planned(machine, experiment, standard()).cases {
        let found = all.cases.iter().find(|other| other.id == case.id);
        let found = found.unwrap_or_else(|| panic!("{name}: {} is not in full", case.id));
        assert_eq!(found.actors, case.actors, "{name}: {}", case.id);
        assert!(case.coordinates.iter().all(|place| found.coordinates.contains(place)));
    }
}

#[test]
fn a_kernel_that_is_named_twice_is_planned_once() {
    let machine = random_machine(3);
    for experiment in EXPERIMENTS {
        let named = |kernels: &[&str]| {
            let kernels = kernels.iter().map(|&kernel| kernel.to_owned()).collect();
            planned(&machine, experiment, Inputs { kernels: Some(kernels), ..standard() })
        };
        assert_eq!(named(&["load", "copy", "load"]), named(&["load", "copy"]), "{experiment}");
    }
}

#[test]
fn plans_for_random_machines_hold() {
    let mut cases = 0;
    for seed in 0..100 {
        let machine = random_machine(seed);
        let name = format!("random machine {seed}");
        for experiment in EXPERIMENTS {
            cases += check(&name, &machine, experiment, Inputs { seed, ..standard() });
            if seed < 25 {
                cases += check(&name, &machine, experiment, full());
                check_part(&name, &machine, experiment);
            }
        }
    }
    assert!(cases > 10_000, "{cases} cases say little");
}

#[test]
fn plans_for_recorded_machines_hold() {
    let machines = zoo();
    let mut cases = 0;
    for (name, machine) in &machines {
        for experiment in EXPERIMENTS {
            cases += check(name, machine, experiment, standard());
        }
    }
    say(&format!("zoo: plans for {} machines, {cases} cases", machines.len()));
}

/// Told past the harness, which keeps what passing tests print to itself.
fn say(line: &str) {
    stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// 4096 cores and some 300,000 cases: where each case looked through the machine, or the machine
/// through each case, this would not end within the day.
#[test]
fn a_machine_of_256_nodes_is_planned() {
    let machine = synthetic("pack:64 group:4 [numa] l3:2 core:8 pu:1");
    assert_eq!((machine.nodes.len(), machine.cores.len()), (256, 4096));
    let rates = Rates { first_touch: 1e10, touch: 1e10, stream: 1e10 };
    let plan = estimate(&record(&machine, standard()), &offered(), rates);
    let of = |experiment: Experiment| {
        let begin = format!("{experiment}/");
        plan.case_ids.iter().filter(|id| id.starts_with(&begin)).count()
    };
    assert!(of(Experiment::Pairs) > 4 * 256 * 255);
    assert!(of(Experiment::Latency) > 256 * 255);
    let different: BTreeSet<&String> = plan.case_ids.iter().collect();
    assert_eq!(different.len(), plan.case_ids.len());
}
