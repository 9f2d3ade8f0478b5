//! Reports in LaTeX, compiled by pdflatex and read as a reader of the pages would.
//! `make test` installs pdflatex and poppler's pdftotext (scripts/install-packages documents).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::hostile_record::hostile_record;
use crate::reports::{nearfar, refused_record, report, simulate, this_machine};

/// Points by which a line may stick out of its column: less than is seen between two columns.
const MOST_OVERFULL: f64 = 4.0;

/// Compiles a report; the words of its pages.
pub fn compile(tex: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    // Names of files are foreign text too, and not of this test.
    fs::copy(tex, folder.path().join("report.tex")).unwrap();
    let output = Command::new("pdflatex")
        .args(["-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "report.tex"])
        // What it opens lies in this folder or in TeX's own.
        .env("openin_any", "p")
        .env("openout_any", "p")
        .current_dir(folder.path())
        .output()
        .expect("pdflatex is installed by `scripts/install-packages documents`");
    let log = fs::read(folder.path().join("report.log")).unwrap();
    let log = String::from_utf8_lossy(&log);
    let tail: Vec<&str> = log.lines().rev().take(40).collect();
    assert!(output.status.success(), "{}:\n{}", tex.display(), tail.join("\n"));
    assert!(!log.contains("Missing character"), "{}: a letter that no font has", tex.display());
    for line in log.lines() {
        let points =
            line.strip_prefix("Overfull \\hbox (").and_then(|rest| rest.split("pt").next());
        if let Some(points) = points.and_then(|points| points.parse::<f64>().ok()) {
            assert!(points <= MOST_OVERFULL, "{}: {line}", tex.display());
        }
    }
    keep_for_looking(&folder.path().join("report.pdf"), tex);
    let text = Command::new("pdftotext")
        .args(["-layout", "report.pdf", "-"])
        .current_dir(folder.path())
        .output()
        .expect("pdftotext is installed by `scripts/install-packages documents`");
    assert!(text.status.success());
    String::from_utf8_lossy(&text.stdout).into_owned()
}

/// The pages of the last run lie in the target folder.
fn keep_for_looking(pdf: &Path, tex: &Path) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&folder).unwrap();
    let name = tex.file_stem().unwrap().to_str().filter(|name| !name.contains('<'));
    fs::copy(pdf, folder.join(format!("{}.pdf", name.unwrap_or("hostile")))).unwrap();
}

/// The words of a page without what a line's end or a column's width does to them, nor the
/// curve that TeX gives an apostrophe.
fn folded(words: &str) -> String {
    words.replace('\u{2019}', "'").chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Every figure of the class and pair tables of the document stands on the pages, as does every
/// sentence of the summary; the pages say what the paper's tables are like.
fn assert_shows(words: &str, record: &Path) {
    let (document, _) = report(record, "json");
    let document: Value = serde_json::from_str(&document).unwrap();
    let pages = folded(words);
    let mut figures = 0;
    let of = |value: &Value, part: &str| value[part].as_array().cloned().unwrap_or_default();
    let pairs = of(&document, "sections").into_iter().filter(|section| section["id"] == "pairs");
    let rows = pairs.flat_map(|pairs| of(&pairs, "tables")).flat_map(|table| of(&table, "rows"));
    for cell in rows.flat_map(|row| row.as_array().unwrap().clone()) {
        if let Some(text) = cell["figure"]["text"].as_str() {
            assert!(words.contains(text), "{text} is on no page of {}", record.display());
            figures += 1;
        }
    }
    assert!(figures > 3, "{figures} figures");
    for sentence in document["summary"].as_array().unwrap() {
        let sentence = folded(sentence.as_str().unwrap()).replace('`', "");
        let begin: String = sentence.chars().take(24).collect();
        assert!(pages.contains(&begin), "'{begin}' is on no page");
    }
    for caption in ["(astable5.2)", "(astable5.3)"] {
        assert!(pages.contains(caption), "{caption} is on no page of {}", record.display());
    }
}

#[test]
fn reports_of_simulated_machines_compile() {
    let folder = tempfile::tempdir().unwrap();
    for machine in ["amd-2p", "joe0", "knl-flat"] {
        let record = simulate(folder.path(), machine);
        let (tex, path) = report(&record, "tex");
        let words = compile(&path);
        assert!(words.matches("SIMULATED").count() > 2, "every page says so");
        assert!(tex.contains("\\begin{axis}"), "{machine} has no chart of its threads");
        let has_copies = tex.contains("xlabel={bytes of a copy}");
        assert_eq!(has_copies, machine == "amd-2p", "{machine}: a chart of the sizes of copies");
        assert_shows(&words, &record);
    }
}

/// The alphas of the thesis's machine (equation 4.10), of what its memory can carry at most.
#[test]
fn the_papers_table_has_alphas_where_the_maximum_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p");
    let path = folder.path().join("alphas.tex");
    let out = path.to_str().unwrap();
    nearfar(&["report", record.to_str().unwrap(), "-o", out, "--gamma", "17.066GB/s"]);
    let words = compile(&path);
    let (_, table) = words.split_once("(as table 5.2)").unwrap();
    let (table, _) = table.split_once("(as table 5.3)").unwrap();
    let rows: Vec<Vec<f64>> = table
        .lines()
        .map(|line| line.split_whitespace().map_while(|word| word.parse().ok()).collect())
        .filter(|row: &Vec<f64>| row.len() == 3)
        .collect();
    let alphas: Vec<f64> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(alphas.len(), 3, "{table}");
    for (alpha, printed) in alphas.iter().zip([0.5449, 0.3281, 0.1816]) {
        assert!((alpha / printed - 1.0).abs() < 0.01, "{alpha} for {printed}: {table}");
    }
    assert!(table.contains("gamma: "), "{table}");
}

/// A machine of eight nodes, one of which the kernel refused to some.
#[test]
fn refused_cells_are_shown_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let record = refused_record(folder.path());
    let (_, path) = report(&record, "tex");
    let words = compile(&path);
    assert_shows(&words, &record);
    assert!(words.contains("refused (1)"), "{words}");
    assert!(folded(&words).contains("refused:anodesaidno"), "the reason is on no page");
}

#[test]
fn a_report_of_this_machine_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let Some(record) = this_machine(folder.path()) else { return };
    let (_, path) = report(&record, "tex");
    let words = compile(&path);
    assert!(!words.contains("SIMULATED"));
    assert_shows(&words, &record);
}

/// Commands of TeX in every text of a record are words on the page.
#[test]
fn markup_of_strangers_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let (tex, path) = report(&hostile_record(folder.path()), "tex");
    for command in ["\\input", "\\write18", "{\\end"] {
        assert!(!tex.contains(command), "{command}");
    }
    let words = compile(&path);
    assert!(!words.contains("root:"), "it has read a file");
    assert!(folded(&words).contains("\\input{/etc/passwd}"), "{words}");
}
