//! `predict`: what programs get, one file for each model that is asked.

mod classes;
mod devices;
mod flow;
mod hybrid;
mod roofline;
mod sharing;

use nearfar_document::PredictedAccesses;
use nearfar_model::AccessPrediction;
use nearfar_record::Record;

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    if arguments.sharing.processes.is_some() || !arguments.sharing.split.is_empty() {
        sharing::answer(arguments)
    } else if let Some(profile) = &arguments.profile {
        roofline::answer_of_profile(arguments, profile)
    } else if !arguments.point.is_empty() {
        roofline::answer(arguments)
    } else if arguments.hybrid.load_share.is_some() {
        hybrid::answer(arguments)
    } else if !arguments.stream.is_empty() {
        flow::answer(arguments)
    } else if !arguments.device.is_empty() {
        devices::answer(arguments)
    } else {
        classes::answer(arguments)
    }
}

/// What programs get by the classes of a record, or by alphas that were given.
fn tell(
    arguments: &PredictArguments,
    record: Option<&Record>,
    prediction: AccessPrediction,
) -> anyhow::Result<ExitStatus> {
    let view = PredictedAccesses::new(record, prediction);
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}
