//! The views of `model sharing` and of what `predict` asks it, with every optional field given
//! and null.

use nearfar_model::{RecordFigures, SplitQuestion, WorkSharing, sharing};
use nearfar_record::{
    Absence, Absent, Case, Coordinates, Reason, ReasonCode, Record, Sample, SharingCoordinates,
    read_record,
};
use nearfar_report::{PredictSharingView, SharingModelView};
use serde_json::Value;

use crate::{assert_valid, every_line, program, record_text, validator};

/// n local and m remote threads, MB of each local and each remote thread in a window of a second.
type Cell = (u32, u32, u64, u64);

/// A record with these cells; the stream, the thread and the window are those of a known sample.
fn record(cells: &[Cell]) -> Record {
    let lines = every_line::record(every_line::known_header());
    let known = read_record(record_text(&lines).as_slice()).unwrap();
    let is_stream = |case: &&Case| {
        case.coordinates.iter().any(|place| matches!(place, Coordinates::Sharing(_)))
            || case.id.starts_with("pairs/")
    };
    let case = known.cases.iter().find(is_stream).unwrap().clone();
    let sample = known.samples.iter().find(|sample| !sample.actors.is_empty()).unwrap().clone();
    let mut record = Record::new(known.header);
    for &(n, m, local, remote) in cells {
        let (case, sample) = cell((n, m), [(n, local), (m, remote)], &case, &sample);
        record.cases.push(case);
        record.samples.push(sample);
    }
    record
}

fn cell(
    (n, m): (u32, u32),
    groups: [(u32, u64); 2],
    case: &Case,
    sample: &Sample,
) -> (Case, Sample) {
    let id = format!("sharing/node0/{n}+{m}");
    let present = || groups.into_iter().filter(|(threads, _)| *threads > 0);
    let moved = |(threads, megabytes): (u32, u64)| {
        let bytes = megabytes * 1_000_000;
        let mut actor = sample.actors[0].clone();
        let mut thread = actor.threads[0].clone();
        thread.useful_bytes = bytes;
        actor.useful_bytes = bytes * u64::from(threads);
        actor.threads = (0..threads).map(|_| thread.clone()).collect();
        actor
    };
    let case = Case {
        id: id.clone(),
        coordinates: vec![Coordinates::Sharing(place(n, m))],
        actors: present().map(|_| case.actors[0].clone()).collect(),
    };
    let sample = Sample {
        case: id,
        window_ns: 1_000_000_000,
        actors: present().map(moved).collect(),
        disturbances: Vec::new(),
        ..sample.clone()
    };
    (case, sample)
}

fn place(n: u32, m: u32) -> SharingCoordinates {
    SharingCoordinates {
        memory_node: 0,
        local_cluster: 0,
        remote_cluster: 1,
        local_threads: n,
        remote_threads: m,
        kernel: "triad".into(),
        variant: "avx2".into(),
    }
}

const LONE: [Cell; 4] = [(1, 0, 9000, 0), (4, 0, 4000, 0), (0, 1, 0, 6000), (0, 4, 0, 2000)];

/// Two mixed cells of different load and one that was refused; a grid without a law beside it.
fn known() -> Record {
    let mixed = [(1, 1, 8000, 5000), (2, 2, 5000, 3000), (4, 4, 3000, 1000)];
    let more = [(2, 0, 7000, 0), (0, 2, 0, 4000)];
    let mut record = record(&[&LONE[..], &more, &mixed].concat());
    record.absent.push(Absent {
        case: "sharing/node0/refused".into(),
        coordinates: vec![Coordinates::Sharing(place(3, 3))],
        absence: Absence::Refused,
        reason: Reason { code: ReasonCode::NoRoom, text: "no room".into() },
        round: Some(0),
    });
    let lone = record.cases[0].clone();
    let other = SharingCoordinates { memory_node: 1, ..place(1, 0) };
    let id = "sharing/node1/1+0".to_string();
    let sample = Sample { case: id.clone(), ..record.samples[0].clone() };
    record.cases.push(Case { id, coordinates: vec![Coordinates::Sharing(other)], ..lone });
    record.samples.push(sample);
    record
}

/// One mixed cell between counts that were not measured alone, and one in which nothing moved.
fn unknown() -> Record {
    record(&[&LONE[..], &[(2, 2, 5000, 3000), (3, 3, 0, 0)]].concat())
}

fn question(processes: Option<u32>, splits: &[(u32, u32)]) -> SplitQuestion {
    SplitQuestion {
        node: None,
        kernels: Vec::new(),
        work: WorkSharing::ALL.into(),
        processes,
        splits: splits.into(),
    }
}

