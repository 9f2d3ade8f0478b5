//! Samples whose figures contradict each other, their case or the header.

use crate::case::{Actor, Case, Chase};
use crate::disturbance::{Disturbance, disturbances_of_threads};
use crate::exchange::Exchange;
use crate::header::{Executor, Header, Inputs};
use crate::messages::{MessageDirection, MessageSample, Messages};
use crate::sample::{ActorSample, PageSizes, Sample, TrafficMethod};
use crate::transfer::{Transfer, TransferSample};

use super::command::check_run;
use super::history::KnownParts;
use super::placement::{MAY_BE_NEW, check_cover, check_page_sizes, check_proof};
use super::workload::check_workload;

/// No core moves more bytes/s than this, not even within its first cache: four vectors of
/// 64 bytes in each of 8e9 cycles. (In 2026 cores load two and store one, below 7e9.)
const FASTEST_THREAD: u128 = 2_048_000_000_000;

/// No core does more operations a second: four vectors of 16 fused multiply-adds in each of
/// 8e9 cycles.
const FASTEST_COMPUTE: u128 = 1_024_000_000_000;

/// No chase asks for more bytes/s: 8 in a quarter of a nanosecond. (Within the first cache an
/// access takes at least three cycles.)
const FASTEST_CHASE: u128 = 32_000_000_000;

/// Above every clock, GHz.
const FASTEST_CLOCK: f64 = 20.0;

/// What an access of a chase fetches.
const LINE_BYTES: u64 = 64;

/// Says what in a sample of this case cannot be.
pub(super) fn check_sample(
    header: &Header,
    inputs: &Inputs,
    known: &KnownParts,
    case: &Case,
    sample: &Sample,
) -> Result<(), String> {
    check_place(inputs, case, sample)?;
    check_window(inputs, case, sample)?;
    if let Some(workload) = case.workload() {
        return check_workload(header, known, workload, sample);
    }
    if sample.workload.is_some() {
        return Err("a run of a workload in a case that has none".into());
    }
    let Some(command) = case.command() else {
        if sample.run.is_some() {
            return Err("a run of a program in a case that has none".into());
        }
        check_actors(header, known, &case.actors, (&sample.actors, sample.window_ns))?;
        // A thread that had no CPU near a window's edge leaves the other ahead by what the line went before.
        if !sample.is_disturbed() {
            check_hand_overs(&case.actors, sample)?;
        }
        if header.executor == Executor::Native {
            check_disturbances(case, sample)?;
        }
        return Ok(());
    };
    let streams = &case.actors[..case.actors.len() - 1];
    check_run(header, known, (command, streams), sample)?;
    check_actors(header, known, streams, (&sample.actors, sample.window_ns))?;
    let before = sample.run.as_ref().and_then(|run| run.before.as_ref());
    before.map_or(Ok(()), |it| check_actors(header, known, streams, (&it.actors, it.window_ns)))
}

/// What threads of our own did in a window.
fn check_actors(
    header: &Header,
    known: &KnownParts,
    planned: &[Actor],
    (seen, window_ns): (&[ActorSample], u64),
) -> Result<(), String> {
    let threads: Vec<usize> = seen.iter().map(|actor| actor.threads.len()).collect();
    let of_case: Vec<usize> = planned.iter().map(|actor| actor.threads() as usize).collect();
    if threads != of_case {
        return Err(format!("the sample's threads {threads:?} are not the case's {of_case:?}"));
    }
    for (actor, seen) in planned.iter().zip(seen) {
        check_loop(actor, seen)?;
        check_counts(seen)?;
        check_work(actor, seen)?;
        check_cpus(known, seen)?;
        check_clocks(seen)?;
        check_proofs(header, known, actor, seen)?;
        check_page_sizes(seen.page_sizes)?;
        if header.executor == Executor::Native {
            check_speed(actor, seen, window_ns)?;
        }
    }
    Ok(())
}

/// The round and the window are among those that were asked for.
fn check_place(inputs: &Inputs, case: &Case, sample: &Sample) -> Result<(), String> {
    let Some(rounds) = case.rounds(inputs) else {
        return Err(format!("a sample of the case {}, which stands in no experiment", case.id));
    };
    if sample.round >= rounds.most {
        return Err(format!("round {} of {}, counted from 0", sample.round, rounds.most));
    }
    if sample.window >= rounds.windows {
        return Err(format!("window {} of {}, counted from 0", sample.window, rounds.windows));
    }
    Ok(())
}

fn check_window(inputs: &Inputs, case: &Case, sample: &Sample) -> Result<(), String> {
    if sample.window_ns == 0 {
        return Err("a window without length".into());
    }
    // A workload takes as long as it takes.
    if sample.window_ns < inputs.window_ns && case.workload().is_none() {
        return Err(format!(
            "a window of {} ns where none is shorter than {}",
            sample.window_ns, inputs.window_ns
        ));
    }
    match sample.start_ns.checked_add(sample.window_ns) {
        Some(_) => Ok(()),
        None => Err(format!("a window of {} ns ends before it begins", sample.window_ns)),
    }
}

