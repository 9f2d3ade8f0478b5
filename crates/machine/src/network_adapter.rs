//! Network adapters, as the system shows the one through which a peer is reached.

use serde::{Deserialize, Serialize};

use crate::index_set::{CpuSet, NodeSet};

/// A network adapter. What the system does not say is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkAdapter {
    /// The system's name of it: `eth0`.
    pub interface: String,
    /// Whether it leads to this machine itself: what is sent is copied within its memory and
    /// crosses no link.
    pub is_loopback: bool,
    /// The kernel's driver.
    pub driver: Option<String>,
    /// PCIe address; null where it is on no PCIe.
    pub bus_id: Option<String>,
    /// The memory node next to it.
    pub node: Option<u32>,
    /// What its link carries each way, bits/s; null where the system does not say, or where it
    /// is no adapter of its own and a number there would be made up.
    pub link_bits_per_s: Option<u64>,
    /// Why the link's rate is null; null where it is not.
    pub no_rate: Option<String>,
    /// Its device for InfiniBand or RDMA: `mlx5_0`.
    pub infiniband: Option<String>,
    /// Who is interrupted by it when measuring began.
    pub interrupts: Option<AdapterInterrupts>,
}

/// Who is interrupted by an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AdapterInterrupts {
    /// Interrupts of which it is known.
    pub count: u32,
    /// CPUs that take them.
    pub cpus: CpuSet,
    /// The memory nodes next to these.
    pub nodes: NodeSet,
}

impl NetworkAdapter {
    /// What its link carries each way, bytes/s.
    pub fn link_bytes_per_s(&self) -> Option<f64> {
        self.link_bits_per_s.map(|bits| bits as f64 / 8.0)
    }
}
