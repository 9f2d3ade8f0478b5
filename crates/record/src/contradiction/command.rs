//! Runs of programs that cannot have been.

use super::counter::check_counts;
use super::history::KnownParts;
use super::placement::MAY_BE_NEW;
use crate::command::{Command, CommandRun};
use crate::header::Header;
use crate::sample::{ProofMethod, Sample};

/// Says what in a sample of a program cannot be.
pub(super) fn check_run(
    header: &Header,
    known: &KnownParts,
    command: &Command,
    sample: &Sample,
) -> Result<(), String> {
    if !sample.actors.is_empty() {
        return Err("threads of our own in a run of a program".into());
    }
    let Some(run) = &sample.run else {
        return Err(format!("a sample of the program {} without its run", command.label));
    };
    let asked = header.inputs.commands.as_ref();
    let wanted = asked.and_then(|commands| commands.metric.as_ref());
    match (wanted, run.metric) {
        (Some(_), None) => return Err("a run without the metric that was asked for".into()),
        (None, Some(metric)) => {
            return Err(format!("a metric, {metric}, where none was asked for"));
        }
        (Some(_), Some(metric)) if metric < 0.0 => return Err(format!("a metric of {metric}")),
        _ => {}
    }
    if let Some(cpu) = run.cpus_seen.iter().find(|&cpu| !known.cpus.contains(cpu)) {
        return Err(format!("a thread on CPU {cpu}, which {MAY_BE_NEW}"));
    }
    check_counts(asked, run)?;
    check_pages(known, run)
}

fn check_pages(known: &KnownParts, run: &CommandRun) -> Result<(), String> {
    let Some(found) = &run.pages else {
        return match run.pages_unknown {
            Some(_) => Ok(()),
            None => Err("nothing says where its pages were, nor why that is not known".into()),
        };
    };
    if run.pages_unknown.is_some() {
        return Err("its pages are said to be unknown, and where they were".into());
    }
    if !found.page_bytes.is_power_of_two() {
        return Err(format!("pages of {} bytes", found.page_bytes));
    }
    if found.method != ProofMethod::NumaMaps {
        return Err(format!("nobody can have said '{}' of these pages", found.method.as_str()));
    }
    match found.pages.keys().find(|&&node| !known.nodes.contains(node)) {
        Some(node) => Err(format!("pages on node {node}, which {MAY_BE_NEW}")),
        None => Ok(()),
    }
}
