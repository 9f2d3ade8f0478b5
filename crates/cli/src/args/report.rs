//! What the user typed after `report`.

use std::path::PathBuf;

use clap::Args;
use nearfar_machine::TheoreticalMaximum;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The record; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    /// The file to write; one that is there is replaced. Its ending says what it is: .html a
    /// page with charts, in one file that opens without a network, .md for an issue or a wiki,
    /// .tex for a paper (pdflatex), .json the document as data
    /// (docs/schema/nearfar.report-1.json), .csv every sample (docs/csv-columns.md), .prom
    /// metrics for Prometheus (docs/metrics.md)
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// A program that `nearfar profile --out FILE` watched: its point among the roofs of a page
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Theoretical maximum that alphas of .html, .md, .tex and .json are relative to, as for `nearfar
    /// model`: a standard (DDR4-3200x8) or a bandwidth (204.8GB/s); without it, by the record's
    /// memory modules
    #[arg(long, value_name = "NAME|GB/s", value_parser = TheoreticalMaximum::memory)]
    pub gamma: Option<TheoreticalMaximum>,
}
