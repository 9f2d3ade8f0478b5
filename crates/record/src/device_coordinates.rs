//! Where a case stands among the transfers to and from devices.

use nearfar_machine::{HostMemory, TransferDirection};
use serde::{Deserialize, Serialize};

/// A place in `devices` (braithwaite2012, algorithm 3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum DeviceCoordinates {
    /// A transfer, alone or beside something.
    Transfer(TransferCoordinates),
    /// What runs beside transfers elsewhere, alone.
    Streams(DeviceStreamCoordinates),
}

/// A device and a memory node, or two devices. A case with two transfers at once has such a place
/// for each.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TransferCoordinates {
    /// The device, by its id among the inputs.
    pub device: String,
    /// Position of the transfer among the case's actors.
    pub actor: u32,
    /// The initiator of the host's thread.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node of the host's pages; null between devices.
    pub memory_node: Option<u32>,
    pub direction: TransferDirection,
    /// What the host's pages are; null between devices.
    pub host_memory: Option<HostMemory>,
    /// The device that is copied to, by its id; null where it is the host.
    pub peer: Option<String>,
    /// One copy, each way.
    pub bytes: u64,
    /// What runs at the same time, the case's other actor; null where nothing does.
    pub beside: Option<TransferBeside>,
}

/// What runs at the same time as a transfer: the case's other actor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "beside", rename_all = "snake_case", deny_unknown_fields)]
pub enum TransferBeside {
    /// Threads on the node of the host's pages.
    Streams {
        /// Kernel by its name.
        kernel: String,
        /// Instruction-set variant by its name.
        variant: String,
        threads: u32,
    },
    /// A transfer of another device, the same way.
    Device {
        /// Its id among the inputs.
        device: String,
    },
}

/// The streams that run beside transfers, alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeviceStreamCoordinates {
    /// The initiator of the threads.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null: it has none.
    pub cpu_node: Option<u32>,
    /// The node of their pages.
    pub memory_node: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    pub threads: u32,
}
