//! The program in guests with several memory nodes: where its pages are is what counts
//! here, never how fast it is. Every run prints a row (`make guest`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod advise;
mod arm64;
mod boot;
mod expected;
mod experiments;
mod files;
mod filters;
mod hpcc;
mod instances;
mod lies;
mod machines;
mod move_memory;
mod nearness;
mod placement;
mod ps;
mod rdma;
mod real_programs;
mod recipe;
mod run;
mod run_expected;
mod run_launch;
mod sensitivity;
mod shared_memory;
mod table;
mod turns;
mod verdicts;
mod wire;
mod workloads;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nearfar_lab::{
    Architecture, Ended, Flavour, Guest, GuestMachine, Kernel, Programs, build_keeper, build_kinds,
    build_lab_program, build_load, build_touchers, find_kernel, guest_machines,
};
use nearfar_record::Absence;

use boot::Boot;
use expected::absences;
use table::Table;
use turns::Turn;

static PROGRAMS: LazyLock<Result<Programs, String>> = LazyLock::new(|| {
    let nearfar = Path::new(env!("CARGO_BIN_EXE_nearfar"));
    let gather = || {
        let under_filter = build_lab_program("under_filter", nearfar)?;
        let folder = tempfile::tempdir().unwrap();
        let keeper = build_keeper(folder.path())?;
        let kinds = build_kinds(folder.path())?;
        let touchers = build_touchers(folder.path())?;
        let load = build_load(folder.path())?;
        // What `nearfar ps` prints to be typed; busybox has a shorter taskset.
        let taskset = Path::new("/usr/bin/taskset");
        let mut programs = vec![nearfar, taskset, &under_filter, &keeper, &kinds, &load];
        programs.extend(touchers.iter().map(PathBuf::as_path));
        Programs::gather(&programs)
    };
    gather().map_err(|error| format!("{error:#}"))
});

/// What was found or fetched for each suite and architecture, also where that failed: a machine without
/// network waits for it once.
static KERNELS: Mutex<FoundKernels> = Mutex::new(BTreeMap::new());

type FoundKernels = BTreeMap<(&'static str, Architecture), Result<Kernel, String>>;

fn kernel_of(suite: &'static str, architecture: Architecture) -> Result<Kernel, String> {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = || find_kernel(suite, architecture, Flavour::Cloud);
    let find = || found().map_err(|error| format!("{error:#}"));
    kernels.entry((suite, architecture)).or_insert_with(find).clone()
}

/// Boots a machine when it is its turn and runs a script in it, and says how boots died.
fn in_guest(
    name: &str,
    suite: &'static str,
    node_mib: u32,
    devices: &[(u32, String)],
    script: &str,
) -> (GuestMachine, Ended) {
    let programs = match machine_of(name).architecture {
        Architecture::X86_64 => &PROGRAMS,
        Architecture::Aarch64 => &arm64::PROGRAMS,
    };
    let programs = programs.as_ref().unwrap_or_else(|error| give_up(error));
    in_guest_with(programs, name, suite, node_mib, devices, script)
}

fn machine_of(name: &str) -> GuestMachine {
    let machines = guest_machines().unwrap_or_else(|error| give_up(&format!("{error:#}")));
    machines.into_iter().find(|machine| machine.name == name).unwrap()
}

/// The same with other programs.
fn in_guest_with(
    programs: &Programs,
    name: &str,
    suite: &'static str,
    node_mib: u32,
    devices: &[(u32, String)],
    script: &str,
) -> (GuestMachine, Ended) {
    let machine = machine_of(name);
    let kernel = kernel_of(suite, machine.architecture);
    let kernel = &kernel.unwrap_or_else(|error| give_up(&error));
    let limit = Duration::from_secs(900);
    let wire = None;
    let guest =
        Guest { machine: &machine, kernel, programs, node_mib, devices, wire, script, limit };
    let turn = Turn::take();
    let ended = guest.run();
    drop(turn);
    let ended = ended.unwrap_or_else(|error| give_up(&format!("{error:#}")));
    table::print_deaths(name, &ended);
    (machine, ended)
}

static RUNS: Table<12> = Table::new([
    ("machine", 9),
    ("kernel", 27),
    ("user", 6),
    ("what", 24),
    ("cases", 5),
    ("pages proven", 12),
    ("omitted", 7),
    ("refused", 7),
    ("status", 6),
    ("seconds", 7),
    ("attempt", 7),
    ("ok", 3),
]);

/// Boots a guest and holds every run against what it must give; what the guest left.
fn check(boot: &Boot) -> Ended {
    let (machine, ended) =
        in_guest(boot.machine, boot.suite, boot.node_mib, &boot.devices, &boot.script());
    let mut wrong = Vec::new();
    for (number, run) in boot.runs.iter().enumerate() {
        let found = run.read(number, &ended);
        let mut faults = run.judge(&machine, &found);
        let mut reasons = found.record.absent.iter().map(|absent| &absent.reason.text);
        if !run.wants.is_empty() && !reasons.any(|reason| reason.contains(run.wants)) {
            faults.push(format!("no refusal says '{}'", run.wants));
        }
        RUNS.print([
            boot.machine.into(),
            ended.release.clone(),
            run.user.name().into(),
            run.name.into(),
            found.record.cases.len().to_string(),
            found.pages_proven().to_string(),
            absences(&found.record, Absence::Omitted).len().to_string(),
            absences(&found.record, Absence::Refused).len().to_string(),
            found.status.to_string(),
            format!("{:.1}", found.seconds),
            found.attempts.to_string(),
            if faults.is_empty() { "yes" } else { "NO" }.into(),
        ]);
        wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", run.name)));
    }
    table::print_cost(boot.machine, &ended);
    assert!(wrong.is_empty(), "\n{} {}\n{}", boot.machine, ended.release, wrong.join("\n"));
    ended
}

/// What a guest left in a file, without blanks around it; empty where it left none.
fn left(ended: &Ended, file: &str) -> String {
    let bytes = ended.files.get(file).cloned().unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_string()
}

fn give_up(error: &str) -> ! {
    panic!("{error}")
}
