use nearfar_record::{Absence, Coordinates, Experiment, ReasonCode, Record};
use nearfar_specimen::{absent, add_at, sharing};
use serde_json::Value;

use crate::{near, record, shown};

/// n threads of the first package on its node, m of the second on the same.
fn add_cell(record: &mut Record, local: f64, remote: f64, n: u32, m: u32) {
    let groups = [(n, local), (m, remote)].into_iter().filter(|(threads, _)| *threads > 0);
    let bytes: Vec<f64> = groups.map(|(_, gb)| 1e9 * gb).collect();
    add_at(record, Coordinates::Sharing(sharing(n, m)), vec![bytes; 6]);
}

/// The corner of saad2022's tables: its totals and parts in GB/s; one cell was not planned.
fn handmade() -> Record {
    let mut record = record(&[Experiment::Sharing]);
    for (n, m, local, remote) in [
        (1, 0, 7.656, 0.0),
        (2, 0, 11.024, 0.0),
        (0, 1, 0.0, 4.844),
        (0, 2, 0.0, 6.998),
        (1, 1, 6.776, 4.412),
        (2, 1, 8.921, 4.056),
    ] {
        add_cell(&mut record, local, remote, n, m);
    }
    record
}

#[test]
fn grids_are_shown_with_the_parts_of_both_groups() {
    let view = shown("sharing", &handmade());
    let at = |n: u32, m: u32| -> &Value {
        let all = view["sharing"].as_array().unwrap();
        all.iter().find(|one| one["local_threads"] == n && one["remote_threads"] == m).unwrap()
    };
    let mixed = at(2, 1);
    assert!(near(&mixed["total"]["sum_gb_per_s"], 12.977));
    assert!(near(&mixed["local"]["sum_gb_per_s"], 8.921));
    assert!(near(&mixed["remote"]["sum_gb_per_s"], 4.056));
    // The slowest of three threads is the remote one.
    assert!(near(&mixed["total"]["paced_gb_per_s"], 3.0 * 4.056));
    assert!(near(&at(0, 2)["remote_per_thread_gb_per_s"], 3.499));
    assert_eq!(at(0, 2)["local"], Value::Null);
    assert_eq!(at(1, 0)["remote"], Value::Null);
    assert_eq!(at(1, 0)["remote_per_thread_gb_per_s"], Value::Null);
}

#[test]
fn a_cell_that_was_refused_says_so() {
    let mut record = record(&[Experiment::Sharing]);
    add_cell(&mut record, 7.656, 0.0, 1, 0);
    let case = "sharing/node0/cluster0x1+cluster1x0/triad/avx2";
    absent(&mut record, case, Absence::Refused, ReasonCode::Denied, "Linux said no");
    let text = nearfar_report::ShowView::new(&record).text();
    assert!(text.contains("7.66") && text.contains("then refused (1)"), "{text}");
    assert!(text.contains("(1) refused: Linux said no"), "{text}");
}

/// A stranger's record can hold coordinates that make no table.
#[test]
fn a_grid_that_is_nearly_empty_is_not_drawn() {
    let mut record = record(&[Experiment::Sharing]);
    add_cell(&mut record, 7.656, 4.0, 1, 1);
    let case = record.cases[0].clone();
    for number in 0..300 {
        let mut other = case.clone();
        other.id = number.to_string();
        let Coordinates::Sharing(place) = &mut other.coordinates[0] else { panic!() };
        (place.local_threads, place.remote_threads) = (number, number);
        record.cases.push(other);
    }
    let text = nearfar_report::ShowView::new(&record).text();
    assert!(text.contains("300 rows and 300 columns are too many for a table"), "{text}");
}
