//! `compare`: what differs between two records, and whether it matters.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};
use nearfar_document::{
    Comparison, Format, printable, write_comparison_page, write_json, write_markdown, write_tex,
};
use nearfar_model::ComparedRecord;
use nearfar_sys::WritableFile;

use crate::args::CompareArguments;
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::{output, record_file};

pub fn run(arguments: &CompareArguments) -> anyhow::Result<ExitStatus> {
    let is_standard = |path: &Path| path.as_os_str() == "-";
    if is_standard(&arguments.a) && is_standard(&arguments.b) {
        bail!("both records are standard input, which holds one; name a file for the other");
    }
    let cannot_write = |path: &Path| format!("cannot write {}", path.display());
    let out = match arguments.out.as_deref() {
        Some(path) => {
            let format = form(path, arguments.format)?;
            record_file::refuse_replacing(&arguments.a, path, "-o")?;
            record_file::refuse_replacing(&arguments.b, path, "-o")?;
            // What goes to standard output is written in place of the answer.
            let file = (!is_standard(path))
                .then(|| WritableFile::find(path).with_context(|| cannot_write(path)))
                .transpose()?;
            Some((path, format, file))
        }
        None => None,
    };
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    let waiting = Waiting::new("comparing", None);
    let view = Comparison::new(&a, &b, arguments.floor);
    drop(waiting);
    view.comparable().map_err(anyhow::Error::msg)?;
    let written = match out {
        Some((_, format, None)) => {
            output::print_by(|out| write_comparison(format, &view, out))?;
            return Ok(status(&view));
        }
        Some((path, format, Some(file))) => {
            file.write_by(|out| write_comparison(format, &view, out))
                .with_context(|| cannot_write(path))?;
            Some(path)
        }
        None => None,
    };
    output::answer(arguments.form(), &view, || view.answer())?;
    if let Some(path) = written {
        output::note(&format!("comparison: {}", printable(&path.display().to_string())));
    }
    Ok(status(&view))
}

fn status(view: &Comparison) -> ExitStatus {
    if view.has_failed() { ExitStatus::CheckFailed } else { ExitStatus::Done }
}

/// The form that a file's name asks for, if a comparison has it.
fn form(path: &Path, asked: Option<Format>) -> anyhow::Result<Format> {
    let format = asked
        .or_else(|| Format::of(path))
        .filter(|format| !matches!(format, Format::Csv | Format::Metrics))
        .with_context(|| {
            format!(
                "{}: a comparison is written as .html, .md, .tex or .json, by the ending of the \
                 file's name or by --format",
                path.display()
            )
        })?;
    if let Some(why) = format.unavailable() {
        bail!("{}: {why}", path.display());
    }
    Ok(format)
}

fn write_comparison(format: Format, view: &Comparison, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Html => write_comparison_page(view, out),
        Format::Tex => write_tex(&view.document(), out),
        Format::Json => write_json(out, view),
        Format::Markdown => write_markdown(&view.document(), out),
        // [`form`] lets neither through.
        Format::Csv | Format::Metrics => Err(io::Error::other("a comparison has no such form")),
    }
}

fn read(path: &Path) -> anyhow::Result<ComparedRecord> {
    let record = record_file::read_by(path, "record", ComparedRecord::read)?;
    record_file::note_torn(record.record());
    Ok(record)
}
