//! Parts that are sound in some rounds and not in others.

use nearfar_model::{Place, Twins};

use crate::twins::drawn_record::{PLAN, Plan, machine, record_by_round};
use crate::twins::twins;

fn only_unsteady(found: &Twins, place: Place) {
    let places: Vec<Place> = found.unsteady.iter().map(|part| part.place).collect();
    assert_eq!(places, [place], "{:?}", found.unsteady);
    assert_eq!(found.findings, []);
    assert_eq!(found.hidden_levels, []);
}

#[test]
fn memory_that_is_halved_in_odd_rounds_is_unsteady() {
    let machine = machine(2, 4);
    for rounds in [4, 6, 7, 8] {
        let plan = Plan { rounds, ..PLAN };
        let found = twins(&record_by_round(&machine, &plan, |_, node, _, round| {
            if node == 2 && round % 2 == 1 { 0.5 } else { 1.0 }
        }));
        only_unsteady(&found, Place::Memory { node: 2 });
        let part = &found.unsteady[0];
        assert_eq!((part.cells, part.of), (8 * 20, 8 * 20));
        // Halves and wholes: deviation 0.25 to 0.29 of a mean of 0.75 to 0.79.
        assert!((0.3..0.42).contains(&part.scatter), "{part:?}");
        assert!(part.scatter > 15.0 * part.twins_scatter, "{part:?}");
    }
}

/// One round of six, and only where threads fill the memory.
#[test]
fn one_bad_round_of_a_part_is_seen_and_one_of_a_cell_is_not() {
    let machine = machine(2, 4);
    let found = twins(&record_by_round(&machine, &PLAN, |_, node, threads, round| {
        if node == 6 && threads > 1 && round == 3 { 0.7 } else { 1.0 }
    }));
    only_unsteady(&found, Place::Memory { node: 6 });
    assert!(found.unsteady[0].cells >= 8 * 5 * 3, "{:?}", found.unsteady);
    let found = twins(&record_by_round(&machine, &PLAN, |initiator, node, threads, round| {
        if (initiator, node, threads) == (0, 6, 8) && round == 3 { 0.7 } else { 1.0 }
    }));
    assert_eq!((found.unsteady, found.findings), (vec![], vec![]));
}

#[test]
fn cores_and_links_are_told_from_memory() {
    type Share = fn(u32, u32, u32, usize) -> f64;
    let shares: [(Place, Share); 3] = [
        (
            Place::Initiator { initiator: 3 },
            |a, _, _, round| {
                if a == 3 && round % 3 == 0 { 0.8 } else { 1.0 }
            },
        ),
        (Place::InitiatorToPackage { initiator: 5, to: 0 }, |a, b, _, round| {
            if a == 5 && b < 4 && round % 2 == 0 { 0.7 } else { 1.0 }
        }),
        (Place::Path { initiator: 1, node: 6 }, |a, b, _, round| {
            if (a, b) == (1, 6) && round % 2 == 0 { 0.7 } else { 1.0 }
        }),
    ];
    for (place, share) in shares {
        only_unsteady(&twins(&record_by_round(&machine(2, 4), &PLAN, share)), place);
    }
}

/// A machine of which every part scatters has none that does so more than its twins.
#[test]
fn a_machine_that_is_unsteady_as_a_whole_has_no_unsteady_part() {
    let found =
        twins(&record_by_round(
            &machine(2, 4),
            &PLAN,
            |_, _, _, round| {
                if round % 2 == 0 { 0.7 } else { 1.0 }
            },
        ));
    assert_eq!((found.unsteady, found.findings), (vec![], vec![]));
    assert!(found.resolution.unwrap() > 0.3, "and it says that little can be seen");
}
