//! `show`: a record in tables.

use nearfar_document::ShowView;

use crate::args::ShowArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ShowArguments) -> anyhow::Result<ExitStatus> {
    let (path, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let view = ShowView::new(&record);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        let path = path.display().to_string();
        output::print(&format!(
            "{}\nrecord: {}\n",
            view.text(),
            nearfar_document::printable(&path)
        ))?;
    }
    Ok(ExitStatus::Done)
}
