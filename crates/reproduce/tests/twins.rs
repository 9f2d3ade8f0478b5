//! Twins on simulated machines, by the code that measures and serves a record: faults
//! are named and nothing else, sound machines have no finding.

use std::collections::BTreeSet;

use nearfar_flow::{SimulatedMachine, builtin_machines, parse_machine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    ComparedRecord, PRACTICAL_FLOOR, Place, RecordFigures, Twins, Verdict, compare, twins,
};
use nearfar_record::{Experiment, Inputs, Suite};

fn look_over(simulated: &SimulatedMachine, suite: Suite, seed: u64) -> Twins {
    let inputs = Inputs { seed, experiments: vec![Experiment::Pairs], ..suite_inputs(suite) };
    twins(&RecordFigures::new(&simulate(simulated, inputs, true).unwrap()))
}

fn named(twins: &Twins) -> BTreeSet<Place> {
    let places: BTreeSet<Place> = twins.findings.iter().map(|finding| finding.place).collect();
    assert_eq!(places.len(), twins.findings.len(), "named twice: {:?}", twins.findings);
    places
}

#[test]
fn a_slow_module_and_a_narrow_link_are_named_and_nothing_else() {
    let degraded = read_machine("two-socket-8-nodes-degraded").unwrap();
    let faults = BTreeSet::from([
        Place::Memory { node: 2 },
        Place::InitiatorToPackage { initiator: 5, to: 0 },
    ]);
    for seed in 1..=25 {
        let found = look_over(&degraded, Suite::Quick, seed);
        assert_eq!(named(&found), faults, "seed {seed}");
    }
    for seed in 1..=3 {
        let found = look_over(&degraded, Suite::Standard, seed);
        assert_eq!(named(&found), faults, "standard, seed {seed}");
        let memory = found.findings.iter().find(|finding| finding.memory_share.is_some()).unwrap();
        // The file says 0.8; saturation is smooth, so less of it shows in slower pairs.
        assert!((0.78..0.85).contains(&memory.ratio), "{memory:?}");
        assert_eq!(memory.memory_share, Some(1.0));
    }
}

/// The only node of its kind: half of its bandwidth can be lost and nothing falls short.
#[test]
fn a_node_without_a_twin_is_named_as_not_compared() {
    let fault = "name = \"slow\"\ntitle = \"slow\"\nextends = \"two-socket-cxl\"\n[[fault]]\nkind = \"slow_memory\"\nnode = 2\nfactor = 0.5\n";
    let found = look_over(&parse_machine("slow", fault).unwrap(), Suite::Quick, 1);
    assert_eq!((&found.findings[..], &found.nodes_not_compared[..]), (&[][..], &[2][..]));
    let even = look_over(&read_machine("two-socket-8-nodes").unwrap(), Suite::Quick, 1);
    assert_eq!(even.nodes_not_compared, [0_u32; 0]);
}

#[test]
fn sound_machines_have_no_finding() {
    let names = builtin_machines().unwrap();
    // The paper's own table of knl-flat has twins that differ by a tenth (92.8 and 82.8 GB/s).
    let differs = |name: &str| name.contains("degraded") || name == "knl-flat";
    let sound = names.iter().filter(|(name, _)| !differs(name));
    for (name, _) in sound {
        let machine = read_machine(name).unwrap();
        // A machine with one initiator has no twins.
        let has_twins = machine.machine.initiators().len() > 1;
        for seed in 1..=30 {
            let found = look_over(&machine, Suite::Quick, seed);
            assert_eq!(found.compared > 0, has_twins, "{name}: {:?}", found.not_compared);
            assert_eq!(found.findings, [], "{name}, seed {seed}");
            assert_eq!(found.unsteady, [], "{name}, seed {seed}");
            assert_eq!(found.hidden_levels, [], "{name}, seed {seed}");
        }
        let found = look_over(&machine, Suite::Standard, 1);
        assert_eq!(found.findings, [], "{name}, standard");
    }
}

