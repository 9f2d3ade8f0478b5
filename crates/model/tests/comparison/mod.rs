//! Comparing records that the tests draw: what changed is named, chance is not.

mod matching;

use nearfar_machine::Relation;
use nearfar_model::{
    ComparedGroup, ComparedRole, PRACTICAL_FLOOR, Place, RecordComparison, RoleThreads, Verdict,
    compare as compare_figures,
};
use nearfar_record::{Coordinates, Record};

use crate::twins::drawn_record::{KERNELS, PLAN, Plan, machine, record, record_by_round};

fn compare(a: &Record, b: &Record) -> RecordComparison {
    compare_figures(&a.clone().into(), &b.clone().into(), PRACTICAL_FLOOR)
}

fn findings(comparison: &RecordComparison) -> usize {
    comparison.count(Verdict::Worse) + comparison.count(Verdict::Better)
}

/// What remains of a pair, by initiator, node and threads.
type Share = fn(u32, u32, u32) -> f64;

const SOUND: Share = |_, _, _| 1.0;

/// Two records of a machine of eight nodes, the second with what remains of it.
fn pair(noise: f64, seed: u64, share: Share) -> (Record, Record) {
    let machine = machine(2, 4);
    let plan = |seed| Plan { noise, seed, ..PLAN };
    (record(&machine, &plan(2 * seed), SOUND), record(&machine, &plan(2 * seed + 1), share))
}

/// Noise of several sizes, a hundredth of outliers of up to 40 %, 1280 cases, and few rounds.
#[test]
fn chance_is_no_finding() {
    let machine = machine(2, 4);
    let mut with_finding = 0;
    for noise in [0.005, 0.01, 0.02, 0.05] {
        for rounds in [3, 6, 10] {
            for seed in 0..5 {
                let plan = |seed| Plan { noise, rounds, seed, ..PLAN };
                let (a, b) = (plan(9000 + 2 * seed), plan(9001 + 2 * seed));
                let found = compare(&record(&machine, &a, SOUND), &record(&machine, &b, SOUND));
                assert_eq!((found.cases.len(), found.not_compared.len()), (1280, 0));
                with_finding += usize::from(findings(&found) > 0);
            }
        }
    }
    assert!(with_finding <= 1, "{with_finding} of 60 pairs of sound records have a finding");
}

#[test]
fn the_same_record_twice_is_the_same() {
    let (a, _) = pair(0.01, 1, SOUND);
    let found = compare(&a, &a);
    assert!(found.cases.iter().all(|case| case.verdict == Verdict::Same));
    assert!(found.cases.iter().all(|case| (case.ratio - 1.0).abs() < 1e-15));
    assert!(found.environment.is_empty() && found.parts.is_empty());
    let shift = found.groups[0].shift.as_ref().unwrap();
    assert_eq!((found.groups.len(), shift.verdict), (1, Verdict::Same));
}

#[test]
fn one_slower_pair_is_found_and_named_and_nothing_else() {
    let slower: Share = |initiator, node, _| if (initiator, node) == (2, 5) { 0.94 } else { 1.0 };
    let (mut worse, mut others) = (0, 0);
    for seed in 0..10 {
        let (a, b) = pair(0.008, 100 + seed, slower);
        let found = compare(&a, &b);
        let is_slower = |id: &str| id.starts_with("pairs/initiator2/node5/");
        for case in found.cases.iter().filter(|case| case.verdict != Verdict::Same) {
            let counted = if is_slower(&case.a_id) { &mut worse } else { &mut others };
            *counted += usize::from(case.verdict != Verdict::Unclear);
        }
        assert_eq!(found.parts.len(), 1, "{:?}", found.parts);
        let part = &found.parts[0];
        assert_eq!(part.place, Place::Path { initiator: 2, node: 5 });
        assert_eq!((part.verdict, part.of), (Verdict::Worse, KERNELS.len() * 4));
        assert!((0.93..0.95).contains(&part.ratio), "{part:?}");
    }
    assert_eq!(others, 0);
    let of = 10 * KERNELS.len() * 4;
    assert!(worse * 10 >= of * 9, "{worse} of {of} cases of the slower pair are worse");
}

