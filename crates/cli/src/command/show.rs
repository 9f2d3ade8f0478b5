//! `show`: a record in tables.

use nearfar_document::{ShowChoice, ShownRecord, show_answer};

use crate::args::ShowArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ShowArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let form = arguments.form();
    let (experiments, remarks) = (arguments.experiment.clone(), arguments.remarks);
    let choice = ShowChoice { experiments, remarks, full: form.full };
    if form.as_json {
        output::print(&output::json_line(&ShownRecord::new(&record))?)?;
        return Ok(ExitStatus::Done);
    }
    output::tell(&show_answer(&record, &choice), form.full)
}