/// Beside a record of the sound machine a degraded one shows the same parts that it shows by itself,
/// and not links that sound paths share with them.
#[test]
fn a_comparison_names_the_parts_that_twins_name() {
    let [sound, degraded] = ["two-socket-8-nodes", "two-socket-8-nodes-degraded"]
        .map(|name| read_machine(name).unwrap());
    let of = |machine: &SimulatedMachine, seed| -> ComparedRecord {
        let inputs = Inputs { seed, ..suite_inputs(Suite::Standard) };
        simulate(machine, inputs, true).unwrap().into()
    };
    for seed in [1, 3] {
        let found = compare(&of(&sound, seed), &of(&degraded, seed + 1), PRACTICAL_FLOOR);
        let worse = found.parts.iter().filter(|part| part.verdict == Verdict::Worse);
        let places: BTreeSet<Place> = worse.take(2).map(|part| part.place).collect();
        let faults = BTreeSet::from([
            Place::Memory { node: 2 },
            Place::InitiatorToPackage { initiator: 5, to: 0 },
        ]);
        assert_eq!(places, faults, "{:?}", found.parts);
    }
}

/// A fault's remainder is no second finding, whichever kernels show it.
#[test]
fn no_part_is_named_again_for_what_is_left_of_it() {
    let degraded = read_machine("two-socket-8-nodes-degraded").unwrap();
    let faults = BTreeSet::from([
        Place::Memory { node: 2 },
        Place::InitiatorToPackage { initiator: 5, to: 0 },
    ]);
    let kernels = ["load", "copy", "triad", "store", "add", "triad_nt"];
    for seed in 1..=6 {
        for count in [2, 3, 6] {
            let named_kernels = kernels[..count].iter().map(ToString::to_string).collect();
            let inputs = Inputs {
                seed,
                kernels: Some(named_kernels),
                experiments: vec![Experiment::Pairs],
                ..suite_inputs(Suite::Standard)
            };
            let found = twins(&RecordFigures::new(&simulate(&degraded, inputs, true).unwrap()));
            assert_eq!(named(&found), faults, "{count} kernels, seed {seed}");
        }
    }
}

/// The diagonals of each package's two by two nodes are 6 % slower, and the firmware's
/// distances are those of the machine without them.
#[test]
fn a_distance_that_the_firmware_hides_is_no_fault() {
    let text = "extends = \"two-socket-8-nodes\"\nname = \"diagonal\"\ntitle = \"diagonal\"\n\
                [[bandwidth]]\npairs = [[0, 3], [3, 0], [1, 2], [2, 1], [4, 7], [7, 4], [5, 6], [6, 5]]\n\
                one_thread = { avx2 = 14.1, sse2 = 13.7, portable = 12.8 }\nall_threads = 29.1\n";
    let machine = parse_machine("diagonal.toml", text).unwrap();
    for seed in 1..=10 {
        let found = look_over(&machine, Suite::Quick, seed);
        assert_eq!(found.findings, [], "seed {seed}");
        assert_eq!(found.hidden_levels.len(), 1, "seed {seed}");
        assert_eq!(found.hidden_levels[0].pairs.len(), 8, "seed {seed}");
    }
}

/// Every kind of fault that a machine's file can hold.
#[test]
fn each_fault_by_itself_is_named() {
    let faults = [
        ("kind = \"slow_memory\"\nnode = 6\nfactor = 0.9", Place::Memory { node: 6 }),
        (
            "kind = \"slow_initiator\"\ncpu_node = 3\nfactor = 0.9",
            Place::Initiator { initiator: 3 },
        ),
        (
            "kind = \"narrow_path\"\ncpu_node = 1\nmemory_node = 6\nfactor = 0.7",
            Place::Path { initiator: 1, node: 6 },
        ),
        (
            "kind = \"narrow_link\"\nlink = \"quadrant-0-to-package-1\"\nfactor = 0.6",
            Place::InitiatorToPackage { initiator: 0, to: 1 },
        ),
    ];
    for (fault, place) in faults {
        let text = format!(
            "extends = \"two-socket-8-nodes\"\nname = \"faulty\"\ntitle = \"faulty\"\n\
             [[fault]]\n{fault}\n"
        );
        let machine = parse_machine("faulty.toml", &text).unwrap();
        for seed in 1..=5 {
            let found = look_over(&machine, Suite::Quick, seed);
            assert_eq!(named(&found), BTreeSet::from([place]), "{fault}, seed {seed}");
            assert_eq!(found.findings[0].or_place, None, "{fault}");
        }
    }
}
