//! Copies between the memory of the host and of devices: what was asked for, and what was seen.

use nearfar_machine::{
    AbsentBackend, Accelerator, Backend, Binding, HostMemory, TransferDirection,
};
use serde::{Deserialize, Serialize};

use crate::case::Pages;

/// One thread that lets a device copy, again and again: each copy is waited for before the next
/// is asked for, as SHOC's BusSpeedDownload and BusSpeedReadback do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The device, by its id among the inputs.
    pub device: String,
    /// The device that is copied to, by its id; null where it is the host.
    pub peer: Option<String>,
    pub backend: Backend,
    pub direction: TransferDirection,
    /// What the host's pages are; null between devices.
    pub host_memory: Option<HostMemory>,
    /// CPUs of the host's thread and policy of the host's pages; between devices, which have
    /// none, first-touch.
    pub binding: Binding,
    /// The thread's CPU.
    pub thread_cpu: u32,
    /// Bytes of one copy, each way.
    pub bytes: u64,
    /// Pages of the host that are asked for.
    pub pages: Pages,
}

impl Transfer {
    /// Bytes of the host's memory, or of a device's between devices.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes.saturating_mul(u64::from(self.direction.ways()))
    }
}

/// What `devices` was made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceInputs {
    /// The devices that were found; one that two interfaces show is there twice.
    pub accelerators: Vec<Accelerator>,
    /// The programming interfaces that show none.
    pub absent: Vec<AbsentBackend>,
}

/// What was seen of a transfer around a window: from a look before it opened to one after it
/// closed, so that copies which cross an edge are whole ones here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TransferSample {
    /// Copies; both ways at once count as one.
    pub copies: u64,
    /// One copy, all ways.
    pub copy_bytes: u64,
    /// What they took by the device's own clock; null where it gives none.
    pub device_ns: Option<u64>,
}

impl TransferSample {
    /// Bandwidth while the device copied, bytes/s; `None` without its clock.
    pub fn device_rate(&self) -> Option<f64> {
        let ns = self.device_ns.filter(|&ns| ns > 0)?;
        Some(self.copies as f64 * self.copy_bytes as f64 / (ns as f64 / 1e9))
    }
}
