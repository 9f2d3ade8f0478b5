//! The program in guests with several memory nodes: where its pages are is what counts
//! here, never how fast it is. Every run prints a row; `make guest` runs this alone.
//!
//! NEARFAR_WITHOUT_GUESTS=1 leaves the guests out, and says so.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod boot;
mod expected;
mod experiments;
mod filters;
mod lies;
mod machines;
mod placement;
mod table;
mod turns;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use nearfar_lab::{
    Ended, Kernel, LabError, Programs, build_lab_program, find_kernel, guest_machines,
    guests_are_left_out,
};

use boot::Boot;
use turns::Turn;

static PROGRAMS: LazyLock<Result<Programs, String>> = LazyLock::new(|| {
    let nearfar = Path::new(env!("CARGO_BIN_EXE_nearfar"));
    let gather = || {
        let under_filter = build_lab_program("under_filter", nearfar)?;
        Programs::gather(&[nearfar, &under_filter])
    };
    gather().map_err(|error: LabError| error.to_string())
});

/// What was found or fetched for each suite, also where that failed: a machine without
/// network waits for it once.
static KERNELS: Mutex<BTreeMap<&str, Result<Kernel, String>>> = Mutex::new(BTreeMap::new());

fn kernel_of(suite: &'static str) -> Result<Kernel, String> {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    let find = || find_kernel(suite).map_err(|error| error.to_string());
    kernels.entry(suite).or_insert_with(find).clone()
}

/// Boots a guest and holds every run against what it must give; what the guest left.
/// Nothing where guests are left out.
fn check(boot: &Boot) -> Option<Ended> {
    if guests_are_left_out() {
        let (machine, suite, runs) = (boot.machine, boot.suite, boot.runs.len());
        table::say(&format!(
            "NEARFAR_WITHOUT_GUESTS: left out {machine} with the kernel of {suite}, {runs} runs of the program"
        ));
        return None;
    }
    let programs = PROGRAMS.as_ref().unwrap_or_else(|error| give_up(error));
    let kernel = kernel_of(boot.suite).unwrap_or_else(|error| give_up(&error));
    let machines = guest_machines().unwrap_or_else(|error| give_up(&error.to_string()));
    let machine = machines.iter().find(|machine| machine.name == boot.machine).unwrap();
    let turn = Turn::take();
    let ended = boot.run(machine, &kernel, programs);
    drop(turn);
    let ended = ended.unwrap_or_else(|error| give_up(&error.to_string()));
    table::print_deaths(boot, &ended);
    let mut wrong = Vec::new();
    for (number, run) in boot.runs.iter().enumerate() {
        let found = run.read(number, &ended);
        let mut faults = run.expected.judge(machine, &found);
        let mut reasons = found.record.absent.iter().map(|absent| &absent.reason.text);
        if !run.wants.is_empty() && !reasons.any(|reason| reason.contains(run.wants)) {
            faults.push(format!("no refusal says '{}'", run.wants));
        }
        table::print_row(boot, run, &ended.release, &found, faults.is_empty());
        wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", run.name)));
    }
    table::print_cost(boot, &ended);
    assert!(wrong.is_empty(), "\n{} {}\n{}", boot.machine, ended.release, wrong.join("\n"));
    Some(ended)
}

fn give_up(error: &str) -> ! {
    panic!("{error}\n(NEARFAR_WITHOUT_GUESTS=1 leaves guests out)")
}
