//! The parts of a simulated machine, from the keys of its file.

use std::collections::BTreeSet;

use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Distances, MAX_INDEX, Machine, MemoryKind, MemoryNode, Package,
    Source,
};

use crate::bounds::{self, BadKey};
use crate::machine_file::{CacheEntry, MachineFile, NodeEntry, required};

const MOST_NODES: usize = 256;
const MOST_CORES: u32 = 4096;
/// As many as Linux can be built for.
const MOST_CPUS: u32 = 8192;
/// ACPI gives a distance one byte, and less than 10 ("local") is not one.
const DISTANCES: std::ops::RangeInclusive<u64> = 10..=255;

pub(crate) fn lay_out_machine(name: &str, file: &MachineFile) -> Result<Machine, BadKey> {
    let entries = required("node", file.node.as_deref())?;
    if entries.is_empty() || entries.len() > MOST_NODES {
        let why = format!("has {} entries; allowed is 1 to {MOST_NODES}", entries.len());
        return Err(BadKey::new("node", why));
    }
    let threads = bounds::number("threads_per_core", file.threads_per_core.unwrap_or(1), &(1..=8))?;
    let numbering = Numbering::of(entries, threads)?;
    let numbers = node_numbers(entries)?;
    if let Some(model) = &file.cpu_model {
        bounds::line("cpu_model", model)?;
    }
    let nodes = nodes(entries, &numbers, &numbering)?;
    let all: CpuSet = numbering.cpus(0..numbering.cores).collect();
    let machine = Machine {
        source: Source::Simulated(name.into()),
        packages: packages(entries, &nodes, file.cpu_model.as_deref())?,
        cores: (0..numbering.cores)
            .map(|core| Core { cpus: numbering.cpus(core..core + 1).collect() })
            .collect(),
        caches: caches(&file.cache, entries, &numbering)?,
        distances: distances(file.distances.as_deref(), &numbers)?,
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: all,
        allowed_nodes: numbers.iter().copied().collect(),
        interleave_weights: None,
        notes: Vec::new(),
        nodes,
        memory_modules: None,
        empty_memory_sockets: None,
        memory_modules_unknown: Some(
            "the file of a simulated machine says nothing of memory modules".into(),
        ),
    };
    match machine.check().first() {
        None => Ok(machine),
        Some(wrong) => Err(BadKey::new("node", format!("makes no machine: {wrong}"))),
    }
}

/// How cores and CPUs are numbered: as Linux usually does, the first threads of all
/// cores, node after node, then the second threads in the same order.
struct Numbering {
    cores: u32,
    threads: u32,
    /// The first core of each node.
    first_cores: Vec<u32>,
}

impl Numbering {
    fn of(entries: &[NodeEntry], threads: u32) -> Result<Self, BadKey> {
        let mut cores = 0_u32;
        let mut first_cores = Vec::new();
        for entry in entries {
            first_cores.push(cores);
            cores = cores.saturating_add(entry.cores);
        }
        bounds::number("the sum of node.cores", cores, &(1..=MOST_CORES))?;
        bounds::number("cores x threads_per_core", cores * threads, &(1..=MOST_CPUS))?;
        Ok(Self { cores, threads, first_cores })
    }

    fn cpus(&self, cores: std::ops::Range<u32>) -> impl Iterator<Item = u32> + use<> {
        let (all, threads) = (self.cores, self.threads);
        cores.flat_map(move |core| (0..threads).map(move |thread| core + thread * all))
    }

    fn cpus_of_node(&self, index: usize, entry: &NodeEntry) -> CpuSet {
        let first = self.first_cores[index];
        self.cpus(first..first + entry.cores).collect()
    }
}

fn node_numbers(entries: &[NodeEntry]) -> Result<Vec<u32>, BadKey> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut next = 0;
    for (index, entry) in entries.iter().enumerate() {
        let key = format!("node[{index}].number");
        let number = bounds::number(&key, entry.number.unwrap_or(next), &(next..=MAX_INDEX))?;
        numbers.push(number);
        next = number + 1;
    }
    Ok(numbers)
}

fn nodes(
    entries: &[NodeEntry],
    numbers: &[u32],
    numbering: &Numbering,
) -> Result<Vec<MemoryNode>, BadKey> {
    let own: Vec<CpuSet> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| numbering.cpus_of_node(index, entry))
        .collect();
    let mut nodes = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let key = format!("node[{index}]");
        nodes.push(MemoryNode {
            os_index: numbers[index],
            kind: entry.kind.unwrap_or(MemoryKind::Dram),
            cpus: own[index].clone(),
            locality: locality(&key, index, entries, numbers, &own)?,
            memory_bytes: bounds::bytes(&format!("{key}.memory"), entry.memory.as_deref())?,
            memory_side_cache_bytes: bounds::bytes(
                &format!("{key}.memory_side_cache"),
                entry.memory_side_cache.as_deref(),
            )?,
        });
    }
    Ok(nodes)
}

