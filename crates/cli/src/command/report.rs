//! `report`: a record as a document.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_document::{Format, ReportChoices, printable, write_document};
use nearfar_model::{ProgramQuestion, profiled_point};
use nearfar_record::Profile;
use nearfar_sys::WritableFile;

use super::named_program::predicted_program;
use crate::args::ReportArguments;
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
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
        bail!("{}, or --format", Format::unnamed(path));
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
    let (from, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    record_file::refuse_replacing(&from, path, "-o")?;
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
