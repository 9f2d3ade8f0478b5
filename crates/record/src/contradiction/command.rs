//! Runs of programs that cannot have been, and counts beside them that nobody can have counted.

use super::history::KnownParts;
use super::placement::MAY_BE_NEW;
use crate::case::Actor;
use crate::command::{Command, CommandInputs, CommandRun};
use crate::counter::{RunCount, TriedCounter};
use crate::header::Header;
use crate::profile::CountedQuantity;
use crate::sample::{ProofMethod, Sample};

/// Says what in a sample of a program cannot be.
pub(super) fn check_run(
    header: &Header,
    known: &KnownParts,
    (command, streams): (&Command, &[Actor]),
    sample: &Sample,
) -> Result<(), String> {
    if streams.is_empty() && !sample.actors.is_empty() {
        return Err("threads of our own in a run of a program".into());
    }
    let Some(run) = &sample.run else {
        return Err(format!("a sample of the program {} without its run", command.label));
    };
    match &run.before {
        None if !streams.is_empty() => {
            return Err("a run beside streams that does not say what they move alone".into());
        }
        Some(_) if streams.is_empty() => return Err("streams beside a run alone".into()),
        Some(before) if before.window_ns == 0 => return Err("a window without length".into()),
        _ => {}
    }
    let asked = header.inputs.commands.as_ref();
    let wanted = asked.and_then(|commands| commands.metric_of(&command.label));
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

/// Says what in the counters that were tried out cannot be.
pub(super) fn check_tried(counters: &[TriedCounter]) -> Result<(), String> {
    for (position, counter) in counters.iter().enumerate() {
        let name = counter.quantity.words();
        if counters[..position].iter().any(|earlier| earlier.quantity == counter.quantity) {
            return Err(format!("two counters of {name}"));
        }
        let is_described = !counter.events.is_empty();
        if counter.meaning.is_some() != is_described || counter.source.is_some() != is_described {
            return Err(format!("the counter of {name} has events without a meaning, or none"));
        }
        if counter.unavailable.is_none() && (counter.check.is_none() || !is_described) {
            return Err(format!("the counter of {name} is believed, and was not tried"));
        }
        if let Some(check) = &counter.check
            && [check.expected, check.counted].iter().any(|count| !is_count(*count))
        {
            return Err(format!("the counter of {name} was tried on {} things", check.expected));
        }
    }
    Ok(())
}

/// Says what in the counts of a run cannot be: each believed counter has one, or the reason.
pub(super) fn check_counts(asked: Option<&CommandInputs>, run: &CommandRun) -> Result<(), String> {
    let tried = asked.and_then(|asked| asked.counters.as_deref()).unwrap_or_default();
    let believed = tried.iter().filter(|counter| counter.unavailable.is_none());
    let believed: Vec<CountedQuantity> = believed.map(|counter| counter.quantity).collect();
    let counted: Vec<CountedQuantity> = run.counts.iter().map(|count| count.quantity).collect();
    if counted != believed {
        return Err("counts of other quantities than those that are believed".into());
    }
    run.counts.iter().try_for_each(|found| {
        let RunCount { quantity, count, counted_share, unavailable } = found;
        check_count(*quantity, *count, *counted_share, unavailable.is_some())
    })
}

/// Says what in a count cannot be, beside the share of the time in which it was counted; there is
/// none where it is not to be had.
pub(crate) fn check_count(
    quantity: CountedQuantity,
    count: Option<f64>,
    counted_share: Option<f64>,
    is_unavailable: bool,
) -> Result<(), String> {
    let name = quantity.words();
    if count.is_some() == is_unavailable {
        return Err(format!("the counter of {name} must have a count or a reason, and not both"));
    }
    if count.is_some() != counted_share.is_some() {
        return Err(format!("the counter of {name} must have a counted_share beside its count"));
    }
    if let Some(count) = count.filter(|count| !is_count(*count)) {
        return Err(format!("{count} {name}"));
    }
    match counted_share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
        Some(share) => Err(format!("{name} were counted for {share} of the time")),
        None => Ok(()),
    }
}

fn is_count(count: f64) -> bool {
    count.is_finite() && count >= 0.0
}
