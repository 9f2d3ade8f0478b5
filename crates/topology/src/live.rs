//! The machine that the program runs on: hwloc's description, completed and
//! checked by the kernel's files.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use nearfar_machine::{
    CpuSet, Distances, FirmwareFigure, Machine, MemoryKind, MemoryNode, NodeSet, Source,
};

use crate::error::TopologyError;
use crate::hwloc::{build_machine, build_xml};
use crate::memory_modules::amend_memory_modules;
use crate::one_node::one_node;
use crate::sysfs::Sysfs;
use crate::{devices, ownership};

/// Variables by which hwloc describes another machine, or this one otherwise than
/// it is (hwloc's manual, "Environment variables"). Those that only choose plugins,
/// silence messages or keep a GPU's memory nodes are not among them.
const OVERRIDES: [&str; 17] = [
    "HWLOC_ALLOW",
    "HWLOC_COMPONENTS",
    "HWLOC_CPUID_PATH",
    "HWLOC_DEBUG_ALLOW_OVERLAPPING_NODE_CPUSETS",
    "HWLOC_DUMPED_HWDATA_DIR",
    "HWLOC_FSROOT",
    "HWLOC_KNL_HDH_FALLBACK",
    "HWLOC_KNL_MSCACHE_L3",
    "HWLOC_KNL_NUMA_QUIRK",
    "HWLOC_MEMTIERS_GUESS",
    "HWLOC_NO_HARDWIRED_TOPOLOGY",
    "HWLOC_SYNTHETIC",
    "HWLOC_THISSYSTEM",
    "HWLOC_THISSYSTEM_ALLOWED_RESOURCES",
    "HWLOC_USE_NUMA_DISTANCES",
    "HWLOC_X86_TOPOEXT_NUMANODES",
    "HWLOC_XMLFILE",
];
/// The same with a bus number within the name, or of several endings.
const OVERRIDE_PREFIX: &str = "HWLOC_PCI_";
/// How messages call it.
const THIS_MACHINE: &str = "this machine";
/// By how much the nodes' memory may differ from the machine's without a note.
const MEMORY_TOLERANCE: f64 = 0.1;

/// Reads the machine that the program runs on: through hwloc, then the kernel's
/// files under `root` (`/` but for tests and containers that mount the host's
/// elsewhere), as [`amend_from_sysfs`] and [`amend_memory_modules`].
///
/// # Errors
/// [`TopologyError::EnvironmentOverride`] where the environment makes hwloc
/// describe something else, or it describes what contradicts itself. A system that hwloc cannot read is one node.
pub fn read_live(root: &Path) -> Result<Machine, TopologyError> {
    check_environment()?;
    let mut machine = match build_machine(THIS_MACHINE, Source::Live, Ok) {
        Ok(machine) => machine,
        // A sandbox without /sys, as gVisor.
        Err(TopologyError::Refused { why, .. }) => one_node(root, &why),
        Err(error) => return Err(error),
    };
    amend_from_sysfs(&mut machine, root);
    amend_memory_modules(&mut machine, root);
    Ok(machine)
}

/// The XML that hwloc writes of the machine that the program runs on (format 2).
///
/// # Errors
/// As [`read_live`].
pub fn live_xml() -> Result<String, TopologyError> {
    check_environment()?;
    build_xml(THIS_MACHINE, Ok)
}

fn check_environment() -> Result<(), TopologyError> {
    match overrides() {
        names if names.is_empty() => Ok(()),
        names => Err(TopologyError::EnvironmentOverride { names }),
    }
}

/// The variables of the environment by which hwloc would describe another machine than this one.
pub fn overrides() -> Vec<String> {
    let is_override =
        |name: &String| OVERRIDES.contains(&name.as_str()) || name.starts_with(OVERRIDE_PREFIX);
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> = names.filter(is_override).collect();
    names.sort();
    names
}

