//! What streams get that run at the same time.

use anyhow::anyhow;
use nearfar_document::{ModelResult, predict_flow_text};
use nearfar_model::{Inapplicable, RecordFigures, flow};

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let model = flow(&RecordFigures::new(&record)).map_err(|Inapplicable { why, remedy }| {
        let remedy = remedy.map_or_else(String::new, |command| format!("; try `{command}`"));
        anyhow!("no flow model: {why}{remedy}")
    })?;
    let prediction = model.predict(&record.header.machine, &arguments.stream)?;
    let answer = ModelResult::new("nearfar.predict-flow/2", &record, prediction);
    if arguments.json {
        output::print_json(&answer)?;
    } else {
        output::print(&predict_flow_text(&answer))?;
    }
    Ok(ExitStatus::Done)
}
