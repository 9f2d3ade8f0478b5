//! Watches a program: where its memory is, where it runs, how much it moves.
//!
//! Threads and pages are looked at from outside, by `/proc` ([`looking`]); nothing is loaded into
//! the program. Its accesses are not seen: [`access`] takes every page for equally hot. What it
//! moves and computes is counted by the CPU's counters where the kernel allows ([`counting`]), by
//! those alone that counted work of ours right before ([`calibration`]).

mod access;
mod calibration;
mod counting;
mod events;
mod figures;
mod known_work;
mod looking;
mod own_threads;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use nearfar_machine::Machine;
use nearfar_record::{
    CountedQuantity, Cpu, PROFILE_SCHEMA, Profile, ProfiledInitiator, ProfiledProgram, ProgramEnd,
};
use nearfar_sys::{
    AwaitedSignals, Change, Refusal, children_cpu_time, next_change_of, start_as_this_was_started,
};

use self::counting::Counting;
pub use self::counting::ProgramCounters;
use self::looking::Looking;
pub use self::own_threads::OwnThreads;
use crate::job::{Job, await_signals};
use crate::program_memory::total;

/// Until the next question whether a program that cannot be looked at has ended.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a profile says besides what is seen.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileOrigin<'a> {
    /// Version of this program.
    pub nearfar: &'a str,
    /// Name of the host.
    pub host: String,
    /// Now, UTC, RFC 3339.
    pub started: String,
    pub machine: &'a Machine,
    pub cpu: Cpu,
}

/// Starts a program and watches it until it ends, with its children as long as it lives. Signals
/// that are sent to this process meanwhile are handed on.
///
/// # Errors
/// When the program cannot be started.
pub fn profile_program(
    command: &mut Command,
    origin: &ProfileOrigin<'_>,
) -> io::Result<(Profile, ExitStatus)> {
    let counting = try_out(origin).count_started();
    let used_before = children_cpu_time().unwrap_or_default();
    let awaited = await_signals().map_err(io::Error::other)?;
    start_as_this_was_started(command, Some(&awaited));
    let begun = Instant::now();
    let pid = command.spawn()?.id();
    let mut looking = Looking::new(Path::new("/"), pid, origin.machine, true);
    let mut job = Job::new(pid, &awaited);
    let status = loop {
        match next_change_of(pid).map_err(io::Error::other)? {
            Some(Change::Ended { status, .. }) => break ExitStatus::from_raw(status),
            Some(Change::Stopped { signal, .. }) => job.program_stopped(signal),
            _ => {
                let interval = looking.look().unwrap_or(PATIENCE);
                job.wait(interval);
            }
        }
    };
    let wall_seconds = begun.elapsed().as_secs_f64();
    let used = children_cpu_time().map(|used| used.saturating_sub(used_before));
    let program = ProfiledProgram {
        name: program_name(command, &looking),
        pid,
        attached: false,
        end: end_of(status),
    };
    let mut profile = profile(origin, program, looking, counting, wall_seconds);
    // Nothing after the last look is missing in it, and no ticks are rounded.
    if let Ok(used) = used {
        profile.cpu_seconds = used.as_secs_f64();
    }
    Ok((profile, status))
}

