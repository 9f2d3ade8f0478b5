//! Answers cases by running them on this machine.
//!
//! A case goes through: memory mapped with its policy and touched ([`pool`]),
//! pages proven, threads started, pinned and warmed up, a common window opened
//! ([`window`]) over which every thread notes time and bytes per block
//! ([`worker`]), results checked ([`stream`]), pages proven again.

mod disturbance;
mod executor;
mod instruments;
mod layout;
#[cfg(test)]
mod lies;
mod look;
mod pool;
mod stream;
mod window;
mod worker;

pub use executor::NativeExecutor;