/// Of a link that is narrower the path of each pair differs, by all threads alone: the link is
/// named, and of one that is narrower in one direction the direction.
#[test]
fn a_narrower_link_is_one_part() {
    let both: Share = |initiator, node, threads| {
        if initiator / 4 != node / 4 && threads == 8 { 0.8 } else { 1.0 }
    };
    let one: Share = |initiator, node, threads| {
        if initiator < 4 && node > 3 && threads == 8 { 0.8 } else { 1.0 }
    };
    let places = |share: Share| {
        let (a, b) = pair(0.008, 300, share);
        compare(&a, &b).parts.into_iter().map(|part| part.place).collect::<Vec<_>>()
    };
    assert_eq!(places(both), [Place::PackageLink { first: 0, second: 1 }]);
    assert_eq!(places(one), [Place::PackageToPackage { from: 0, to: 1 }]);
}

/// The link was blamed with 25 of its cases where 20 are of one initiator, and differ without exception.
#[test]
fn one_slow_initiator_is_named_and_not_its_link() {
    let slow: Share = |initiator, node, _| match (initiator, node) {
        (5, 0..4) => 0.5,
        (4, 1) => 0.8,
        _ => 1.0,
    };
    let machine = machine(2, 4);
    let of = |seed, share| record(&machine, &Plan { threads: &[8], seed, ..PLAN }, share);
    let parts = compare(&of(400, SOUND), &of(401, slow)).parts;
    let found: Vec<_> = parts.iter().map(|part| (part.place, part.cases, part.of)).collect();
    let of_initiator = Place::InitiatorToPackage { initiator: 5, to: 0 };
    let of_path = Place::Path { initiator: 4, node: 1 };
    assert_eq!(found, [(of_initiator, 20, 20), (of_path, 5, 5)]);
}

/// What is worse one way round is better the other, and by the inverse.
#[test]
fn both_orders_say_the_same() {
    let slower: Share = |_, node, threads| if node == 3 && threads > 1 { 0.9 } else { 1.0 };
    let (a, b) = pair(0.01, 7, slower);
    let (there, back) = (compare(&a, &b), compare(&b, &a));
    assert_eq!(there.count(Verdict::Worse), back.count(Verdict::Better));
    assert_eq!(there.count(Verdict::Better), back.count(Verdict::Worse));
    assert!(there.count(Verdict::Worse) >= 8 * KERNELS.len() * 3 * 9 / 10);
    for (there, back) in there.cases.iter().zip(&back.cases) {
        assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
        assert!((there.interval.0 * back.interval.1 - 1.0).abs() < 1e-9);
        assert!((there.score + back.score).abs() < 1e-9);
    }
    assert_eq!(there.parts[0].place, Place::Memory { node: 3 });
    assert_eq!(back.parts[0].verdict, Verdict::Better);
}

#[test]
fn what_all_cases_have_in_common_is_one_finding() {
    for (share, verdict) in [
        ((|_, _, _| 0.95) as Share, Verdict::Worse),
        (|_, _, _| 0.99, Verdict::Same),
        (|_, _, _| 1.05, Verdict::Better),
    ] {
        let (a, b) = pair(0.01, 11, share);
        let found = compare(&a, &b);
        let shift = found.groups[0].shift.as_ref().unwrap();
        assert_eq!((found.groups[0].group, shift.verdict), (ComparedGroup::Memory, verdict));
        let truth = share(0, 0, 1);
        assert!(shift.interval.0 < truth && truth < shift.interval.1, "{shift:?}");
        assert!((shift.ratio / truth - 1.0).abs() < 0.002, "{shift:?}");
        assert_eq!(findings(&found), usize::from(verdict != Verdict::Same));
    }
}