/// CPUs to which a node is local: its own; for a memory-only node those of the nodes
/// that it is near, and where that is not said those of its package.
fn locality(
    key: &str,
    index: usize,
    entries: &[NodeEntry],
    numbers: &[u32],
    own: &[CpuSet],
) -> Result<CpuSet, BadKey> {
    let entry = &entries[index];
    let near: Vec<usize> = match &entry.near {
        Some(_) if entry.cores > 0 => {
            let why = "is for nodes without cores; a node with cores is local to those";
            return Err(BadKey::new(format!("{key}.near"), why));
        }
        None if entry.cores > 0 => return Ok(own[index].clone()),
        Some(near) => near
            .iter()
            .map(|node| {
                let known = numbers.iter().position(|number| number == node);
                known.filter(|&position| entries[position].cores > 0).ok_or_else(|| {
                    let why = format!("names node {node}, which is no node with cores");
                    BadKey::new(format!("{key}.near"), why)
                })
            })
            .collect::<Result<_, _>>()?,
        None => {
            (0..entries.len()).filter(|&other| entries[other].package == entry.package).collect()
        }
    };
    let cpus: CpuSet = near.into_iter().flat_map(|other| own[other].iter()).collect();
    if cpus.is_empty() {
        let why = "has no cores and is near no node with cores; give it near = [..]";
        return Err(BadKey::new(key, why));
    }
    Ok(cpus)
}

fn packages(
    entries: &[NodeEntry],
    nodes: &[MemoryNode],
    model: Option<&str>,
) -> Result<Vec<Package>, BadKey> {
    let mut numbers = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let key = format!("node[{index}].package");
        numbers.insert(bounds::number(&key, entry.package, &(0..=MAX_INDEX))?);
    }
    let package = |os_index: u32| {
        let own = entries.iter().zip(nodes).filter(|(entry, _)| entry.package == os_index);
        let cpus: CpuSet = own.flat_map(|(_, node)| node.cpus.iter()).collect();
        (!cpus.is_empty()).then(|| Package { os_index, cpus, model: model.map(String::from) })
    };
    Ok(numbers.into_iter().filter_map(package).collect())
}

fn caches(
    sizes: &CacheEntry,
    entries: &[NodeEntry],
    numbering: &Numbering,
) -> Result<Vec<Cache>, BadKey> {
    let l1 = bounds::bytes("cache.l1", sizes.l1.as_deref())?;
    let l2 = bounds::bytes("cache.l2", sizes.l2.as_deref())?;
    let l3 = bounds::bytes("cache.l3", sizes.l3.as_deref())?;
    let line_bytes = match sizes.line {
        None => None,
        Some(line) => Some(bounds::number("cache.line", line, &(16..=1024))?),
    };
    let cache = |level, bytes, cpus| {
        let kind = if level == 1 { CacheKind::Data } else { CacheKind::Unified };
        Cache { level, kind, bytes: Some(bytes), line_bytes, cpus }
    };
    let mut caches = Vec::new();
    for (level, size) in [(1, l1), (2, l2)] {
        let Some(size) = size else { continue };
        let of_core = |core: u32| cache(level, size, numbering.cpus(core..core + 1).collect());
        caches.extend((0..numbering.cores).map(of_core));
    }
    for (index, entry) in entries.iter().enumerate() {
        let domains = l3_domains(index, entry)?;
        let Some(size) = l3 else { continue };
        let cores = entry.cores / domains;
        let of_domain = |domain: u32| {
            let first = numbering.first_cores[index] + domain * cores;
            cache(3, size, numbering.cpus(first..first + cores).collect())
        };
        caches.extend((0..domains).filter(|_| cores > 0).map(of_domain));
    }
    Ok(caches)
}

fn l3_domains(index: usize, entry: &NodeEntry) -> Result<u32, BadKey> {
    let domains = entry.l3_domains.unwrap_or(1);
    if domains > 0 && entry.cores.is_multiple_of(domains) {
        Ok(domains)
    } else {
        let why = format!("is {domains}; its {} cores must divide among them", entry.cores);
        Err(BadKey::new(format!("node[{index}].l3_domains"), why))
    }
}

fn distances(rows: Option<&[Vec<u64>]>, numbers: &[u32]) -> Result<Option<Distances>, BadKey> {
    let Some(rows) = rows else {
        return Ok(None);
    };
    let square = rows.len() == numbers.len() && rows.iter().all(|row| row.len() == numbers.len());
    if !square {
        let why = format!("must have {0} rows of {0} numbers, one for each node", numbers.len());
        return Err(BadKey::new("distances", why));
    }
    if let Some(value) = rows.iter().flatten().find(|value| !DISTANCES.contains(value)) {
        let (low, high) = (DISTANCES.start(), DISTANCES.end());
        return Err(BadKey::new("distances", format!("has {value}; allowed is {low} to {high}")));
    }
    Ok(Some(Distances { nodes: numbers.to_vec(), values: rows.to_vec() }))
}
