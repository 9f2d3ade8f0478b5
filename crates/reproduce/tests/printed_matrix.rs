//! A printed matrix is a record like any other.

use nearfar_flow::read_machine;
use nearfar_model::{RecordFigures, pairs};
use nearfar_record::{Line, RecordWriter, read_record};
use nearfar_reproduce::{PrintedOf, PrintedTable, PrintedValue, measure_simulated};

fn pair(row: &str, cpu_node: u32, memory_node: u32, value: f64) -> PrintedValue<'_> {
    PrintedValue { row, cpu_node, memory_node, value }
}

#[test]
fn it_is_written_and_read_like_a_measurement() {
    let machine = read_machine("amd-2p").unwrap().machine;
    let matrix = PrintedTable {
        title: "a table".into(),
        machine: &machine,
        of: PrintedOf::Kernel("triad"),
        bytes_per_s: 1e6,
        values: vec![pair("a", 0, 0, 6395.0), pair("b", 0, 0, 6114.5), pair("a", 3, 1, 2141.0)],
    };
    let record = matrix.record().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut writer = RecordWriter::create(&path, false).unwrap();
    writer.write(&Line::Header(Box::new(record.header.clone()))).unwrap();
    for case in &record.cases {
        writer.write(&Line::Case(case.clone())).unwrap();
    }
    for sample in &record.samples {
        writer.write(&Line::Sample(Box::new(sample.clone()))).unwrap();
    }
    let read = read_record(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!((&read.cases, &read.samples), (&record.cases, &record.samples));

    let found = pairs(&RecordFigures::new(&read));
    let best = found.cell(0, 0, "triad", 1).unwrap().best().unwrap();
    assert_eq!(
        (best.variant.as_str(), best.summary.best_sum.to_string()),
        ("a", "6395000000".into())
    );
    let row = found.cpu_groups.iter().find(|row| row.cpu_node == Some(3)).unwrap();
    let far = found.cell(row.index, 1, "triad", 1).unwrap().best().unwrap();
    assert!((far.summary.sum.median / 2141e6 - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_no_bandwidth_of_the_machine_is_refused() {
    let machine = read_machine("intel-2p").unwrap().machine;
    for wrong in [
        pair("a", 2, 0, 1.0),
        pair("a", 0, 2, 1.0),
        pair("a", 0, 0, 0.0),
        pair("a", 0, 0, -1.0),
        pair("a", 0, 0, f64::NAN),
        pair("a", 0, 0, f64::INFINITY),
    ] {
        let matrix = PrintedTable {
            title: "a table".into(),
            machine: &machine,
            of: PrintedOf::Kernel("triad"),
            bytes_per_s: 1e9,
            values: vec![wrong],
        };
        let refused = matrix.record().unwrap_err();
        assert!(refused.starts_with("a table: "), "{refused}");
    }
}

#[test]
fn a_simulated_machine_is_measured_whole() {
    let simulated = read_machine("intel-2p").unwrap();
    let record = measure_simulated(&simulated, "triad").unwrap();
    assert!(record.absent.is_empty(), "{:?}", record.absent);
    // Two initiators, two nodes, three compilers, six cores by 1, 2, 3, 4 and 6 threads.
    assert_eq!(record.cases.len(), 2 * 2 * 3 * 5);
    assert_eq!(record.samples.len(), 5 * record.cases.len());
    assert!(record.finished.is_some());
}
