//! Cases without sense, or with parts that the header's machine does not have. That their actors
//! are those that a plan puts where their coordinates are is the planner's to say.

use nearfar_machine::{CpuSet, Machine, MemoryPolicy};

use super::history::KnownParts;
use crate::case::{Actor, Case, Chase};
use crate::command::Command;
use crate::exchange::Exchange;
use crate::header::{Header, Inputs};
use crate::messages::Messages;
use crate::transfer::Transfer;

/// Above what any machine has CPUs for; sums over actors stay in range.
const MOST_THREADS: u64 = 1 << 20;

/// Says what in a case cannot be.
pub(super) fn check_case(
    header: &Header,
    inputs: &Inputs,
    known: &KnownParts,
    case: &Case,
) -> Result<(), String> {
    let of_case = |what: String| format!("the case {}: {what}", case.id);
    if case.actors.is_empty() {
        return Err(of_case("nothing moves data in it".into()));
    }
    for actor in &case.actors {
        check_actor(&header.machine, known, actor).map_err(of_case)?;
    }
    check_beside_program(case).map_err(of_case)?;
    let cpus = case.actors.iter().flat_map(Actor::thread_cpus).copied();
    check_one_thread_each(cpus.collect()).map_err(of_case)?;
    if case.coordinates.is_empty() {
        return Err(of_case("it stands in no experiment".into()));
    }
    let experiments = case.coordinates.iter().map(|coordinates| coordinates.experiment());
    match experiments.into_iter().find(|it| !inputs.experiments.contains(it)) {
        Some(experiment) => Err(of_case(format!("it is of {experiment}, which is not measured"))),
        None => Ok(()),
    }
}

/// Beside a program, which is the last actor, there are streams alone, on other CPUs.
fn check_beside_program(case: &Case) -> Result<(), String> {
    let Some((Actor::Command(command), streams)) = case.actors.split_last() else {
        let is_program = |actor: &Actor| matches!(actor, Actor::Command(_));
        return match case.actors.iter().any(is_program) {
            true => Err("a program that is not its last actor".into()),
            false => Ok(()),
        };
    };
    if streams.iter().any(|actor| actor.as_stream().is_none()) {
        return Err("beside its program is something else than streams".into());
    }
    match streams.iter().flat_map(Actor::thread_cpus).find(|&&it| command.binding.cpus.contains(it))
    {
        Some(cpu) => Err(format!("a stream and its program share CPU {cpu}")),
        None => Ok(()),
    }
}

fn check_actor(machine: &Machine, known: &KnownParts, actor: &Actor) -> Result<(), String> {
    if let Actor::Command(command) = actor {
        return check_command(machine, known, command);
    }
    let moves = !matches!(actor, Actor::Compute(_));
    if actor.threads() == 0 || (moves && actor.working_set_bytes() == 0) {
        return Err(format!(
            "{} threads on a working set of {} bytes",
            actor.threads(),
            actor.working_set_bytes()
        ));
    }
    if u64::from(actor.threads()) > MOST_THREADS {
        return Err(format!("{} threads of one actor", actor.threads()));
    }
    check_allowed(machine, actor.cpus())?;
    if let Some(multiple) = actor.llc_multiple().filter(|&multiple| multiple <= 0.0) {
        return Err(format!("a working set of {multiple} times the caches"));
    }
    let written = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
    for policy in actor.memory().into_iter().chain(written) {
        check_policy(known, policy)?;
    }
    check_thread_cpus(actor)?;
    match actor {
        Actor::Chase(chase) => check_chase(chase),
        Actor::Exchange(exchange) => check_exchange(exchange),
        Actor::Transfer(transfer) => check_transfer(transfer),
        Actor::Messages(messages) => check_messages(messages),
        Actor::Stream(_) | Actor::Compute(_) | Actor::Command(_) | Actor::Workload(_) => Ok(()),
    }
}

fn check_transfer(transfer: &Transfer) -> Result<(), String> {
    if transfer.device.is_empty() || transfer.bytes == 0 {
        return Err("a transfer of nothing, or of a device without a name".into());
    }
    Ok(())
}

fn check_messages(messages: &Messages) -> Result<(), String> {
    let (message, buffer) = (messages.message_bytes, messages.buffer_bytes);
    if message == 0 || buffer / messages.way.ways() < message {
        return Err(format!("messages of {message} bytes from a buffer of {buffer}"));
    }
    Ok(())
}

fn check_command(machine: &Machine, known: &KnownParts, command: &Command) -> Result<(), String> {
    if command.label.is_empty() || command.program.is_empty() {
        return Err("a program without a name".into());
    }
    check_allowed(machine, &command.binding.cpus)?;
    check_policy(known, &command.binding.memory)
}

fn check_allowed(machine: &Machine, cpus: &CpuSet) -> Result<(), String> {
    if !cpus.is_empty() && cpus.is_subset(&machine.allowed_cpus) {
        return Ok(());
    }
    Err(format!("its CPUs {cpus} are not among those that could be used, {}", machine.allowed_cpus))
}

fn check_policy(known: &KnownParts, policy: &MemoryPolicy) -> Result<(), String> {
    match policy.nodes() {
        Some(nodes) if nodes.is_empty() || !nodes.is_subset(&known.nodes) => {
            Err(format!("its memory nodes {nodes} are not among the machine's, {}", known.nodes))
        }
        _ => Ok(()),
    }
}

fn check_exchange(exchange: &Exchange) -> Result<(), String> {
    match exchange.thread_cpus.as_slice() {
        [first, second] if first != second => Ok(()),
        cpus => Err(format!("a line that the CPUs {cpus:?} hand to each other")),
    }
}

fn check_chase(chase: &Chase) -> Result<(), String> {
    let (set, group) = (chase.working_set_bytes, chase.group_bytes);
    if set < Chase::NODE_BYTES || group < Chase::NODE_BYTES || group > set {
        return Err(format!("a chase through {set} bytes in groups of {group}"));
    }
    Ok(())
}

fn check_thread_cpus(actor: &Actor) -> Result<(), String> {
    let cpus = actor.thread_cpus();
    let wanted = if actor.is_pinned() { actor.threads() as usize } else { 0 };
    if cpus.len() != wanted {
        return Err(format!("{} CPUs of threads where there are {wanted}", cpus.len()));
    }
    match cpus.iter().find(|&&cpu| !actor.cpus().contains(cpu)) {
        Some(outside) => Err(format!("a thread's CPU {outside} is outside of {}", actor.cpus())),
        None => Ok(()),
    }
}

fn check_one_thread_each(mut cpus: Vec<u32>) -> Result<(), String> {
    cpus.sort_unstable();
    match cpus.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two threads on CPU {}", pair[0])),
        None => Ok(()),
    }
}
