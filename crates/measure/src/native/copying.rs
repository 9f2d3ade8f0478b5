//! One thread that lets a device copy, one copy after the other.

use nearfar_devices::{DeviceError, Kind, Transfer};
use nearfar_machine::HostMemory;
use nearfar_record::{Reason, ReasonCode, Transfer as Planned};

use super::instruments::OpenTransfer;
use super::job::Slice;
use super::loops::TransferDevices;
use super::work::Work;

/// Copies after which links, drivers and devices are as in a long run: the first ones map memory
/// and raise clocks.
const WARM_COPIES: u64 = 3;

/// The thread's transfer.
#[derive(Debug)]
pub(super) struct Copying<'a> {
    transfer: Transfer<'a>,
    copy_bytes: u64,
    copies: u64,
    /// By the device's clock, of all copies; `None` once it gave none.
    device_ns: Option<u64>,
    /// Copies of a block.
    block: u64,
}

impl<'a> Copying<'a> {
    /// Opens the device, with these pages of the host for a transfer that has any.
    ///
    /// # Errors
    /// Where the device, its driver or the system says no.
    pub fn new(
        planned: &Planned,
        devices: &TransferDevices,
        slice: Option<Slice<'a>>,
        open: OpenTransfer,
    ) -> Result<Self, Reason> {
        let opened = match (slice, planned.host_memory, &devices.peer) {
            (Some(slice), Some(memory), None) => {
                open(&devices.device, planned.direction, memory, slice.elements)
            }
            (None, None, Some(peer)) => Transfer::open_peer(&devices.device, peer, planned.bytes),
            _ => return Err(not_its_pages(planned.host_memory)),
        };
        Ok(Self {
            transfer: opened.map_err(refused)?,
            copy_bytes: planned.memory_bytes(),
            copies: 0,
            device_ns: Some(0),
            block: 1,
        })
    }
}

impl Work for Copying<'_> {
    fn done(&self) -> u64 {
        self.copies * self.copy_bytes
    }

    fn passes(&self) -> u64 {
        self.copies
    }

    fn is_warm(&self) -> bool {
        self.copies >= WARM_COPIES
    }

    /// A copy at least.
    fn set_block(&mut self, bytes: u64) {
        self.block = (bytes / self.copy_bytes.max(1)).max(1);
    }

    fn halve_block(&mut self) {
        self.block = (self.block / 2).max(1);
    }

    fn step(&mut self) -> Result<(), Reason> {
        for _ in 0..self.block {
            let copied = self.transfer.copy().map_err(refused)?;
            self.copies += 1;
            self.device_ns =
                self.device_ns.zip(copied.device_ns).map(|(sum, ns)| sum.saturating_add(ns));
        }
        Ok(())
    }

    /// Checks that what arrived is what was sent, every byte.
    fn check(&mut self) -> Result<(), Reason> {
        self.transfer.check().map_err(refused)
    }

    fn device_ns(&self) -> Option<u64> {
        self.device_ns
    }
}

fn refused(error: DeviceError) -> Reason {
    let code = match error.what {
        Kind::Lost | Kind::Failed | Kind::NoRoom => ReasonCode::DeviceFailed,
        Kind::NotPinned => ReasonCode::NotPinned,
        Kind::WrongData => ReasonCode::WrongData,
    };
    Reason { code, text: error.text }
}

fn not_its_pages(memory: Option<HostMemory>) -> Reason {
    Reason {
        code: ReasonCode::DeviceFailed,
        text: format!(
            "a transfer was laid out with other ends than it has ({}); please report this",
            memory.map_or("between devices", HostMemory::as_str)
        ),
    }
}
