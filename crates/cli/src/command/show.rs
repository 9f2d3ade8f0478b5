//! `show`: a record in tables.

use nearfar_document::{ShowChoice, ShownRecord, show_answer};

use crate::args::ShowArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ShowArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let choice =
        ShowChoice { experiments: arguments.experiment.clone(), remarks: arguments.remarks };
    output::answer(arguments.form(), &ShownRecord::new(&record), || show_answer(&record, &choice))
}
