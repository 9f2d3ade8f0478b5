//! What streams get that run at the same time.

use nearfar_model::RecordFigures;
use nearfar_report::PredictFlowView;

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let _figures = RecordFigures::new(&record);
    let view = PredictFlowView::new(&record);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}
