//! Generated loops and the chase against what they say they do.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod denied;
mod fenced;
mod flops;
mod intensities;
mod mixes;
mod texts;
