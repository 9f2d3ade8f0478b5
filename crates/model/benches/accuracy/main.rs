//! How often models are right on random machines whose truth is known, against what is promised:
//! `cargo bench -p nearfar-model --bench accuracy [-- PART ..]`. Status 1 when a promise is
//! missed.
#![expect(clippy::unwrap_used, reason = "a program for developers that cannot go on panics")]

mod families;
mod flow;
mod hybrid;
mod modes;
mod programs;
mod random_machines;
#[path = "../../tests/classes/random_matrix.rs"]
mod random_matrix;
mod sharing;
mod tolerance_inside;

use std::process::ExitCode;

/// A part by its name; it prints its figures and says whether its promise is kept.
type Part = (&'static str, fn() -> bool);

const PARTS: [Part; 7] = [
    ("classes", random_machines::print_rates),
    ("sharing", sharing::print_errors),
    ("hybrid", hybrid::print_errors),
    ("modes", modes::print_rates),
    ("flow", flow::print_errors),
    ("families", families::print_errors),
    ("programs", programs::print_errors),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    let kept = PARTS.iter().filter(|(name, _)| is_asked(name)).map(|(_, print)| print());
    if kept.fold(true, |all, kept| all & kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
