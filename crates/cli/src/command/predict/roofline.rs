//! Where programs lie below the roofs.

use std::path::Path;

use anyhow::{anyhow, bail};
use nearfar_document::{ModelResult, predict_roofline_text, printable};
use nearfar_model::{
    Inapplicable, IntensityKind, OverlapBounds, PlacedPrograms, ProgramPoint, ProgramShares,
    RecordFigures, hybrid, profiled_point, roofline,
};
use nearfar_record::Record;
use nearfar_units::FlopsPerSecond;

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::{output, profile_file, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let points: Vec<ProgramPoint> =
        arguments.point.iter().map(|list| point(&list.0)).collect::<anyhow::Result<_>>()?;
    let asked = &arguments.hybrid;
    if asked.load_share.is_some() && asked.fast_share.is_empty() {
        bail!(
            "give --fast-share beside --load-share: the roof of a program over two memories needs both"
        );
    }
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let figures = RecordFigures::new(&record);
    let model = roofline(&figures).map_err(no_model("roofline"))?;
    let hybrid = match asked.load_share {
        Some(_) => Some(hybrid(&figures, OverlapBounds::NotNegative).map_err(no_model("hybrid"))?),
        None => None,
    };
    let shares = hybrid.as_ref().zip(asked.load_share).map(|(hybrid, load_share)| ProgramShares {
        hybrid,
        load_share,
        fast_shares: &asked.fast_share,
    });
    print(arguments, &record, model.place(&points, shares))
}

/// A profiled program on the initiator that it used most.
pub(super) fn answer_of_profile(
    arguments: &PredictArguments,
    path: &Path,
) -> anyhow::Result<ExitStatus> {
    let profile = profile_file::read(path)?;
    let profiled = profiled_point(&profile).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    if record.header.host != profile.host {
        output::say(&printable(&format!(
            "note: the program was watched on {} and the record is of {}",
            profile.host, record.header.host
        )));
    }
    let model = roofline(&RecordFigures::new(&record)).map_err(no_model("roofline"))?;
    let Some(placed) = model.place_profiled(&profile, &profiled) else {
        bail!(
            "the record has no roof of memory of initiator {}, which the program used most; measure \
             by `nearfar characterize --suite standard --only roofs`",
            profiled.initiator
        );
    };
    print(arguments, &record, placed)
}

fn print(
    arguments: &PredictArguments,
    record: &Record,
    placed: PlacedPrograms,
) -> anyhow::Result<ExitStatus> {
    let answer = ModelResult::new("nearfar.predict-roofline/2", record, placed);
    if arguments.json {
        output::print_json(&answer)?;
    } else {
        output::print(&predict_roofline_text(&answer))?;
    }
    Ok(ExitStatus::Done)
}

fn no_model(name: &'static str) -> impl Fn(Inapplicable) -> anyhow::Error {
    move |Inapplicable { why, remedy }| {
        let remedy = remedy.map_or_else(String::new, |command| format!("; try `{command}`"));
        anyhow!("no {name} model: {why}{remedy}")
    }
}

fn point(numbers: &[f64]) -> anyhow::Result<ProgramPoint> {
    if numbers.iter().any(|number| !number.is_normal() || *number < 0.0) {
        bail!("--point takes numbers above 0: FLOPs per byte, and GFLOP/s");
    }
    let point =
        |intensity, flops| ProgramPoint { kind: IntensityKind::Arithmetic, intensity, flops };
    match *numbers {
        [intensity] => Ok(point(intensity, None)),
        [intensity, gflop] => Ok(point(intensity, Some(FlopsPerSecond(gflop * 1e9)))),
        _ => bail!("--point takes FLOPs per byte and, behind a comma, GFLOP/s; nothing more"),
    }
}
