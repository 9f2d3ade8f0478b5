//! Documents of records, held against `docs/schema/nearfar.report-1.json`.

use nearfar_document::ReportView;
use nearfar_machine::Source;
use nearfar_record::{Line, read_record};
use nearfar_report::ModelChoices;
use serde_json::Value;

use crate::{every_line, record_text};

/// Where a document may hold null.
pub const NULLS: &[&str] = &[
    "sections[].model_text",
    "sections[].tables[].columns[].unit",
    "sections[].tables[].rows[][].figure.interval",
    "sections[].tables[].rows[][].figure.interval_text",
    "sections[].tables[].rows[][].figure.confidence",
];

/// Where figures can be below 0: an overlap's interval can.
pub const SIGNED: &[&str] = &[
    "sections[].tables[].rows[][].figure.value",
    "sections[].tables[].rows[][].figure.interval[]",
];

/// Documents with every kind of cell, of records with everything given and with nothing.
pub fn views() -> Vec<(&'static str, Value)> {
    let headers =
        [every_line::known_header(), every_line::unknown_header(Source::Simulated("x".into()))];
    let mut views = Vec::new();
    for header in headers {
        let mut lines = every_line::record(header);
        for _ in 0..2 {
            let record = read_record(record_text(&lines).as_slice()).unwrap();
            let report = ReportView::new(&record, &ModelChoices::of(&record));
            views.push(("report", shortened(serde_json::to_value(report).unwrap())));
            lines.retain(|line| matches!(line, Line::Header(_) | Line::Case(_)));
        }
    }
    views
}

/// A document with a few rows of a few tables of each section: each place is damaged in turn.
fn shortened(mut document: Value) -> Value {
    for section in document["sections"].as_array_mut().unwrap() {
        let tables = section["tables"].as_array_mut().unwrap();
        tables.truncate(3);
        for table in tables {
            table["rows"].as_array_mut().unwrap().truncate(3);
        }
    }
    document
}
