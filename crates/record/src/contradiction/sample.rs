//! Samples whose figures contradict each other, their case or the header.

use crate::case::{Actor, Case, Coordinates, SCREENING_ROUNDS, Stage, Stream};
use crate::disturbance::{Disturbance, disturbances_of_threads};
use crate::header::{Executor, Header};
use crate::sample::{ActorSample, Sample, TrafficMethod};

use super::history::KnownParts;
use super::placement::{MAY_BE_NEW, check_page_sizes, check_proof};

/// No core moves more bytes/s than this, not even within its first cache: four vectors of
/// 64 bytes in each of 8e9 cycles. (In 2026 cores load two and store one, below 7e9.)
const FASTEST_THREAD: u128 = 2_048_000_000_000;

/// Says what in a sample of this case cannot be.
pub(super) fn check_sample(
    header: &Header,
    known: &KnownParts,
    case: &Case,
    sample: &Sample,
) -> Result<(), String> {
    check_place(header, case, sample)?;
    check_window(header, sample)?;
    let threads: Vec<usize> = sample.actors.iter().map(|actor| actor.threads.len()).collect();
    let planned: Vec<usize> =
        case.actors.iter().map(|Actor::Stream(stream)| stream.threads as usize).collect();
    if threads != planned {
        return Err(format!("the sample's threads {threads:?} are not the case's {planned:?}"));
    }
    for (Actor::Stream(stream), actor) in case.actors.iter().zip(&sample.actors) {
        check_loop(stream, actor)?;
        check_counts(actor)?;
        check_cpus(known, actor)?;
        check_proof(header, known, stream, &actor.proof)?;
        check_page_sizes(actor.page_sizes)?;
        if header.executor == Executor::Native {
            check_speed(stream, actor, sample.window_ns)?;
        }
    }
    if header.executor == Executor::Native {
        check_disturbances(case, sample)?;
    }
    Ok(())
}

/// The round and the window are among those that the header asks for.
fn check_place(header: &Header, case: &Case, sample: &Sample) -> Result<(), String> {
    let is_screening = |coordinates: &Coordinates| {
        let Coordinates::Pairs { stage, .. } = coordinates;
        *stage == Stage::Screening
    };
    let rounds = match case.coordinates.iter().any(is_screening) {
        true => SCREENING_ROUNDS,
        false => header.inputs.max_rounds,
    };
    if sample.round >= rounds {
        return Err(format!("round {} of {rounds}, counted from 0", sample.round));
    }
    let windows = header.inputs.windows_per_round;
    if sample.window >= windows {
        return Err(format!("window {} of {windows}, counted from 0", sample.window));
    }
    Ok(())
}

fn check_window(header: &Header, sample: &Sample) -> Result<(), String> {
    if sample.window_ns == 0 {
        return Err("a window without length".into());
    }
    if sample.window_ns < header.inputs.window_ns {
        return Err(format!(
            "a window of {} ns where none is shorter than {}",
            sample.window_ns, header.inputs.window_ns
        ));
    }
    match sample.start_ns.checked_add(sample.window_ns) {
        Some(_) => Ok(()),
        None => Err(format!("a window of {} ns ends before it begins", sample.window_ns)),
    }
}

fn check_loop(stream: &Stream, actor: &ActorSample) -> Result<(), String> {
    let ran = (&actor.kernel, &actor.variant);
    if ran != (&stream.kernel, &stream.variant) {
        return Err(format!(
            "{} in {} ran where {} in {} was planned",
            actor.kernel, actor.variant, stream.kernel, stream.variant
        ));
    }
    Ok(())
}