/// Completes a machine from the kernel's files under `root`, which must belong to
/// the same machine: which nodes have CPUs of their own, distances and firmware
/// figures where hwloc has none, interleave weights, PCI links and nodes, what
/// this process may use. What is missing leaves the machine as it was; what is
/// odd, unreadable or contradicts hwloc becomes a note.
pub fn amend_from_sysfs(machine: &mut Machine, root: &Path) {
    let mut sysfs = Sysfs::new(root);
    let are_nodes_known = amend_nodes(machine, &mut sysfs);
    amend_distances(machine, &mut sysfs);
    if are_nodes_known {
        amend_locality(machine, &mut sysfs);
    }
    amend_firmware(machine, &mut sysfs);
    amend_weights(machine, &mut sysfs);
    amend_devices(machine, &mut sysfs);
    restrict(machine, &mut sysfs);
    check_memory(machine, &mut sysfs);
    machine.notes.extend(sysfs.into_notes());
}

/// Takes the CPUs of every node and whether it has memory from the kernel, or of none: a mixture of the
/// kernel's word and the inferred would be neither. hwloc merges and leaves out nodes that do not fit
/// into its tree; what has neither CPUs nor memory is left out here. Whether the kernel said it.
fn amend_nodes(machine: &mut Machine, sysfs: &mut Sysfs) -> bool {
    let Some(online) = sysfs.nodes("online") else { return false };
    let known: NodeSet = machine.nodes.iter().map(|node| node.os_index).collect();
    let cpus = |node| match sysfs.node_cpus(node) {
        None if !known.contains(node) => Some((node, CpuSet::new())),
        cpus => Some((node, cpus?)),
    };
    let lists: Option<Vec<(u32, CpuSet)>> = online.iter().map(cpus).collect();
    let Some(lists) = lists else { return false };
    let with_lists: NodeSet =
        lists.iter().filter(|(_, cpus)| !cpus.is_empty()).map(|(node, _)| *node).collect();
    if let Some(with_cpus) = sysfs.nodes("has_cpu")
        && with_cpus.intersection(&online) != with_lists
    {
        machine.notes.push(format!(
            "the kernel contradicts itself on which nodes have CPUs: {with_cpus} by has_cpu, \
             {with_lists} by their lists, which are used"
        ));
    }
    machine.notes.retain(|note| !note.contains(ownership::INFERRED));
    let with_memory = sysfs.nodes("has_memory");
    let all = machine.cpus();
    let mut left_out = NodeSet::new();
    for (number, cpus) in lists {
        let has_memory = with_memory.as_ref().is_none_or(|nodes| nodes.contains(number));
        let odd = cpus.difference(&all);
        if !odd.is_empty() {
            machine.notes.push(format!(
                "the kernel gives node {number} the CPUs {cpus}, of which hwloc does not know {odd}"
            ));
        }
        let cpus = cpus.intersection(&all);
        let place = machine.nodes.iter().position(|node| node.os_index == number);
        let node = match place {
            Some(at) => &mut machine.nodes[at],
            // By default hwloc leaves a GPU's memory out, which has no CPUs.
            None if cpus.is_empty() => {
                if has_memory {
                    left_out.insert(number);
                }
                continue;
            }
            None => {
                let at = machine.nodes.partition_point(|node| node.os_index < number);
                machine.nodes.insert(at, unknown_node(number));
                &mut machine.nodes[at]
            }
        };
        node.cpus = cpus;
        if !has_memory {
            node.memory_bytes = Some(0);
        }
    }
    if !left_out.is_empty() {
        machine.notes.push(format!(
            "hwloc leaves out the nodes {left_out}, which have memory and no CPUs (by default it does \
             so with a GPU's memory)"
        ));
    }
    let is_empty = |node: &MemoryNode| node.cpus.is_empty() && !node.has_memory();
    let empty = machine.nodes.iter().filter(|node| is_empty(node)).map(|node| node.os_index);
    let empty: NodeSet = empty.collect();
    if !empty.is_empty() {
        let (nodes, are) = if empty.len() == 1 { ("node", "has") } else { ("nodes", "have") };
        machine
            .notes
            .push(format!("left out: {nodes} {empty}, which {are} neither CPUs nor memory"));
        machine.nodes.retain(|node| !is_empty(node));
        machine.allowed_nodes = machine.allowed_nodes.difference(&empty);
    }
    true
}

