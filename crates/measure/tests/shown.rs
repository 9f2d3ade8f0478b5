//! A simulated record from end to end: measured, read, modelled, shown.
//! `UPDATE_EXPECT=1 cargo test` writes the expected text again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

use std::fs;
use std::path::Path;

use nearfar_document::show_text;
use nearfar_measure::simulated::new_record;
use nearfar_model::{RecordFigures, pairs};
use nearfar_record::{Environment, Record, Suite};
use support::{inputs, machine, measure, measure_new, read};

#[test]
fn a_matrix_with_a_full_node_reads_as_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let inputs = nearfar_record::Inputs {
        kernels: Some(vec!["triad".into()]),
        variant: Some("avx2".into()),
        ..inputs(Suite::Standard)
    };
    let full = machine(4, "[[fault]]\nkind = \"full_memory\"\nnode = 2\n");
    let mut record = new_record(&full, inputs, true);
    record.header.started = "2026-01-01T00:00:00Z".into();
    record.header.environment = Environment {
        cpu: nearfar_record::Cpu {
            model_name: Some("A CPU \u{1b}[31mof a stranger".into()),
            ..Default::default()
        },
        ..record.header.environment
    };
    measure(&path, record, &full, None);
    let text = show_text(&Record { seconds: 12.0, ..read(&path) });
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/full_node.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap());
}

#[test]
fn the_peak_may_be_at_fewer_threads_than_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    // A node gives 25 GB/s: three threads of 10 reach it as well as four do.
    measure_new(&path, &machine(1, ""), inputs(Suite::Full), None);
    let matrix = pairs(&RecordFigures::new(&read(&path)));
    assert_eq!(matrix.thread_counts(0, "load"), [1, 2, 4]);
    let (threads, figure) = matrix.peak(0, 0, "load").unwrap();
    assert_eq!(threads, 4);
    assert!((figure.summary.sum.median / 25e9 - 1.0).abs() < 1e-6);
    // All variants of a kernel are kept, the best first.
    let cell = matrix.cell(0, 0, "load", 1).unwrap();
    assert_eq!(cell.figures.len(), 4);
    assert!(matrix.cell(0, 0, "copy_nt", 1).unwrap().figures.len() == 3);
}
