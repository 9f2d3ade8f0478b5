//! `report`: a record as a document.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_document::{
    Document, Format, Report, ReportChoices, printable, write_csv, write_json, write_markdown,
    write_metrics, write_page, write_tex,
};
use nearfar_model::{ProgramQuestion, profiled_point};
use nearfar_record::{Profile, Record};

use super::named_program::predicted_program;
use crate::args::ReportArguments;
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::written_file::WritableFile;
use crate::{output, record_file};

pub fn run(arguments: &ReportArguments) -> anyhow::Result<ExitStatus> {
    let path = &arguments.out;
    let to_stdout = path == Path::new("-");
    let Some(format) = arguments.format.or_else(|| Format::of(path)) else {
        let words = Format::ALL.map(Format::ending).join(", ");
        if to_stdout {
            bail!(
                "standard output has no ending that says the form: give --format, one of {words}"
            );
        }
        bail!(
            "{} says no form by its ending: give the file one of {}, or --format",
            path.display(),
            Format::endings()
        );
    };
    if let Some(why) = format.unavailable() {
        bail!("{}: {why}", path.display());
    }
    let cannot_write = || format!("cannot write {}", path.display());
    let out = match to_stdout {
        true => None,
        false => Some(WritableFile::find(path).with_context(cannot_write)?),
    };
    let profile = profile_of(arguments, format)?;
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    if matches!(format, Format::Csv | Format::Metrics) {
        let refuse = |what: &str| {
            Err(anyhow!("{} holds no {what}; leave it out, or choose another form", path.display()))
        };
        if arguments.gamma.is_some() {
            refuse("alphas, which --gamma is for")?;
        }
        if arguments.program.is_some() {
            refuse("predictions, which --program is for")?;
        }
    }
    let mut choices = ReportChoices { profile, ..ReportChoices::default() };
    choices.models.class_rule.gamma.clone_from(&arguments.gamma);
    if let Some(named) = &arguments.program {
        choices.program = Some(predicted_program(named, &record, &ProgramQuestion::ALONE)?);
    }
    let waiting = Waiting::new("fitting the models", None);
    let Some(out) = out else {
        output::print_by(|out| write_document(format, &record, &choices, out))?;
        return Ok(ExitStatus::Done);
    };
    out.write_by(|out| write_document(format, &record, &choices, out))
        .with_context(cannot_write)?;
    drop(waiting);
    output::note(&format!("report: {}", printable(&path.display().to_string())));
    Ok(ExitStatus::Done)
}

/// The profile whose point the page shows; one without a point is refused, with the reason.
fn profile_of(arguments: &ReportArguments, format: Format) -> anyhow::Result<Option<Profile>> {
    let Some(path) = &arguments.profile else { return Ok(None) };
    if !matches!(format, Format::Html) {
        bail!(
            "{} has no chart, which --profile is for; leave it out, or write HTML",
            arguments.out.display()
        );
    }
    let profile = record_file::read_profile(path)?;
    profiled_point(&profile).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    Ok(Some(profile))
}

fn write_document(
    format: Format,
    record: &Record,
    choices: &ReportChoices,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let document = || Document::with_choices(record, choices);
    match format {
        Format::Html => write_page(record, choices, out),
        Format::Json => write_json(out, &Report::new(record, choices)),
        Format::Markdown => write_markdown(&document(), out),
        Format::Tex => write_tex(&document(), out),
        Format::Csv => write_csv(record, out),
        Format::Metrics => write_metrics(record, out),
    }
}
