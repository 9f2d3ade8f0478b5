//! `record`: what is done to a record itself.

use std::fs::{self, File};
use std::io::{self, Read};
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
    let record = bytes_of(path)?;
    if is_same_file(path, out) {
        bail!("{} is the record itself; choose another file with --out", out.display());
    }
    // Whether it can be scrubbed is known before a file is made.
    scrub_record(&record, &mut RecordWriter::nowhere()).context(path.display().to_string())?;
    let mut writer = RecordWriter::create(out, arguments.force)?;
    let removed = scrub_record(&record, &mut writer)?;
    writer.close()?;
    let copy = record_file::read(out)?;
    let view = ScrubbedRecord::new(out, &copy, removed);
    output::answer(arguments.form(), &view, || view.answer())
}

fn bytes_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
    } else {
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .with_context(|| format!("cannot read the record {}", path.display()))?;
    }
    Ok(bytes)
}

fn is_same_file(path: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(path), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}
