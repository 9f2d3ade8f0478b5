//! Applies a placement to a program without root, and says what became of it.
//!
//! CPUs and memory policy are set in a thread of ours and inherited by the program
//! ([`launch`]): no library is preloaded, so that static programs and children follow as well.

mod launch;

pub use launch::{Launched, launch};