/// Watches a running process until it ends, the time is over, or this process is told to end by
/// SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// When there is no such process, or it cannot be looked at.
pub fn profile_process(
    pid: u32,
    origin: &ProfileOrigin<'_>,
    limit: Option<Duration>,
) -> Result<Profile, Refusal> {
    nearfar_sys::tasks(Path::new("/"), pid)?;
    let counters = try_out(origin);
    let awaited = AwaitedSignals::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP])?;
    let mut looking = Looking::new(Path::new("/"), pid, origin.machine, false);
    let counting = counters.count_threads(&looking.threads_now());
    let mut wall_seconds = 0.0;
    while let Some(interval) = looking.look() {
        wall_seconds = looking.seconds();
        let left = limit.map(|limit| limit.saturating_sub(looking.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        let is_told = awaited.next(left.map_or(interval, |left| left.min(interval))).is_some();
        if is_told {
            looking.look();
            wall_seconds = looking.seconds();
            break;
        }
    }
    let name = looking.name.clone().unwrap_or_else(|| pid.to_string());
    let program = ProfiledProgram { name, pid, attached: true, end: None };
    Ok(profile(origin, program, looking, counting, wall_seconds))
}

fn try_out(origin: &ProfileOrigin<'_>) -> ProgramCounters {
    ProgramCounters::try_out(origin.machine, &origin.cpu, &CountedQuantity::ALL)
}

/// What was started, by its file's name: what was seen may be a shell or a thread that named itself.
fn program_name(command: &Command, looking: &Looking) -> String {
    let named = Path::new(command.get_program()).file_name();
    let named = named.map(|name| name.to_string_lossy().into_owned());
    named.or_else(|| looking.name.clone()).unwrap_or_default()
}

fn end_of(status: ExitStatus) -> Option<ProgramEnd> {
    let exited = status.code().map(ProgramEnd::Exited);
    exited.or_else(|| status.signal().map(ProgramEnd::Signalled))
}

fn profile(
    origin: &ProfileOrigin<'_>,
    program: ProfiledProgram,
    looking: Looking,
    counting: Counting,
    wall_seconds: f64,
) -> Profile {
    let machine = origin.machine;
    let initiators: Vec<ProfiledInitiator> = machine
        .initiators()
        .into_iter()
        .map(|initiator| ProfiledInitiator {
            index: initiator.index,
            cpus: initiator.cpus,
            cpu_node: initiator.cpu_node,
            memory_nodes: initiator.memory_nodes.iter().collect(),
        })
        .collect();
    let counters = counting.read();
    let figures = figures::figures(&counters, wall_seconds, machine.nodes.len() == 1);
    let no_pages = looking.no_pages.clone();
    let access = access::access_shares(&looking.looks, &initiators)
        .map_err(|why| no_pages.map_or_else(|| why.clone(), |refusal| format!("{why}: {refusal}")));
    let looks = &looking.looks;
    Profile {
        schema: PROFILE_SCHEMA.into(),
        nearfar: origin.nearfar.into(),
        host: origin.host.clone(),
        started: origin.started.clone(),
        notes: notes(&looking, &program),
        program,
        cpu: origin.cpu.clone(),
        initiators,
        wall_seconds,
        cpu_seconds: looks.iter().flat_map(|look| look.cpu_seconds.values()).sum(),
        most_threads: looks.iter().map(|look| look.threads).max().unwrap_or(0),
        most_bytes: looks.iter().filter_map(|look| look.bytes.as_ref().map(total)).max(),
        access_unknown: access.as_ref().err().cloned(),
        access: access.ok(),
        classes: None,
        counters,
        figures,
        looks: looking.looks,
    }
}

fn notes(looking: &Looking, program: &ProfiledProgram) -> Vec<String> {
    let mut notes = Vec::new();
    if looking.looks.len() < 2 && !program.attached {
        notes.push("it ended before it could be looked at twice".into());
    }
    if !looking.lost_threads.is_empty() {
        notes.push(format!(
            "{} threads ran on CPUs that belong to no initiator; their time is in no share",
            looking.lost_threads.len()
        ));
    }
    if !looking.sees_children {
        notes.push(
            "this kernel does not tell of children (CONFIG_PROC_CHILDREN): threads and pages are of \
             the first process alone"
                .into(),
        );
    }
    if looking.looks.iter().any(|look| look.processes > 1) {
        notes.push("pages that several of its processes share count for each of them".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with all CPUs that there can be here, and one node.
    pub(super) fn all_cpus() -> Machine {
        let last = nearfar_sys::thread_cpus().unwrap().last().unwrap();
        let text = format!("pack:1 [numa] core:{} pu:1", last + 1);
        nearfar_topology::parse_synthetic(&text).unwrap()
    }

    fn origin(machine: &Machine) -> ProfileOrigin<'_> {
        ProfileOrigin {
            nearfar: "0",
            host: "here".into(),
            started: "2025-03-01T12:00:00Z".into(),
            machine,
            cpu: Cpu::default(),
        }
    }

    #[test]
    fn a_program_and_its_child_are_watched_to_their_end() {
        let machine = all_cpus();
        let mut command = Command::new("sh");
        // A child that works for longer than a few ticks.
        command.args(["-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; exit 5"]);
        let (profile, status) = profile_program(&mut command, &origin(&machine)).unwrap();
        assert_eq!(status.code(), Some(5));
        assert_eq!(profile.program.end, Some(ProgramEnd::Exited(5)));
        assert_eq!(profile.program.name, "sh");
        assert!(profile.looks.len() > 1 && profile.most_threads >= 1);
        assert!(profile.wall_seconds > 0.0);
        // Read again by the reader, which refuses what contradicts itself.
        let text = serde_json::to_vec(&profile).unwrap();
        assert_eq!(nearfar_record::read_profile(text.as_slice()).unwrap(), profile);
        assert!(profile.cpu_seconds > 0.0);
        if let Some(access) = profile.access {
            assert!((access.local_share - 1.0).abs() < 1e-9, "{access:?}");
        }
    }

    #[test]
    fn what_cannot_be_started_is_said_and_a_signal_is_told() {
        let machine = all_cpus();
        let missing = profile_program(&mut Command::new("/no/such/program"), &origin(&machine));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        let mut command = Command::new("sh");
        command.args(["-c", "kill -9 $$"]);
        let (profile, _) = profile_program(&mut command, &origin(&machine)).unwrap();
        assert_eq!(profile.program.end, Some(ProgramEnd::Signalled(9)));
    }

    #[test]
    fn a_running_process_is_watched_until_it_is_enough() {
        let machine = all_cpus();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let limit = Some(Duration::from_millis(50));
        let profile = profile_process(child.id(), &origin(&machine), limit).unwrap();
        assert!(profile.program.attached && profile.program.end.is_none());
        assert_eq!(profile.program.name, "sleep");
        assert!(profile.looks.len() >= 2 && profile.most_bytes.is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = profile_process(child.id(), &origin(&machine), limit);
        assert!(gone.is_err());
    }

    #[test]
    fn every_quantity_is_told_of_with_a_count_or_the_reason() {
        let machine = all_cpus();
        let (profile, _) = profile_program(&mut Command::new("true"), &origin(&machine)).unwrap();
        assert_eq!(profile.counters.len(), nearfar_record::CountedQuantity::ALL.len());
        for counter in &profile.counters {
            assert_ne!(counter.count.is_some(), counter.unavailable.is_some(), "{counter:?}");
        }
        assert!(profile.figures.arithmetic_flops_per_byte.is_none());
    }
}
