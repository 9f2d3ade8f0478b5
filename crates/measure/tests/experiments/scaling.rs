use std::collections::BTreeSet;

use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_measure::experiment::Planned;
use nearfar_record::{Affinity, Coordinates, Experiment, Inputs, Pinning, ScalingCoordinates};

use crate::machines::{
    builtin, case, full, ids, places, planned, random_machine, reasons, standard, streams,
    synthetic,
};

fn scaling(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Scaling, inputs)
}

fn coordinates(planned: &Planned) -> Vec<&ScalingCoordinates> {
    places(planned).map(|(place, _)| of_scaling(place)).collect()
}

fn of_scaling(place: &Coordinates) -> &ScalingCoordinates {
    match place {
        Coordinates::Scaling(scaling) => scaling,
        other => panic!("{other:?} in scaling"),
    }
}

fn counts(planned: &Planned) -> Vec<u32> {
    let all: BTreeSet<u32> = coordinates(planned).iter().map(|place| place.threads).collect();
    all.into_iter().collect()
}

/// Two packages of two cores with two CPUs each: CPUs 0 to 3 and 4 to 7.
fn two_packages() -> Machine {
    synthetic("pack:2 [numa] l3:1(size=16777216) core:2 pu:2")
}

#[test]
fn standard_has_a_few_counts_with_each_affinity() {
    let planned = scaling(&two_packages(), standard());
    let of_copy: Vec<&str> =
        ids(&planned).into_iter().filter(|id| id.starts_with("scaling/copy/")).collect();
    let expected = [
        "t1/unbound",
        "t1/compact+scatter",
        "t2/unbound",
        "t2/compact",
        "t2/scatter",
        "t4/unbound",
        "t4/compact",
        "t4/scatter",
        "t8/unbound",
        "t8/compact+scatter",
    ];
    assert_eq!(of_copy, expected.map(|end| format!("scaling/copy/avx512/{end}")));
    assert_eq!(planned.cases.len(), 2 * expected.len());
    assert!(planned.absent.is_empty());
}

#[test]
fn full_has_more_kernels_and_counts() {
    let machine = synthetic("pack:4 [numa] l3:1(size=16MB) core:10 pu:2");
    let all = scaling(&machine, full());
    // Powers of two, a package (10), half the cores (20), the cores (40), all CPUs (80).
    assert_eq!(counts(&all), [1, 2, 4, 8, 10, 16, 20, 32, 40, 64, 80]);
    let kernels: BTreeSet<&str> =
        coordinates(&all).iter().map(|place| place.kernel.as_str()).collect();
    assert_eq!(kernels, BTreeSet::from(["add", "copy", "load", "scale", "triad"]));
    assert_eq!(counts(&scaling(&machine, standard())), [1, 20, 40, 80]);
    // At most four counts of three affinities.
    assert!(scaling(&builtin("amd-4p"), standard()).cases.len() <= 2 * 12);
}

#[test]
fn threads_are_where_the_affinity_puts_them() {
    let planned = scaling(&two_packages(), standard());
    let of = |end: &str| {
        let case = case(&planned, &format!("scaling/triad/avx512/{end}"));
        let stream = streams(case)[0];
        (stream.thread_cpus.clone(), stream.binding.cpus.to_string(), stream.pinning)
    };
    assert_eq!(of("t1/compact+scatter"), (vec![0], "0".into(), Pinning::OnePerCore));
    assert_eq!(of("t2/compact"), (vec![0, 1], "0-1".into(), Pinning::OnePerPu));
    assert_eq!(of("t2/scatter"), (vec![0, 4], "0,4".into(), Pinning::OnePerCore));
    assert_eq!(of("t4/compact"), (vec![0, 1, 2, 3], "0-3".into(), Pinning::OnePerPu));
    assert_eq!(of("t4/scatter"), (vec![0, 4, 2, 6], "0,2,4,6".into(), Pinning::OnePerCore));
    assert_eq!(of("t4/unbound"), (vec![], "0-7".into(), Pinning::Unbound));
    assert_eq!(
        of("t8/compact+scatter"),
        (vec![0, 4, 2, 6, 1, 5, 3, 7], "0-7".into(), Pinning::OnePerPu)
    );
}

/// What differs between affinities is where threads are, not how much they do.
#[test]
fn all_affinities_of_a_count_have_one_working_set() {
    let machine = two_packages();
    let planned = scaling(&machine, standard());
    let of = |end: &str| streams(case(&planned, &format!("scaling/copy/avx512/{end}")))[0];
    // Two scattered threads have two caches of 16 MiB, compact ones one.
    for (end, multiple) in [("unbound", 4.0), ("scatter", 4.0), ("compact", 8.0)] {
        let stream = of(&format!("t2/{end}"));
        assert_eq!(stream.working_set_bytes, 128 << 20, "{end}");
        assert_eq!(stream.llc_multiple, Some(multiple), "{end}");
        assert_eq!(stream.binding.memory, MemoryPolicy::FirstTouch);
    }
    assert_eq!(of("t1/unbound").llc_multiple, Some(4.0));
}

#[test]
fn the_user_s_kernels_and_limits_hold() {
    let mut machine = two_packages();
    machine.allowed_cpus = "4-6".parse().unwrap();
    let inputs = Inputs { kernels: Some(vec!["ddot".into()]), ..standard() };
    let limited = scaling(&machine, inputs);
    assert_eq!(counts(&limited), [1, 2, 3]);
    assert!(coordinates(&limited).iter().all(|place| place.kernel == "ddot"));
    assert_eq!(streams(case(&limited, "scaling/ddot/avx512/t2/scatter"))[0].thread_cpus, [4, 6]);
    let inputs = Inputs { variant: Some("neon".into()), ..standard() };
    let foreign = scaling(&machine, inputs);
    assert!(foreign.cases.is_empty());
    assert_eq!(
        reasons(&foreign),
        [("scaling/copy", "no_variant"), ("scaling/triad", "no_variant")]
    );
    machine.allowed_cpus = CpuSet::new();
    assert_eq!(reasons(&scaling(&machine, standard())), [("scaling", "cpus_not_allowed")]);
}

#[test]
fn coordinates_are_those_of_the_threads() {
    for seed in 0..100 {
        let machine = random_machine(seed);
        let cores = machine.allowed_cores(&machine.cpus());
        let planned = scaling(&machine, full());
        for (place, case) in places(&planned) {
            let place = of_scaling(place);
            let stream = streams(case)[0];
            let unbound = place.affinity == Affinity::Unbound;
            assert_eq!(stream.pinning == Pinning::Unbound, unbound, "{seed}: {}", case.id);
            if unbound {
                assert_eq!(stream.binding.cpus, machine.allowed_cpus, "{seed}: {}", case.id);
                continue;
            }
            let threads: CpuSet = stream.thread_cpus.iter().copied().collect();
            assert_eq!(stream.binding.cpus, threads, "{seed}: {}", case.id);
            // No second thread on a core while another has none; compact cores are full but one.
            let loads: Vec<(usize, usize)> =
                cores.iter().map(|core| (core.intersection(&threads).len(), core.len())).collect();
            let most = loads.iter().map(|&(used, _)| used).max().unwrap();
            let holds = match place.affinity {
                Affinity::Scatter => loads.iter().all(|&(used, of)| used == of || used + 1 >= most),
                _ => loads.iter().filter(|&&(used, of)| used > 0 && used < of).count() <= 1,
            };
            assert!(holds, "{seed}: {}: {threads}", case.id);
        }
    }
}
