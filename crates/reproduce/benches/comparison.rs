//! How often comparing two records is right: `cargo bench -p nearfar-reproduce --bench comparison`.
//! Status 1 when a promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

#[path = "../tests/comparison/simulated_pairs.rs"]
mod simulated_pairs;

use std::process::ExitCode;

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_stats::median;
use simulated_pairs::{Found, Machines, alarms, compare, record};

const PAIRS: u64 = 200;

/// Of this many sound pairs of records at most this many may have a finding.
const MOST_ALARMS: usize = 2;

/// In this many pairs of records the slower pair of nodes must be found, and nothing else.
const FEWEST_FOUND: usize = 195;

/// Further machines, with their own noise, modes of unpinned threads among it.
const OTHERS: [&str; 4] = ["joe0", "two-socket-8-nodes", "e7-4870", "knl-flat"];

fn main() -> ExitCode {
    let machines = Machines::new();
    println!(
        "\nComparing two records of a simulated machine (joe0, suite standard, noise 0.8 % between \
         rounds), {PAIRS} pairs of records.\n"
    );
    let mut kept = print_sound("joe0, noise 0.8 %", &machines.sound);
    kept &= print_slower(&machines);
    for name in OTHERS {
        kept &= print_sound(name, &read_machine(name).unwrap());
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints how many pairs of sound records have a finding. Whether the promise is kept.
fn print_sound(name: &str, machine: &SimulatedMachine) -> bool {
    let (mut with_alarm, mut findings, mut cases) = (0, 0, 0);
    let mut resolutions = Vec::new();
    for pair in 0..PAIRS {
        let (a, b) = (record(machine, 2 * pair + 1), record(machine, 2 * pair + 2));
        let comparison = compare(&a, &b);
        let found = alarms(&comparison);
        with_alarm += usize::from(found > 0);
        findings += found;
        cases = comparison.cases.len();
        resolutions.extend(comparison.resolution);
    }
    println!(
        "{name:20} sound: {with_alarm} of {PAIRS} pairs with a finding ({findings} findings, {cases} \
         cases a pair, a loss of {:.1} % shows); promised: at most {MOST_ALARMS}",
        median(&resolutions).unwrap() * 100.0
    );
    with_alarm <= MOST_ALARMS
}

/// Prints in how many pairs the slower one is found. Whether the promise is kept.
fn print_slower(machines: &Machines) -> bool {
    let (mut found, mut alone, mut worse, mut of) = (0, 0, 0, 0);
    for pair in 0..PAIRS {
        let a = record(&machines.sound, 2 * pair + 1);
        let b = record(&machines.slower, 2 * pair + 2);
        let one = Found::of(&a, &compare(&a, &b));
        found += usize::from(one.worse_of_pair > 0);
        alone += usize::from(one.worse_of_pair > 0 && one.others == 0);
        worse += one.worse_of_pair;
        of += one.of_pair;
    }
    println!(
        "{:20} one pair of nodes 6 % slower: found in {found} of {PAIRS}, and only that in {alone}; \
         promised: at least {FEWEST_FOUND}\n{:20} of the pair's own {of} cases {worse} are worse",
        "joe0, noise 0.8 %", ""
    );
    alone >= FEWEST_FOUND
}