/// A node of which nothing is known yet.
fn unknown_node(os_index: u32) -> MemoryNode {
    MemoryNode {
        os_index,
        kind: MemoryKind::Unknown,
        cpus: CpuSet::new(),
        locality: CpuSet::new(),
        memory_bytes: None,
        memory_side_cache_bytes: None,
    }
}

/// Says which CPUs are next to each node: its own, or for a memory-only node those that the firmware
/// names, those of the nearest nodes, or what hwloc says, in this order. HBM that no firmware describes
/// keeps hwloc's, which knows such processors.
fn amend_locality(machine: &mut Machine, sysfs: &mut Sysfs) {
    let owners: Vec<(u32, CpuSet)> = machine
        .nodes
        .iter()
        .filter(|node| !node.cpus.is_empty())
        .map(|node| (node.os_index, node.cpus.clone()))
        .collect();
    let cpus_of = |chosen: &dyn Fn(u32) -> bool| -> CpuSet {
        let chosen = owners.iter().filter(|(node, _)| chosen(*node));
        chosen.flat_map(|(_, cpus)| cpus.iter()).collect()
    };
    let next_to: Vec<CpuSet> = machine
        .nodes
        .iter()
        .map(|node| {
            if !node.cpus.is_empty() {
                return node.cpus.clone();
            }
            let named = sysfs.access_figures(node.os_index).map(|(initiators, _)| initiators);
            let named = named.map(|initiators| cpus_of(&|owner| initiators.contains(owner)));
            if let Some(cpus) = named.filter(|cpus| !cpus.is_empty()) {
                return cpus;
            }
            let distance = |owner: u32| machine.distance(owner, node.os_index);
            let least = owners.iter().filter_map(|(owner, _)| distance(*owner)).min();
            if node.kind == MemoryKind::Hbm && !node.locality.is_empty() || least.is_none() {
                return node.locality.clone();
            }
            cpus_of(&|owner| distance(owner) == least)
        })
        .collect();
    for (node, cpus) in machine.nodes.iter_mut().zip(next_to) {
        node.locality = cpus;
    }
}

fn amend_distances(machine: &mut Machine, sysfs: &mut Sysfs) {
    let nodes: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
    if machine.distances.as_ref().is_some_and(|distances| distances.nodes == nodes) {
        return;
    }
    machine.distances = None;
    let Some(online) = sysfs.nodes("online") else {
        return;
    };
    let columns: Option<Vec<usize>> =
        nodes.iter().map(|node| online.iter().position(|other| other == *node)).collect();
    let Some(columns) = columns else { return };
    let values: Option<Vec<Vec<u64>>> = nodes
        .iter()
        .map(|&node| {
            let row = sysfs.node_distances(node).filter(|row| row.len() == online.len())?;
            columns.iter().map(|&column| row.get(column).copied()).collect()
        })
        .collect();
    machine.distances = values.map(|values| Distances { nodes, values });
}

/// The kernel's figures take the place of hwloc's for the same node: hwloc copies
/// their numbers and calls them MiB/s, the kernel calls them MB/s.
fn amend_firmware(machine: &mut Machine, sysfs: &mut Sysfs) {
    for node in &machine.nodes {
        let Some((initiators, figures)) = sysfs.access_figures(node.os_index) else {
            continue;
        };
        machine.firmware_figures.retain(|figure| figure.node != node.os_index);
        let near = initiators.iter().filter_map(|initiator| machine.node(initiator));
        let cpus: CpuSet = near.flat_map(|initiator| initiator.cpus.iter()).collect();
        let initiator = (!cpus.is_empty()).then_some(cpus);
        machine.firmware_figures.push(FirmwareFigure { initiator, ..figures });
    }
    machine
        .firmware_figures
        .sort_by_key(|figure| (figure.node, figure.initiator.as_ref().and_then(CpuSet::first)));
}

