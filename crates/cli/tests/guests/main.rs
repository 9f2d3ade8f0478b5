//! The program in guests with several memory nodes: where its pages are is what counts
//! here, never how fast it is. Every run prints a row; `make guest` runs this alone.
//!
//! NEARFAR_WITHOUT_GUESTS=1 leaves the guests out, and says so.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod boot;
mod expected;
mod filters;
mod lies;
mod machines;
mod placement;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use nearfar_lab::{Ended, LabError, Programs, build_lab_program, find_kernel, guest_machines};

use boot::Boot;

/// One guest at a time: each has up to eight busy threads.
static TURN: Mutex<()> = Mutex::new(());

static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let nearfar = Path::new(env!("CARGO_BIN_EXE_nearfar"));
    let gather = || {
        let under_filter = build_lab_program("under_filter", nearfar)?;
        Programs::gather(&[nearfar, &under_filter])
    };
    gather().unwrap_or_else(|error| give_up(&error))
});

/// Boots guests one after the other and holds every run against what it must give;
/// what each guest left. Nothing where guests are left out.
fn check(test: &str, boots: &[Boot]) -> Vec<Ended> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::env::var_os("NEARFAR_WITHOUT_GUESTS").is_some_and(|it| !it.is_empty() && it != "0") {
        let runs: usize = boots.iter().map(|boot| boot.runs.len()).sum();
        table::say(&format!("NEARFAR_WITHOUT_GUESTS: left out {test}, {runs} runs of the program"));
        return Vec::new();
    }
    let machines = guest_machines().unwrap_or_else(|error| give_up(&error));
    let machines: BTreeMap<&str, _> =
        machines.iter().map(|machine| (machine.name.as_str(), machine)).collect();
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for boot in boots {
        let machine = machines[boot.machine];
        let kernel = find_kernel(boot.suite).unwrap_or_else(|error| give_up(&error));
        let ended = boot.run(machine, &kernel, &PROGRAMS).unwrap_or_else(|error| give_up(&error));
        table::print_deaths(boot, &ended);
        for (number, run) in boot.runs.iter().enumerate() {
            let found = run.read(number, &ended);
            let faults = run.expected.judge(machine, &found);
            table::print_row(boot, run, &ended.release, &found, faults.is_empty());
            let place = format!("{} {} {}", boot.machine, ended.release, run.name);
            wrong.extend(faults.into_iter().map(|fault| format!("{place}: {fault}")));
        }
        all.push(ended);
    }
    drop(turn);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    all
}

fn give_up(error: &LabError) -> ! {
    panic!(
        "{error}\n(`scripts/install-packages guest` installs what guests need; \
         NEARFAR_WITHOUT_GUESTS=1 leaves them out)"
    )
}
