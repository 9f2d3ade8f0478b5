//! The solver and simulated machines, in one program: to link a program takes longer than most of
//! these tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_flow::{FlowError, KernelLoad, Load, SimulatedMachine};

mod answers;
mod capacities;
mod machine_answers;
mod machine_file;
mod machines;
mod paper_tables;
mod published;
mod slopes;
mod solver;
mod transfers;

fn on(initiator: u32, threads: u32, node: u32) -> Load {
    Load { initiator, threads, shares: vec![(node, 1.0)] }
}

/// What loads of a kernel in a variant get together, GB/s.
fn rates(machine: &SimulatedMachine, kernel: &str, variant: &str, loads: &[Load]) -> Vec<f64> {
    let of = |load: &Load| KernelLoad::new(kernel, variant, load.clone());
    let loads: Vec<KernelLoad> = loads.iter().map(of).collect();
    machine.rates(&loads).unwrap().into_iter().map(|rate| rate / 1e9).collect()
}

/// The triad in the preferred variant, alone, GB/s.
fn lone(machine: &SimulatedMachine, load: Load) -> f64 {
    rates(machine, "triad", &machine.variants[0], &[load])[0]
}

#[track_caller]
fn assert_close(ours: f64, expected: f64) {
    assert!((ours / expected - 1.0).abs() < 1e-9, "{ours}, expected {expected}");
}

/// Where a refusal must point.
#[track_caller]
fn assert_refused(read: Result<SimulatedMachine, FlowError>, words: &[&str]) {
    let message = read.unwrap_err().to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} lacks {word:?}");
    }
    assert!(message.starts_with("small.toml"), "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
}
