//! What to do about latency, in sentences.

use nearfar_model::{
    CurvePlace, FactorSpan, Latency, LatencyAdvice, LoadedCurve, NumaFactor, USABLE_RISE,
};
use nearfar_units::format_significant;

use super::figures::count;
use super::latency::{giga, three};
use super::moved_cores::moved_words;
use super::who::Who;
use crate::figure::Figure;

/// What to do, in sentences.
pub(super) fn findings(model: &Latency, who: &Who) -> Vec<String> {
    let advice = model.advice.iter().filter_map(|advice| finding(model, advice, who));
    advice.chain(model.moved.as_ref().map(moved_words)).collect()
}

fn finding(model: &Latency, advice: &LatencyAdvice, who: &Who) -> Option<String> {
    let curve = |place: &CurvePlace| model.curves.get(place.position);
    Some(match advice {
        LatencyAdvice::LeaveData => format!(
            "Do not move data for the latency's sake: the farthest node answers in {} times the \
             local time, and a gain below 5 % is none.",
            Figure::of(&model.span.found()?.most).words()
        ),
        LatencyAdvice::KeepTogether => {
            let span = model.span.found()?;
            let avoid = worst_pair(span, who);
            let avoid = avoid.map(|pair| format!("; where data must be remote, avoid {pair}"));
            format!(
                "Put a thread whose accesses wait for each other (lists, trees, hash tables) and \
                 its data on one node: remote accesses take {} times as long{}.",
                factor_words(span),
                avoid.unwrap_or_default()
            )
        }
        LatencyAdvice::DistrustFirmware { initiator, memory_node } => {
            let is_it = |pair: &&NumaFactor| {
                (pair.initiator, pair.memory_node) == (*initiator, *memory_node)
            };
            let pair = model.factors.iter().find(is_it)?;
            format!(
                "Do not place by the firmware's distances (`numactl --hardware`): from {} to \
                 node {memory_node} they say {}, and {} was measured.",
                who.cpus(*initiator),
                format_significant(pair.firmware?, 2),
                three(pair.factor.found()?.value.0)
            )
        }
        LatencyAdvice::LimitTraffic { curve: place } => limit_words(curve(place)?, place, who)?,
        LatencyAdvice::KnowKnee { curve: place } => knee_finding(curve(place)?, place, who)?,
        LatencyAdvice::LetTrafficRun { curve: place } => format!(
            "Up to {} are no reason to separate a chase on {}: accesses take at most {} \
             times the {} ns of an idle machine.",
            beside(curve(place)?, place),
            who.cpus(curve(place)?.initiator),
            three(place.highest_rise),
            three(place.idle.0)
        ),
        LatencyAdvice::MeasureMore { curve: place } => format!(
            "Whether up to {} are a reason to separate a chase on {} is hidden by noise: \
             accesses take {} times the {} ns of an idle machine, and {} times by the ends of the \
             intervals; measure more rounds on a quiet machine.",
            beside(curve(place)?, place),
            who.cpus(curve(place)?.initiator),
            three(place.rise),
            three(place.idle.0),
            three(place.highest_rise)
        ),
    })
}

/// `1.41 to 2.26 (2.24 to 2.28)`, of one factor that alone.
pub(super) fn factor_words(span: &FactorSpan) -> String {
    let (least, most) = (Figure::plain(span.least).text, Figure::of(&span.most));
    if least == most.text { most.words() } else { format!("{least} to {}", most.words()) }
}

/// The pair with the most, where no other is as bad: `CPUs 0-7 with node 3`.
pub(super) fn worst_pair(span: &FactorSpan, who: &Who) -> Option<String> {
    let pair =
        || format!("{} with node {}", who.cpus(span.worst_initiator), span.worst_memory_node);
    span.has_worst.then(pair)
}

fn beside(curve: &LoadedCurve, place: &CurvePlace) -> String {
    format!(
        "{} GB/s beside it (`{}`, {} on node {})",
        giga(place.most_traffic.0),
        curve.kernel,
        count(curve.threads as usize, "thread"),
        curve.memory_node
    )
}

fn limit_words(curve: &LoadedCurve, place: &CurvePlace, who: &Who) -> Option<String> {
    let usable = curve.usable.found()?;
    Some(format!(
        "Keep other traffic (`{}`) on node {} below {} while a thread on {} waits for \
         single accesses there; above it they take more than {USABLE_RISE} times the {} ns of an \
         idle machine.",
        curve.kernel,
        curve.memory_node,
        Figure::of(usable).words(),
        who.cpus(curve.initiator),
        three(place.idle.0)
    ))
}

fn knee_finding(curve: &LoadedCurve, place: &CurvePlace, who: &Who) -> Option<String> {
    let knee = curve.knee.found()?;
    Some(format!(
        "Of the traffic of {} (`{}`) on node {}, the first {} cost least: accesses from {} \
         take {} ns there, {} ns idle, and {} times the idle time beside all that they can move, {} \
         GB/s.",
        count(curve.threads as usize, "thread"),
        curve.kernel,
        curve.memory_node,
        Figure::of(&knee.traffic).words(),
        who.cpus(curve.initiator),
        three(knee.time.0),
        three(place.idle.0),
        three(place.rise),
        giga(place.most_traffic.0)
    ))
}
