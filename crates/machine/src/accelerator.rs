//! Devices that data is copied to and from, as a programming interface shows them.

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::index_set::NodeSet;

/// A programming interface to devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// NVIDIA's CUDA driver.
    Cuda,
    /// AMD's HIP runtime (ROCm).
    Hip,
    /// Khronos' OpenCL.
    Opencl,
}

impl Backend {
    /// All, the one that is preferred for a device of two first.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Hip, Self::Opencl];
}

/// A device that can be copied to. One that two interfaces show is there twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    /// Interface and number: `cuda0`.
    pub id: String,
    /// The interface that shows it.
    pub backend: Backend,
    /// Its number among the interface's devices.
    pub number: u32,
    /// As the interface gives it.
    pub name: String,
    /// The interface's driver and its version, in words; null when it does not say.
    pub driver: Option<String>,
    /// PCIe address, as among the machine's devices; null where the interface does not say it or
    /// the device is on no PCIe.
    pub bus_id: Option<String>,
    /// Its own memory; null when the interface does not say.
    pub memory_bytes: Option<u64>,
    /// Whether its memory is the host's: a CPU, or a graphics unit within one. Copies then cross
    /// no link.
    pub shares_host_memory: bool,
    /// Memory nodes next to it; empty when unknown.
    pub nodes: NodeSet,
}

/// A programming interface that shows no device here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AbsentBackend {
    /// The interface.
    pub backend: Backend,
    /// Why, in a sentence without its full stop.
    pub reason: String,
}

/// Which way a transfer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferDirection {
    /// From the host's memory to the device's (SHOC: download; the thesis: write).
    ToDevice,
    /// From the device's memory to the host's (SHOC: readback; the thesis: read).
    ToHost,
    /// Both at the same time.
    BothWays,
    /// From one device's memory to another's.
    ToPeer,
}

impl TransferDirection {
    /// Those between a device and the host.
    pub const WITH_HOST: [Self; 3] = [Self::ToDevice, Self::ToHost, Self::BothWays];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ToDevice => "to the device",
            Self::ToHost => "to the host",
            Self::BothWays => "both ways at once",
            Self::ToPeer => "to another device",
        }
    }

    /// Copies that run at the same time.
    pub fn ways(self) -> u32 {
        match self {
            Self::ToDevice | Self::ToHost | Self::ToPeer => 1,
            Self::BothWays => 2,
        }
    }
}

/// What the host's pages of a transfer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostMemory {
    /// Locked to their place: the device reads and writes them itself.
    Pinned,
    /// Ordinary ones: the driver copies through pinned memory of its own.
    Pageable,
}

impl HostMemory {
    pub const ALL: [Self; 2] = [Self::Pinned, Self::Pageable];
}

words!(Backend, TransferDirection, HostMemory);
