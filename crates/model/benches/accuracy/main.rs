//! How often classes are right on random machines whose classes are known:
//! `cargo bench -p nearfar-model --bench accuracy`. Status 1 when a promised rate is missed.
#![expect(clippy::unwrap_used, reason = "a program for developers that cannot go on panics")]

#[path = "../../tests/classes/handmade_record.rs"]
mod handmade_record;
mod random_machines;
#[path = "../../tests/classes/random_matrix.rs"]
mod random_matrix;
mod tolerance_inside;

use std::process::ExitCode;

fn main() -> ExitCode {
    if random_machines::print_rates() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
