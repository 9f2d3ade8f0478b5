//! The roofs of denoyelle2019, measured on the simulated machines that carry them.

use std::collections::BTreeMap;

use nearfar_flow::read_machine;
use nearfar_machine::MemoryKind;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{
    Aggregate, Case, Coordinates, Experiment, HybridCoordinates, HybridPoint, Inputs, Part, Record,
    Roof, RoofPurpose, Suite, TransferKind, Work,
};
use serde_json::Value;

const PAPER: &str = include_str!("../../../../papers/denoyelle2019.json");

/// The table that the paper prints for a machine.
fn table(machine: &str) -> Value {
    let paper: Value = serde_json::from_str(PAPER).unwrap();
    let tables = paper["roofs"].as_array().unwrap();
    let found = tables.iter().find(|table| table["machine"] == machine).unwrap();
    assert_eq!((found["unit"].as_str(), found["kernel"].as_str()), (Some("GB/s"), Some("load")));
    assert_eq!(found["initiator"], 0);
    found.clone()
}

fn measured(machine: &str, experiment: Experiment) -> Record {
    let inputs = Inputs {
        experiments: vec![experiment],
        windows_per_round: 1,
        min_rounds: 1,
        max_rounds: 1,
        ..suite_inputs(Suite::Full)
    };
    simulate(&read_machine(machine).unwrap(), inputs, false).unwrap()
}

/// The roofs of an initiator by its loads, GB/s, and by its fused multiply-adds, GFLOP/s; of
/// several variants the best.
fn roofs(record: &Record, initiator: u32) -> BTreeMap<Roof, f64> {
    let mut roofs = BTreeMap::new();
    for case in &record.cases {
        for place in &case.coordinates {
            let Coordinates::Roofs(place) = place else { continue };
            let is_wanted = ["load", "fma_dp"].contains(&place.kernel.as_str());
            if place.initiator != initiator || place.purpose != RoofPurpose::Roof || !is_wanted {
                continue;
            }
            let sample = record.samples.iter().find(|sample| sample.case == case.id).unwrap();
            let work = if place.roof == Roof::Compute { Work::Flops } else { Work::UsefulBytes };
            let rate = sample.rate(Part::Actor(place.actor as usize), work, Aggregate::Sum) / 1e9;
            let best = roofs.entry(place.roof).or_insert(rate);
            *best = rate.max(*best);
        }
    }
    roofs
}

/// What is printed of a table, by the roof that it is.
fn printed(table: &Value) -> BTreeMap<Roof, f64> {
    let mut roofs = BTreeMap::new();
    let figures = |key: &str| -> Vec<(String, f64)> {
        let of_key = table[key].as_object().into_iter().flatten();
        of_key.map(|(name, value)| (name.clone(), value.as_f64().unwrap())).collect()
    };
    let caches = table["caches"].as_array().into_iter().flatten();
    for (level, value) in (1..).zip(caches) {
        roofs.insert(Roof::Cache { level }, value.as_f64().unwrap());
    }
    for (node, value) in figures("memory") {
        roofs.insert(Roof::Memory { node: node.parse().unwrap() }, value);
    }
    for (node, value) in figures("contended") {
        roofs.insert(Roof::Contended { node: node.parse().unwrap(), initiators: 4 }, value);
    }
    for (node, value) in figures("all_local") {
        roofs.insert(Roof::AllLocal { node: node.parse().unwrap() }, value);
    }
    for (kind, value) in figures("congested") {
        let kind = if kind == "dram" { MemoryKind::Dram } else { MemoryKind::Hbm };
        roofs.insert(Roof::Congested { kind }, value);
    }
    if let Some(peak) = table["peak_gflop_per_s"]["fma_dp"].as_f64() {
        roofs.insert(Roof::Compute, peak);
    }
    roofs
}

/// Every roof that the paper prints for initiator 0 within 5 %.
#[track_caller]
fn assert_roofs(machine: &str, count: usize) -> BTreeMap<Roof, f64> {
    let record = measured(machine, Experiment::Roofs);
    let ours = roofs(&record, 0);
    let printed = printed(&table(machine));
    assert_eq!(printed.len(), count);
    let error = |(roof, printed): (&Roof, &f64)| {
        let found = ours.get(roof).copied();
        let is_near = found.is_some_and(|found| (found / printed - 1.0).abs() <= 0.05);
        (!is_near).then(|| format!("{roof:?}: {found:?} instead of {printed}"))
    };
    let off: Vec<String> = printed.iter().filter_map(error).collect();
    assert!(off.is_empty(), "{off:#?}");
    ours
}

