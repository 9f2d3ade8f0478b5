//! What cases are run with: the loops and the clock. Tests put others in their place, that
//! lie, to see whether it is noticed.

use nearfar_devices::{DeviceError, Transfer};
use nearfar_kernels::FlopLoop;
use nearfar_machine::{Accelerator, HostMemory, TransferDirection};

use super::chasing::{RunChase, run_chase};
use super::compute::RunFlops;
use super::exchanging::{RunExchange, run_exchange};
use super::memory_loop::MemoryLoop;
use super::messaging::{OpenConnection, open_connection};
use super::stream::RunLoop;

/// Opens a transfer between a device and pages of the host.
pub(super) type OpenTransfer = for<'a> fn(
    &Accelerator,
    TransferDirection,
    HostMemory,
    &'a mut [f64],
) -> Result<Transfer<'a>, DeviceError>;

/// What cases are run with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruments {
    pub run_loop: RunLoop,
    pub run_chase: RunChase,
    pub run_exchange: RunExchange,
    pub run_flops: RunFlops,
    pub open_transfer: OpenTransfer,
    pub open_connection: OpenConnection,
    /// CLOCK_MONOTONIC, ns.
    pub clock: fn() -> u64,
}

impl Default for Instruments {
    fn default() -> Self {
        Self {
            run_loop: MemoryLoop::run,
            run_chase,
            run_exchange,
            run_flops: FlopLoop::run,
            open_transfer: |device, way, memory, pages| Transfer::open(device, way, memory, pages),
            open_connection,
            clock: nearfar_sys::monotonic_ns,
        }
    }
}
