//! What the user typed after `record`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::AnswerForm;

#[derive(Debug, Subcommand)]
pub enum RecordCommand {
    /// Copy a record without names, paths and addresses, so that it can be given away
    #[command(after_help = concat!(
        "Examples:\n",
        "  nearfar record scrub r.jsonl\n",
        "  nearfar record scrub r.jsonl -o epyc-9354p.jsonl.zst\n",
        "What goes and what stays: docs/sharing-records.md.",
    ))]
    Scrub(RecordScrubArguments),
}

#[derive(Debug, Args)]
pub struct RecordScrubArguments {
    /// The record; - is standard input
    pub record: PathBuf,
    /// Where the copy goes, compressed where the name ends in .zst; it must not exist
    #[arg(short, long, value_name = "FILE", default_value = "scrubbed.jsonl.zst")]
    pub out: PathBuf,
    /// Overwrite FILE
    #[arg(long)]
    pub force: bool,
    /// Print JSON (docs/schema/nearfar.record-scrub-1.json)
    #[arg(long)]
    pub json: bool,
}

impl RecordScrubArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: true }
    }
}
