//! What processes get that are split over near and far cores.

use anyhow::{anyhow, bail};
use nearfar_document::{ModelResult, predict_sharing_text};
use nearfar_model::{Inapplicable, RecordFigures, SplitQuestion, WorkSharing, sharing};

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let question = question(arguments)?;
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let figures = RecordFigures::new(&record);
    let model = sharing(&figures).map_err(|Inapplicable { why, remedy }| {
        let remedy = remedy.map_or_else(String::new, |command| format!("; try `{command}`"));
        anyhow!("no sharing model: {why}{remedy}")
    })?;
    let answers = model.answer(&question).map_err(anyhow::Error::msg)?;
    let view = ModelResult::new("nearfar.predict-sharing/2", &record, answers);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&predict_sharing_text(&view))?;
    }
    Ok(ExitStatus::Done)
}

fn question(arguments: &PredictArguments) -> anyhow::Result<SplitQuestion> {
    let asked = &arguments.sharing;
    let splits = asked.split.iter().map(|split| match split.0[..] {
        [near, far] => Ok((near, far)),
        _ => bail!("--split has {} numbers; it takes two, NEAR,FAR", split.0.len()),
    });
    Ok(SplitQuestion {
        node: asked.node,
        kernels: arguments.classes.kernel.clone(),
        work: asked.work.map_or(WorkSharing::ALL.into(), |work| vec![work]),
        processes: asked.processes,
        splits: splits.collect::<Result<_, _>>()?,
    })
}
