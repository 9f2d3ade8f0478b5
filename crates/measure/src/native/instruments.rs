//! What cases are run with: the loops and the clock. Tests put others in their place, that
//! lie, to see whether it is noticed.

use nearfar_kernels::FlopLoop;

use super::chasing::{RunChase, run_chase};
use super::compute::RunFlops;
use super::memory_loop::MemoryLoop;
use super::stream::RunLoop;

/// What cases are run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruments {
    pub run_loop: RunLoop,
    pub run_chase: RunChase,
    pub run_flops: RunFlops,
    /// CLOCK_MONOTONIC, ns.
    pub clock: fn() -> u64,
}

impl Default for Instruments {
    fn default() -> Self {
        Self {
            run_loop: MemoryLoop::run,
            run_chase,
            run_flops: FlopLoop::run,
            clock: nearfar_sys::monotonic_ns,
        }
    }
}
