//! The placement that a record's models advise for one process of this machine, for `run --placement
//! auto` and `advise --verify`.

use std::path::Path;

use anyhow::{Context, bail};
use nearfar_advise::{Advice, Candidate, Demand, Pattern, Ranking, advise};
use nearfar_document::printable;
use nearfar_machine::{CpuSet, NodeSet};
use nearfar_model::RecordFigures;
use nearfar_place::Placement;
use nearfar_record::{Executor, Record};
use nearfar_units::format_significant;

use crate::{live_machine, output, record_continuation, record_file};

pub struct AdvisedPlacement {
    /// Where pages are to be.
    pub placement: Placement,
    /// The CPUs of the threads; `None` leaves them as they are.
    pub cpus: Option<CpuSet>,
}

/// The placement that is worth it for a program by this machine's record, which is read; else none.
pub fn advised_placement(
    named: Option<&Path>,
    demand: &Demand,
    is_quiet: bool,
) -> anyhow::Result<AdvisedPlacement> {
    let (path, mut record) = record_file::read_named_or_newest(named)
        .context("--placement auto takes its advice from a record of this machine")?;
    refuse_elsewhere(&path, &record)?;
    keep_usable_nodes(&mut record);
    let advice = advise(&RecordFigures::new(&record), demand)?;
    let best = match &advice {
        Advice::OneNode(_) => None,
        Advice::Ranked(ranking) => worth_it(ranking),
    };
    let (placement, cpus) = best.map_or((Placement::Local(None), None), |best| {
        let cpus = best.bindings().first().map(|binding| binding.cpus.clone());
        let policy = best.policies.first().cloned();
        (policy.map_or(Placement::Local(None), Placement::Memory), cpus)
    });
    if !is_quiet {
        output::note(&format!("nearfar: auto: {}", words(&advice, best, &placement, &path)));
    }
    Ok(AdvisedPlacement { placement, cpus })
}

/// Refuses a record that is not of this machine.
pub fn refuse_elsewhere(path: &Path, record: &Record) -> anyhow::Result<()> {
    if record.header.executor == Executor::Simulated {
        bail!("{} is of a simulated machine: it says nothing of this one", path.display());
    }
    record_continuation::refuse_another_fingerprint(path, record, &live_machine::read()?)
}

/// Of a record of this machine, leaves the nodes on which this process may have pages: a cpuset may have
/// fewer than what measured.
pub fn keep_usable_nodes(record: &mut Record) {
    let header = &mut record.header;
    if header.executor == Executor::Simulated {
        return;
    }
    let Ok(live) = live_machine::read() else { return };
    let is_here = header.fingerprint == live.fingerprint();
    let all: NodeSet = header.machine.nodes.iter().map(|node| node.os_index).collect();
    let measured = &header.machine.allowed_nodes;
    let measured = if measured.is_empty() { &all } else { measured };
    let usable = live.allowed_nodes.intersection(measured);
    if is_here && !usable.is_empty() && usable != *measured {
        output::note(&format!("nearfar: this process may have pages on nodes {usable} alone"));
        header.machine.allowed_nodes = usable;
    }
}

/// The best that gains more than the model can be wrong, for a program of one process: one with
/// pages of each initiator's own needs a process for each.
pub fn worth_it(ranking: &Ranking) -> Option<&Candidate> {
    let is_worth = |it: &&Candidate| {
        it.is_eligible() && it.is_claimed && !it.is_default && it.policies.len() == 1
    };
    ranking.candidates.iter().find(is_worth)
}

fn words(advice: &Advice, best: Option<&Candidate>, placement: &Placement, path: &Path) -> String {
    let by = printable(&path.display().to_string()).into_owned();
    match (advice, best.and_then(|best| best.gain)) {
        (Advice::OneNode(node), _) => {
            format!("pages can only be on node {node}; the program starts unchanged")
        }
        (_, Some(gain)) => format!(
            "{placement}, {} % more by {by} (`nearfar advise` says why)",
            format_significant(100.0 * gain, 2)
        ),
        (Advice::Ranked(ranking), None)
            if !ranking.candidates.iter().any(Candidate::is_eligible) =>
        {
            format!("by {by} the data does not fit on this machine; the program starts unchanged")
        }
        (Advice::Ranked(ranking), None) if ranking.pattern == Pattern::Private => format!(
            "by {by} nothing gains where each thread uses its own part of the data; the program \
             starts unchanged (where any uses any part: --pattern shared)"
        ),
        (_, None) => format!(
            "by {by} no placement gains more than the models' error; the program starts unchanged"
        ),
    }
}
