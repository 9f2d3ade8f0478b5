//! `record`: what is done to a record itself.

use std::path::Path;

use anyhow::{Context, bail};
use nearfar_document::ScrubbedRecord;
use nearfar_record::{RecordWriter, scrub_record};

use crate::args::{RecordCommand, RecordScrubArguments};
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub fn run(command: &RecordCommand) -> anyhow::Result<ExitStatus> {
    match command {
        RecordCommand::Scrub(arguments) => scrub(arguments),
    }
}

fn scrub(arguments: &RecordScrubArguments) -> anyhow::Result<ExitStatus> {
    let (path, out) = (&arguments.record, &arguments.out);
    let record = record_file::read_by(path, "record", |mut input| {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map(|_| bytes)
    })?;
    if out == Path::new("-") {
        bail!("the copy is read again, which standard output cannot be; name a file with --out");
    }
    record_file::refuse_replacing(path, out, "--out")?;
    let (lines, removed) = scrub_record(&record).with_context(|| path.display().to_string())?;
    let mut writer = RecordWriter::create_whole(out, arguments.force)?;
    lines.iter().try_for_each(|line| writer.write(line))?;
    writer.close()?;
    // Nothing is given away that nobody can read.
    let copy = record_file::read(out)?;
    let view = ScrubbedRecord::new(out, &copy, removed);
    output::answer(arguments.form(), &view, || view.answer())
}
