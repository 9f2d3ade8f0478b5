//! Why counters are not to be had, for people.

use nearfar_record::CountedQuantity;

use super::figures::count;
use crate::answer::Part;

/// A part for each reason, with the counters that it holds for.
pub(crate) fn unavailable_parts<'a>(
    counters: impl Iterator<Item = (CountedQuantity, &'a str)>,
) -> Vec<Part> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (quantity, why) in counters {
        let cause = cause(why);
        match reasons.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, quantities)) => quantities.push(quantity.words()),
            None => reasons.push((cause, vec![quantity.words()])),
        }
    }
    let part = |(why, quantities): (String, Vec<&str>)| {
        let what = if quantities.len() > 4 {
            count(quantities.len(), "counter")
        } else {
            quantities.join("; ")
        };
        Part::words("  unavailable: ", format!("{what}: {why}"))
    };
    reasons.into_iter().map(part).collect()
}

/// The same refusal of different events is one reason.
fn cause(why: &str) -> String {
    let of_event = why.strip_prefix("perf_event_open(");
    let cause = of_event.and_then(|rest| rest.split_once(") "));
    cause.map_or_else(|| why.into(), |(_, cause)| format!("perf_event_open {cause}"))
}
