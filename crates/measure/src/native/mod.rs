//! Answers cases by running them on this machine.
//!
//! A case goes through: its loops found or generated ([`loops`]), memory mapped with its policy
//! and touched ([`pool`]), threads started and pinned, which touch what is to be their own
//! and warm up while pages are proven, a common window opened ([`window`]) over which every thread ([`worker`]) notes time and what it has done per block
//! ([`work`]: [`stream`], [`chasing`] or [`compute`]), results checked, pages proven again.

mod chasing;
mod compute;
mod copying;
mod core_clock;
mod cpu_distance;
mod dealt_pages;
mod exchanging;
mod executor;
mod instruments;
mod job;
mod layout;
#[cfg(test)]
mod lies;
mod look;
mod loops;
mod memory_loop;
mod messaging;
mod pool;
mod pools;
mod proof;
mod seen;
mod stream;
mod turn;
mod window;
mod work;
mod worker;
mod workload;

pub use cpu_distance::with_distance;
pub use executor::NativeExecutor;
pub use messaging::Peer;
pub(crate) use pool::LET_THREADS_START;
pub use turn::Turn;
