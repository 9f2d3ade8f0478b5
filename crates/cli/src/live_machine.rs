//! The machine that the program runs on.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use nearfar_machine::{Machine, NodeSet};

use crate::hwloc;

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
    let mut machine = hwloc::ask(|| nearfar_topology::read_live(Path::new("/")))?;
    // A kernel built without NUMA has the CPUs and not the nodes.
    if !Path::new(NODES).exists() && !Path::new(CPUS).exists() {
        let why = format!(
            "there is no {NODES}: whatever nodes the machine has, one is shown; mount /sys to see them"
        );
        machine.notes.insert(0, why);
    }
    Ok(machine)
}

/// Reads this machine to measure it. Where /sys is hidden, one node is shown whatever
/// the machine has: it is measured only when the kernel says that it is the node of all
/// CPUs and of all memory that this process may use.
pub fn read_to_measure() -> anyhow::Result<Machine> {
    let machine = read()?;
    if Path::new(NODES).exists() {
        return Ok(machine);
    }
    let shown: NodeSet = machine.nodes.iter().map(|node| node.os_index).collect();
    let of_memory = nearfar_sys::nodes_by_kernel().with_context(|| unknown("the memory is"))?;
    if let Some(nodes) = of_memory
        && nodes != shown
    {
        bail!("{}", hidden(&format!("may use the memory nodes {nodes}"), &shown));
    }
    let cpus = nearfar_sys::thread_cpus()?;
    let of_cpus = nearfar_sys::nodes_of_cpus(&cpus).with_context(|| unknown("the CPUs are"))?;
    if of_cpus != shown {
        bail!("{}", hidden(&format!("runs on CPUs of the nodes {of_cpus}"), &shown));
    }
    Ok(machine)
}

fn hidden(what: &str, shown: &NodeSet) -> String {
    format!(
        "this process {what} and sees node {shown} only, because there is no {NODES}: which CPUs are \
         near to which memory is not known; mount /sys (in a container: do not mask it)"
    )
}

fn unknown(what: &str) -> String {
    format!(
        "there is no {NODES}, and the kernel does not say on which nodes {what} that this process may \
         use; mount /sys (in a container: do not mask it)"
    )
}
