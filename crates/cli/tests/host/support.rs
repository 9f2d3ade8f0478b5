//! Measuring on this machine, which one program at a time may do.

#[path = "../program/support.rs"]
mod program;

pub use nearfar_lab::{measuring, wait_for_turn};
pub use program::{nearfar, refuse, run, text};

/// Options that make a measurement small: a check of placement, not of speed.
pub const SMALL: [&str; 4] = ["--working-set", "8MiB", "--window", "5ms"];
