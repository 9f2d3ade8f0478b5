use nearfar_record::{
    Coordinates, Experiment, HybridPoint, PageSplit, Proof, Record, TransferKind,
};
use nearfar_specimen::{add_alone, hybrid, pages};
use serde_json::Value;

use crate::{near, record, shown};

/// Node 1 is the fast one, node 0 the slow one. `asked` are pages of the read and the written array
/// on either, `found` percents of them that were on node 1.
fn add_point(
    record: &mut Record,
    point: HybridPoint,
    mix: (u32, u32),
    asked: [(u32, u32); 2],
    found: [u64; 2],
    gb_per_s: f64,
) {
    let [read, written] = asked.map(|(fast, slow)| PageSplit { fast, slow });
    let before = record.samples.len();
    let place = Coordinates::Hybrid(hybrid(point, mix, read, written));
    add_alone(record, place, &[1e9 * gb_per_s; 6]);
    // Pages wander: the mean of before and after counts.
    let nodes = |fast: u64| pages([(0, 100 - fast), (1, fast)]);
    let [read, written] =
        found.map(|fast| Proof { before: nodes(fast - 1), after: nodes(fast + 1) });
    for sample in &mut record.samples[before..] {
        let seen = &mut sample.actors[0];
        (seen.proof, seen.write_proof) = (Some(read.clone()), Some(written.clone()));
    }
}

fn handmade(surface: &[(u32, u32, u32)]) -> Record {
    use TransferKind::{FastLoad, FastStore, SlowLoad, SlowStore};
    let mut record = record(&[Experiment::Hybrid]);
    for (kind, is_load, split, gb_per_s) in [
        (FastLoad, true, (1, 0), 90.0),
        (FastStore, false, (1, 0), 60.0),
        (SlowLoad, true, (0, 1), 36.0),
        (SlowStore, false, (0, 1), 30.0),
    ] {
        let mix = if is_load { (1, 0) } else { (0, 1) };
        let point = HybridPoint::Corner { of: kind };
        add_point(&mut record, point, mix, [split; 2], [50; 2], gb_per_s);
    }
    let point = HybridPoint::Pair { dominating: FastLoad, beside: SlowStore };
    // Three bytes in four are loads, all of them from the fast memory but for 1 %.
    add_point(&mut record, point, (3, 1), [(1, 0), (0, 1)], [99, 1], 100.0);
    let point = HybridPoint::Pair { dominating: SlowLoad, beside: FastLoad };
    add_point(&mut record, point, (1, 0), [(7, 3); 2], [70, 1], 80.0);
    for &(loads, stores, fast) in surface {
        let split = (fast, 4 - fast);
        let rate = f64::from(10 * loads + fast);
        let point = HybridPoint::Surface;
        add_point(&mut record, point, (loads, stores), [split, split], [50; 2], rate);
    }
    record
}

#[test]
fn corners_pairs_and_a_surface_are_shown() {
    let surface: Vec<(u32, u32, u32)> =
        [(1, 3), (2, 2), (3, 1)].iter().flat_map(|&(l, s)| [1, 2, 3].map(|f| (l, s, f))).collect();
    let view = shown("hybrid", &handmade(&surface));
    let all = view["hybrid"].as_array().unwrap();
    let corner = all.iter().find(|one| one["of"] == "lf").unwrap();
    assert!(near(&corner["bandwidth"]["sum_gb_per_s"], 90.0));
    assert_eq!(corner["asked_store_fast_share"], Value::Null);
    assert_eq!(corner["found_store_fast_share"], Value::Null);
    let pair = all.iter().find(|one| one["dominating"] == "lf").unwrap();
    assert!(near(&pair["asked_load_fast_share"], 1.0));
    assert!(near(&pair["found_load_fast_share"], 0.99));
    assert!(near(&pair["found_store_fast_share"], 0.01));
    // Shares of all bytes by the pages found, each over its bandwidth alone.
    let (t_lf, t_ss) = (0.75 * 0.99 / 90.0, 0.25 * 0.99 / 30.0);
    assert!(near(&pair["time_ratio"], t_ss / t_lf));
    let loads = all.iter().find(|one| one["dominating"] == "ls").unwrap();
    assert!(near(&loads["time_ratio"], (0.7 / 90.0) / (0.3 / 36.0)));
    let surface = all.iter().find(|one| one["point"] == "surface").unwrap();
    assert!(near(&surface["load_share"], 0.25) && near(&surface["fast_share"], 0.25));
    assert_eq!(surface["time_ratio"], Value::Null);
}

/// At the edges all bytes are of one kind: the corners stand in the surface's corners.
#[test]
fn a_surface_to_the_edges_has_the_corners_in_it() {
    let text = nearfar_report::ShowView::new(&handmade(&[
        (0, 1, 2),
        (1, 0, 2),
        (1, 1, 0),
        (1, 1, 2),
        (1, 1, 4),
    ]))
    .text();
    let row = |label: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.trim_start().starts_with(label)).unwrap();
        line.split_whitespace().skip(2).collect()
    };
    assert_eq!(row("0 loads"), ["30.0", "2.00", "60.0"], "{text}");
    assert_eq!(row("1 loads"), ["36.0", "12.0", "90.0"], "{text}");
}

#[test]
fn single_points_of_a_surface_are_lines() {
    let view = nearfar_report::ShowView::new(&handmade(&[(1, 3, 1), (2, 2, 2), (3, 1, 3)]));
    let text = view.text();
    assert!(text.contains("surface: single points"), "{text}");
}

#[test]
fn a_pair_without_its_corner_has_no_ratio() {
    let mut record = handmade(&[]);
    let slow_stores = &record.cases[3].id;
    record.samples.retain(|sample| sample.case != *slow_stores);
    let view = serde_json::to_value(nearfar_report::ShowView::new(&record)).unwrap();
    let all = view["hybrid"].as_array().unwrap();
    let ratio =
        |kind: &str| &all.iter().find(|one| one["dominating"] == kind).unwrap()["time_ratio"];
    assert_eq!(ratio("lf"), &Value::Null);
    assert!(ratio("ls").is_f64());
}
