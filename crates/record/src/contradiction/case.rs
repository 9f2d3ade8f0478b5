//! Cases that no plan for the header's machine holds.

use nearfar_machine::{Core, CpuSet, Machine, MemoryPolicy, TransferDirection};

use super::coordinates::check_coordinates;
use super::history::KnownParts;
use crate::case::{Actor, Case, Chase, Pinning, Stream};
use crate::command::Command;
use crate::header::Header;
use crate::transfer::Transfer;

/// Above what any machine has CPUs for; sums over actors stay in range.
const MOST_THREADS: u64 = 1 << 20;

/// Says what in a case cannot be.
pub(super) fn check_case(header: &Header, known: &KnownParts, case: &Case) -> Result<(), String> {
    let of_case = |what: String| format!("the case {}: {what}", case.id);
    if case.actors.is_empty() {
        return Err(of_case("nothing moves data in it".into()));
    }
    for actor in &case.actors {
        check_actor(&header.machine, known, actor).map_err(of_case)?;
    }
    let cpus = case.actors.iter().flat_map(Actor::thread_cpus).copied();
    check_one_thread_each(cpus.collect()).map_err(of_case)?;
    if case.coordinates.is_empty() {
        return Err(of_case("it stands in no experiment".into()));
    }
    for coordinates in &case.coordinates {
        check_coordinates(header, known, coordinates, case).map_err(of_case)?;
    }
    Ok(())
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
    let cpus = actor.cpus();
    check_allowed(machine, cpus)?;
    if let Some(multiple) = actor.llc_multiple().filter(|&multiple| multiple <= 0.0) {
        return Err(format!("a working set of {multiple} times the caches"));
    }
    if let Some(policy) = actor.memory() {
        check_policy(known, policy)?;
    }
    check_thread_cpus(actor, cpus)?;
    match actor {
        Actor::Stream(stream) => check_stream(machine, known, stream),
        Actor::Chase(chase) => check_chase(chase),
        Actor::Transfer(transfer) => check_transfer(transfer),
        Actor::Compute(_) | Actor::Command(_) => Ok(()),
    }
}

/// A transfer is between a device and the host, or between two devices.
fn check_transfer(transfer: &Transfer) -> Result<(), String> {
    let between_devices = transfer.direction == TransferDirection::ToPeer;
    if transfer.device.is_empty() || transfer.bytes == 0 {
        return Err("a transfer of nothing, or of a device without a name".into());
    }
    if transfer.peer.is_some() != between_devices
        || transfer.host_memory.is_none() != between_devices
    {
        return Err(format!("a transfer {} with other ends than that", transfer.direction));
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

fn check_stream(machine: &Machine, known: &KnownParts, stream: &Stream) -> Result<(), String> {
    if let Some(policy) = &stream.write_memory {
        check_policy(known, policy)?;
        if *policy == stream.binding.memory {
            return Err(format!("a written array of its own with the same mem={policy}"));
        }
    }
    if stream.pinning != Pinning::OnePerCore {
        return Ok(());
    }
    let used: CpuSet = stream.thread_cpus.iter().copied().collect();
    let on_core = |core: &Core| core.cpus.iter().filter(|&cpu| used.contains(cpu)).count();
    match machine.cores.iter().find(|core| on_core(core) > 1) {
        Some(core) => Err(format!("one thread a core, and several on the core of {}", core.cpus)),
        None => Ok(()),
    }
}

fn check_policy(known: &KnownParts, policy: &MemoryPolicy) -> Result<(), String> {
    match policy.nodes() {
        Some(nodes) if nodes.is_empty() || !nodes.is_subset(&known.nodes) => {
            Err(format!("its memory nodes {nodes} are not among the machine's, {}", known.nodes))
        }
        _ => Ok(()),
    }
}

fn check_chase(chase: &Chase) -> Result<(), String> {
    let (set, group) = (chase.working_set_bytes, chase.group_bytes);
    if set < Chase::NODE_BYTES || group < Chase::NODE_BYTES || group > set {
        return Err(format!("a chase through {set} bytes in groups of {group}"));
    }
    Ok(())
}

fn check_thread_cpus(actor: &Actor, allowed: &CpuSet) -> Result<(), String> {
    let cpus = actor.thread_cpus();
    let wanted = if actor.is_pinned() { actor.threads() as usize } else { 0 };
    if cpus.len() != wanted {
        return Err(format!("{} CPUs of threads where there are {wanted}", cpus.len()));
    }
    if let Some(outside) = cpus.iter().find(|&&cpu| !allowed.contains(cpu)) {
        return Err(format!("a thread's CPU {outside} is outside of {allowed}"));
    }
    Ok(())
}

fn check_one_thread_each(mut cpus: Vec<u32>) -> Result<(), String> {
    cpus.sort_unstable();
    match cpus.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two threads on CPU {}", pair[0])),
        None => Ok(()),
    }
}
