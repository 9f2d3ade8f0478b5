//! How well the classes of simulated machines are recovered through their noise:
//! `cargo bench -p nearfar-reproduce --bench recovery`. Status 1 when a promise is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::process::ExitCode;

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{ClassRule, RecordFigures, classes};
use nearfar_record::{Experiment, Inputs, Suite};

const MACHINES: [&str; 5] =
    ["amd-2p", "intel-2p", "amd-4p", "two-socket-8-nodes", "two-socket-cxl"];
const SEEDS: u64 = 100;

/// A class's maximum may be off by so much, as a fraction.
const MOST_ERROR: f64 = 0.02;

fn main() -> ExitCode {
    println!(
        "\nClasses of simulated machines: {SEEDS} seeds, their own noise, triad and triad_nt, one \
         thread, 6 or 7 rounds.\nError: class maximum / the same without noise - 1, over all classes \
         and seeds. Promised: at most {:.0} %.\n",
        MOST_ERROR * 100.0
    );
    println!(
        "{:22} {:>7} {:>13} {:>10} {:>10}",
        "machine", "classes", "right number", "mean", "worst"
    );
    let kept = MACHINES.map(|name| recover(&read_machine(name).unwrap()));
    if kept.iter().all(|&kept| kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a machine's line. Whether the promise is kept.
fn recover(simulated: &SimulatedMachine) -> bool {
    let truth = maxima(simulated, 1, false);
    let mut errors = Vec::new();
    let mut right = 0;
    for seed in 1..=SEEDS {
        let found = maxima(simulated, seed, true);
        if found.len() == truth.len() {
            right += 1;
            errors
                .extend(found.iter().zip(&truth).map(|(found, truth)| (found / truth - 1.0).abs()));
        }
    }
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    println!(
        "{:22} {:>7} {:>9} of {SEEDS} {:>8.2} % {:>8.2} %",
        simulated.name,
        truth.len(),
        right,
        mean * 100.0,
        worst * 100.0
    );
    right == SEEDS && worst <= MOST_ERROR
}

fn maxima(simulated: &SimulatedMachine, seed: u64, noise: bool) -> Vec<f64> {
    let inputs = Inputs {
        kernels: Some(vec!["triad".into(), "triad_nt".into()]),
        seed,
        experiments: vec![Experiment::Pairs],
        ..suite_inputs(Suite::Quick)
    };
    let record = simulate(simulated, inputs, noise).unwrap();
    let found = classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    found.sets[0].classes.iter().map(|class| class.max).collect()
}
