//! What of a workload's timed part the last-level cache missed: by counters where they count, else by
//! another run of it below Valgrind.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use nearfar_machine::Machine;
use nearfar_measure::read_environment;
use nearfar_place::{OwnThreads, ProgramCounters};
use nearfar_record::{CountedQuantity, ProfileCounter};
use nearfar_workloads::{
    Clock, LastLevelCounts, LastLevelMisses, MissSource, PhaseMisses, Workload, counts_of,
    simulating,
};

use crate::args::WorkloadArguments;

const QUANTITIES: [CountedQuantity; 2] = [CountedQuantity::LlcRequests, CountedQuantity::LlcMisses];

/// Counters of the timed part of a run.
pub struct Counted(Arc<Mutex<OwnThreads>>);

impl Counted {
    /// Those of this machine that are believed.
    pub fn try_out(machine: &Machine) -> Self {
        let cpu = read_environment(std::path::Path::new("/")).cpu;
        let counters = ProgramCounters::try_out(machine, &cpu, &QUANTITIES);
        Self(Arc::new(Mutex::new(OwnThreads::new(counters))))
    }

    /// A clock that has them count what it takes.
    pub fn clock(&self) -> Clock {
        let threads = Arc::clone(&self.0);
        Clock::watched(move |is_timed| {
            let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
            if is_timed { threads.begin() } else { threads.end() }
        })
    }

    /// What was counted, or why it was not.
    pub fn misses(&self) -> Result<LastLevelMisses, String> {
        let threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |quantity| {
            let counter = threads.counted().iter().find(|it| it.quantity == quantity);
            counter.ok_or_else(|| "this CPU has no known counters of its last level".to_owned())
        };
        let (accesses, misses) = (of(QUANTITIES[0])?, of(QUANTITIES[1])?);
        let count = |of: &ProfileCounter| {
            of.count.ok_or_else(|| of.unavailable.clone().unwrap_or_default())
        };
        let events = [&accesses.events[..], &misses.events[..]].concat();
        let by = MissSource::Counted { events };
        Ok(LastLevelMisses::new(by, count(accesses)?, count(misses)?, Vec::new()))
    }
}

/// Runs the workload again, below a last level of this many bytes.
pub fn simulate(
    workload: Workload,
    arguments: &WorkloadArguments,
    cache_bytes: Option<u64>,
    not_counted: String,
) -> Result<LastLevelMisses, String> {
    let unknown = |why: String| format!("not counted ({not_counted}); not simulated: {why}");
    let cache_bytes =
        cache_bytes.ok_or_else(|| unknown("this machine's caches are unknown".into()))?;
    let phases = phases_below(workload, arguments, cache_bytes).map_err(unknown)?;
    let sum = |of: fn(&LastLevelCounts) -> u64| -> f64 {
        phases.iter().map(|phase| of(&phase.counts)).sum::<u64>() as f64
    };
    let (accesses, misses) = (sum(|it| it.accesses), sum(|it| it.misses));
    let by = MissSource::Simulated { cache_bytes, not_counted };
    Ok(LastLevelMisses::new(by, accesses, misses, phases))
}

fn phases_below(
    workload: Workload,
    arguments: &WorkloadArguments,
    cache_bytes: u64,
) -> Result<Vec<PhaseMisses>, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("only the runs of x86-64 tell Valgrind what is timed".into());
    }
    let words = |error: io::Error| error.to_string();
    let counts = std::env::temp_dir().join(format!("nearfar-misses-{}", std::process::id()));
    let mut command = simulating(cache_bytes, &counts);
    command.arg(std::env::current_exe().map_err(words)?).arg("workload").arg(workload.to_string());
    command.arg("--json");
    let options = [
        ("--threads", arguments.threads.map(|it| it.to_string())),
        ("--init", arguments.init.map(|it| it.to_string())),
        ("--placement", arguments.placement.as_ref().map(ToString::to_string)),
    ];
    for (option, value) in options {
        command.args(value.map(|value| format!("{option}={value}")));
    }
    let run = command.stdin(Stdio::null()).output();
    let text = std::fs::read_to_string(&counts);
    // Nothing is lost where it was not written.
    std::fs::remove_file(&counts).unwrap_or_default();
    let run = run.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            "Valgrind is not installed (Debian: apt-get install valgrind)".into()
        }
        _ => format!("Valgrind did not start: {error}"),
    })?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr).trim().lines().last().map(str::to_owned);
        return Err(format!("{} below Valgrind: {}", run.status, said.unwrap_or_default()));
    }
    let counted =
        counts_of(&text.map_err(words)?).map_err(|line| format!("no counts in '{line}'"))?;
    Ok(counted.into_iter().map(|(phase, counts)| PhaseMisses { phase, counts }).collect())
}
