//! The tables of saad2022, measured on the simulated machine that carries them.

use nearfar_flow::read_machine;
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_record::{
    Aggregate, Coordinates, Experiment, Inputs, Part, Record, SharingCoordinates, Suite, Work,
};
use serde_json::Value;

const PAPER: &str = include_str!("../../../../papers/saad2022.json");

/// Bytes/s of the cells: rows are numbers of local threads, columns of remote ones.
fn table(name: &str) -> Vec<Vec<f64>> {
    let paper: Value = serde_json::from_str(PAPER).unwrap();
    let sharing = &paper["sharing"];
    assert_eq!(
        (sharing["unit"].as_str(), sharing["kernel"].as_str()),
        (Some("MB/s"), Some("triad"))
    );
    let row = |row: &Value| -> Vec<f64> {
        row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap() * 1e6).collect()
    };
    sharing[name].as_array().unwrap().iter().map(row).collect()
}

fn measured() -> Record {
    let inputs = Inputs {
        experiments: vec![Experiment::Sharing],
        kernels: Some(vec!["triad".into()]),
        windows_per_round: 1,
        min_rounds: 1,
        max_rounds: 1,
        ..suite_inputs(Suite::Full)
    };
    simulate(&read_machine("e5520").unwrap(), inputs, false).unwrap()
}

/// Every total and every group within 3 %.
#[test]
fn local_and_remote_groups_get_what_the_paper_prints() {
    let record = measured();
    let (total, local, remote) = (table("total"), table("local"), table("remote"));
    let mut cells = 0;
    let mut off = Vec::new();
    for case in &record.cases {
        let sample = record.samples.iter().find(|sample| sample.case == case.id).unwrap();
        let rate = |part| sample.rate(part, Work::UsefulBytes, Aggregate::Sum);
        for place in &case.coordinates {
            let Coordinates::Sharing(place) = place else { panic!("{}", case.id) };
            let SharingCoordinates { local_threads, remote_threads, .. } = *place;
            let (row, column) = (local_threads as usize, remote_threads as usize);
            // The remote group comes second, or alone.
            let second = Part::Actor(usize::from(row > 0));
            let figures = [
                ("total", rate(Part::Case), total[row][column]),
                ("local", if row > 0 { rate(Part::Actor(0)) } else { 0.0 }, local[row][column]),
                ("remote", if column > 0 { rate(second) } else { 0.0 }, remote[row][column]),
            ];
            for (what, ours, printed) in figures {
                let is_off =
                    if printed > 0.0 { (ours / printed - 1.0).abs() > 0.03 } else { ours > 0.0 };
                if is_off {
                    off.push(format!("{what} {row} + {column}: {ours:e} instead of {printed:e}"));
                }
            }
            cells += 1;
        }
    }
    // Both nodes: 4 lone runs of each side and 16 cells.
    assert_eq!(cells, 2 * 24);
    assert!(off.is_empty(), "{off:#?}");
}
