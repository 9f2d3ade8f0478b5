//! Comparing records of a simulated machine, a few pairs of them; `make accuracy` takes 200.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod simulated_pairs;

use nearfar_flow::{parse_machine, read_machine};
use nearfar_machine::Relation;
use nearfar_model::{ComparedGroup, ComparedRole, RoleThreads, Verdict};
use simulated_pairs::{Found, Machines, alarms, compare, record};

#[test]
fn sound_machines_have_no_finding_and_one_slower_pair_of_nodes_is_found_alone() {
    let machines = Machines::new();
    for pair in 0..3 {
        let a = record(&machines.sound, 901 + 2 * pair);
        let sound = compare(&a, &record(&machines.sound, 902 + 2 * pair));
        assert_eq!(alarms(&sound), 0, "{pair}");
        assert!(sound.cases.len() > 400 && sound.groups.len() == ComparedGroup::ALL.len());
        let found = Found::of(&a, &compare(&a, &record(&machines.slower, 902 + 2 * pair)));
        assert_eq!(found.others, 0, "{found:?}");
        assert!(found.worse_of_pair * 4 >= found.of_pair * 3, "{found:?}");
    }
}

/// Times are worse where they are longer; bandwidth has not changed.
#[test]
fn longer_times_and_slower_clocks_are_worse() {
    let sound = Machines::new().sound;
    let changed = "extends = \"joe0\"\nname = \"changed\"\ntitle = \"changed\"\ncore_ghz = 1.53\n\
                   [[latency]]\nrelation = \"local\"\nns = 110\n";
    let changed = parse_machine("changed", changed).unwrap();
    let found = compare(&record(&sound, 921), &record(&changed, 922));
    let worse = |group| {
        found
            .cases
            .iter()
            .filter(|case| case.group == group && case.verdict == Verdict::Worse)
            .collect::<Vec<_>>()
    };
    let times = worse(ComparedGroup::AccessTimes);
    assert!(times.len() >= 4, "{}", times.len());
    assert!(times.iter().all(|case| case.ratio > 1.02), "{times:?}");
    let slower = worse(ComparedGroup::Cores);
    assert!(
        !slower.is_empty()
            && slower.iter().all(|case| case.a_id.contains("fma")
                || case.a_id.contains("add")
                || case.a_id.contains("mul")
                || case.ratio < 0.98)
    );
    assert!(worse(ComparedGroup::Memory).iter().all(|case| case.ratio < 0.98));
    assert_eq!(found.count(Verdict::Better), 0);
}

/// One thread of the newer machine is slower beside what a group moves: of 18 and 32 cores, or 64 and 56, only
/// figures of one thread have the same number of them, and these are not all that memory gives.
#[test]
fn groups_of_other_sizes_are_compared_by_where_memory_lies() {
    for names in [["xeon-6240", "xeon-6548y"], ["epyc-7742", "xeon-8480"]] {
        let [a, b] = names.map(|name| record(&read_machine(name).unwrap(), 931));
        let found = compare(&a, &b);
        assert_eq!((found.cases.len(), alarms(&found)), (0, 0), "{names:?}");
        let is_asked = |it: &&ComparedRole| {
            (it.memory, it.threads) == (Relation::Local, RoleThreads::All)
                && it.kernel.as_deref() == Some("load")
        };
        let of_all = found.roles.iter().find(is_asked).unwrap().ratio;
        assert!(of_all > 1.5, "{names:?}: {of_all}");
    }
}
