//! A machine as `topo` shows it.

use nearfar_machine::{CpuSet, Initiator, Machine};
use nearfar_record::Outcome;
use serde::Serialize;

/// A machine; `topo --json` prints it. Null is not known; notes say why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topology {
    pub schema: &'static str,
    #[serde(flatten)]
    pub machine: Machine,
    /// CPUs with the same local memory.
    pub initiators: Vec<Initiator>,
    /// CPUs that share a last-level cache.
    pub l3_domains: Vec<CpuSet>,
    /// Channels with a module of ordinary memory.
    pub memory_channels: Outcome<usize>,
}

impl Topology {
    pub fn new(machine: &Machine) -> Self {
        Self {
            schema: "nearfar.topo/2",
            initiators: machine.initiators(),
            l3_domains: machine.l3_domains(),
            memory_channels: machine.memory_channels().into(),
            machine: machine.clone(),
        }
    }
}
