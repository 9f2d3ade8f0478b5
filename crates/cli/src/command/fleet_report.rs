//! `fleet report`: a run of many machines as a document, with pages of those that fall short.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};
use nearfar_document::{
    Format, ReportChoices, fleet_document, printable, write_fleet_csv, write_fleet_metrics,
    write_fleet_page, write_json, write_markdown, write_page, write_superbench, write_tex,
};
use nearfar_fleet::{
    FleetChoices, FleetComparison, FleetDrift, FleetMachine, RunFolder, VerdictKind,
};
use nearfar_measure::now_utc;
use nearfar_sys::WritableFile;

use crate::args::{FleetFormat, FleetReportArguments};
use crate::exit_status::ExitStatus;
use crate::progress::Waiting;
use crate::{output, record_file};

/// Machines that get pages of their own beside the fleet's: each takes a second.
const MOST_PAGES: usize = 20;

pub fn run(arguments: &FleetReportArguments) -> anyhow::Result<ExitStatus> {
    let path = &arguments.out;
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let named = FleetFormat::ALL.into_iter().map(|(format, _)| format);
    let of_name = || named.clone().find(|format| format.ending().eq_ignore_ascii_case(ending));
    let Some(format) = arguments.format.or_else(of_name) else {
        let endings: Vec<String> = named.map(|format| format!(".{}", format.ending())).collect();
        bail!(
            "{} says no form: give the file one of {}, or --format",
            path.display(),
            endings.join(", ")
        );
    };
    if let Some(why) = Format::Html.unavailable().filter(|_| format == FleetFormat::Html) {
        bail!("{}: {why}", path.display());
    }
    let cannot_write = || format!("cannot write {}", path.display());
    let out = match path == Path::new("-") {
        true => None,
        false => Some(WritableFile::find(path).with_context(cannot_write)?),
    };
    let folder = RunFolder::new(&arguments.folder);
    let now = now_utc();
    let choices = FleetChoices { floor: arguments.floor, target: None, now: &now };
    let found = FleetComparison::read(&folder, &choices)?;
    let mut folders: Vec<RunFolder> =
        arguments.history.iter().map(|folder| RunFolder::new(folder)).collect();
    folders.push(folder);
    let drift = (folders.len() > 1).then(|| FleetDrift::read(&folders, &now)).transpose()?;
    let Some(out) = out else {
        output::print_by(|out| write(format, &found, drift.as_ref(), &[], out))?;
        return Ok(ExitStatus::Done);
    };
    let links = if format == FleetFormat::Html {
        pages(&found, &arguments.folder, path)?
    } else {
        Vec::new()
    };
    out.write_by(|out| write(format, &found, drift.as_ref(), &links, out))
        .with_context(cannot_write)?;
    output::note(&format!("report: {}", printable(&path.display().to_string())));
    Ok(ExitStatus::Done)
}

fn write(
    format: FleetFormat,
    found: &FleetComparison,
    drift: Option<&FleetDrift>,
    links: &[(String, String)],
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        FleetFormat::Html => write_fleet_page(found, drift, links, out),
        FleetFormat::Markdown => write_markdown(&fleet_document(found, drift), out),
        FleetFormat::Tex => write_tex(&fleet_document(found, drift), out),
        FleetFormat::Json => write_json(out, found),
        FleetFormat::Csv => write_fleet_csv(found, out),
        FleetFormat::Metrics => write_fleet_metrics(found, out),
        FleetFormat::SuperBench => write_superbench(found, out),
    }
}

/// Writes pages of machines that fall short into a folder beside the fleet's, and gives their names and where
/// they are from there.
fn pages(
    found: &FleetComparison,
    folder: &Path,
    page: &Path,
) -> anyhow::Result<Vec<(String, String)>> {
    let short: Vec<&FleetMachine> =
        found.with(VerdictKind::Bad).chain(found.with(VerdictKind::Again)).collect();
    let stem = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = format!("{stem}-machines");
    let beside = page.with_file_name(&name);
    let mut links = Vec::new();
    for machine in short.into_iter().take(MOST_PAGES) {
        let Some(record) = &machine.record else { continue };
        let record = record_file::read(&folder.join(record))?;
        let _waiting = Waiting::new(&format!("the page of {}", machine.machine), None);
        std::fs::create_dir_all(&beside)
            .with_context(|| format!("cannot make {}", beside.display()))?;
        let path = beside.join(format!("{}.html", machine.machine));
        WritableFile::find(&path)
            .and_then(|file| {
                file.write_by(|out| write_page(&record, &ReportChoices::default(), out))
            })
            .with_context(|| format!("cannot write {}", path.display()))?;
        links.push((machine.machine.to_string(), format!("{name}/{}.html", machine.machine)));
    }
    Ok(links)
}
