//! Levels of hand-overs from times that are given.

use nearfar_machine::CpuRelation;
use nearfar_model::{Exchanges, RecordFigures, exchanges};
use nearfar_record::{Coordinates, ExchangeCoordinates, HandOver, Record};
use nearfar_specimen::{add_alone, machine, record_of};

fn add(record: &mut Record, cpus: [u32; 2], by: HandOver, ns: [f64; 6]) {
    let [first_cpu, second_cpu] = cpus;
    let place = ExchangeCoordinates { first_cpu, second_cpu, memory_node: 0, by };
    add_alone(record, Coordinates::Exchange(place), &ns.map(|ns| 8e9 / ns));
}

fn model(record: &Record) -> Exchanges {
    exchanges(&RecordFigures::new(record)).unwrap()
}

/// Two packages of a node with four cores each; one pair is as slow as those of two packages.
#[test]
fn levels_and_pairs_that_deviate_are_found() {
    let mut record = record_of(machine(2, 1, 4), &[]);
    let is_across = |one: u32, other: u32| (one < 4) != (other < 4);
    let mut pairs = 0;
    for one in 0..8 {
        for other in one + 1..8 {
            let ns = match (one, other) {
                (0, 3) => 150.0,
                _ if is_across(one, other) => 150.0 + f64::from(one),
                _ => 50.0 + f64::from(other),
            };
            add(&mut record, [one, other], HandOver::StoreLoad, [ns; 6]);
            add(&mut record, [one, other], HandOver::CompareSwap, [1.5 * ns; 6]);
            pairs += 1;
        }
    }
    let model = model(&record);
    let counts: Vec<usize> = model.levels.iter().map(|level| level.pairs.len()).collect();
    assert_eq!((counts, pairs), (vec![11, 17], 28));
    assert!(
        model.levels[0].store_load.value.0 < 60.0 && model.levels[1].store_load.value.0 > 149.0
    );
    assert_eq!(model.levels[0].store_load.cases.len(), 11);
    let near = model.levels[0].relations.keys().copied().collect::<Vec<_>>();
    assert!(!near.contains(&CpuRelation::OtherPackage), "{near:?}");
    let strange: Vec<_> = model.deviating.iter().map(|it| (it.cpus, it.usual_level)).collect();
    assert_eq!(strange, [([0, 3], 0)]);
    let ratio = model.compare_swap.found().unwrap();
    assert!((ratio.value.0 - 1.5).abs() < 1e-9, "{ratio:?}");
    let swaps = model.levels[1].compare_swap.as_ref().unwrap();
    assert!((swaps.value.0 / model.levels[1].store_load.value.0 - 1.5).abs() < 1e-9);
}

/// Of one pair the interval is that of its rounds.
#[test]
fn one_pair_is_a_level_with_its_own_interval() {
    let mut record = record_of(machine(1, 1, 2), &[]);
    let rounds = [20.0, 21.0, 22.0, 23.0, 24.0, 25.0];
    add(&mut record, [0, 1], HandOver::StoreLoad, rounds);
    let model = model(&record);
    let [least, most] = model.levels[0].store_load.ends();
    assert!((least.0 - 20.0).abs() < 1e-6 && (most.0 - 25.0).abs() < 1e-6);
    assert!(model.compare_swap.found().is_none() && model.deviating.is_empty());
}

#[test]
fn a_record_without_pairs_of_cpus_says_what_to_measure() {
    let record = record_of(machine(1, 1, 2), &[]);
    let why = exchanges(&RecordFigures::new(&record)).unwrap_err();
    assert!(why.remedy.unwrap().contains("exchange"));
}
