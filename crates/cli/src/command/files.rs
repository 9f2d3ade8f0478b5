//! `files`: where what is in memory of files is, and putting it elsewhere.

use anyhow::bail;
use nearfar_document::file_list_answer;
use nearfar_machine::CpuSet;
use nearfar_place::{
    FileChange, FileTreatment, Loss, PageDeal, Placement, Usable, list_files, resolve,
};

use crate::args::FilesArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output};

pub fn run(arguments: &FilesArguments) -> anyhow::Result<ExitStatus> {
    let treatment = match &arguments.place {
        Some(placement) => match deal(placement)? {
            Ok((deal, _)) => FileTreatment::Place(placement.to_string(), deal),
            Err(losses) => return Ok(complain_of(placement, losses, "--place ")),
        },
        None if arguments.evict => FileTreatment::Evict,
        None => FileTreatment::Look,
    };
    let list = list_files(&arguments.paths, &treatment)?;
    let is_known = list.files.iter().all(|file| file.absent.is_none());
    let mut changes = list.files.iter().filter_map(|file| file.change.as_ref());
    let is_as_asked = changes.all(FileChange::is_as_asked);
    output::answer(arguments.form(), &list, || file_list_answer(&list, usable_nodes()))?;
    Ok(match (is_known, is_as_asked) {
        (false, _) => ExitStatus::Refused,
        (true, false) => ExitStatus::CheckFailed,
        (true, true) => ExitStatus::Done,
    })
}

/// Nodes with memory that may be used here.
pub(super) fn usable_nodes() -> usize {
    Usable::of_this_process().nodes.as_ref().map_or(1, |nodes| nodes.iter().count())
}

/// Says what of a placement cannot be had; `option` is what stands before one here, where `run` has
/// `--placement`.
pub(super) fn complain_of(placement: &Placement, losses: Vec<Loss>, option: &str) -> ExitStatus {
    for mut loss in losses {
        loss.remedy = loss.remedy.map(|remedy| remedy.replace("--placement ", option));
        output::say(&format!("nearfar: {placement}: cannot have {loss}"));
    }
    ExitStatus::Refused
}

/// Where a placement has pages that are there already on this machine, and on which CPUs it has
/// threads; what of it cannot be had.
pub(super) fn deal(placement: &Placement) -> anyhow::Result<Result<(PageDeal, CpuSet), Vec<Loss>>> {
    let machine = || live_machine::read().map_err(|error| format!("{error:#}"));
    let resolution = resolve(placement, None, &Usable::of_this_process(), machine);
    if !resolution.losses.is_empty() {
        return Ok(Err(resolution.losses));
    }
    match PageDeal::of(placement, &resolution.asked.memory) {
        Some(deal) => Ok(Ok((deal, resolution.start.cpus))),
        None => bail!(
            "the placement '{placement}' names no nodes for pages that are there; give interleave, \
             bind:NODES, preferred:NODE, local:NODES or weighted:NODE=W,.."
        ),
    }
}
