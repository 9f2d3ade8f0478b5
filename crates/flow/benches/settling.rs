//! How many random systems come to rest, and in how many sweeps:
//! `cargo bench -p nearfar-flow --bench settling`. Status 1 when one does not settle.
#![expect(clippy::print_stdout, reason = "the table is the result")]

#[path = "../tests/support/random_system.rs"]
mod random_system;

use std::process::ExitCode;

use fastrand::Rng;
use nearfar_flow::{Solution, System};

use random_system::draw_system;

/// Systems of each row.
const SYSTEMS: u32 = 10_000;
const SEED: u64 = 7;

/// The same with the resources in the opposite order.
fn reversed(system: &System) -> System {
    let mut system = system.clone();
    let last = system.capacities.len() - 1;
    for (resource, _) in system.streams.iter_mut().flat_map(|stream| &mut stream.usage) {
        *resource = last - *resource;
    }
    system
}

/// Whether two solutions give every stream the same.
fn agree(one: &Solution, other: &Solution) -> bool {
    one.rates.iter().zip(&other.rates).all(|(one, other)| (one / other - 1.0).abs() < 1e-6)
}

fn main() -> ExitCode {
    println!(
        "{SYSTEMS} random systems a row: sweeps that it takes them to come to rest; those that do \
         not;\nthose whose resources in the opposite order give other rates\n"
    );
    println!(
        "{:>4} {:>8}  {:>6} {:>7} {:>6}  unsettled  other",
        "p", "decades", "median", "99.9 %", "most"
    );
    let mut settled = true;
    for p in [1.0, 6.0, 12.0, 25.0] {
        for decades in [1.0, 1.5, 2.0, 3.0] {
            let mut random = Rng::with_seed(SEED);
            let mut sweeps = Vec::new();
            let (mut unsettled, mut other) = (0, 0);
            for _ in 0..SYSTEMS {
                let system = draw_system(&mut random, p, decades);
                let (Ok(one), Ok(two)) = (system.solve(), reversed(&system).solve()) else {
                    unsettled += 1;
                    continue;
                };
                other += u32::from(!agree(&one, &two));
                sweeps.push(one.sweeps);
            }
            settled &= unsettled == 0;
            sweeps.sort_unstable();
            let at = |share: usize| sweeps.get(sweeps.len() * share / 1000).copied().unwrap_or(0);
            let most = sweeps.last().copied().unwrap_or(0);
            println!(
                "{p:>4} {decades:>8}  {:>6} {:>7} {most:>6}  {unsettled:>9}  {other:>5}",
                at(500),
                at(999)
            );
        }
    }
    if settled { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
