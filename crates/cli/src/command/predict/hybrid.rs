//! What a mix of loads and stores gets of a fast and a slow memory.

use anyhow::{anyhow, bail};
use nearfar_document::{ModelResult, predict_hybrid_text};
use nearfar_model::{Inapplicable, OverlapBounds, RecordFigures, hybrid};

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let asked = &arguments.hybrid;
    let Some(load_share) = asked.load_share else { bail!("give --load-share") };
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let figures = RecordFigures::new(&record);
    let model =
        hybrid(&figures, OverlapBounds::NotNegative).map_err(|Inapplicable { why, remedy }| {
            let remedy = remedy.map_or_else(String::new, |command| format!("; try `{command}`"));
            anyhow!("no hybrid model: {why}{remedy}")
        })?;
    let Some(answers) = model.answer(load_share, &asked.fast_share) else {
        bail!("a share is not between 0 and 1")
    };
    let view = ModelResult::new("nearfar.predict-hybrid/2", &record, answers);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&predict_hybrid_text(&view))?;
    }
    Ok(ExitStatus::Done)
}
