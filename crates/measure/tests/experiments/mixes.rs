use std::collections::BTreeSet;

use nearfar_machine::{Machine, MemoryPolicy, NodeSet};
use nearfar_measure::experiment::Planned;
use nearfar_record::{Coordinates, Experiment, Inputs, MixCoordinates};

use crate::machines::{
    builtin, full, ids, planned, random_machine, reasons, standard, streams, synthetic,
};

fn mixes(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Mixes, inputs)
}

#[test]
fn standard_is_the_beginning_of_full() {
    let machine = builtin("two-socket-8-nodes");
    let (few, many) = (mixes(&machine, standard()), mixes(&machine, full()));
    assert_eq!(few.cases.len(), 8);
    assert_eq!(many.cases.len(), 32);
    assert_eq!(few.cases, many.cases[..8]);
    assert_eq!(ids(&few)[..3], ["mixes/0", "mixes/1", "mixes/2"]);
    let first = Coordinates::Mixes(MixCoordinates { index: 0 });
    assert_eq!(few.cases[0].coordinates, [first]);
    let other = mixes(&machine, Inputs { seed: 2, ..standard() });
    assert_ne!(other.cases, few.cases);
}

/// Over many sets of the built-in machine with 8 initiators of 16 cores.
#[test]
fn sets_are_drawn_as_they_should_be() {
    let machine = builtin("two-socket-8-nodes");
    let initiators = machine.initiators();
    let (mut sets, mut all, mut interleaved, mut local, mut elsewhere) = (0, 0, 0, 0, 0);
    let mut counts = BTreeSet::new();
    let mut kernels = BTreeSet::new();
    for seed in 0..20 {
        for case in mixes(&machine, Inputs { seed, ..full() }).cases {
            sets += 1;
            for stream in streams(&case) {
                let initiator =
                    initiators.iter().find(|it| it.cpus.intersects(&stream.binding.cpus)).unwrap();
                all += 1;
                counts.insert(stream.threads);
                kernels.insert(stream.kernel.clone());
                match &stream.binding.memory {
                    MemoryPolicy::Interleave(nodes) => {
                        assert_eq!(nodes.len(), 2);
                        interleaved += 1;
                    }
                    MemoryPolicy::Preferred(node) if initiator.memory_nodes.contains(*node) => {
                        local += 1;
                    }
                    MemoryPolicy::Preferred(_) => elsewhere += 1,
                    other => panic!("pages by {other}"),
                }
            }
        }
    }
    assert_eq!(counts, (1..=16).collect());
    assert_eq!(kernels, ["copy_nt", "load", "triad"].map(String::from).into());
    // Of 640 sets with 8 initiators each: 0.7, of these 0.25; of the others half and an eighth of
    // the other half.
    let share = |part: i32, of: i32| f64::from(part) / f64::from(of);
    let is_near = |found: f64, wanted: f64| (found - wanted).abs() < 0.03;
    assert!(is_near(share(all, sets * 8), 0.7), "{all} streams in {sets} sets");
    assert!(is_near(share(interleaved, all), 0.25), "{interleaved} of {all} interleaved");
    assert!(is_near(share(local, local + elsewhere), 0.5625), "{local} local, {elsewhere} not");
}

#[test]
fn one_initiator_is_divided_between_two_kernels() {
    let planned = mixes(&synthetic("node:1 core:6 pu:2"), full());
    assert_eq!(planned.cases.len(), 32);
    for case in &planned.cases {
        let [first, second] = streams(case)[..] else { panic!("{} has not two", case.id) };
        assert_ne!(first.kernel, second.kernel, "{}", case.id);
        assert!(first.threads + second.threads <= 6, "{}", case.id);
        assert_eq!(first.binding.memory, MemoryPolicy::Preferred(0));
    }
}

/// Two cores can run three pairs of kernels, and not 32.
#[test]
fn no_set_stands_twice() {
    let planned = mixes(&synthetic("node:1 core:2 pu:1"), full());
    assert_eq!(ids(&planned), ["mixes/0", "mixes/1", "mixes/2"]);
    let pairs: BTreeSet<BTreeSet<String>> = planned
        .cases
        .iter()
        .map(|case| streams(case).iter().map(|stream| stream.kernel.clone()).collect())
        .collect();
    assert_eq!(pairs.len(), 3);
    assert_eq!(reasons(&planned), [("mixes/3-31", "one_initiator")]);
    assert_eq!(mixes(&synthetic("node:1 core:2 pu:1"), standard()).cases, planned.cases);
    let one_kernel = Inputs { kernels: Some(vec!["load".into()]), ..full() };
    assert_eq!(mixes(&synthetic("node:1 core:2 pu:1"), one_kernel.clone()).cases.len(), 1);
    // Two streams of one thread, each on node 0, node 1 or both.
    let two_initiators = mixes(&synthetic("node:2 core:1 pu:1"), one_kernel);
    assert_eq!(two_initiators.cases.len(), 9);
    assert_eq!(reasons(&two_initiators), [("mixes/9-31", "no_variant")]);
    assert!(mixes(&synthetic("node:2 core:1 pu:1"), full()).absent.is_empty());
}

#[test]
fn what_cannot_be_mixed_is_named() {
    assert_eq!(reasons(&mixes(&synthetic("node:1 core:1 pu:2"), full())), [("mixes", "one_core")]);
    let mut machine = synthetic("pack:2 [numa] core:2 pu:1");
    machine.allowed_cpus = "0-1".parse().unwrap();
    machine.allowed_nodes = NodeSet::single(1);
    let limited = mixes(&machine, standard());
    assert_eq!(
        reasons(&limited),
        [
            ("mixes/initiator1", "cpus_not_allowed"),
            ("mixes/node0", "node_not_allowed"),
            ("mixes/3-7", "one_initiator"),
        ]
    );
    assert_eq!(limited.cases.len(), 3);
}

#[test]
fn streams_run_beside_each_other() {
    for seed in 0..200 {
        let machine = random_machine(seed);
        let planned = mixes(&machine, Inputs { seed, ..standard() });
        for case in &planned.cases {
            let streams = streams(case);
            assert!(streams.len() >= 2, "{seed}: {}", case.id);
            for stream in streams {
                let initiators = machine.initiators();
                let own = initiators.iter().filter(|it| it.cpus.intersects(&stream.binding.cpus));
                assert_eq!(own.count(), 1, "{seed}: {}", case.id);
            }
        }
    }
}
