//! `compare`: what differs between two records, and whether it matters.

use std::path::Path;

use anyhow::bail;
use nearfar_model::ComparisonRule;
use nearfar_record::Record;
use nearfar_report::CompareView;

use crate::args::CompareArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &CompareArguments) -> anyhow::Result<ExitStatus> {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    if is_stdin(&arguments.a) && is_stdin(&arguments.b) {
        bail!("both records are standard input, which holds one; name a file for the other");
    }
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    let view = CompareView::new(&a, &b, ComparisonRule { floor: arguments.floor.0 });
    if view.cases.is_empty() {
        let why = view.reasons().map_or_else(String::new, |why| format!(" ({why})"));
        bail!(
            "nothing to compare: no case has figures in both records{why}; measure both by \
             `nearfar characterize` on quiet machines, with the same suite, experiments and kernels"
        );
    }
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(if view.has_failed() { ExitStatus::CheckFailed } else { ExitStatus::Done })
}

fn read(path: &Path) -> anyhow::Result<Record> {
    record_file::read_named_or_newest(Some(path)).map(|(_, record)| record)
}
