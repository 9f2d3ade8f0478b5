//! The CSV: its columns as docs/csv-columns.md declares them, its figures as `show` prints them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use nearfar_document::printable;
use nearfar_record::{Record, read_record};

use crate::hostile_record::{HOSTILE_KERNEL, MARKUP, hostile_record};
use crate::python;
use crate::reports::{report, show_json, simulate};

/// A row of the tables of docs/csv-columns.md.
struct Column {
    name: String,
    dtype: String,
    may_be_empty: bool,
}

fn docs() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/csv-columns.md");
    fs::read_to_string(path).unwrap()
}

fn declared() -> Vec<Column> {
    let text = docs();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 7, "{row}");
        assert!(!cells[4].is_empty(), "{row}");
        Column {
            name: cells[1].trim_matches('`').into(),
            dtype: cells[2].into(),
            may_be_empty: !cells[5].is_empty(),
        }
    })
    .collect()
}

fn read(path: &Path) -> Record {
    read_record(fs::File::open(path).unwrap()).unwrap()
}

/// Every cell is of its column's declared type; the rows are the record's windows and actors.
fn check(text: &str, record: &Record) -> Vec<Vec<String>> {
    let columns = declared();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), names);
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.unwrap();
        for (column, cell) in columns.iter().zip(&row) {
            let name = column.name.as_str();
            let fits = match column.dtype.as_str() {
                "string" => !cell.contains(char::is_control),
                "UInt64" => cell.parse::<u64>().is_ok(),
                "Float64" => cell.parse::<f64>().is_ok_and(f64::is_finite),
                "boolean" => ["true", "false"].contains(&cell),
                other => panic!("{name} is declared as {other}"),
            };
            let fits = if cell.is_empty() { column.may_be_empty } else { fits };
            assert!(fits, "{name} ({}): {cell:?}", column.dtype);
            let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(!formula || column.dtype != "string", "{name}: {cell:?}");
        }
        rows.push(row.iter().map(String::from).collect::<Vec<String>>());
    }
    assert_eq!(text.lines().count(), rows.len() + 1, "a cell goes over several lines");
    let once = |name: &str| columns.iter().position(|column| column.name == name).unwrap();
    let first = rows.iter().filter(|row| row[once("coordinates_index")] == "0").count();
    let windows: usize = record.samples.iter().map(|sample| sample.actors.len()).sum();
    assert_eq!(first, windows);
    rows
}

/// Sizes of pages and a device's own clock, which a simulated machine does not have.
const NOT_SIMULATED: [&str; 4] = ["huge_bytes", "resident_bytes", "huge_page_share", "device_ns"];

/// Executes what docs/csv-columns.md tells readers to, then holds the frame against the table.
fn check_in_pandas(csv: &Path, show: &Path) -> String {
    let text = docs();
    let mut blocks =
        text.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let (load, medians) = (blocks.next().unwrap(), blocks.next().unwrap());
    let columns = declared();
    let declared: Vec<String> =
        columns.iter().map(|column| format!("{:?}: {:?}", column.name, column.dtype)).collect();
    let program = format!(
        "declared = {{{}}}\nimport os, shutil, sys, tempfile\nsource, show = sys.argv[1:]\n\
         folder = tempfile.TemporaryDirectory()\n\
         shutil.copy(source, folder.name + '/samples.csv')\nos.chdir(folder.name)\n\
         {load}\n{medians}\n{}",
        declared.join(", "),
        include_str!("check_csv.py")
    );
    python::run(&program, &[csv, show])
}

fn column(rows: &[Vec<String>], name: &str) -> HashSet<String> {
    let index = declared().iter().position(|column| column.name == name).unwrap();
    rows.iter().map(|row| row[index].clone()).collect()
}

#[test]
fn every_experiment_loads_with_the_declared_types_and_the_figures_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for machine in ["two-socket-4-gpus", "knl-flat"] {
        let record = simulate(folder.path(), machine);
        let (text, csv) = report(&record, "csv");
        let rows = check(&text, &read(&record));
        assert_eq!(column(&rows, "executor"), HashSet::from(["simulated".into()]));
        let said = check_in_pandas(&csv, &show_json(&record));
        assert!(said.contains("the medians of show: "), "{said}");
        all.extend(rows);
    }
    for name in declared().iter().map(|column| column.name.as_str()) {
        let is_empty = column(&all, name) == HashSet::from([String::new()]);
        assert_eq!(is_empty, NOT_SIMULATED.contains(&name), "{name}");
    }
}

#[test]
fn a_record_full_of_markup_is_text_on_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let record: PathBuf = hostile_record(folder.path());
    let (text, csv) = report(&record, "csv");
    let rows = check(&text, &read(&record));
    let host = column(&rows, "host").into_iter().next().unwrap();
    let original = read(&record).header.host;
    assert!(original.starts_with(MARKUP));
    assert_eq!(host.strip_prefix('\''), Some(&*printable(&original)));
    let kernel = format!("'{}", printable(HOSTILE_KERNEL));
    assert!(column(&rows, "kernel").contains(&kernel), "{:?}", column(&rows, "kernel"));
    for forbidden in ['\u{202e}', '\u{1b}', '\0', '\r', '\t', '\u{9b}'] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
    check_in_pandas(&csv, &show_json(&record));
}

/// A record that ended after its header has a heading and no rows.
#[test]
fn a_record_without_samples_has_its_heading() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(simulate(folder.path(), "knl-flat")).unwrap();
    let path = folder.path().join("header.jsonl");
    fs::write(&path, format!("{}\n", whole.lines().next().unwrap())).unwrap();
    let (text, _) = report(&path, "csv");
    let names: Vec<String> = declared().into_iter().map(|column| column.name).collect();
    assert_eq!(text, format!("{}\n", names.join(",")));
}