/// Table 2, the division of a node among the four initiators included.
#[test]
fn joe0_has_the_roofs_of_table_2() {
    assert_roofs("joe0", 3 + 4 + 4 + 1 + 1);
}

/// Tables 4 and 5: each initiator on the memory of the first two, and initiator 0 beside others.
#[test]
fn knl_flat_has_the_roofs_of_tables_4_and_5() {
    assert_roofs("knl-flat", 2 + 2 + 2 + 2);
    let record = measured("knl-flat", Experiment::Roofs);
    let paper: Value = serde_json::from_str(PAPER).unwrap();
    assert_eq!(paper["pairs"]["machine"], "knl-flat");
    for (initiator, row) in (0..).zip(paper["pairs"]["rows"].as_array().unwrap()) {
        let ours = roofs(&record, initiator);
        for (node, printed) in (0..).zip(row.as_array().unwrap()) {
            let (found, printed) = (ours[&Roof::Memory { node }], printed.as_f64().unwrap());
            let error = found / printed - 1.0;
            assert!(
                error.abs() <= 0.05,
                "initiator {initiator}, node {node}: {found} for {printed}"
            );
        }
    }
}

#[test]
fn knl_cache_has_the_roofs_of_table_5() {
    assert_roofs("knl-cache", 3);
}

/// Parts of the bytes of a case.
fn bytes_of(place: &HybridCoordinates, kind: TransferKind) -> f64 {
    let share = |pages: Option<nearfar_record::PageSplit>| pages.map_or(0.0, |it| it.fast_share());
    let (loads, stores) = (share(place.load_pages), share(place.store_pages));
    let part = match kind {
        TransferKind::FastLoad => f64::from(place.loads) * loads,
        TransferKind::SlowLoad => f64::from(place.loads) * (1.0 - loads),
        TransferKind::FastStore => f64::from(place.stores) * stores,
        TransferKind::SlowStore => f64::from(place.stores) * (1.0 - stores),
    };
    part / f64::from(place.loads + place.stores)
}

/// From corners and pairs of the experiment, by equation 5: time of the two kinds together is
/// that of the longer and theta times that of the other.
#[track_caller]
fn assert_overlaps(machine: &str) {
    let record = measured(machine, Experiment::Hybrid);
    let rate = |case: &Case| {
        let sample = record.samples.iter().find(|sample| sample.case == case.id).unwrap();
        sample.rate(Part::Case, Work::UsefulBytes, Aggregate::Sum)
    };
    let places = record.cases.iter().filter_map(|case| match &case.coordinates[0] {
        Coordinates::Hybrid(place) if place.initiator == 0 => Some((case, place)),
        _ => None,
    });
    let corner = |kind: TransferKind| {
        let found =
            places.clone().find(|(_, place)| place.point == HybridPoint::Corner { of: kind });
        rate(found.unwrap().0)
    };
    let paper: Value = serde_json::from_str(PAPER).unwrap();
    let printed = &paper["overlap_theta"]["machines"][machine];
    let mut pairs = 0;
    for (case, place) in places.clone() {
        let HybridPoint::Pair { dominating, beside } = place.point else { continue };
        let time = |kind| bytes_of(place, kind) / corner(kind);
        assert!(time(beside) < time(dominating), "{}", case.id);
        let theta = (1.0 / rate(case) - time(dominating)) / time(beside);
        let printed = printed[dominating.as_str()][beside.as_str()].as_f64().unwrap();
        assert!((theta - printed).abs() < 1e-3, "{}: {theta} instead of {printed}", case.id);
        pairs += 1;
    }
    assert_eq!(pairs, 12);
}

/// Table 6.
#[test]
fn loads_and_stores_overlap_as_in_table_6() {
    assert_overlaps("skylake-hybrid");
    assert_overlaps("knl-flat");
}