fn check_loop(planned: &Actor, actor: &ActorSample) -> Result<(), String> {
    if (actor.kernel.as_str(), actor.variant.as_str()) != (planned.kernel(), planned.variant()) {
        return Err(format!(
            "{} in {} ran where {} in {} was planned",
            actor.kernel,
            actor.variant,
            planned.kernel(),
            planned.variant()
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
    let flops: u128 = actor.threads.iter().map(|thread| u128::from(thread.flops)).sum();
    if flops != u128::from(actor.flops) {
        return Err(format!("flops is {} but its threads' sum is {flops}", actor.flops));
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
        TrafficMethod::Lines => min == max && max == actor.accesses.saturating_mul(LINE_BYTES),
        TrafficMethod::Cached => {
            min == 0 && max <= most.max(actor.accesses.saturating_mul(LINE_BYTES))
        }
        TrafficMethod::Allocate => min == max && (useful..=most).contains(&max),
        TrafficMethod::EvasionPossible => min == useful && max <= most,
        TrafficMethod::Device => {
            min == 0 && max <= useful.saturating_mul(ActorSample::MOST_DEVICE_TRAFFIC)
        }
        TrafficMethod::Network => {
            min == 0 && max <= useful.saturating_mul(ActorSample::MOST_NETWORK_TRAFFIC)
        }
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

/// An actor of a kind does what that kind does, and nothing else.
fn check_work(planned: &Actor, actor: &ActorSample) -> Result<(), String> {
    use TrafficMethod::{Cached, Counted};
    let by_lines = actor.traffic_method == TrafficMethod::Lines;
    let is_transfer = matches!(planned, Actor::Transfer(_));
    if is_transfer != (actor.traffic_method == TrafficMethod::Device) {
        return Err("traffic of a device where none copies, or the other way round".into());
    }
    if is_transfer != actor.transfer.is_some() {
        return Err("copies where no device makes any, or the other way round".into());
    }
    let sends = matches!(planned, Actor::Messages(_));
    if sends != (actor.traffic_method == TrafficMethod::Network)
        || sends != actor.messages.is_some()
    {
        return Err("messages where none are sent, or the other way round".into());
    }
    match planned {
        Actor::Stream(_) if by_lines => Err("a stream's traffic, counted by its accesses".into()),
        Actor::Stream(_) if actor.flops > 0 && actor.accesses == 0 => {
            Err(format!("{} operations on nothing", actor.flops))
        }
        Actor::Chase(_) if !by_lines && !matches!(actor.traffic_method, Cached | Counted) => {
            Err("a chase's traffic, and not a line for each access".into())
        }
        Actor::Chase(_) if actor.flops > 0 => Err(format!("{} operations of a chase", actor.flops)),
        Actor::Exchange(_) if actor.traffic_method != Cached || actor.flops > 0 => {
            Err("an exchanged line that is not of the caches, or with operations".into())
        }
        Actor::Compute(_) if actor.useful_bytes > 0 || actor.traffic_bytes_max > 0 => {
            Err("bytes of an actor that touches no memory".into())
        }
        Actor::Compute(_) if actor.page_sizes != PageSizes::default() => {
            Err("pages of an actor that touches no memory".into())
        }
        Actor::Transfer(_) if actor.flops > 0 => {
            Err(format!("{} operations of a transfer", actor.flops))
        }
        Actor::Transfer(transfer) => check_copies(transfer, actor),
        Actor::Messages(_) if actor.flops > 0 => {
            Err(format!("{} operations of messages", actor.flops))
        }
        Actor::Messages(messages) => check_messages(messages, actor),
        Actor::Stream(_)
        | Actor::Chase(_)
        | Actor::Exchange(_)
        | Actor::Compute(_)
        | Actor::Command(_)
        | Actor::Workload(_) => Ok(()),
    }
}

/// Two threads hand the line over in turn: neither can be ahead of the other by more than the
/// window's edges make of it, at which each looks after a block of its own.
fn check_hand_overs(planned: &[Actor], sample: &Sample) -> Result<(), String> {
    let exchanges = planned.iter().zip(&sample.actors);
    for (_, actor) in exchanges.filter(|(planned, _)| matches!(planned, Actor::Exchange(_))) {
        let [first, second] = actor.threads.as_slice() else {
            return Err(format!("{} threads that hand a line to each other", actor.threads.len()));
        };
        let (most, least) = (first.passes.max(second.passes), first.passes.min(second.passes));
        if least < most / 2 {
            return Err(format!("{most} hand-overs one way and {least} the other"));
        }
    }
    Ok(())
}

/// What was seen of a transfer is of copies of its size.
fn check_copies(planned: &Transfer, actor: &ActorSample) -> Result<(), String> {
    match actor.transfer {
        Some(seen) if seen.copy_bytes != planned.memory_bytes() => Err(format!(
            "copies of {} bytes where those of {} were planned",
            seen.copy_bytes,
            planned.memory_bytes()
        )),
        Some(TransferSample { copies: 0, device_ns: Some(ns), .. }) if ns > 0 => {
            Err(format!("{ns} ns of a device for no copy"))
        }
        _ => Ok(()),
    }
}

/// What was seen of messages is of their size, and of a way that they go.
fn check_messages(planned: &Messages, actor: &ActorSample) -> Result<(), String> {
    match actor.messages {
        Some(MessageSample { message_bytes, .. }) if message_bytes != planned.message_bytes => {
            Err(format!(
                "messages of {message_bytes} bytes where those of {} were planned",
                planned.message_bytes
            ))
        }
        Some(MessageSample { without_copy, .. })
            if without_copy.is_some() != (planned.way == MessageDirection::SendWithoutCopy) =>
        {
            Err("sends without a copy where none are made, or the other way round".into())
        }
        Some(MessageSample { without_copy: Some(seen), .. }) if seen.copied > seen.sends => {
            Err(format!("{} copies of {} sends", seen.copied, seen.sends))
        }
        _ => Ok(()),
    }
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

fn check_clocks(actor: &ActorSample) -> Result<(), String> {
    let absurd = |ghz: &f64| !(*ghz > 0.0 && *ghz < FASTEST_CLOCK);
    match actor.threads.iter().filter_map(|thread| thread.core_ghz).find(absurd) {
        Some(ghz) => Err(format!("a core at {ghz} GHz")),
        None => Ok(()),
    }
}

/// There is a proof for what an actor has in memory, and none for what it has not.
fn check_proofs(
    header: &Header,
    known: &KnownParts,
    planned: &Actor,
    actor: &ActorSample,
) -> Result<(), String> {
    let written = planned.as_stream().and_then(|stream| stream.write_memory.as_ref());
    let memories = [
        (planned.memory(), &actor.proof, "its pages"),
        (written, &actor.write_proof, "the pages of its written array"),
    ];
    for (policy, proof, what) in memories {
        match (policy, proof) {
            (Some(policy), Some(proof)) => check_proof(header, known, planned, policy, proof)?,
            (Some(_), None) => return Err(format!("nothing proves where {what} were")),
            (None, Some(_)) => return Err(format!("{what} are proven where there are none")),
            (None, None) => {}
        }
    }
    check_cover(planned, actor)
}

/// Bytes that a thread moves in a pass.
pub(super) fn pass_bytes(actor: &Actor) -> u64 {
    match actor {
        Actor::Stream(stream) => stream.working_set_bytes / u64::from(stream.threads.max(1)),
        Actor::Chase(chase) => chase.working_set_bytes / Chase::NODE_BYTES * 8,
        Actor::Exchange(_) => Exchange::HAND_OVER_BYTES,
        Actor::Transfer(transfer) => transfer.memory_bytes(),
        Actor::Messages(messages) => messages.counted_bytes(),
        Actor::Compute(_) | Actor::Command(_) | Actor::Workload(_) => 0,
    }
}

/// What a thread did in the window is within its passes, and within what a core can.
fn check_speed(planned: &Actor, actor: &ActorSample, window_ns: u64) -> Result<(), String> {
    let pass = u128::from(pass_bytes(planned));
    let fastest = if matches!(planned, Actor::Chase(_)) { FASTEST_CHASE } else { FASTEST_THREAD };
    let is_warm_early = matches!(planned, Actor::Chase(chase) if chase.is_beyond_caches());
    let can = |work: u128, fastest: u128| work * 1_000_000_000 <= fastest * u128::from(window_ns);
    for (number, thread) in actor.threads.iter().enumerate() {
        let bytes = u128::from(thread.useful_bytes);
        if thread.passes == 0 && !is_warm_early {
            return Err(format!("thread {number} was measured before its first pass was made"));
        }
        if bytes > (u128::from(thread.passes) + 1) * pass {
            return Err(format!(
                "thread {number} moved {bytes} bytes in {} passes of {pass}",
                thread.passes
            ));
        }
        if !can(bytes, fastest) {
            return Err(format!(
                "thread {number} moved {bytes} bytes in {window_ns} ns, which no core can"
            ));
        }
        if !can(u128::from(thread.flops), FASTEST_COMPUTE) {
            return Err(format!(
                "thread {number} did {} operations in {window_ns} ns, which no core can",
                thread.flops
            ));
        }
    }
    Ok(())
}

/// What the threads noted is said of the sample, and nothing else of that kind.
fn check_disturbances(case: &Case, sample: &Sample) -> Result<(), String> {
    if sample.workload.is_some() {
        // What its threads noted is not in it.
        return Ok(());
    }
    let noted = disturbances_of_threads(case, &sample.actors, sample.window_ns);
    let said: Vec<&Disturbance> =
        sample.disturbances.iter().filter(|found| found.is_of_threads()).collect();
    if said != noted.iter().collect::<Vec<_>>() {
        return Err("what disturbed it is not what its threads noted".into());
    }
    Ok(())
}
