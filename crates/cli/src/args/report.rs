//! What the user typed after `report`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The record; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    /// The file to write; one that is there is replaced. Its ending says what it is: .md for an
    /// issue or a wiki, .json the document as data (docs/schema/nearfar.report-1.json), .csv
    /// every sample (docs/csv-columns.md), .prom metrics for Prometheus (docs/metrics.md)
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
}
