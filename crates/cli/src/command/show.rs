//! `show`: a record in tables.

use nearfar_document::{ShownRecord, printable, show_text};

use crate::args::ShowArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(arguments: &ShowArguments) -> anyhow::Result<ExitStatus> {
    let (path, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let path = path.display().to_string();
    output::answer(arguments.json, &ShownRecord::new(&record), || {
        format!("{}\nrecord: {}\n", show_text(&record), printable(&path))
    })
}
