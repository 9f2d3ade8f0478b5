//! `move`: the memory of a running process, to the nodes of a placement.

use std::path::Path;

use anyhow::bail;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nearfar_document::moved_process_answer;
use nearfar_measure::Interrupt;
use nearfar_place::{MoveQuestion, NotMoved, move_process};

use super::characterize::register_signals;
use super::files::{complain_of, deal, usable_nodes};
use crate::args::MoveArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &MoveArguments) -> anyhow::Result<ExitStatus> {
    if !nearfar_sys::has_memory_nodes(Path::new("/")) {
        bail!(
            "this kernel has no memory nodes: all memory is in one place, and nothing can be moved"
        );
    }
    let placement = &arguments.placement;
    let (deal, cpus) = match deal(placement)? {
        Ok(found) => found,
        Err(losses) => return Ok(complain_of(placement, losses, "")),
    };
    let question = MoveQuestion {
        pid: arguments.pid,
        placement: placement.to_string(),
        deal,
        bytes_per_second: arguments.rate.0,
        files: arguments.files,
        cpus: arguments.threads.then_some(cpus),
    };
    let interrupt = Interrupt::default();
    register_signals(&interrupt)?;
    let bar = progress();
    let mut tell = |moved: u64, all: u64| {
        bar.set_length(all);
        bar.set_position(moved);
    };
    let moved = move_process(Path::new("/"), &question, &|| interrupt.is_set(), &mut tell);
    bar.finish_and_clear();
    let moved = match moved {
        Ok(moved) => moved,
        Err(gone @ (NotMoved::NoSuchProcess(_) | NotMoved::Ended(_))) => return Err(gone.into()),
        Err(refused) => {
            output::complain(&refused.into());
            return Ok(ExitStatus::Refused);
        }
    };
    output::answer(arguments.form(), &moved, || moved_process_answer(&moved, usable_nodes()))?;
    Ok(match interrupt.signal() {
        Some(signal) if moved.undone.is_some() => ExitStatus::Interrupted(signal),
        _ if moved.is_as_asked() => ExitStatus::Done,
        _ => ExitStatus::CheckFailed,
    })
}

/// How far it is, where standard error is a terminal.
fn progress() -> ProgressBar {
    let target = match output::is_quiet() {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr_with_hz(2),
    };
    let bar = ProgressBar::with_draw_target(None, target);
    let template = "{wide_bar} {bytes} of {total_bytes} moved, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