/// Where null stands for something unknown in `model sharing`.
pub const NULLS: &[&str] = &[
    "grids[].laws[].a",
    "grids[].laws[].b",
    "grids[].laws[].limit_gb_per_s",
    "grids[].laws[].sharpness",
    "grids[].laws[].remote_weight",
    "grids[].laws[].left_out",
    "grids[].cells[].measured",
    "grids[].cells[].measured.beta",
    "grids[].cells[].predicted",
    "grids[].cells[].predicted.total_interval_gb_per_s",
    "grids[].cells[].by_other_law",
    "grids[].cells[].by_other_law.total_interval_gb_per_s",
    "grids[].cells[].total_error",
    "grids[].cells[].local_error",
    "grids[].cells[].remote_error",
    "grids[].cells[].law_difference",
    "grids[].cells[].why_absent",
    "grids[].above_lone.local_threads",
    "grids[].above_lone.remote_threads",
    "grids[].above_lone.excess",
    "grids[].fairness",
    "grids[].fairness.local_slope",
    "grids[].fairness.remote_slope",
    "grids[].rankings[].gain",
    "grids[].rankings[].all_near",
    "grids[].rankings[].all_near.sum_interval_gb_per_s",
    "grids[].rankings[].all_near.paced_interval_gb_per_s",
    "grids[].rankings[].all_near.near_each_gb_per_s",
    "grids[].rankings[].all_near.far_each_gb_per_s",
    "grids[].rankings[].all_near.beta",
    "grids[].rankings[].all_near.as_good_as_best",
    "grids[].rankings[].splits[].sum_interval_gb_per_s",
    "grids[].rankings[].splits[].paced_interval_gb_per_s",
    "grids[].rankings[].splits[].near_each_gb_per_s",
    "grids[].rankings[].splits[].far_each_gb_per_s",
    "grids[].rankings[].splits[].beta",
    "grids[].rankings[].splits[].as_good_as_best",
];

/// The same in `predict --processes` and `--split`.
pub const PREDICT_NULLS: &[&str] = &[
    "grids[].law.a",
    "grids[].law.b",
    "grids[].law.limit_gb_per_s",
    "grids[].law.sharpness",
    "grids[].law.remote_weight",
    "grids[].law.left_out",
    "grids[].rankings[].gain",
    "grids[].rankings[].all_near",
    "grids[].rankings[].all_near.sum_interval_gb_per_s",
    "grids[].rankings[].all_near.paced_interval_gb_per_s",
    "grids[].rankings[].all_near.near_each_gb_per_s",
    "grids[].rankings[].all_near.far_each_gb_per_s",
    "grids[].rankings[].all_near.beta",
    "grids[].rankings[].all_near.as_good_as_best",
    "grids[].rankings[].splits[].sum_interval_gb_per_s",
    "grids[].rankings[].splits[].paced_interval_gb_per_s",
    "grids[].rankings[].splits[].near_each_gb_per_s",
    "grids[].rankings[].splits[].far_each_gb_per_s",
    "grids[].rankings[].splits[].beta",
    "grids[].rankings[].splits[].as_good_as_best",
    "grids[].splits[].sum_interval_gb_per_s",
    "grids[].splits[].paced_interval_gb_per_s",
    "grids[].splits[].near_each_gb_per_s",
    "grids[].splits[].far_each_gb_per_s",
    "grids[].splits[].beta",
    "grids[].splits[].as_good_as_best",
];

/// Errors and losses, which can be below 0.
pub const SIGNED: &[&str] = &[
    "grids[].cells[].total_error",
    "grids[].cells[].local_error",
    "grids[].cells[].remote_error",
    "grids[].fairness.local_loss",
    "grids[].fairness.local_loss_under_full_load",
    "grids[].fairness.local_slope",
    "grids[].fairness.remote_loss",
    "grids[].fairness.remote_loss_under_full_load",
    "grids[].fairness.remote_slope",
];

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let mut views = Vec::new();
    for record in [known(), unknown()] {
        let model = sharing(&RecordFigures::new(&record)).unwrap();
        let view = SharingModelView::new(&record, &model);
        views.push(("sharing", serde_json::to_value(view).unwrap()));
        let splits = [(1, 1), (4, 0), (0, 4), (3, 3), (3, 1)];
        for asked in [question(Some(4), &[]), question(Some(6), &[]), question(None, &splits)] {
            let view = PredictSharingView::new(&record, &model.answer(&asked).unwrap());
            views.push(("predict-sharing", serde_json::to_value(view).unwrap()));
        }
    }
    views
}

#[test]
fn what_the_program_prints_of_a_simulated_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    let only = ["characterize", "--simulate", "e5520", "--only", "sharing", "--grid", "full"];
    program::nearfar(&[&only[..], &["--out", path]].concat());
    for (name, arguments) in [
        ("sharing", &["model", path, "sharing", "--json"][..]),
        ("predict-sharing", &["predict", path, "--processes", "4", "--json"]),
        ("predict-sharing", &["predict", path, "--split", "3,1", "--node", "1", "--json"]),
    ] {
        let printed = program::json_of(&program::nearfar(arguments), &[0]);
        assert_valid(&validator(name), &printed);
    }
}
