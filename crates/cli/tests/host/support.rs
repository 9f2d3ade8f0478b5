//! Measuring on this machine, which one program at a time may do.

#[path = "../program/support.rs"]
mod program;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use program::{nearfar, refuse, run, text};

static MEASURING: Mutex<()> = Mutex::new(());

/// Keeps other tests of this program from measuring.
pub fn measuring() -> MutexGuard<'static, ()> {
    MEASURING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Options that make a measurement small: a check of placement, not of speed.
pub const SMALL: [&str; 4] = ["--working-set", "8MiB", "--window", "5ms"];
