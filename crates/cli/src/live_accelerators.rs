//! The devices of this machine that data can be copied to.

use nearfar_devices::find_accelerators;
use nearfar_machine::{Accelerator, Machine, NodeSet};
use nearfar_record::DeviceInputs;

/// Those that CUDA and OpenCL show, with the memory nodes next to them where their PCIe address
/// is known to the machine.
pub fn live_accelerators(machine: &Machine) -> DeviceInputs {
    let found = find_accelerators();
    let accelerators = found.accelerators.into_iter().map(|device| {
        let nodes = nodes_of(machine, &device);
        Accelerator { nodes, ..device }
    });
    DeviceInputs { accelerators: accelerators.collect(), absent: found.absent }
}

/// One that has the host's memory for its own is next to all of it.
fn nodes_of(machine: &Machine, device: &Accelerator) -> NodeSet {
    if device.shares_host_memory {
        return machine.allowed_nodes.clone();
    }
    let on_bus = machine.devices.iter().find(|it| Some(&it.bus_id) == device.bus_id.as_ref());
    on_bus.map(|it| it.nodes.clone()).unwrap_or_default()
}
