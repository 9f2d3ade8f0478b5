//! `show`: a record in tables.

use std::path::PathBuf;

use nearfar_report::ShowView;

use crate::args::ShowArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ShowArguments) -> anyhow::Result<ExitStatus> {
    let newest = || record_file::newest(&record_file::host_name());
    let path: PathBuf = arguments.record.clone().map_or_else(newest, Ok)?;
    let record = record_file::read(&path)?;
    if record.torn {
        output::say("note: the record's last line is torn and was left out");
    }
    let view = ShowView::new(&record);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        let path = path.display().to_string();
        output::print(&format!("{}\nrecord: {}\n", view.text(), nearfar_report::printable(&path)))?;
    }
    Ok(ExitStatus::Done)
}