fn amend_weights(machine: &mut Machine, sysfs: &mut Sysfs) {
    machine.interleave_weights = sysfs.interleave_weights();
    // With one node there is nothing to interleave.
    if machine.nodes.len() > 1 && sysfs.weights_are_automatic() == Some(true) {
        machine.notes.push(
            "the interleave weights are the kernel's own, from the firmware's bandwidths; setting \
             a weight disables them"
                .into(),
        );
    }
}

fn amend_devices(machine: &mut Machine, sysfs: &mut Sysfs) {
    let places: BTreeMap<u32, CpuSet> =
        machine.nodes.iter().map(|node| (node.os_index, node.locality.clone())).collect();
    let mut placed = false;
    for device in &mut machine.devices {
        sysfs.pci_link(&device.bus_id, &mut device.link);
        let Some(node) = sysfs.pci_node(&device.bus_id) else {
            continue;
        };
        match places.get(&node) {
            // hwloc's answer may name several nodes of one place, which is richer.
            Some(_) if device.nodes.contains(node) => {}
            Some(locality) => {
                placed |= device.nodes.is_empty();
                device.nodes = NodeSet::single(node);
                device.cpus = locality.clone();
            }
            None => machine.notes.push(format!(
                "the kernel puts device {} on node {node}, which hwloc leaves out",
                device.bus_id
            )),
        }
    }
    if placed {
        retell_unplaced(machine);
    }
}

/// Says anew which devices have no known node, once the kernel has placed some.
fn retell_unplaced(machine: &mut Machine) {
    machine.notes.retain(|note| !note.starts_with(devices::UNPLACED));
    let unplaced = machine.devices.iter().filter(|device| device.nodes.is_empty());
    let bus_ids: Vec<&str> = unplaced.map(|device| device.bus_id.as_str()).collect();
    machine.notes.extend(devices::unplaced_note(&bus_ids));
}

/// Narrows what may be used to the affinity and cpuset of this process.
fn restrict(machine: &mut Machine, sysfs: &mut Sysfs) {
    if let Some(cpus) = sysfs.allowed("Cpus_allowed_list") {
        machine.allowed_cpus = machine.allowed_cpus.intersection(&cpus);
    }
    if let Some(nodes) = sysfs.allowed("Mems_allowed_list") {
        machine.allowed_nodes = machine.allowed_nodes.intersection(&nodes);
    }
    let cpus = machine.cpus();
    if machine.allowed_cpus != cpus {
        machine.notes.push(format!(
            "this process may use {} of {} CPUs: {}",
            machine.allowed_cpus.len(),
            cpus.len(),
            machine.allowed_cpus
        ));
    }
    let with_memory = machine.nodes.iter().filter(|node| node.has_memory());
    let with_memory: NodeSet = with_memory.map(|node| node.os_index).collect();
    machine.allowed_nodes = machine.allowed_nodes.intersection(&with_memory);
    if machine.allowed_nodes != with_memory {
        machine.notes.push(format!(
            "this process may allocate on {} of {} nodes with memory: {}",
            machine.allowed_nodes.len(),
            with_memory.len(),
            machine.allowed_nodes
        ));
    }
}

/// The nodes' sizes are wrong in some virtual machines, where memory is plugged in
/// as it is used: no buffer may be sized by them alone.
fn check_memory(machine: &mut Machine, sysfs: &mut Sysfs) {
    for node in &mut machine.nodes {
        let said = sysfs.node_memory_bytes(node.os_index).filter(|&bytes| bytes > 0);
        node.memory_bytes = node.memory_bytes.or(said);
    }
    let Some(total) = sysfs.total_memory_bytes() else {
        return;
    };
    let sizes: Option<Vec<u64>> = machine.nodes.iter().map(|node| node.memory_bytes).collect();
    let Some(sum) =
        sizes.map(|sizes| sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size)))
    else {
        return;
    };
    if (sum as f64 - total as f64).abs() > MEMORY_TOLERANCE * total as f64 {
        machine.notes.push(format!(
            "the nodes have {} MiB together, /proc/meminfo says {} MiB: no buffer should \
             be sized by a node's figure alone (some virtual machines plug memory in as it is \
             used; a node that is left out is missing from the sum)",
            sum >> 20,
            total >> 20
        ));
    }
}
