//! What cases are run with: the loops and the clock. Tests put others in their place, that
//! lie, to see whether it is noticed.

use nearfar_kernels::{Checksum, Constants, Operands, TimedLoop};

/// Runs a loop so many times over the same operands.
pub(super) type RunLoop = fn(&TimedLoop, Operands<'_>, &Constants, u32) -> Checksum;

/// What cases are run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruments {
    pub run_loop: RunLoop,
    /// CLOCK_MONOTONIC, ns.
    pub clock: fn() -> u64,
}

impl Default for Instruments {
    fn default() -> Self {
        Self { run_loop: TimedLoop::run, clock: nearfar_sys::monotonic_ns }
    }
}
