//! `predict`: what programs get, one file for each model that is asked.

mod classes;
mod devices;
mod flow;
mod hybrid;
mod roofline;
mod sharing;

use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;

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
