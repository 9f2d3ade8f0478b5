//! Generated loops and the chase against what they say they do.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod texts;

// What is generated; on other architectures nothing is.
#[cfg(target_arch = "x86_64")]
mod denied;
#[cfg(target_arch = "x86_64")]
mod fenced;
#[cfg(target_arch = "x86_64")]
mod flops;
#[cfg(target_arch = "x86_64")]
mod intensities;
#[cfg(target_arch = "x86_64")]
mod mixes;
