//! Counters beside runs that cannot have counted so.

use crate::command::{CommandInputs, CommandRun};
use crate::counter::{RunCount, TriedCounter};
use crate::profile::CountedQuantity;

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
        return Err(format!("counts of {counted:?} where {believed:?} are believed"));
    }
    run.counts.iter().try_for_each(check_count)
}

fn check_count(found: &RunCount) -> Result<(), String> {
    let name = found.quantity.words();
    if found.count.is_some() == found.unavailable.is_some() {
        return Err(format!("the counter of {name} must have a count or a reason, and not both"));
    }
    if found.count.is_some() != found.counted_share.is_some() {
        return Err(format!("the counter of {name} must have a counted_share beside its count"));
    }
    if let Some(count) = found.count.filter(|count| !is_count(*count)) {
        return Err(format!("{count} {name}"));
    }
    match found.counted_share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
        Some(share) => Err(format!("{name} were counted for {share} of the time")),
        None => Ok(()),
    }
}

fn is_count(count: f64) -> bool {
    count.is_finite() && count >= 0.0
}
