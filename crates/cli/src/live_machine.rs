//! The machine that the program runs on.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use nearfar_machine::{Machine, NodeSet};

const NODES: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";

/// Reads this machine.
///
/// hwloc never ends where a filter forbids sched_getaffinity, of which it asks with ever
/// larger masks, and aborts the process where the folder of nodes is there and empty.
/// Both are looked for first.
pub fn read() -> anyhow::Result<Machine> {
    nearfar_sys::thread_cpus().context("cannot find out which CPUs there are")?;
    if let Ok(entries) = fs::read_dir(NODES) {
        let is_node =
            |name: &str| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
        if !entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_node)) {
            bail!(
                "{NODES} lists no node: something is mounted over it; take that away, or run where \
                 the machine's own /sys is seen"
            );
        }
    }
    let mut machine = nearfar_topology::read_live(Path::new("/"))?;
    // A kernel built without NUMA has the CPUs and not the nodes.
    if !Path::new(NODES).exists() && !Path::new(CPUS).exists() {
        machine.notes.push(format!(
            "there is no {NODES}: whatever nodes the machine has, one is shown; mount /sys to see them"
        ));
    }
    Ok(machine)
}

/// Reads this machine to measure it. Where /sys is hidden and the kernel lets this
/// process use several nodes, nobody knows which CPUs are near to which.
pub fn read_to_measure() -> anyhow::Result<Machine> {
    let machine = read()?;
    let shown: NodeSet = machine.nodes.iter().map(|node| node.os_index).collect();
    if let Ok(Some(by_kernel)) = nearfar_sys::nodes_by_kernel(Path::new("/"))
        && !Path::new(NODES).exists()
        && by_kernel.len() > 1
    {
        bail!(
            "this process may use the memory nodes {by_kernel} and sees {shown} only, because there is \
             no {NODES}: which CPUs are near to which memory is not known; mount /sys (in a \
             container: do not mask it)"
        );
    }
    Ok(machine)
}