/// Sums and the counts that follow from each other.
fn check_counts(actor: &ActorSample) -> Result<(), String> {
    let useful = actor.useful_bytes;
    let sum: u128 = actor.threads.iter().map(|thread| u128::from(thread.useful_bytes)).sum();
    if sum != u128::from(useful) {
        return Err(format!("useful_bytes is {useful} but its threads' sum is {sum}"));
    }
    // Printed figures are no whole elements.
    if actor.accesses != useful / size_of::<f64>() as u64 {
        return Err(format!(
            "{} accesses of 8 bytes are not {useful} useful bytes",
            actor.accesses
        ));
    }
    let (min, max) = (actor.traffic_bytes_min, actor.traffic_bytes_max);
    if min > max {
        return Err("traffic_bytes_min is above traffic_bytes_max".into());
    }
    let most = useful.saturating_mul(2);
    let agrees = match actor.traffic_method {
        TrafficMethod::Nt => min == useful && max == useful,
        TrafficMethod::Allocate => min == max && (useful..=most).contains(&max),
        TrafficMethod::EvasionPossible => min == useful && max <= most,
        TrafficMethod::Counted => true,
    };
    if !agrees {
        return Err(format!(
            "traffic of {min} to {max} bytes does not follow from {useful} useful bytes by its \
             method"
        ));
    }
    Ok(())
}

fn check_cpus(known: &KnownParts, actor: &ActorSample) -> Result<(), String> {
    let seen = |actor: &ActorSample| -> Vec<u32> {
        let of_thread = actor.threads.iter().map(|thread| [thread.cpu_before, thread.cpu_after]);
        of_thread.flatten().flatten().collect()
    };
    match seen(actor).into_iter().find(|&cpu| !known.cpus.contains(cpu)) {
        Some(cpu) => Err(format!("a thread on CPU {cpu}, which {MAY_BE_NEW}")),
        None => Ok(()),
    }
}

/// What a thread moved in the window is within its passes, and within what a core can.
fn check_speed(stream: &Stream, actor: &ActorSample, window_ns: u64) -> Result<(), String> {
    let pass = u128::from(stream.working_set_bytes / u64::from(stream.threads.max(1)));
    for (number, thread) in actor.threads.iter().enumerate() {
        let bytes = u128::from(thread.useful_bytes);
        if thread.passes == 0 {
            return Err(format!("thread {number} was measured before its first pass was made"));
        }
        if bytes > (u128::from(thread.passes) + 1) * pass {
            return Err(format!(
                "thread {number} moved {bytes} bytes in {} passes of {pass}",
                thread.passes
            ));
        }
        if bytes * 1_000_000_000 > FASTEST_THREAD * u128::from(window_ns) {
            return Err(format!(
                "thread {number} moved {bytes} bytes in {window_ns} ns, which no core can"
            ));
        }
    }
    Ok(())
}

/// What the threads noted is said of the sample, and nothing else of that kind.
fn check_disturbances(case: &Case, sample: &Sample) -> Result<(), String> {
    let noted = disturbances_of_threads(case, &sample.actors, sample.window_ns);
    let said: Vec<&Disturbance> =
        sample.disturbances.iter().filter(|found| found.is_of_threads()).collect();
    if said != noted.iter().collect::<Vec<_>>() {
        return Err(format!(
            "disturbed by {}, while its threads noted {}",
            in_words(said),
            in_words(noted.iter().collect())
        ));
    }
    Ok(())
}

fn in_words(disturbances: Vec<&Disturbance>) -> String {
    let words: Vec<String> = disturbances
        .into_iter()
        .map(|disturbance| match disturbance {
            Disturbance::Switched { times, microseconds } => {
                format!("{times} switches ({microseconds} us)")
            }
            Disturbance::Moved { threads } => format!("{threads} moved threads"),
            Disturbance::Faulted { times } => format!("{times} page faults"),
            Disturbance::Stolen { microseconds } => format!("stolen time ({microseconds} us)"),
            Disturbance::Throttled { microseconds } => format!("a quota ({microseconds} us)"),
            Disturbance::Clock { microseconds } => format!("the clock ({microseconds} us)"),
        })
        .collect();
    if words.is_empty() { "nothing".into() } else { words.join(", ") }
}
