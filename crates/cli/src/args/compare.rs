//! What the user typed after `compare`.

use std::path::PathBuf;

use clap::Args;
use nearfar_document::Format;
use nearfar_model::{LARGEST_FLOOR, PRACTICAL_FLOOR};
use nearfar_units::parse_ratio;

use super::choice::{Choice, one_of};
use crate::output::AnswerForm;

/// Forms of a comparison.
const FORMATS: [Choice<Format>; 4] = [
    (Format::Html, "a page with charts, in one file"),
    (Format::Markdown, "for an issue or a wiki"),
    (Format::Tex, "for a paper (pdflatex)"),
    (Format::Json, "the comparison as data"),
];

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The first record, for instance from before a change; - is standard input
    pub a: PathBuf,
    /// The second record, for instance from after it; - is standard input
    pub b: PathBuf,
    /// A difference that does not matter in practice: 2%, 0.02
    #[arg(long, value_name = "PERCENT", default_value_t = PRACTICAL_FLOOR, value_parser = parse_floor)]
    pub floor: f64,
    /// Also write it as a document, in the form of the name's ending: .html, .md, .tex, .json; - is
    /// standard output, in place of the answer
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The form, whatever the file is called
    #[arg(long, requires = "out", value_parser = one_of(&FORMATS, Format::ending))]
    pub format: Option<Format>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.compare-2.json)
    #[arg(long)]
    pub json: bool,
}

impl CompareArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// A fraction, or one in percent.
pub(super) fn parse_floor(text: &str) -> Result<f64, String> {
    let fraction = parse_ratio(text).ok().filter(|fraction| *fraction < LARGEST_FLOOR);
    fraction.ok_or_else(|| {
        "it is a percentage (2%) or a fraction (0.02), from 0 to below 50%".to_string()
    })
}