/// A pair that is slower still is named beside what all have in common; one that did not change
/// is not called better for it.
#[test]
fn a_case_is_judged_by_itself_and_beside_the_others() {
    let share: Share = |initiator, node, _| match (initiator, node) {
        (2, 5) => 0.85,
        (6, 1) => 1.0,
        _ => 0.95,
    };
    let (a, b) = pair(0.008, 13, share);
    let found = compare(&a, &b);
    assert_eq!(found.groups[0].shift.as_ref().unwrap().verdict, Verdict::Worse);
    assert_eq!(found.count(Verdict::Better), 0);
    let worse: Vec<&str> = found
        .cases
        .iter()
        .filter(|case| case.verdict == Verdict::Worse)
        .map(|case| case.a_id.as_str())
        .collect();
    assert!(worse.len() >= 18, "{worse:?}");
    assert!(worse.iter().all(|id| id.starts_with("pairs/initiator2/node5/")), "{worse:?}");
}

/// Half of the machine has nothing in common with the other half: its cases are each named.
#[test]
fn a_change_of_half_of_the_cases_is_told_case_by_case() {
    let (a, b) = pair(0.008, 17, |initiator, _, _| if initiator < 4 { 0.9 } else { 1.0 });
    let found = compare(&a, &b);
    assert_eq!(found.groups[0].shift, None);
    assert!(found.count(Verdict::Worse) >= 640 * 9 / 10, "{}", found.count(Verdict::Worse));
    assert_eq!(found.count(Verdict::Better), 0);
    assert!(found.cases.iter().filter(|case| case.verdict == Verdict::Worse).all(|case| {
        let initiator = case.a_id.split('/').nth(1).unwrap();
        ["initiator0", "initiator1", "initiator2", "initiator3"].contains(&initiator)
    }));
}

/// Rounds that are slow as a whole are no change of the machine: three of six at 0.9 of the rate
/// move every median, and by themselves prove nothing.
#[test]
fn slow_rounds_are_not_a_slower_machine() {
    let machine = machine(2, 4);
    let plan = |seed| Plan { seed, ..PLAN };
    let a = record(&machine, &plan(1), SOUND);
    let slow_rounds = |_: u32, _: u32, _: u32, round: usize| if round < 3 { 0.9 } else { 1.0 };
    let b = record_by_round(&machine, &plan(2), slow_rounds);
    let found = compare(&a, &b);
    assert_eq!(findings(&found), 0, "{:?}", found.groups);
    assert_eq!(found.groups[0].shift.as_ref().unwrap().verdict, Verdict::Unclear);
}

/// Without noise everything is significant, and the floor decides.
#[test]
fn the_floor_decides_where_there_is_no_noise() {
    let quiet = |share: Share| {
        let machine = machine(2, 2);
        let plan = Plan { noise: 0.0, kernels: &["load"], threads: &[1], ..PLAN };
        compare(&record(&machine, &plan, SOUND), &record(&machine, &plan, share))
    };
    let at: [(Share, usize); 2] = [
        (|initiator, node, _| if (initiator, node) == (0, 1) { 0.981 } else { 1.0 }, 0),
        (|initiator, node, _| if (initiator, node) == (0, 1) { 0.979 } else { 1.0 }, 1),
    ];
    for (share, worse) in at {
        let found = quiet(share);
        assert_eq!((found.count(Verdict::Worse), found.count(Verdict::Unclear)), (worse, 0));
        assert_eq!(found.resolution, Some(found.floor));
    }
}

/// Records under different noise: the noisy one decides what can be said.
#[test]
fn noise_of_either_record_counts() {
    let machine = machine(2, 2);
    let slower: Share = |initiator, node, _| if (initiator, node) == (0, 1) { 0.94 } else { 1.0 };
    let of = |noise, seed, share: Share| record(&machine, &Plan { noise, seed, ..PLAN }, share);
    let quiet = compare(&of(0.004, 1, SOUND), &of(0.004, 2, slower));
    let noisy = compare(&of(0.004, 1, SOUND), &of(0.08, 2, slower));
    assert!(quiet.count(Verdict::Worse) >= 18, "{}", quiet.count(Verdict::Worse));
    // Noise lowers, here all of B by the same: that is one finding, and no case is one.
    assert!(
        noisy.cases.iter().all(|case| !matches!(case.verdict, Verdict::Worse | Verdict::Better))
    );
    assert!(noisy.resolution.unwrap() > 4.0 * quiet.resolution.unwrap());
    assert!(noisy.groups[0].b_noise > 5.0 * noisy.groups[0].a_noise);
}

/// Machines that differ everywhere are not noisy, but different.
#[test]
fn another_machine_differs_case_by_case() {
    let steps = |initiator: u32, node: u32| f64::from((3 * initiator + node) % 8);
    let other = |initiator, node, _: u32| 0.3 + 0.25 * steps(initiator, node);
    let machine = machine(2, 4);
    let of = |seed, share: &dyn Fn(u32, u32, u32) -> f64| {
        record(&machine, &Plan { seed, ..PLAN }, share)
    };
    let found = compare(&of(1, &SOUND), &of(2, &other));
    assert_eq!(found.groups[0].shift, None);
    // One step of eight leaves 5 %, within what records may scatter that differ so much.
    let clear = found.cases.iter().filter(|case| (case.ratio - 1.0).abs() > 0.2);
    let (mut right, mut of) = (0, 0);
    for case in clear {
        let verdict = if case.ratio < 1.0 { Verdict::Worse } else { Verdict::Better };
        right += usize::from(case.verdict == verdict);
        of += 1;
    }
    assert!(of > 1000 && right * 100 >= of * 98, "{right} of {of}");
}

/// A machine of four nodes beside one of eight: by where memory lies, and no case by another's number.
#[test]
fn machines_of_different_kinds_are_compared_by_where_memory_lies() {
    let far: Share = |initiator, node, _| if initiator == node { 1.0 } else { 0.5 };
    let plan = |seed| Plan { noise: 0.0, seed, ..PLAN };
    let a = record(&machine(2, 4), &plan(1), SOUND);
    let b = record(&machine(2, 2), &plan(2), far);
    let found = compare(&a, &b);
    let ratio = |memory, kernel: &str, threads| {
        let is_it = |role: &&ComparedRole| {
            (role.memory, role.kernel.as_deref(), role.threads) == (memory, Some(kernel), threads)
        };
        found.roles.iter().find(is_it).map(|role| (role.ratio, role.a_pairs, role.b_pairs))
    };
    for kernel in KERNELS {
        for threads in [RoleThreads::One, RoleThreads::All] {
            let [local, same, other] =
                [Relation::Local, Relation::SamePackage, Relation::OtherPackage]
                    .map(|memory| ratio(memory, kernel, threads).unwrap());
            assert_eq!(
                [(local.1, local.2), (same.1, same.2), (other.1, other.2)],
                [(8, 4), (24, 4), (32, 8)]
            );
            assert!((local.0 - 1.0).abs() < 1e-6, "{kernel}: {local:?}");
            assert!((same.0 - 0.5).abs() < 1e-6 && (other.0 - 0.5).abs() < 1e-6, "{kernel}");
        }
    }
    assert_eq!(found.cases, [], "node 1 of one is none of the other's nodes");
    assert_eq!(found.count(Verdict::Worse), 0);
    assert_eq!(compare(&a, &a).roles, [], "machines of one kind are compared case by case");
}

#[test]
fn machines_of_one_shape_without_a_loop_in_common_are_compared_by_where_memory_lies() {
    let machine = machine(1, 2);
    let a = record(&machine, &Plan { noise: 0.0, ..PLAN }, SOUND);
    let mut b = record(&machine, &Plan { noise: 0.0, seed: 2, ..PLAN }, |_, _, _| 0.5);
    let of_arm = |id: &str| id.replace("/avx2/", "/sve/");
    for case in &mut b.cases {
        case.id = of_arm(&case.id);
        for place in &mut case.coordinates {
            if let Coordinates::Pairs(place) = place {
                place.variant = "sve".into();
            }
        }
    }
    b.samples.iter_mut().for_each(|sample| sample.case = of_arm(&sample.case));
    let found = compare(&a, &b);
    assert_eq!(found.cases, []);
    assert_eq!(found.roles.len(), KERNELS.len() * 2 * 2);
    assert!(found.roles.iter().all(|role| (role.ratio - 0.5).abs() < 1e-6), "{:?}", found.roles);
}
